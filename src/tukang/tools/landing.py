"""Where something that ends elsewhere, in a thread or a task, comes back to the event loop that waits for it.

The first that lands counts. It starts and stops nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Generic, TypeVar

T = TypeVar("T")


class Landing(Generic[T]):
    """One place to land, on the event loop that is running now."""

    __slots__ = ("_future", "_loop")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[T] = self._loop.create_future()

    def land(self, thing: T) -> None:
        """Land on the loop itself."""
        if not self._future.done():
            self._future.set_result(thing)

    def land_from_thread(self, thing: T) -> None:
        """Land from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self.land, thing)

    async def landed(self) -> T:
        """What lands first."""
        return await self._future

    async def landed_by(self, deadline: float | None, otherwise: T) -> T:
        """What lands first; `otherwise` when nothing has by the deadline (as `time.monotonic` has it; None for no bound)."""
        if deadline is None:
            return await self._future
        timer = self._loop.call_later(deadline - time.monotonic(), self.land, otherwise)
        try:
            return await self._future
        finally:
            timer.cancel()

    @property
    def empty(self) -> bool:
        """Whether nothing has landed: it is still waited for, or whoever waited was cancelled."""
        return not self._future.done() or self._future.cancelled()
