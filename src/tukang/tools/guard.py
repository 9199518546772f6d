"""Stands over one worker process, and ends it with everything it started: when told, or when the program is gone.

Run as a script by `workers`, one for each worker. It imports the standard library only, runs nothing of a tool's itself, and
has one thread, so it cannot hang and cannot be made to crash by what it guards. It forks the worker, and then waits for:

* the program: the control socket says that a call began (`b`) or ended (`e`); its end, or the end of the program, is the
  order to kill;
* the worker's death;
* while a call runs, more than so many processes below the worker.

Whatever comes first, nothing of the worker is left when the guard ends. On Linux it is the reaper of all that descends from
it, so that not even a process that left its session, or whose parent died, gets away; a group is killed with one signal,
which a process that forks without end cannot outrun. Elsewhere the worker's own group is killed. What became of the worker
is then written to the control socket, as JSON: `{"status": as from waitpid, "why": "told", "died" or "processes"}`.

Why not RLIMIT_NPROC: it counts all processes of the user, also those in other containers, and does not bind root.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Iterator

CONTROL, DATA = 3, 4
"""The file descriptors it is started with."""

LOOK = 0.1
"""Seconds between two looks at how many processes there are, while a call runs."""

_CHILDREN = "/proc/{process}/task/{thread}/children"
_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36


def main(path: list[str], most: int) -> None:
    """Fork the worker, and guard it to its end. Never returns.

    Args:
        path: the program's `sys.path`: the worker's, too.
        most: processes that may be below the worker.
    """
    os.closerange(max(CONTROL, DATA) + 1, 4096)  # what the program left open for its children is not for these
    control = socket.socket(fileno=CONTROL)
    for descriptor in (CONTROL, DATA):
        os.set_inheritable(descriptor, False)
    _prctl(_SET_CHILD_SUBREAPER, 1)
    guard = os.getpid()
    worker = os.fork()
    if worker == 0:
        control.close()
        _work(guard, path)
    os.close(DATA)
    why, status = _watched(control, worker, most)
    status = _swept(worker, status)
    with contextlib.suppress(OSError), control:  # nobody may be there to read it
        control.sendall(json.dumps({"status": status, "why": why}).encode())
    os._exit(0)


def _work(guard: int, path: list[str]) -> None:
    """Become the worker. Never returns."""
    status = 1
    try:
        os.setsid()
        _prctl(_SET_PDEATHSIG, signal.SIGKILL)
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
            score.write("500")  # when memory runs out, the worker goes before the program
        if os.getppid() == guard:
            sys.path[:] = path
            sys.argv[1:] = []
            from tukang.tools.worker import serve

            serve(socket.socket(fileno=DATA))
            status = 0
    except BaseException:
        traceback.print_exc()  # tukang itself could not be imported: nothing of a tool's gets here
    finally:
        os._exit(status)  # not waiting for threads, nor running what a function left for the end


def _watched(control: socket.socket, worker: int, most: int) -> tuple[str, int | None]:
    """Wait until it must end, or has ended: why, and its status if it has."""
    awake = _woken_by_children()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the program decides when it ends
    program = _handle_of_program()
    poll = select.poll()
    for descriptor in (control.fileno(), awake, *([] if program is None else [program])):
        poll.register(descriptor, select.POLLIN)
    busy = False
    while True:
        _, status = _reaped(worker)
        if status is not None:
            return "died", status
        ready = {descriptor for descriptor, _ in poll.poll(LOOK * 1000 if busy else None)}
        if awake in ready:
            os.read(awake, 4096)
        if program in ready:
            return "told", None
        if control.fileno() in ready:
            said = _heard(control)
            if not said:
                return "told", None
            busy = said.endswith(b"b")
        if busy and _more_than(most):
            return "processes", None


def _heard(control: socket.socket) -> bytes:
    try:
        return control.recv(64)
    except OSError:
        return b""


def _woken_by_children() -> int:
    """A descriptor that can be read from when a child has ended."""
    reading, writing = os.pipe()
    for descriptor in (reading, writing):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, _nothing)
    return reading


def _nothing(number: int, frame: object) -> None:
    """A handler, so that the signal is not ignored."""


def _handle_of_program() -> int | None:
    """A descriptor that can be read from when the program has ended, even if a fork of it holds the socket open."""
    try:
        return os.pidfd_open(os.getppid())
    except (AttributeError, OSError):
        return None


def _reaped(worker: int) -> tuple[bool, int | None]:
    """Take note of every child that has ended; all but the worker are orphans of its making.

    Returns:
        Whether there are more, and the worker's status if it was among them.
    """
    status: int | None = None
    while True:
        try:
            child, ended = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False, status
        if child == 0:
            return True, status
        if child == worker:
            status = ended


def _swept(worker: int, status: int | None) -> int | None:
    """Kill the worker and all that is below; returns the worker's status when nothing of it is left."""
    if status is None:
        os.kill(worker, signal.SIGKILL)
    _kill_group(worker)
    shown = os.path.exists(_CHILDREN.format(process=os.getpid(), thread=os.getpid()))
    pause = 0.001
    while True:
        left = list(_descendants(os.getpid()))
        for group in {_group(process) for process in left} - {None, os.getpgrp()}:
            _kill_group(group)
        for process in left:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        more, ended = _reaped(worker)
        status = ended if status is None else status
        if not more or (not shown and status is not None):  # what is not shown to us cannot be ended by us
            return status
        select.select((), (), (), pause)
        pause = min(pause * 2, 0.25)


def _kill_group(group: int | None) -> None:
    if group is not None:
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)


def _group(process: int) -> int | None:
    try:
        return os.getpgid(process)
    except OSError:
        return None


def _more_than(most: int) -> bool:
    """Whether more than so many processes are below the worker, those that left it included."""
    return any(place > most for place, _ in enumerate(_descendants(os.getpid())))  # the first is the worker


def _descendants(process: int) -> Iterator[int]:
    """All processes below one, as far as the system shows them (Linux)."""
    waiting = [process]
    while waiting:
        above = waiting.pop()
        try:
            threads = os.listdir(f"/proc/{above}/task")
        except OSError:  # it has ended
            continue
        for thread in threads:
            try:
                with open(_CHILDREN.format(process=above, thread=thread), "rb") as file:
                    children = [int(child) for child in file.read().split()]
            except OSError:
                continue
            waiting += children
            yield from children


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(AttributeError, OSError):  # Linux only
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), int(sys.argv[2]))
