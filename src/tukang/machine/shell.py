"""One bash in a sandbox that stays: a directory changed into, a variable set, a server started are there for the next
command.

Commands go in by one pipe, what they say comes out by another, how they ended by a third, of which they know nothing.
Nothing is waited for but on the caller's event loop, and no two calls need the same one.

A thread stands by each shell. It starts it, because a process that is to die with its parent dies with the *thread* that
started it; it counts what runs inside and ends everything when that is too much, also between two commands; and it clears up
after it.
"""

from __future__ import annotations

import asyncio
import ctypes
import fcntl
import json
import os
import platform
import re
import secrets
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Literal

import msgspec

from tukang.machine.capture import Capture
from tukang.machine.sandbox import Bounds

LONGEST = 60_000
"""Bytes of a command: what a pipe holds, so that writing one never waits."""

FLOOD = 200_000_000
"""Bytes after which a command that does not stop talking is ended."""

_TICK, _IDLE_TICK = 0.05, 0.2
"""Seconds between two looks at what runs, while a command is under way and otherwise."""

_SLOWEST = 20
"""Seconds a sandbox may take until it is there."""

_TOLD = 4096
"""Bytes that an end of a command may be behind; there are more only where somebody else writes them."""

_HIGH = 64

# A command ends in NUL, and behind it comes a word of its own, which is read when the command has ended and sent back with
# its status: an end that says another word is none. While a command runs it has neither the pipe it came by (3) nor the one
# that is told its end (4). Whatever it did to the shell (its own `printf`, `set -x`, another IFS) is not heard of in between.
# What runs steps back before the host, so that who watches a storm comes to look at it, and is the first that a system short
# of memory ends.
_DRIVER = """\
exec 3<&0 0</dev/null 4>&{status} {status}>&- {info}>&- {begun}>&-
ulimit -c 0 -v {memory} -f {files} -n 256 {processes}
renice -n 10 -p $$ >/dev/null 2>&1
{{ echo 1000 >/proc/self/oom_score_adj; }} 2>/dev/null
while {{ IFS= builtin read -r -d '' -u 3 __tukang; }} 2>/dev/null; do
  builtin eval "$__tukang" 3<&- 4>&- </dev/null
  {{
    builtin printf '%s ' "$?" >&4
    IFS= builtin read -r -d '' -u 3 __tukang && builtin printf '%s\\0' "$__tukang" >&4
  }} 2>/dev/null
done
"""

End = Literal[
    "done", "shell_ended", "timed_out", "too_much_output", "too_many_processes", "too_much_memory", "not_started"
]


class Said(msgspec.Struct, frozen=True):
    """What became of a command.

    Args:
        text: its output, and what was written to its standard error, in the order they came.
        end: how it ended. After anything but `done` the shell is gone.
        status: its exit status, or the shell's; None where there is none.
    """

    text: str
    end: End
    status: int | None = None


