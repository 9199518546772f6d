"""A fleet from outside: submit turns, follow them, have their answers, see how it stands. Runs no turn itself."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from types import TracebackType
from typing import Any

import msgspec
from msgspec.structs import replace

from tukang.agent import Agent
from tukang.answer import Answer, answer_of
from tukang.conversation import Message, user
from tukang.errors import ConfigurationError
from tukang.loop.events import Event
from tukang.loop.evolve import evolve
from tukang.loop.limits import Limits
from tukang.loop.state import State
from tukang.memory.redaction import Redaction
from tukang.memory.stores.addresses import store_at
from tukang.memory.stores.encoding import storable
from tukang.memory.stores.errors import UnknownSessionError
from tukang.workers import schema, status
from tukang.workers.queue import Queue, TurnFailedError
from tukang.workers.values import Asked, Status

_LOOK = 1.0
"""Seconds between looks at whether a turn that says nothing has failed for good."""

_FIRST_LOOK, _SLOWEST_LOOK = 0.02, 0.5
"""Seconds between looks at whether a turn has begun."""


class Fleet:
    """The workers on one store, and what is queued for them: `async with Fleet("postgresql://…") as fleet`.

    Args:
        store: `postgresql://user:password@host/database`, the one that the workers were given.
        redact: the last word on every text before it is written; see `Agent.session`.

    Raises:
        ConfigurationError: the store is no Postgres.
    """

    def __init__(self, store: str, *, redact: Callable[[str], str] | None = None) -> None:
        self._queue = Queue(store)
        self.store = store_at(store)
        self._redaction = Redaction(redact)

    async def __aenter__(self) -> Fleet:
        await self._queue.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._queue.close()
        await self.store.close()

    async def submit(
        self,
        agent: str | Agent,
        session: str,
        message: str | Message,
        *,
        turn: str | None = None,
        context: Any = None,
        tool_choice: str | None = None,
        limits: Limits | None = None,
    ) -> str:
        """Queue a turn; when this returns it is in the database, and will be run. Returns its id.

        Turns of one session are run one after the other, in the order they were submitted. Secrets are taken out of the
        message before it is written, as they are of a journal: so the model does not see them either. The context is written
        as it is, and stands there until the turn has finished.

        Args:
            agent: the agent's name, or the agent.
            session: the conversation it belongs to.
            message: the user's.
            turn: an id of your own, unique in the store. The same again is the same turn: it is not run twice.
            context: JSON, for functions that ask for a `CallContext`. It is never sent to a model.
            tool_choice, limits: instead of the agent's.

        Raises:
            ConfigurationError: the names cannot be written down, the context is not JSON, or the id is another turn's.
            StoreError: the database cannot be used. It may have been submitted nevertheless; with an id of your own you can
                do it again.
        """
        turn = turn or uuid.uuid4().hex[:12]
        if not session or session != storable(session) or turn != storable(turn):
            raise ConfigurationError(
                f"a session and a turn are some text that can be written down, not {session!r}, {turn!r}"
            )
        said = user(message) if isinstance(message, str) else message
        try:
            plain = msgspec.to_builtins(context, str_keys=True)
        except TypeError as error:
            raise ConfigurationError(f"the context goes to another machine, so it has to be JSON: {error}") from error
        name = agent if isinstance(agent, str) else agent.name
        asked = Asked(self._redaction.message(said), plain, tool_choice, limits)
        await self._queue.submit(turn, session, name, asked)
        return turn

    async def follow(self, turn: str, after: int = 0) -> AsyncGenerator[tuple[int, Event]]:
        """A turn's events as they are written, by whomever, each with how many there are up to it (what `after` takes). Waits
        until the turn begins, and ends behind `TurnFinished`. Leaving changes nothing for the turn.

        Raises:
            UnknownSessionError: there is no such turn.
            TurnFailedError: it is not tried any more.
        """
        pause = _FIRST_LOOK
        while True:
            known = await self._still_coming(turn)
            try:
                await self.store.turn(turn)
                break
            except UnknownSessionError:
                if not known:
                    raise
            await asyncio.sleep(pause)
            pause = min(2 * pause, _SLOWEST_LOOK)
        arrived: asyncio.Queue[tuple[int, Event] | None] = asyncio.Queue()
        reading = asyncio.create_task(self._read(turn, after, arrived))
        try:
            while True:
                try:
                    one = await asyncio.wait_for(arrived.get(), _LOOK)
                except TimeoutError:
                    await self._still_coming(turn)
                    continue
                if one is None:
                    await reading  # to raise what ended it
                    return
                yield one
        finally:
            reading.cancel()
            await asyncio.wait([reading])

    async def _read(self, turn: str, after: int, arrived: asyncio.Queue[tuple[int, Event] | None]) -> None:
        try:
            async for one in self.store.follow(turn, after):
                arrived.put_nowait(one)
        finally:
            arrived.put_nowait(None)

    async def answer(self, turn: str) -> Answer[Any]:
        """Wait for a turn's answer. `stopped` is `waiting` when it cannot go on before somebody decides.

        Raises:
            UnknownSessionError, TurnFailedError: see `follow`.
        """
        state: State | None = None
        events: list[Event] = []
        async with aclosing(self.follow(turn)) as news:
            async for number, event in news:
                state = evolve(state, event)
                events.append(event)
                if state.waiting and not await self.store.read(turn, number):
                    break
        assert state is not None, "a turn begins with TurnStarted"
        return replace(answer_of(state), events=tuple(events))

    async def status(self, limit: int = 100) -> Status:
        """How it stands: workers, and the turns that have not finished.

        Args:
            limit: turns of each state, the oldest first.
        """
        return await status.look(self._queue, limit)

    async def retry(self, turn: str) -> bool:
        """Try a turn again that failed for good; whether it had."""
        return await self._queue.retry(turn)

    async def _still_coming(self, turn: str) -> bool:
        """Whether it is queued or being run.

        Raises:
            TurnFailedError: it is not tried any more.
        """
        submitted = await self._queue.submitted(turn)
        if submitted is not None and submitted.failed:
            raise TurnFailedError(turn, submitted.why or "nobody knows why")
        return submitted is not None


async def upgrade(store: str) -> tuple[str, ...]:
    """Bring a store's schema and the queue's up to date; returns the names of the steps that were applied now.

    Raises:
        ConfigurationError: the store is no Postgres.
        StoreError: the database cannot do it.
    """
    queue = Queue(store)
    steps = await store_at(store).upgrade()
    return *map(str, steps), *await asyncio.to_thread(schema.upgrade, queue.address)
