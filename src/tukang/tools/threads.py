"""Daemon threads for functions that block. It runs jobs; it knows nothing of tools, time-outs or event loops.

Not asyncio's default executor: that has only a few threads (six on two cores), so that one slow tool makes the others wait.
Not anyio's worker threads: they are not daemons, so that one hung function keeps the program from ending, and a hop to one
and back costs twice as much. Here a job gets a thread at once, nothing is ever joined, and a thread that hangs is simply
not used again.

A thread cannot be stopped, so whoever stops waiting for a job says so (`abandon`), and such jobs are counted until they end.
Beyond a number of them the one who starts jobs should not (`full`): a function that hangs each time would take the program's
memory, a thread at a time.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable
from queue import SimpleQueue

MOST_IDLE = 16
"""Threads kept for the next job; a thread that finds so many waiting ends."""

MOST_ABANDONED = 64
"""Jobs that nobody waits for any more and that still run. Not an option: who gets here needs a function that can be stopped
(`isolation="process"`), not more room."""


class Job:
    """Something that runs in a thread. It must not raise.

    Args:
        work: what is run.
        name: what it is called when it is abandoned.
    """

    __slots__ = ("name", "over", "work")

    def __init__(self, work: Callable[[], None], name: str = "") -> None:
        self.work = work
        self.name = name
        self.over = False


class Threads:
    """Threads that are kept after a job, because starting one costs more than most tools do."""

    def __init__(self, most_idle: int = MOST_IDLE, most_abandoned: int = MOST_ABANDONED) -> None:
        self._most_idle = most_idle
        self._most_abandoned = most_abandoned
        self._idle: list[SimpleQueue[Job]] = []
        self._abandoned: set[Job] = set()
        if hasattr(os, "register_at_fork"):  # asking for the process at each job is a system call
            os.register_at_fork(after_in_child=self._begin_anew)

    def run(self, job: Job) -> None:
        """Run a job in a thread of its own, at once; returns without waiting.

        Raises:
            RuntimeError: the system gives no more threads.
        """
        try:
            inbox = self._idle.pop()
        except IndexError:
            inbox = SimpleQueue[Job]()
            threading.Thread(target=self._work, args=(inbox,), name="tukang-tool", daemon=True).start()
        inbox.put(job)

    def abandon(self, job: Job) -> None:
        """Nobody waits for this job any more. It is counted until it ends."""
        self._abandoned.add(job)
        if job.over:  # it has ended just now, and the thread may not have seen that it was to be counted off
            self._abandoned.discard(job)

    @property
    def full(self) -> bool:
        """Whether so many abandoned jobs are running that no more should be started."""
        return len(self._abandoned) >= self._most_abandoned

    def abandoned(self) -> Counter[str]:
        """How many abandoned jobs are running, by name."""
        return Counter(job.name for job in tuple(self._abandoned))

    def _begin_anew(self) -> None:
        """In a process that was forked: the list of idle threads was copied, but none of the threads."""
        self._idle.clear()
        self._abandoned.clear()

    def _work(self, inbox: SimpleQueue[Job]) -> None:
        while True:
            job = inbox.get()
            job.work()
            job.over = True
            self._abandoned.discard(job)
            del job  # it holds the call's arguments and context
            if len(self._idle) >= self._most_idle:
                return
            self._idle.append(inbox)
