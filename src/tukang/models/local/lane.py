"""A lane: one thread that does jobs one after the other and hands what comes out to the event loop that asked.

It knows neither llama.cpp nor prompts.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncGenerator, Callable
from typing import Protocol

from tukang.errors import ModelError
from tukang.models.local.engine import Completed, Job, Piece

_STOP_SECONDS = 10.0


class Worker(Protocol):
    """Does one job on the lane's thread. `emit` returns false when nobody wants the rest."""

    def __call__(self, job: Job, emit: Callable[[Piece | Completed], bool]) -> None: ...

    def close(self) -> None:
        """Let go of what the work needed."""
        ...


class Lane:
    """Jobs in, pieces out. The thread starts with the first job."""

    def __init__(self, name: str, worker: Worker) -> None:
        self._worker = worker
        self._waiting: queue.SimpleQueue[_Ticket | None] = queue.SimpleQueue()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._starting = threading.Lock()

    async def run(self, job: Job) -> AsyncGenerator[Piece | Completed, None]:
        """Put a job in line and yield what it gives. Leaving early withdraws it."""
        ticket = _Ticket(job, asyncio.get_running_loop())
        with self._starting:
            if self._closed.is_set():
                raise ModelError("unexpected", "the local engine was closed.")
            if self._thread.ident is None:
                self._thread.start()
            self._waiting.put(ticket)
        try:
            while True:
                item = await ticket.inbox.get()
                if isinstance(item, BaseException):
                    raise item
                yield item
                if isinstance(item, Completed):
                    return
        finally:
            ticket.withdrawn.set()

    def stop(self) -> bool:
        """End the thread; whether it ended in time. What is still in line is refused."""
        with self._starting:
            self._closed.set()
            self._waiting.put(None)
        if self._thread.ident is not None:
            self._thread.join(_STOP_SECONDS)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while (ticket := self._waiting.get()) is not None:
            if ticket.withdrawn.is_set():
                continue
            if self._closed.is_set():
                ticket.post(ModelError("unexpected", "the local engine was closed."))
                continue
            try:
                self._worker(ticket.job, lambda item, ticket=ticket: self._emit(ticket, item))
            except ModelError as error:
                ticket.post(error)
            except Exception as error:
                ticket.post(ModelError("unexpected", f"the local engine failed: {type(error).__name__}: {error}."))
            else:
                # A worker that was told to stop has nothing to say; whoever still listens must not wait for ever.
                ticket.post(Completed("stop"))
        self._worker.close()

    def _emit(self, ticket: _Ticket, item: Piece | Completed) -> bool:
        if self._closed.is_set():
            ticket.post(ModelError("unexpected", "the local engine was closed."))
            return False
        return ticket.post(item)


class _Ticket:
    """One job in line, and the way back to its event loop."""

    def __init__(self, job: Job, loop: asyncio.AbstractEventLoop) -> None:
        self.job = job
        self.inbox: asyncio.Queue[Piece | Completed | ModelError] = asyncio.Queue()
        self.withdrawn = threading.Event()
        self._loop = loop

    def post(self, item: Piece | Completed | ModelError) -> bool:
        """Hand an item over; false when the job was withdrawn or its loop is gone."""
        if self.withdrawn.is_set():
            return False
        if item != Piece(""):  # a sign of life while a prompt is read
            try:
                self._loop.call_soon_threadsafe(self.inbox.put_nowait, item)
            except RuntimeError:  # the loop was closed
                self.withdrawn.set()
                return False
        return True
