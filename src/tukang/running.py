"""One turn from the caller's side: started, followed, cancelled, awaited.

Puts a session's gate, the model's warming-up and the driver in order. What a turn does inside is the loop's business.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from tukang.answer import Answer, answer_of
from tukang.conversation import Message
from tukang.loop.events import Event
from tukang.memory.gate import WhenBusy
from tukang.memory.session import Session
from tukang.runtime.driver import Driver
from tukang.runtime.journal import MemoryJournal
from tukang.runtime.signals import Signal
from tukang.runtime.turn import Turn

_PATIENCE = 5.0
"""Seconds a cancelled turn may take to end. It needs milliseconds; this is for a machine that is very busy."""


class Running:
    """A turn about to run, or running.

    Args:
        turn: makes the turn from the conversation before it, once the session is free.
        session: the conversation it belongs to, if any; it is extended when the turn has finished, however it ended.
        when_busy: what to do when another turn holds the session.
        listen: is told every event and signal.
    """

    def __init__(
        self,
        turn: Callable[[Sequence[Message]], Turn],
        session: Session | None = None,
        when_busy: WhenBusy = "wait",
        listen: Callable[[Event | Signal], None] | None = None,
    ) -> None:
        self._turn = turn
        self._session = session
        self._when_busy: WhenBusy = when_busy
        self._listen = listen
        self._driver: Driver | None = None
        self._task: asyncio.Task[Answer] | None = None

    async def answer(self) -> Answer:
        """Run the turn and return its answer.

        If the awaiting task is cancelled, the turn is ended well first: its calls are answered, its session stays usable.
        """
        self._task = asyncio.create_task(self._go())
        try:
            return await asyncio.shield(self._task)
        except asyncio.CancelledError:
            self.cancel()
            await asyncio.wait([self._task], timeout=_PATIENCE)
            raise

    def cancel(self, reason: str = "") -> None:
        """End the turn now. Call it on the event loop the turn runs on. Before it has begun, it never begins."""
        if self._driver is not None:
            self._driver.cancel(reason)
        elif self._task is not None:
            self._task.cancel()

    async def _go(self) -> Answer:
        if self._session is None:
            return await self._run(())
        async with self._session.gate.enter(self._when_busy):
            answer = await self._run(self._session.messages)
            self._session.add(answer.messages)
            return answer

    async def _run(self, history: Sequence[Message]) -> Answer:
        turn = self._turn(history)
        await turn.models[0].prepare(turn.request())  # before the clock starts
        journal = MemoryJournal()
        self._driver = Driver(turn, journal, self._listen)
        state = await self._driver.run()
        return replace(answer_of(state), events=tuple(journal.events))
