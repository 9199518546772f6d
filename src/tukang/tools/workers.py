"""One worker process, from the program's side: started, asked, killed, taken leave of.

Everything here blocks, within bounds, and belongs in a thread; only `kill` may be called from anywhere. How workers are
shared is `processes`' business; what goes on inside is `worker`'s, and who kills it is `guard`'s.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, cast

import msgspec

from tukang.tools import guard
from tukang.tools.frames import (
    PROGRESS,
    REQUEST,
    RETURNED,
    STARTED,
    UNUSABLE,
    Frames,
    Overlong,
    Reply,
    framed,
)

STARTING = 60.0
"""Seconds after which a worker that has not begun with a call is given up."""

KILLING = 2.0
"""Seconds in which a killed worker should be gone; it takes milliseconds. Then it is not waited for any longer."""

LONGEST = 256 << 20
"""Bytes a result may have."""

_CHUNK = 1 << 20
_BEYOND_STANDARD = 10


class Lost(msgspec.Struct, frozen=True, gc=False):
    """A call that did not come back.

    Args:
        reason: what happened, for the model.
        started: whether the function may have begun.
        late: its time was up.
        final: another worker would fare no better.
    """

    reason: str
    started: bool = False
    late: bool = False
    final: bool = False


class Worker:
    """A process that takes calls, and its guard.

    Args:
        most_processes: processes its functions may start.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, most_processes: int) -> None:
        self._control, control = socket.socketpair()
        self._line, line = socket.socketpair()
        with control, line:
            try:
                self._guard = _started(control, line, most_processes)
            except OSError:
                self.let_go()
                raise
        self._control.setblocking(False)
        self._line.setblocking(False)
        self._frames = Frames(LONGEST)
        self._unsent = memoryview(b"")
        self._report = b""
        self._gone = False
        self._poll = select.poll()
        self._poll.register(self._control, select.POLLIN)
        self._poll.register(self._line, select.POLLIN)

    def alive(self) -> bool:
        """Whether it waits for a call."""
        return not self._poll.poll(0)

    def kill(self) -> None:
        """Have it killed, with everything it started. Returns at once; may be called twice, and from any thread."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)

    def let_go(self) -> None:
        """Close what leads to it, without ending it: in a fork of the program that started it."""
        self._control.close()
        self._line.close()

    def close(self) -> None:
        """Kill it and wait until it is gone, but not for long."""
        self.kill()
        end = time.monotonic() + KILLING
        with contextlib.suppress(TimeoutError, EOFError, Overlong):
            while True:
                self._next(end)
        if self._gone:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self._guard, 0)
        self.let_go()

    def ask(
        self,
        request: bytes,
        timeout: float | None,
        deadline: float,
        tell: Callable[[float | None, str], None] | None,
    ) -> Reply | Lost:
        """Have it run a call.

        Args:
            request: a `frames.Request` as it is sent.
            timeout: seconds from when it begins; None for no bound.
            deadline: when its time is up, whether it has begun or not, in seconds of `time.monotonic`.
            tell: takes progress.

        Returns:
            The reply, also one that came while it was being killed; or that there is none, and why.
        """
        self._say(b"b")
        self._unsent = memoryview(framed(REQUEST, request))
        started = late = False
        end = min(deadline, time.monotonic() + STARTING)
        while True:
            try:
                kind, payload = self._next(end)
            except TimeoutError:
                if late:
                    return Lost("it cannot be ended", started, late)
                late = True
                self.kill()
                end = time.monotonic() + KILLING
                continue
            except EOFError:
                return self._lost(started, late)
            except Overlong as error:
                self.kill()
                return Lost(f"its result is too long: {error}, and {LONGEST} are taken", started, final=True)
            if kind == STARTED:
                started = True
                if not late:
                    end = min(deadline, time.monotonic() + (math.inf if timeout is None else timeout))
            elif kind == PROGRESS and tell is not None:
                tell(*msgspec.msgpack.decode(payload, type=tuple[float | None, str]))
            elif kind == UNUSABLE:
                return Lost(f"it cannot be run in a process: {payload.decode()}", final=True)
            elif kind == RETURNED:
                self._say(b"e")
                return msgspec.msgpack.decode(payload, type=Reply)

    def _lost(self, started: bool, late: bool) -> Lost:
        """What the guard says of its end."""
        report: dict[str, Any] = json.loads(self._report) if self._report else {"why": "unknown", "status": None}
        if late:
            return Lost("its time was up, and its process was ended", started, late)
        if report["why"] == "processes":
            return Lost("it started too many processes, and was ended with all of them", started, final=True)
        if report["why"] == "died" and report["status"] is not None:
            return Lost(_described(report["status"]), started)
        return Lost("its process was ended", started)

    def _say(self, letter: bytes) -> None:
        with contextlib.suppress(OSError):  # it is gone, as will be seen
            self._control.send(letter)

    def _next(self, end: float) -> tuple[int, bytes]:
        """The next message.

        Raises:
            TimeoutError: none came by then.
            EOFError: none can come any more: it is gone, and everything it said has been read.
            Overlong: it is longer than is taken.
        """
        while (frame := self._frames.next()) is None:
            left = end - time.monotonic()
            if left <= 0 and not self._gone:
                raise TimeoutError
            wanted = select.POLLIN | (select.POLLOUT if self._unsent else 0)
            with contextlib.suppress(KeyError, FileNotFoundError):
                self._poll.modify(self._line, wanted)
            ready = dict(self._poll.poll(0 if self._gone else None if left == math.inf else math.ceil(left * 1000)))
            if not ready and self._gone:
                raise EOFError
            if self._control.fileno() in ready:
                self._hear_guard()
            if happened := ready.get(self._line.fileno()):
                self._exchange(happened)
        return frame

    def _exchange(self, happened: int) -> None:
        """Send and receive what can be, without waiting."""
        if happened & select.POLLOUT and not happened & (select.POLLHUP | select.POLLERR):
            with contextlib.suppress(OSError):
                self._unsent = self._unsent[self._line.send(self._unsent[:_CHUNK]) :]
        if happened & ~select.POLLOUT:
            data = _read(self._line)
            if data is None:
                self._unsent = memoryview(b"")
                self._poll.unregister(self._line)
            else:
                self._frames.add(data)

    def _hear_guard(self) -> None:
        data = _read(self._control)
        if data is None:
            self._gone = True
            self._poll.unregister(self._control)
        else:
            self._report += data


def _read(line: socket.socket) -> bytes | None:
    """What has come; None when nothing can come any more."""
    try:
        return line.recv(_CHUNK) or None
    except BlockingIOError:
        return b""
    except OSError:
        return None


def module_path() -> tuple[str, ...]:
    """Where this program finds its modules, now."""
    return tuple(os.fsdecode(place or os.getcwd()) for place in sys.path)


def _started(control: socket.socket, line: socket.socket, most_processes: int) -> int:
    """Start a guard on these sockets; returns its process id."""
    # copies with high numbers, so that giving them the numbers the guard expects closes none of them
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _BEYOND_STANDARD) for end in (control, line)]
    flags = cast("list[str]", subprocess._args_from_interpreter_flags())  # type: ignore  # as multiprocessing does
    command = [
        *(sys.executable, *flags, "-P", guard.__file__),
        json.dumps(module_path()),
        str(most_processes),
    ]
    try:
        return os.posix_spawn(
            sys.executable,
            command,
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, ends[0], guard.CONTROL),
                (os.POSIX_SPAWN_DUP2, ends[1], guard.DATA),
            ],
            setpgroup=0,  # Ctrl-C is for the program
            setsigmask=(),
            setsigdef=(signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD),
        )
    finally:
        for end in ends:
            os.close(end)


def _described(status: int) -> str:
    """A process's end in words, from its status as of `os.waitpid`."""
    if not os.WIFSIGNALED(status):
        return f"its process ended with status {os.waitstatus_to_exitcode(status)} before it returned"
    number = os.WTERMSIG(status)
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    told = f"its process was ended by {name} ({signal.strsignal(number)})"
    return f"{told}: most likely there was no memory left" if number == signal.SIGKILL else told
