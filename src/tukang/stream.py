"""A turn as it happens: events and signals in order, and the answer at the end.

A reader that leaves early cancels the turn; what was finished by then is kept.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Generic

from tukang.answer import Answer, T
from tukang.loop.events import Event
from tukang.running import Running
from tukang.runtime.signals import Signal

Listener = Callable[[Event | Signal], None]


class Stream(Generic[T]):
    """Follows one turn: `async for item in stream`, then `stream.answer`. It can be iterated once."""

    def __init__(self, start: Callable[[Listener], Running[T]]) -> None:
        self._queue: asyncio.Queue[Event | Signal | None] = asyncio.Queue()
        self._running = start(self._queue.put_nowait)
        self._answer: Answer[T] | None = None
        self._begun = False

    @property
    def answer(self) -> Answer[T]:
        """The answer, once the iteration has ended.

        Raises:
            RuntimeError: it has not.
        """
        if self._answer is None:
            raise RuntimeError("the answer is there when the stream has been read to its end")
        return self._answer

    def cancel(self, reason: str = "") -> None:
        """End the turn now; the stream goes on to its end, and the answer says `cancelled`."""
        self._running.cancel(reason)

    async def __aiter__(self) -> AsyncIterator[Event | Signal]:
        if self._begun:
            raise RuntimeError(
                "a stream is read once; what it said is in its answer, and another turn is another stream"
            )
        self._begun = True
        task = asyncio.create_task(self._running.answer())
        task.add_done_callback(lambda _: self._queue.put_nowait(None))
        try:
            while (item := await self._queue.get()) is not None:
                yield item
            self._answer = await task
        finally:
            if not task.done():
                task.cancel()  # the turn is ended well before the cancel arrives here
                with contextlib.suppress(asyncio.CancelledError):
                    await task
