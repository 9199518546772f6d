"""Where something that ends elsewhere, in a thread or a task, comes back to the event loop that waits for it.

The first that lands counts. It starts and stops nothing.

For something that is known to be quick, the loop may stand still a moment (`stands`, `landed_within`): going away and being
called back costs the loop more.
"""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Generic, TypeVar

T = TypeVar("T")


class Landing(Generic[T]):
    """One place to land, on the event loop that is running now.

    Args:
        stands: whether the loop will stand here for a moment first (`landed_within`).
    """

    __slots__ = ("_landed", "_loop", "_standing", "_things")

    def __init__(self, *, stands: bool = False) -> None:
        self._landed: asyncio.Future[T] | None = None
        self._things: list[T] = []
        self._standing: threading.Lock | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        if stands:
            self._standing = threading.Lock()
            self._standing.acquire()
        else:
            self._loop = asyncio.get_running_loop()

    @property
    def _future(self) -> asyncio.Future[T]:
        """What has landed, or will. It is made when it is wanted, which is never where the loop stands still for it."""
        if self._landed is None:
            assert self._loop is not None, "the loop does not stand here any more"
            self._landed = self._loop.create_future()
        return self._landed

    def landed_within(self, seconds: float) -> list[T]:
        """Stand still for at most so long; what has landed, or nothing."""
        assert self._standing is not None
        if not self._standing.acquire(timeout=seconds):
            self._loop = asyncio.get_running_loop()  # not before: asking for it is a system call
        self._standing = None  # from now on things land on the loop; what has come just before that is here
        return self._things

    @property
    def _stands(self) -> bool:
        return self._standing is not None

    def land(self, thing: T) -> None:
        """Land on the loop itself."""
        if not self._future.done():
            self._future.set_result(thing)

    def land_from_thread(self, thing: T) -> None:
        """Land from any thread."""
        standing = self._standing
        if standing is not None:
            self._things.append(thing)
            standing.release()
            if self._stands:
                return
        if self._loop is None:  # it landed within the moment, and who stood there has just gone on with it
            return
        try:
            self._loop.call_soon_threadsafe(self.land, thing)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more

    async def landed(self) -> T:
        """What lands first."""
        return await self._future

    async def landed_by(self, deadline: float | None, otherwise: T) -> T:
        """What lands first; `otherwise` when nothing has by the deadline (as `time.monotonic` has it; None for no bound)."""
        if deadline is None:
            return await self._future
        assert self._loop is not None, "the loop does not stand here any more"
        timer = self._loop.call_later(deadline - time.monotonic(), self.land, otherwise)
        try:
            return await self._future
        finally:
            timer.cancel()

    @property
    def empty(self) -> bool:
        """Whether nothing has landed: it is still waited for, or whoever waited was cancelled."""
        return self._landed is None or not self._landed.done() or self._landed.cancelled()
