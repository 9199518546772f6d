"""Files under one directory, and no others, whatever path a model asks for and whatever is changed meanwhile.

A path is walked from the directory's own descriptor, part by part, and no part may be a link (`O_NOFOLLOW`): so nothing that
is put in the way between a look and a touch leads out. `..` is refused, not worked out. A file that is not an ordinary one
(a pipe, a device) is not opened, and one with a second name is not read: that name may be of a file elsewhere. What is
written appears whole, under its name, or not at all.

The directory itself is the host's to name: links on the way to it are followed when the tool is made, and none that are put
there later.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from tukang.machine import walking
from tukang.machine.locking import alone
from tukang.machine.moving import moved
from tukang.machine.terminal import plain
from tukang.tools.json_text import unicode
from tukang.tools.outcome import NothingDone

LARGEST = 4_000_000
"""Bytes of a file that is read or written: far above what a model can read, far below what would hold this process up."""

DEEPEST, LONGEST = 32, 1024
"""Parts and characters of a path."""

MOST_ENTRIES = 500
"""Entries that a listing shows."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Entry(msgspec.Struct, frozen=True):
    """One line of a listing: the path from where it begins, its kind, its size in bytes."""

    path: str
    kind: str
    size: int


class Directory:
    """A directory that nothing here leaves.

    Args:
        root: where it is; it is there.
        shown: what the model calls it, such as `/memories`: no path of the host's is ever told.
        mode: the permissions of a new file.
    """

    def __init__(self, root: Path, shown: str, *, mode: int = 0o644) -> None:
        self.root = root
        self.shown = shown
        self._mode = mode

    # ── paths ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def parts(self, path: str) -> tuple[str, ...]:
        """The parts of a path below the directory, as it stands under `shown` or on its own.

        Raises:
            NothingDone: it leads elsewhere, or is no path.
        """
        inside = path
        if path == self.shown or path.startswith(self.shown + "/"):
            inside = path[len(self.shown) :]
        elif path.startswith(("/", "~", "\\")):
            raise NothingDone(f"{_told(path)} is outside of {self.shown}", f"Paths begin with {self.shown}/.")
        parts = tuple(part for part in inside.split("/") if part not in ("", "."))
        if ".." in parts:
            raise NothingDone(f"{_told(path)} has '..' in it", f"Write the whole path, from {self.shown}/.")
        too_long = (
            len(path) > LONGEST or len(parts) > DEEPEST or any(len(os.fsencode(p)) > 255 for p in parts if _legal(p))
        )
        if too_long or not all(map(_legal, parts)):
            raise NothingDone(f"{_told(path)} is not a path", "No control characters, and not that long.")
        return parts

    def told(self, parts: tuple[str, ...]) -> str:
        """A path in the model's words."""
        return "/".join((self.shown, *parts))

    @contextmanager
    def folder(self, parts: tuple[str, ...], *, make: bool = False) -> Generator[int]:
        """A descriptor of the folder at these parts, walked to without following a link; made on the way if asked for."""
        with _said_of(self.shown):
            at = walking.opened(self.root, _FOLDER)
        try:
            for depth, part in enumerate(parts, 1):
                with _said_of(self.told(parts[:depth]), folder=True):
                    if make:
                        with suppress(FileExistsError):
                            os.mkdir(part, 0o755, dir_fd=at)
                    below = os.open(part, _FOLDER, dir_fd=at)
                os.close(at)
                at = below
            yield at
        finally:
            os.close(at)

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def kind(self, parts: tuple[str, ...]) -> str | None:
        """`file`, `folder`, `link` or `special`; None where there is nothing."""
        if not parts:
            return "folder"
        try:
            with self.folder(parts[:-1]) as at:
                return _kind(os.stat(parts[-1], dir_fd=at, follow_symlinks=False))
        except (FileNotFoundError, _Missing):
            return None

    def read(self, parts: tuple[str, ...]) -> bytes:
        """The bytes of a file.

        Raises:
            NothingDone: it is not there, no ordinary file, has a second name, or is too large.
        """
        told = self.told(parts)
        if not parts:
            raise NothingDone(f"{told} is a directory")
        with self.folder(parts[:-1]) as at, _said_of(told):
            return _read(at, parts[-1], told)[0]

    def listing(self, parts: tuple[str, ...], *, levels: int = 2) -> tuple[list[Entry], bool]:
        """What is in a folder, so many levels deep, without what is hidden; and whether that is not all."""
        found: list[Entry] = []
        with self.folder(parts) as at:
            whole = _list(at, "", levels, found)
        return sorted(found, key=lambda entry: entry.path), not whole

    # ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def create(self, parts: tuple[str, ...], data: bytes) -> None:
        """A new file; the folders it needs are made.

        Raises:
            NothingDone: something has that name already, or it cannot be written.
        """
        told = self.told(parts)
        if not parts:
            raise NothingDone(f"{told} is a directory")
        with self.folder(parts[:-1], make=True) as at, _said_of(told):
            made = _written(at, data, self._mode)
            try:
                moved(at, made, at, parts[-1])
            except OSError:
                os.unlink(made, dir_fd=at)
                raise

    def change(self, parts: tuple[str, ...], before: bytes, after: bytes) -> None:
        """A file's new content, in one step.

        Raises:
            NothingDone: it is not what it was `before` any more, or it cannot be written.
        """
        told = self.told(parts)
        with self.folder(parts[:-1]) as at, _said_of(told), alone(at, told):
            now, found = _read(at, parts[-1], told)
            if now != before:
                raise NothingDone(f"{told} was changed by somebody else meanwhile", "View it again.")
            made = _written(at, after, stat.S_IMODE(found.st_mode) & 0o777, found)
            try:
                os.rename(made, parts[-1], src_dir_fd=at, dst_dir_fd=at)
            except OSError:
                os.unlink(made, dir_fd=at)
                raise

    def delete(self, parts: tuple[str, ...]) -> None:
        """Remove a file, a link, or a folder with all that is in it; no link is followed.

        Raises:
            NothingDone: there is nothing, or it cannot be removed.
            PartlyDone: not all of a folder could be removed.
        """
        if not parts:
            raise NothingDone(f"{self.shown} itself cannot be deleted")
        gone: list[str] = []
        with self.folder(parts[:-1]) as at, _said_of(self.told(parts)):
            try:
                _remove(at, parts[-1], gone)
            except OSError as error:
                if gone:
                    raise PartlyDone(f"{self.told(parts)} was deleted in part only: {error.strerror}") from None
                raise

    def rename(self, old: tuple[str, ...], new: tuple[str, ...]) -> None:
        """Give a file or a folder another name, which nothing has yet.

        Raises:
            NothingDone: there is nothing of the old name, something of the new one, or it cannot be moved there.
        """
        if not old or not new:
            raise NothingDone(f"{self.shown} itself cannot be moved")
        if new[: len(old)] == old:
            raise NothingDone(f"{self.told(old)} cannot be moved into itself")
        kind = self.kind(old)
        if kind not in ("file", "folder"):
            raise NothingDone(f"{self.told(old)} {'does not exist' if kind is None else 'is no ordinary file'}")
        with self.folder(old[:-1]) as there, self.folder(new[:-1], make=True) as here, _said_of(self.told(new)):
            moved(there, old[-1], here, new[-1])


