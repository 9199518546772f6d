"""What the program and a worker process say to each other, and how it stands on the line: kind, length, bytes.

The line is a socket of their own, so nothing a function prints can get into it. The worker gets a pickle, because a function
and its arguments are Python's; the program gets plain data back and unpickles nothing.
"""

from __future__ import annotations

import struct
from typing import Final

import msgspec

from tukang.tools.outcome import Outcome

READY: Final = 0
"""Worker: it has started."""
REQUEST: Final = 1
"""Program: a `Request`."""
STARTED: Final = 2
"""Worker: the function is about to run. Before this, it is certain that nothing has happened."""
PROGRESS: Final = 3
"""Worker: a `Progress`."""
RETURNED: Final = 4
"""Worker: a `Reply`, the end of the call."""
UNUSABLE: Final = 5
"""Worker: text; the function or its arguments cannot be had here, so it did not run."""

_HEAD = struct.Struct(">BQ")


class Request(msgspec.Struct, frozen=True, gc=False):
    """One call.

    Args:
        tool: its name.
        call: a pickle of `(function, positional arguments, keyword arguments)`.
        path: the program's `sys.path`.
        contexts: the keyword arguments that are the `CallContext`, and get its progress and its deadline in the worker.
        timeout: seconds from its start; None for no bound.
        memory: megabytes it may take; None for no bound.
        none_is_null: see `result.content`.
    """

    tool: str
    call: bytes
    path: tuple[str, ...]
    contexts: tuple[str, ...] = ()
    timeout: float | None = None
    memory: int | None = None
    none_is_null: bool = False


class Reply(msgspec.Struct, frozen=True, gc=False):
    """What became of it. `reusable` says that the worker may take another call."""

    outcome: Outcome
    reusable: bool = True


class Overlong(Exception):
    """A message that is longer than what the reader takes. The message says how long it is, in bytes."""


def framed(kind: int, payload: bytes) -> bytes:
    """A message as it stands on the line."""
    return _HEAD.pack(kind, len(payload)) + payload


class Frames:
    """Messages out of what has been read so far.

    Args:
        longest: bytes a message may have.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._read = bytearray()

    def add(self, data: bytes) -> None:
        """Something was read."""
        self._read += data

    def next(self) -> tuple[int, bytes] | None:
        """The kind and the bytes of the next message; None when it is not whole yet.

        Raises:
            Overlong: it is longer than is taken.
        """
        if len(self._read) < _HEAD.size:
            return None
        kind, length = _HEAD.unpack_from(self._read)
        if length > self._longest:
            raise Overlong(f"{length} bytes")
        end = _HEAD.size + length
        if len(self._read) < end:
            return None
        payload = bytes(memoryview(self._read)[_HEAD.size : end])
        del self._read[:end]
        return kind, payload
