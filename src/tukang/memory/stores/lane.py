"""The threads that do a store's blocking work, each with a database connection of its own.

Work is handed in from any event loop and any thread, and its result goes back to the loop it came from. The threads are
started when they are needed. They are daemons: a program can always exit, and what was not written by then was not written.
A forked process starts threads of its own and leaves its parent's connections alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import threading
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")


class Closable(Protocol):
    def close(self) -> None: ...


D = TypeVar("D", bound=Closable)

_Job = Callable[[Any], None]


class Lane(Generic[D]):
    """Up to `size` threads.

    Args:
        name: what the threads are called.
        make: makes what the work is done with; called in the thread that uses it. It must not fail: a connection is
            opened when it is first used.
        size: how many threads at most. With one, work is done in the order it came.
    """

    def __init__(self, name: str, make: Callable[[], D], size: int) -> None:
        self._name = name
        self._make = make
        self._size = size
        self._lock = threading.Lock()
        self._fresh()

    def _fresh(self) -> None:
        self._process = os.getpid()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._idle = 0

    async def run(self, work: Callable[[D], T]) -> T:
        """Do the work in one of the threads. When the awaiting task is cancelled, the work is done all the same."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def job(tool: D) -> None:
            result, error = None, None
            try:
                result = work(tool)
            except BaseException as raised:
                error = raised
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_settle, future, result, error)

        self._hand_in(job)
        return await future

    async def close(self) -> None:
        """Let what was handed in be done, close all connections and end the threads."""
        with self._lock:
            threads, jobs = self._threads, self._jobs
            mine = self._process == os.getpid()
            self._fresh()
        if not mine:
            return
        for _ in threads:
            jobs.put(None)
        for thread in threads:
            await asyncio.to_thread(thread.join)

    def _hand_in(self, job: _Job) -> None:
        with self._lock:
            if self._process != os.getpid():
                self._fresh()
            if self._idle > 0:
                self._idle -= 1
            elif len(self._threads) < self._size:
                thread = threading.Thread(target=self._serve, args=(self._jobs,), name=self._name, daemon=True)
                self._threads.append(thread)
                thread.start()
            self._jobs.put(job)

    def _serve(self, jobs: queue.SimpleQueue[_Job | None]) -> None:
        tool = self._make()
        try:
            while (job := jobs.get()) is not None:
                job(tool)
                with self._lock:
                    if jobs is self._jobs and jobs.empty():
                        self._idle += 1
        finally:
            tool.close()


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