# ── what a descriptor says ───────────────────────────────────────────────────────────────────────────────────────────


class PartlyDone(Exception):
    """Something was done, and then it could not be gone on with."""


class _Missing(NothingDone):
    """Nothing has that name."""


_SAID = {
    errno.ENOENT: "does not exist",
    errno.EEXIST: "exists already",
    errno.ENOTDIR: "is not a directory",
    errno.EISDIR: "is a directory",
    errno.ELOOP: "is a link, and links are not followed",
    errno.EMLINK: "is a link, and links are not followed",
    errno.EACCES: "may not be touched: no permission",
    errno.EPERM: "may not be touched: no permission",
    errno.EROFS: "cannot be written: the file system is read-only",
    errno.ENOSPC: "cannot be written: no space is left",
    errno.ENXIO: "is not an ordinary file",
    errno.ENAMETOOLONG: "is too long a name",
    errno.ENOTEMPTY: "is a directory that is not empty",
}


@contextmanager
def _said_of(told: str, *, folder: bool = False) -> Generator[None]:
    """What the system says of a path, in the model's words; never a path of the host's."""
    try:
        yield
    except OSError as error:
        said = _SAID.get(error.errno or 0, os.strerror(error.errno or 0).lower())
        if folder and error.errno == errno.ENOTDIR:
            said = "is not a directory, or a link, and links are not followed"
        kind = _Missing if error.errno == errno.ENOENT else NothingDone
        raise kind(f"{told} {said}") from None


