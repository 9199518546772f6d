"""One turn at a time: a queue that works across event loops and threads.

An `asyncio.Lock` belongs to one loop; a session may be used from the portal thread and from the caller's own loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Literal

from tukang.errors import SessionBusyError

WhenBusy = Literal["wait", "refuse"]


class Gate:
    """Lets one in; the others wait in the order they came, or are refused."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._lock = threading.Lock()
        self._busy = False
        self._queue: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def enter(self, when_busy: WhenBusy = "wait") -> AsyncGenerator[None]:
        """Hold the gate for the length of the block.

        Raises:
            SessionBusyError: it is held, and `when_busy` is `refuse`.
        """
        await self._enter(when_busy)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, when_busy: WhenBusy) -> None:
        with self._lock:
            if not self._busy:
                self._busy = True
                return
            if when_busy == "refuse":
                raise SessionBusyError(
                    f"{self._what} is in the middle of a turn; wait for it, cancel it, or use when_busy='wait'"
                )
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            with self._lock:
                waiting = turn in self._queue
                if waiting:
                    self._queue.remove(turn)
            if not waiting:  # the gate was already handed to us: hand it on
                self._leave()
            raise

    def _leave(self) -> None:
        with self._lock:
            while self._queue:
                turn = self._queue.popleft()
                try:
                    turn.get_loop().call_soon_threadsafe(_open, turn)
                except RuntimeError:  # a loop that is closed has nobody waiting
                    continue
                return
            self._busy = False


def _open(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)
