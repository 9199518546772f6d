"""One at a time at the files of a folder: of all that change files through this package, in this process and in others."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Generator
from contextlib import contextmanager

from tukang.tools.outcome import NothingDone

_PATIENCE = 2.0
"""Seconds that a lock is waited for: a change takes a moment, so who keeps it longer is somebody else."""


@contextmanager
def alone(folder: int, told: str) -> Generator[None]:
    """Hold the lock of a folder.

    Args:
        folder: its descriptor.
        told: what is to be changed, for the model.

    Raises:
        NothingDone: somebody else keeps it.
    """
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() > until:
                raise NothingDone(f"{told} is being changed by somebody else", "Try again later.") from None
            time.sleep(0.002)
        except OSError:  # a file system without locks
            break
    yield  # whose end closes the descriptor, and with it goes the lock