def _read(at: int, name: str, told: str) -> tuple[bytes, os.stat_result]:
    _must_be_plain(os.stat(name, dir_fd=at, follow_symlinks=False), told)
    opened = os.open(name, _FILE, dir_fd=at)
    try:
        found = os.fstat(opened)  # what was opened, which need not be what was there a moment ago
        _must_be_plain(found, told)
        return _all_of(opened, told), found
    finally:
        os.close(opened)


def _must_be_plain(found: os.stat_result, told: str) -> None:
    kind = _kind(found)
    if kind != "file":
        words = {"folder": "is a directory", "link": "is a link, and links are not followed"}
        raise NothingDone(f"{told} {words.get(kind, 'is not an ordinary file')}")
    if found.st_nlink > 1:
        raise NothingDone(f"{told} has a second name (a hard link), which may be outside: it is not touched")
    if found.st_size > LARGEST:
        raise NothingDone(f"{told} has {found.st_size} bytes, and no more than {LARGEST} are read")


def _kind(found: os.stat_result) -> str:
    for is_one, kind in ((stat.S_ISREG, "file"), (stat.S_ISDIR, "folder"), (stat.S_ISLNK, "link")):
        if is_one(found.st_mode):
            return kind
    return "special"


def _all_of(opened: int, told: str) -> bytes:
    pieces: list[bytes] = []
    length = 0
    while piece := os.read(opened, 1 << 20):
        length += len(piece)
        if length > LARGEST:
            raise NothingDone(f"{told} has more than {LARGEST} bytes")
        pieces.append(piece)
    return b"".join(pieces)


def _written(at: int, data: bytes, mode: int, like: os.stat_result | None = None) -> str:
    """A file of a name that nothing has, with this content on the disk; its name."""
    if len(data) > LARGEST:
        raise NothingDone(f"{len(data)} bytes are too many: no more than {LARGEST} are written")
    name = f".tukang-{secrets.token_hex(8)}"
    opened = os.open(name, _NEW, 0o600, dir_fd=at)
    try:
        with suppress(OSError):  # only root may give a file away
            if like is not None:
                os.fchown(opened, like.st_uid, like.st_gid)
        os.fchmod(opened, mode)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(opened, rest) :]
        os.fsync(opened)
    except BaseException:
        os.unlink(name, dir_fd=at)
        raise
    finally:
        os.close(opened)
    return name


def _list(at: int, before: str, levels: int, found: list[Entry]) -> bool:
    """Add what is in a folder; False when there was no room for all of it."""
    with os.scandir(at) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if len(found) >= MOST_ENTRIES:
                return False
            try:
                seen = entry.stat(follow_symlinks=False)
            except OSError:  # gone since
                continue
            path, kind = f"{before}/{entry.name}", _kind(seen)
            found.append(Entry(plain(unicode(path)), kind, seen.st_size))
            if kind != "folder" or levels <= 1:
                continue
            try:
                below = os.open(entry.name, _FOLDER, dir_fd=at)
            except OSError:  # gone, or not to be looked into
                continue
            try:
                if not _list(below, path, levels - 1, found):
                    return False
            finally:
                os.close(below)
    return True


def _remove(at: int, name: str, gone: list[str], depth: int = 0) -> None:
    found = os.stat(name, dir_fd=at, follow_symlinks=False)
    if not stat.S_ISDIR(found.st_mode):
        os.unlink(name, dir_fd=at)
        gone.append(name)
        return
    if depth > 2 * DEEPEST:
        raise OSError(errno.ENAMETOOLONG, "it is nested too deeply")
    below = os.open(name, _FOLDER, dir_fd=at)
    try:
        for child in os.listdir(below):
            _remove(below, child, gone, depth + 1)
    finally:
        os.close(below)
    os.rmdir(name, dir_fd=at)
    gone.append(name)


def _legal(part: str) -> bool:
    try:
        os.fsencode(part).decode()
    except UnicodeError:
        return False
    return part.isprintable()


def _told(path: str) -> str:
    """A path as it can be said again: short, and without what would move a cursor."""
    shown = path if len(path) <= 80 else path[:80] + "…"
    return repr(unicode(shown))
