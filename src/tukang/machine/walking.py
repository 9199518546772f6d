"""To a place of the host's without following a link on the way, so that nobody who may write on that way leads elsewhere.

A tool's place may lie in a directory that another tool writes (a memory in the directory of a shell): what was a folder when
the tool was made may be a link to anywhere later. Links that were there when its place was worked out have been followed.
"""

from __future__ import annotations

import os
from pathlib import Path

_ON_THE_WAY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = _ON_THE_WAY | os.O_DIRECTORY


def opened(place: Path, flags: int = _ON_THE_WAY) -> int:
    """A descriptor of a place.

    Args:
        place: from the root, with no link in it (`Path.resolve`).
        flags: for the last part.

    Raises:
        OSError: it is not there, or there is a link in it now.
    """
    at = os.open(place.anchor, _FOLDER)
    *before, last = place.parts[1:] or (".",)
    try:
        for part in before:
            below = os.open(part, _FOLDER, dir_fd=at)
            os.close(at)
            at = below
        return os.open(last, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
    finally:
        os.close(at)


def same(place: Path, seen: str) -> bool:
    """Whether what is seen at a path is what such a walk comes to."""
    try:
        at = opened(place)
        try:
            return os.path.samestat(os.fstat(at), os.stat(seen))
        finally:
            os.close(at)
    except OSError:
        return False
