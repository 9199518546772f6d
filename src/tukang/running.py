"""One turn from the caller's side: started or gone on with, followed, cancelled, awaited.

Puts a session's floor, the model's warming-up and the driver in order. What a turn does inside is the loop's business.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Generic

from msgspec.structs import replace

from tukang.answer import Answer, T, answer_of, with_data
from tukang.conversation import Usage
from tukang.errors import TukangError
from tukang.loop.events import Event, Language
from tukang.loop.state import State
from tukang.loop.wording import plain_answer
from tukang.memory.gate import WhenBusy
from tukang.memory.session import Floor, Session
from tukang.runtime.driver import Driver
from tukang.runtime.signals import Signal
from tukang.runtime.turn import Turn

_PATIENCE = 5.0
"""Seconds a cancelled turn may take to end. It needs milliseconds; this is for a machine that is very busy."""


class TurnLeftError(TukangError):
    """The turn was left in the middle, as was asked: it can go on elsewhere."""


class Running(Generic[T]):
    """A turn about to run, or running.

    Args:
        make: makes the turn, once the session is free.
        session: the conversation it belongs to, if any; it is extended when the turn has finished, however it ended.
        when_busy: what to do when another turn holds the session.
        listen: is told every event and signal.
        value: makes the answer's data of its canonical JSON, where data is wanted.
        resume: go on with the session's turn that was left in the middle. Who listens is told all of its events.
        turn: its id, where others know it: one that has begun or finished already is gone on with, or given as it ended.
        language: what is said of a turn that was cancelled before it had begun.
    """

    def __init__(
        self,
        make: Callable[[Floor], Turn],
        session: Session | None = None,
        when_busy: WhenBusy = "wait",
        listen: Callable[[Event | Signal], None] | None = None,
        value: Callable[[str], T] | None = None,
        *,
        resume: bool = False,
        turn: str | None = None,
        language: Language = "en",
    ) -> None:
        self._make = make
        self._id = turn
        self._session = session
        self._when_busy: WhenBusy = when_busy
        self._listen = listen
        self._value = value
        self._resume = resume
        self._language: Language = language
        self._driver: Driver | None = None
        self._task: asyncio.Task[Answer[T]] | None = None
        self._never = self._leaving = False

    async def answer(self) -> Answer[T]:
        """Run the turn and return its answer.

        If the awaiting task is cancelled, the turn is ended well first: its calls are answered, its session stays usable.

        Raises:
            RuntimeError: it was asked before: a turn runs once.
            TurnLeftError: it was left, with `leave`.
        """
        if self._task is not None:
            raise RuntimeError("this turn was run before; start another one for the next message")
        self._task = asyncio.create_task(self._go())
        if self._never:
            self._task.cancel()
        try:
            return await asyncio.shield(self._task)
        except asyncio.CancelledError:
            me = asyncio.current_task()
            if self._never and self._task.cancelled() and not (me and me.cancelling()):
                if self._leaving:
                    raise TurnLeftError("the turn was left before it had begun") from None
                return self._never_begun()
            self.cancel()
            done, _ = await asyncio.wait([self._task], timeout=_PATIENCE)
            for task in done:
                if not task.cancelled():
                    task.exception()  # a fault on the way is not what the caller is told
            raise

    def cancel(self, reason: str = "") -> None:
        """End the turn now. Call it on the event loop the turn runs on.

        Before it has begun, it never begins: its answer is `cancelled` and has no events, and the session stays as it was.
        """
        if self._driver is not None:
            self._driver.cancel(reason)
            return
        self._never = True
        if self._task is not None:
            self._task.cancel()

    def leave(self, *, at_once: bool = False) -> None:
        """Let go of the turn without ending it, so that it can go on elsewhere: `answer` raises `TurnLeftError`, unless the
        turn ends first. Call it on the event loop the turn runs on.

        Args:
            at_once: do not wait for a function that must not be run twice. Where one is under way, nobody will know
                whether it happened.
        """
        if self._driver is not None:
            self._driver.leave(at_once=at_once)
            return
        self._leaving = self._never = True
        if self._task is not None:
            self._task.cancel()

    def _never_begun(self) -> Answer[T]:
        text = plain_answer(self._language, "cancelled", ())
        return Answer(text=text, stopped="cancelled", steps=(), usage=Usage(), rounds=0, seconds=0.0, messages=())

    async def _go(self) -> Answer[T]:
        if self._session is None:
            return await self._run(Floor())
        async with self._session.floor(self._when_busy, resume=self._resume, turn=self._id) as floor:
            return await self._run(floor)

    async def _run(self, floor: Floor) -> Answer[T]:
        turn, left = self._make(floor), floor.left
        if left is None:
            turn = await turn.with_menu()  # before the clock starts
        state, past = (None, ()) if left is None else (left.state, left.events)
        if self._listen is not None:
            for event in past:
                self._listen(event)
        present = turn.people is not None and turn.people.present
        if left is not None and (left.state.finished or (left.waits and not present)):
            return self._answer(left.state, past)
        # before the clock starts
        await turn.models[state.asked if state else 0].prepare(turn.request(state))
        journal = floor.journal(turn.started.turn)
        self._driver = Driver(turn, journal, self._listen, left, lets_go=floor.lets_go)
        state = await self._driver.run()
        if state.finished:
            floor.finished(state.turn, state.messages)
        elif not state.waiting:
            raise TurnLeftError(f"turn {state.turn} was left in the middle; `resume` goes on with it")
        return self._answer(state, tuple(journal.events))

    def _answer(self, state: State, events: tuple[Event, ...]) -> Answer[T]:
        answer: Answer[Any] = replace(answer_of(state), events=events)
        return answer if self._value is None or state.data is None else with_data(answer, state.data, self._value)
