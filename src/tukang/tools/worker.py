"""The inside of a worker process: it takes one call after the other from the program, runs it, and says what became of it.

It is started by `guard`, knows nothing of turns, and decides nothing: it is killed from outside when its time is over. What
it promises is the order of what it says: `STARTED` before the function runs and not later, so that a call which ended before
is known to have done nothing.

A worker serves several calls, of several tools. What a function leaves in its module is still there for the next call that
happens to come here; context variables and the logging set up in the program are not here at all.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import pickle
import resource
import select
import socket
import sys
import threading
import time
from collections.abc import Generator
from typing import Any

import msgspec

from tukang.tools.context import CallContext, Tell
from tukang.tools.ended import Ended, Raised, Returned, awaited, outcome, ran, unfinished
from tukang.tools.failure import words
from tukang.tools.frames import PROGRESS, READY, REQUEST, RETURNED, STARTED, UNUSABLE, Frames, Reply, Request, framed
from tukang.tools.outcome import Outcome, failed

IDLE = 60.0
"""Seconds without a call after which a worker ends."""

_NO_BOUND = sys.maxsize
_MEGABYTE = 1 << 20


def serve(line: socket.socket) -> None:
    """Serve calls until none has come for a while, or the program is gone."""
    worker = _Worker(line)
    worker.say(READY)
    while (request := worker.next_request()) is not None:
        worker.serve(request)


class _Worker:
    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._frames = Frames(_NO_BOUND)
        self._process = os.getpid()
        self._saying = threading.Lock()
        self._running = False
        self._size = _size()
        """Bytes it had when the last call ended."""
        self._own = self._size
        """Bytes that no call has to answer for: the interpreter's, and what was imported."""

    def say(self, kind: int, payload: bytes = b"") -> None:
        with self._saying:
            self._line.sendall(framed(kind, payload))

    def next_request(self) -> Request | None:
        """The next call; None when there is none for too long, or never again."""
        while (frame := self._frames.next()) is None:
            if not select.select((self._line,), (), (), IDLE)[0]:
                return None
            data = self._line.recv(_MEGABYTE)
            if not data:
                return None
            self._frames.add(data)
        kind, payload = frame
        assert kind == REQUEST
        return msgspec.msgpack.decode(payload, type=Request)

    def serve(self, request: Request) -> None:
        """Run one call and say how it ended."""
        sys.path[:] = request.path
        try:
            function, positional, named = pickle.loads(request.call)
        except BaseException as error:
            self.say(UNUSABLE, words(error).encode("utf-8", "replace"))
            return
        self._prepare(request, named)
        call = functools.partial(function, *positional, **named)
        del function, positional, named
        self._running = True
        self.say(STARTED)
        with _bounded(self._limit(request)):
            ended = ran(call, self._tell)
            if unfinished(ended):
                ended = _awaited(ended, self._tell)
            result = outcome(ended, request.tool, none_is_null=request.none_is_null)
        if os.getpid() != self._process:  # a fork that the function made, and let return
            os._exit(0)
        with self._saying:  # whatever thread of the function still speaks, it is too late
            self._running = False
        spent = isinstance(ended, Raised) and isinstance(ended.error, MemoryError)
        del call, ended
        _flush()
        self.say(RETURNED, _encoded(result, reusable=not spent and not _has_children()))
        del result
        self._size = _size()

    def _prepare(self, request: Request, named: dict[str, Any]) -> None:
        """Give the function's `CallContext` what could not be sent: where progress goes, and when its time is over."""
        for name in request.contexts:
            context: CallContext = named[name]
            bounds = [context.deadline, None if request.timeout is None else time.monotonic() + request.timeout]
            deadline = min((bound for bound in bounds if bound is not None), default=None)
            named[name] = msgspec.structs.replace(context, tell=self._tell, deadline=deadline)

    def _limit(self, request: Request) -> int | None:
        """Bytes of address space the call may bring this process to."""
        self._own += max(0, _size() - self._size)  # what its modules took when they were imported just now
        return None if request.memory is None else self._own + request.memory * _MEGABYTE

    def _tell(self, percent: float | None, message: str) -> None:
        if os.getpid() != self._process:  # a fork that the function made
            return
        payload = msgspec.msgpack.encode((percent, message))
        with self._saying:
            if self._running:
                self._line.sendall(framed(PROGRESS, payload))


def _awaited(ended: Ended, tell: Tell) -> Ended:
    """Await what the function made, on an event loop of its own."""
    assert isinstance(ended, Returned)
    value = ended.value
    try:
        return asyncio.run(awaited(lambda: value, tell))
    except BaseException as error:  # it was cancelled from within
        return Raised(error)


def _encoded(result: Outcome, *, reusable: bool) -> bytes:
    try:
        return msgspec.msgpack.encode(Reply(result, reusable))
    except Exception as error:
        lost = failed("tool_failed", f"it ran, but its result cannot be sent: {words(error)}")
        return msgspec.msgpack.encode(Reply(lost, reusable))


@contextlib.contextmanager
def _bounded(most: int | None) -> Generator[None]:
    """Within it this process has at most so many bytes of address space, if any number is given."""
    if most is None:
        yield
        return
    before, hard = resource.getrlimit(resource.RLIMIT_AS)
    bounds = [most, *(bound for bound in (before, hard) if bound != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_AS, (min(bounds), hard))
    try:
        yield
    finally:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (before, hard))


def _size() -> int:
    """Bytes of address space this process has; 0 where that is not to be known."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def _has_children() -> bool:
    """Whether the function has left a process running, as far as the system shows it."""
    with contextlib.suppress(OSError):
        for thread in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{thread}/children") as file:
                if file.read().strip():
                    return True
    return False


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