class Shell:
    """A shell, from its start to its end. One command at a time.

    Args:
        sandbox: the command line that the shell's own goes behind, for the descriptor it gets.
        bounds: what it may take.
        right: whether what a sandbox sees is what it is to see, by a path to its root. Until that is known, nothing runs.
    """

    def __init__(
        self, sandbox: Callable[[int], Sequence[str]], bounds: Bounds, right: Callable[[str], bool] = lambda _: True
    ) -> None:
        self._bounds = bounds
        self._process: subprocess.Popen[bytes] | None = None
        self._inside: int | None = None
        self._first: int | None = None
        self._over = threading.Event()
        self._why: End | None = None
        self._begun, self._ready = threading.Event(), False
        self._right = right
        self._busy = False
        self.used = time.monotonic()
        commands, self._commands = os.pipe()
        self._output, output = os.pipe()
        self._status, status = _pipe_from_high_up()
        for mine in (self._output, self._status, self._commands):
            os.set_blocking(mine, False)
        theirs = (commands, output, status)
        self._thread = threading.Thread(target=self._stand_by, args=(sandbox, theirs), daemon=True, name="tukang shell")
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether it can be given a command."""
        return not self._over.is_set() and self._why is None

    @property
    def busy(self) -> bool:
        """Whether a command is under way."""
        return self._busy

    def end(self, why: End = "shell_ended") -> None:
        """Kill it and all it started. From any thread; more than once if you like."""
        self._why = self._why or why
        process = self._process
        if process is None or self._over.is_set():
            return
        with suppress(ProcessLookupError):
            if self._first is None:
                os.killpg(process.pid, signal.SIGKILL)
            else:  # the first process in there, and with it all others; bubblewrap ends when it has cleared up after them
                signal.pidfd_send_signal(self._first, signal.SIGKILL)

    async def run(self, command: str, seconds: float) -> Said:
        """Run a command to its end; when it takes longer, or is cancelled, the whole shell ends with it.

        Args:
            command: a script, of at most `LONGEST` bytes.
            seconds: how long it may take.
        """
        self._busy = True
        capture = Capture(self._bounds.output)
        try:
            try:
                word = secrets.token_hex(8).encode()
                async with asyncio.timeout(seconds):
                    if not self._begun.is_set():
                        await asyncio.to_thread(self._begun.wait, _SLOWEST)
                    self._send(b"%b\0%b\0" % (command.encode("utf-8", "replace"), word))
                    status = await self._ended(capture, word)
            except BrokenPipeError:
                status = None
            except TimeoutError:
                self.end("timed_out")
                status = None
            except BaseException:
                self.end()
                raise
            self._drain(capture)
        finally:
            self._busy, self.used = False, time.monotonic()
        if status is not None:
            return Said(capture.text(), "done", status)
        await asyncio.to_thread(self._over.wait, 2)
        self._drain(capture)
        end = self._why or ("shell_ended" if self._ready else "not_started")
        code = self._process.returncode if self._process and end == "shell_ended" else None
        return Said(capture.text(), end, code)

    def _send(self, command: bytes) -> None:
        """Write a command, which finds room: the shell has taken all before it."""
        if os.write(self._commands, command) < len(command):  # a system that gives small pipes
            self.end()
            raise BrokenPipeError

    async def _ended(self, capture: Capture, word: bytes) -> int | None:
        """The status of the command under way, which its word comes with; None when the shell ended instead."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[int | None] = loop.create_future()
        told, end = bytearray(), re.compile(rb"(\d{1,3}) %b\0" % word)

        def hear() -> None:
            if not self._take(capture) or capture.length > FLOOD:
                loop.remove_reader(self._output)
            if capture.length > FLOOD:
                self.end("too_much_output")

        def see() -> None:
            with suppress(BlockingIOError):
                told.extend(data := os.read(self._status, _TOLD))
                del told[:-_TOLD]
                found = end.search(told)
                if (found or not data) and not ended.done():
                    ended.set_result(int(found[1]) if found else None)

        loop.add_reader(self._output, hear)
        loop.add_reader(self._status, see)
        try:
            return await ended
        finally:
            loop.remove_reader(self._output)
            loop.remove_reader(self._status)

    def _take(self, capture: Capture) -> bool:
        """Read once what is there; False at the end."""
        try:
            data = os.read(self._output, 1 << 16)
        except BlockingIOError:
            return True
        capture.add(data)
        return bool(data)

    def _drain(self, capture: Capture) -> None:
        """What the command said before it ended: it is in the pipe by now. What goes on talking is heard next time."""
        for _ in range(32):
            before = capture.length
            if not self._take(capture) or capture.length == before:
                return

    # ── the thread that stands by ────────────────────────────────────────────────────────────────────────────────────

    def _stand_by(self, sandbox: Callable[[int], Sequence[str]], theirs: tuple[int, int, int]) -> None:
        commands, output, status = theirs
        told, info = _pipe_from_high_up()
        opening, begun = _pipe_from_high_up()  # which all but the shell close, and it when it is there
        _leave_keyring()
        try:
            self._process = process = subprocess.Popen(
                [*sandbox(info), "/bin/bash", "--noprofile", "--norc", "-c", self._driver(status, info, begun)],
                stdin=commands,
                stdout=output,
                stderr=output,
                pass_fds=(status, info, begun),
                env={},  # what is in it can be read inside, of process 1
                cwd="/",
                start_new_session=True,
            )
        except OSError:
            self._why = "not_started"
            return
        finally:
            for one in (*theirs, info, begun):
                os.close(one)
            if self._process is None:
                os.close(told)
                os.close(opening)
                self._over.set()
                self._begun.set()
        self._inside = _first_inside(told)
        if self._inside is not None:
            with suppress(OSError):
                self._first = os.pidfd_open(self._inside)
        with os.fdopen(opening, "rb") as pipe:
            pipe.read()
        self._ready = self._inside is not None and self._right(f"/proc/{self._inside}/root")
        if not self._ready:
            self._why = self._why or "not_started"
        self._begun.set()
        if self._why is not None:  # ended before it began
            self.end()
        while True:
            try:
                process.wait(_TICK if self._busy else _IDLE_TICK)
                break
            except subprocess.TimeoutExpired:
                self._watch()
        self._over.set()

    def _driver(self, status: int, info: int, begun: int) -> str:
        bounds = self._bounds
        # A storm is ended by the watch; until that looks, the system holds it. Counted for each user namespace since Linux
        # 5.14; before that a user's other processes would count.
        new = tuple(map(int, platform.release().split("-")[0].split(".")[:2])) >= (5, 14)
        return _DRIVER.format(
            status=status,
            info=info,
            begun=begun,
            memory=4 * bounds.memory << 10,
            files=bounds.files << 10,
            processes=f"-u {2 * bounds.processes}" if new else "",
        )

    def _watch(self) -> None:
        """End what takes too much. Root is above the system's own limits, and memory is limited for each process only."""
        bounds = self._bounds
        if not self._busy and time.monotonic() - self.used > bounds.idle:
            self.end()
        if self._inside is None:
            return
        listed = f"/proc/{self._inside}/root/proc"  # the processes in there, and no others
        try:
            running = [name for name in os.listdir(listed) if name.isdecimal()]
        except OSError:
            return
        if len(running) > bounds.processes:
            self.end("too_many_processes")
        elif _resident(listed, running) > bounds.memory << 20:
            self.end("too_much_memory")

    def __del__(self) -> None:
        self.end()
        for one in (self._commands, self._output, self._status, self._first):
            if one is not None:
                os.close(one)


def _pipe_from_high_up() -> tuple[int, int]:
    """A pipe whose writing end has a number that the shell has no use for; the low ones it deals out anew."""
    reading, writing = os.pipe()
    high = fcntl.fcntl(writing, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    os.close(writing)
    return reading, high


def _leave_keyring() -> None:
    """Have a keyring of its own for this thread and what it starts: the one of the login may hold keys, and no namespace
    is between it and who has inherited it."""
    number = {"x86_64": 250, "aarch64": 219}.get(platform.machine())
    if number is not None:
        join = ctypes.c_long(1)
        ctypes.CDLL(None).syscall(ctypes.c_long(number), join, None)


def _first_inside(told: int) -> int | None:
    """The first process of the sandbox, as it is known outside."""
    with os.fdopen(told, "rb") as pipe:
        said = pipe.read()
    with suppress(ValueError, KeyError, TypeError):
        return int(json.loads(said)["child-pid"])
    return None


def _resident(listed: str, running: Sequence[str]) -> int:
    """Bytes that these processes have in memory."""
    pages = 0
    for name in running:
        with suppress(OSError, ValueError, IndexError), open(f"{listed}/{name}/statm") as counts:
            pages += int(counts.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
