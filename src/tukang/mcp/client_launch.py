"""Starts a server so that it cannot outlive the program. Run as a script, on Linux, with the standard library only.

It becomes the server (`exec`).

A server ends when its input does, and that ends with the program however it dies. One that does not listen is killed by the
kernel when the thread that started it is gone (`PR_SET_PDEATHSIG`, which survives `exec`).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys

_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    """Become the command. Never returns."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was gone before that
        os._exit(1)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(127)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
