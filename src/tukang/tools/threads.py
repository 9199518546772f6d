"""Daemon threads for functions that block. It runs jobs; it knows nothing of tools, time-outs or event loops.

Not asyncio's default executor: that has only a few threads (six on two cores), so that one slow tool makes the others wait.
Not anyio's worker threads: they are not daemons, so that one hung function keeps the program from ending, and a hop to one
and back costs twice as much. Here a job gets a thread at once, nothing is ever joined, and a thread that hangs is simply
not used again.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

Job = Callable[[], None]

MOST_IDLE = 16
"""Threads kept for the next job; a thread that finds so many waiting ends."""


class Threads:
    """Threads that are kept after a job, because starting one costs more than most tools do."""

    def __init__(self, most_idle: int = MOST_IDLE) -> None:
        self._most_idle = most_idle
        self._idle: list[SimpleQueue[Job]] = []
        self._process = os.getpid()

    def run(self, job: Job) -> None:
        """Run a job in a thread of its own, at once; returns without waiting. The job must not raise."""
        if self._process != os.getpid():  # a fork copies the list of idle threads, but none of the threads
            self._idle.clear()
            self._process = os.getpid()
        try:
            inbox = self._idle.pop()
        except IndexError:
            inbox = SimpleQueue[Job]()
            threading.Thread(target=self._work, args=(inbox,), name="tukang-tool", daemon=True).start()
        inbox.put(job)

    def _work(self, inbox: SimpleQueue[Job]) -> None:
        while True:
            job = inbox.get()
            job()
            del job  # it holds the call's arguments and context
            if len(self._idle) >= self._most_idle:
                return
            self._idle.append(inbox)
