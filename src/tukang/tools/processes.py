"""Worker processes for functions that must stop when their time is over: a few, kept for the next call, killed without loss.

It hands a call to a worker and says what came of it, within its time. It knows nothing of tools, effects and faults; what
it does not know (whether a killed function had done its work) it says.

* Starting: lazy, with a new interpreter (never a fork of a program that has threads). The time this takes is the turn's, not
  the function's: its time-out begins when it does. What ended before the function began is tried with another worker.
* Killing: at the time-out, the deadline or a cancel, by the worker's `guard`, together with everything the function started.
* Crashing costs the one call. The next gets another worker.
* Ending: nothing is joined, nothing need be closed. A guard ends when the program does, however that ends.

Why not a library. concurrent.futures and loky cannot stop one call, and a worker that dies breaks the pool for the others.
anyio.to_process and pebble stop a worker, but not what it started, nor when the program itself is killed; anyio's line is the
worker's standard output, where a function's own output ends up in it; pebble has one line for all workers, and asks a process
to end before it kills it, which takes seconds where a function does not listen. None says whether the function had begun.
Under them lies multiprocessing, of which little is left to use once its queues, its join at exit and its import of the
program's main module are not wanted.
"""

from __future__ import annotations

import atexit
import math
import os
import threading
import time
from collections.abc import Callable

from tukang.tools.frames import Reply
from tukang.tools.workers import Lost, Worker

MOST_BUSY = 16
"""Workers in one program; calls beyond wait for one. A worker has about 40 MB, and ends when nothing is asked of it."""

MOST_PROCESSES = 64
"""Processes a function may start; a worker with more below it is killed."""

TRIES = 3
"""Workers tried for one call, while it is certain that its function has not begun."""


class Errand:
    """One call on its way to a worker and back.

    Args:
        request: the call, a `frames.Request` as it is sent.
        timeout: seconds from when it begins; None for no bound.
        deadline: when its time is up, whether it has begun or not, in seconds of `time.monotonic`; None for no bound.
        tell: takes progress; called in the thread that waits for the call.
    """

    def __init__(
        self,
        request: bytes,
        timeout: float | None,
        deadline: float | None,
        tell: Callable[[float | None, str], None] | None,
    ) -> None:
        self.request = request
        self.timeout = timeout
        self.deadline = math.inf if deadline is None else deadline
        self.tell = tell
        self.stopped = False
        self._worker: Worker | None = None
        self._lock = threading.Lock()

    def give_to(self, worker: Worker | None) -> None:
        """This worker has it now (None: it is over)."""
        with self._lock:
            self._worker = worker
            if self.stopped and worker is not None:
                worker.kill()

    def stop(self) -> None:
        """Kill the worker that has it. Returns at once."""
        with self._lock:
            self.stopped = True
            if self._worker is not None:
                self._worker.kill()


class Processes:
    """Workers, and who may use them."""

    def __init__(self, most_busy: int = MOST_BUSY, most_processes: int = MOST_PROCESSES) -> None:
        self._most_busy = most_busy
        self._most_processes = most_processes
        self._known = False
        self._forget()

    def run(self, errand: Errand) -> Reply | Lost:
        """Have a call run; blocks until it is over. Call `tidy` afterwards, when the result is on its way."""
        said: Reply | Lost = Lost("there was no time left", late=True)
        for _ in range(TRIES):
            if not self._enter(errand):
                break
            worker: Worker | None = None
            try:
                worker = self._taken() or Worker(self._most_processes)
                self._all.add(worker)
                errand.give_to(worker)
                said = worker.ask(errand.request, errand.timeout, errand.deadline, errand.tell)
            except OSError as error:
                said = Lost(f"its process could not be started: {error}")
            finally:
                errand.give_to(None)
                self._leave(worker, reusable=isinstance(said, Reply) and said.reusable)
            if isinstance(said, Reply) or said.started or said.late or said.final or errand.stopped:
                break
        return said

    def stop(self, errand: Errand) -> None:
        """Stop a call, wherever it is. Returns at once."""
        errand.stop()
        with self._place:
            self._place.notify_all()

    def tidy(self) -> None:
        """Take leave of workers that are of no more use."""
        with self._place:
            self._sort_out()
        while True:
            try:
                worker = self._leaving.pop()
            except IndexError:
                return
            worker.close()
            self._all.discard(worker)

    def end(self) -> None:
        """Kill all workers, when the program ends. Waits for nothing; the end of the program does the same a little later."""
        for worker in tuple(self._all):
            worker.kill()

    def _enter(self, errand: Errand) -> bool:
        """Wait for a place; False when its time was up, or it was stopped, before there was one."""
        if not self._known:
            self._known = True
            os.register_at_fork(after_in_child=self._let_go)
            atexit.register(self.end)
        with self._place:
            while not errand.stopped and (left := errand.deadline - time.monotonic()) > 0:
                if self._busy < self._most_busy:
                    self._busy += 1
                    return True
                self._place.wait(None if left == math.inf else left)
        return False

    def _taken(self) -> Worker | None:
        """A worker that waits for a call, if there is one."""
        with self._place:
            self._sort_out()
            return self._idle.pop() if self._idle else None

    def _sort_out(self) -> None:
        """Put aside the workers that have ended while they waited for a call."""
        self._leaving += [worker for worker in self._idle if not worker.alive()]
        self._idle = [worker for worker in self._idle if worker not in self._leaving]

    def _leave(self, worker: Worker | None, *, reusable: bool) -> None:
        with self._place:
            self._busy -= 1
            self._place.notify()
            if worker is not None:
                (self._idle if reusable else self._leaving).append(worker)

    def _forget(self) -> None:
        self._place = threading.Condition()
        self._busy = 0
        self._idle: list[Worker] = []
        self._leaving: list[Worker] = []
        self._all: set[Worker] = set()

    def _let_go(self) -> None:
        """In a fork of the program: the workers are the other's."""
        for worker in tuple(self._all):
            worker.let_go()
        self._forget()
