"""Which files are meant by the paths that were given, and what is in them. Nothing outside of a folder that was given
is read: not through `..`, and not through a symbolic link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from tukang.knowledge.errors import DocumentError
from tukang.knowledge.reading.formats import readable


class Found(msgspec.Struct, frozen=True):
    """A file that was found, or why not.

    Args:
        path: with every link resolved.
        name: how its document is shown: its path in the folder that was given, or its own name.
        error: why it is not to be read.
    """

    path: Path
    name: str
    error: DocumentError | None = None

    @property
    def source(self) -> str:
        """The path as it can be kept and shown."""
        return legible(str(self.path))


def legible(path: str) -> str:
    """A path with the bytes written out that are no text: no database and no terminal takes them."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def files_at(path: str | Path, within: Path | None = None) -> Iterator[Found]:
    """The file, or the files below the folder that have a reader, by name. Hidden ones are passed over.

    Args:
        path: what was given.
        within: the folder that nothing may lie outside of; None for the path itself, if that is a folder.
    """
    given = Path(path).expanduser()
    whole = Path(os.path.normpath(given.absolute()))
    fence = _real(within.expanduser()) if within is not None else None
    if fence is not None and not _real(given).is_relative_to(fence):
        yield Found(whole, legible(str(path)), _outside(legible(str(path)), fence))
    elif given.is_dir():
        root = _real(given)
        yield from _below(root, fence or root)
    elif not given.is_file():
        detail = "it is no file and no folder." if given.exists() else "there is no such file or folder."
        yield Found(whole, legible(str(path)), DocumentError("missing", legible(str(path)), detail))
    else:
        yield Found(_real(given), legible(given.name))


def _below(root: Path, fence: Path) -> Iterator[Found]:
    shut: list[OSError] = []
    for folder, folders, names in os.walk(root, onerror=shut.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in list(folders):
            link = Path(folder, name)
            if link.is_symlink() and not _real(link).is_relative_to(fence):
                shown = legible(str(link.relative_to(root)))
                yield Found(link, shown, _outside(shown, fence))
        for name in sorted(names):
            path = Path(folder, name)
            if name.startswith(".") or not readable(name):
                continue
            shown = legible(path.relative_to(root).as_posix())
            whole = _real(path)
            yield Found(whole, shown, None if whole.is_relative_to(fence) else _outside(shown, fence))
    for error in shut:
        path = Path(error.filename or root)
        shown = legible(str(path))
        yield Found(path, shown, DocumentError("unreadable", shown, f"it cannot be read: {error.strerror}."))


def vanished(sources: Iterable[str], folders: Iterable[str | Path]) -> list[str]:
    """Those that are paths of files below one of these folders, where there are none any more."""
    below = tuple(os.path.join(legible(str(_real(Path(folder).expanduser()))), "") for folder in folders)
    gone = [source for source in sources if source.startswith(below) and not os.path.lexists(source)]
    if not any("\\" in source for source in gone):
        return gone
    there = {found.source for folder in folders for found in files_at(folder)}  # written out: no path to be asked for
    return [source for source in gone if source not in there]


def _real(path: Path) -> Path:
    """With every link resolved, as far as they lead anywhere: `Path.resolve` raises where links go round."""
    return Path(os.path.realpath(path))


def content_of(found: Found, most_bytes: int) -> bytes:
    """The bytes of a file.

    Raises:
        DocumentError: `too_large`, `unreadable` or `missing`.
    """
    try:
        with open(found.path, "rb", opener=_at_once) as file:
            kind = os.fstat(file.fileno())
            if not stat.S_ISREG(kind.st_mode):
                raise OSError("it is no file that holds anything")
            size = kind.st_size
            data = file.read(most_bytes + 1) if size <= most_bytes else b""
    except OSError as error:
        why = "missing" if isinstance(error, FileNotFoundError) else "unreadable"
        raise DocumentError(why, found.name, f"it cannot be read: {error.strerror or error}.") from error
    if max(size, len(data)) > most_bytes:
        raise DocumentError(
            "too_large",
            found.name,
            f"it has {size / 2**20:.0f} MB, and {most_bytes / 2**20:.0f} MB is the most that is read.",
            "Split it, or allow more.",
        )
    return data


def _at_once(path: str, flags: int) -> int:
    """Opens without waiting for who writes into a pipe, and follows no link: they were resolved."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))


def _outside(name: str, fence: Path) -> DocumentError:
    return DocumentError(
        "outside", name, f"it lies outside of the folder {fence}.", "Name it by itself, if it is meant."
    )
