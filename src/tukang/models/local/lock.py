"""A lock between processes, held on a file. It knows nothing of what it protects."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_POLL_SECONDS = 0.1


@contextmanager
def exclusive(path: Path) -> Generator[None]:
    """Hold `path` alone; blocks until whoever holds it lets go. A process that dies lets go by dying."""
    with path.open("a+b") as file:
        while not _try(file):
            time.sleep(_POLL_SECONDS)
        yield  # closing the file gives the lock back


if sys.platform == "win32":
    import msvcrt

    def _try(file: IO[bytes]) -> bool:
        try:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
