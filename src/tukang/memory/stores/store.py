"""A store on an SQL database: the protocol of `base`, each method a transaction in a thread of its own.

What is read and written stands in the files beside this one; here is when, how often it is tried, and who is told.
"""

from __future__ import annotations

import functools
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from tukang.conversation import Message
from tukang.errors import ConfigurationError
from tukang.loop.events import Event, TurnFinished, TurnStarted
from tukang.memory.gate import WhenBusy
from tukang.memory.stores import arranging, exporting, leasing, reading, waiting, writing
from tukang.memory.stores.database import Database
from tukang.memory.stores.encoding import event_of, row_of, storable, text_of
from tukang.memory.stores.errors import DuplicateError, SessionExistsError, StoreError
from tukang.memory.stores.lane import Lane
from tukang.memory.stores.tasks import SqlTasks, StoredTasks
from tukang.memory.stores.values import (
    START,
    Deleted,
    Hit,
    Kept,
    Lease,
    Offer,
    OpenTurn,
    Position,
    SessionInfo,
    StoredTurn,
    Wait,
)
from tukang.memory.stores.watch import Watch
from tukang.memory.stores.words import words_of_turn
from tukang.runtime.journal import JournalConflictError
from tukang.tools.outputs import Slice

T = TypeVar("T")

Make = Callable[[float], Database]
"""Makes a connection that waits for so many seconds."""


class SqlStore:
    """Sessions on an SQL database. See `tukang.memory.stores.base.Store` for what the methods do.

    Args:
        name: the address, without a password.
        make: makes a connection; called in each of the threads.
        threads: how many connections at most.
        patience: seconds to go on trying while the database cannot be reached or is locked.
    """

    def __init__(self, name: str, make: Make, threads: int, patience: float) -> None:
        self.name = name
        self._patience = patience
        self._lane: Lane[Database] = Lane("tukang-store", lambda: make(patience), threads)
        self._watch = Watch(lambda stop, wake: make(patience).listen(stop, wake))
        self.tasks: StoredTasks = SqlTasks(self._do, self._read, self._watch)

    async def upgrade(self) -> tuple[int, ...]:
        return await self._lane.run(lambda db: db.upgrade())

    async def close(self) -> None:
        await self._watch.close()
        await self._lane.close()

    async def _read(self, work: Callable[[Database], T]) -> T:
        return await self._do(work, write=False, again=True)

    async def _do(
        self,
        work: Callable[[Database], T],
        *,
        write: bool = True,
        sync: bool = False,
        again: bool = False,
        tell: Callable[[T], int | None] | None = None,
    ) -> T:
        """Do the work in a transaction, then wake the readers of the session that `tell` names.

        While the database cannot be reached it is tried again: always when it has certainly not been done, and with
        `again` also when it may have been.
        """

        def tried(db: Database) -> T:
            deadline, pause = time.monotonic() + self._patience, 0.05
            while True:
                try:
                    with db.transaction(write=write, sync=sync):
                        result = work(db)
                    break
                except StoreError as error:
                    hopeless = error.kind != "unavailable" or (error.uncertain and not again)
                    if hopeless or time.monotonic() + pause > deadline:
                        raise
                    time.sleep(pause)
                    pause = min(2 * pause, 1.0)
            if tell is not None and (session := tell(result)) is not None:
                db.notify(session)
                self._watch.wake(session)
            return result

        return await self._lane.run(tried)

    # ── leases ───────────────────────────────────────────────────────────────────────────────────────────────────────

    async def take(self, session: str, holder: str, seconds: float, when_busy: WhenBusy = "refuse") -> Lease:
        _check_id(session)
        claim = uuid.uuid4().hex
        while True:
            try:
                _, lease = await self._do(lambda db: leasing.take(db, session, holder, seconds, claim), again=True)
            except leasing.HeldError as held:
                if when_busy == "refuse":
                    raise
                await self._until_free(session, held)
            else:
                return lease

    async def _until_free(self, session: str, held: leasing.HeldError) -> None:
        """Wait until a lease was given back or has expired, as far as can be seen from here."""
        with self._watch.reader(held.key) as reader:
            reader.look()
            left = await self._read(lambda db: leasing.seconds_held(db, session))
            if left is not None:
                await reader.wait(left)

    async def renew(self, lease: Lease, seconds: float) -> Lease:
        expires = await self._do(lambda db: leasing.renew(db, lease, seconds), again=True)
        return replace(lease, expires=expires)

    async def release(self, lease: Lease) -> None:
        await self._do(lambda db: leasing.release(db, lease), again=True, tell=lambda session: session)

    # ── the journal ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def append(
        self,
        lease: Lease,
        turn: str,
        events: Sequence[Event],
        expected: int,
        *,
        sync: bool = False,
        messages: Sequence[Message] | None = None,
        offer: Sequence[Offer] = (),
        consume: Sequence[tuple[str, str]] = (),
    ) -> None:
        batch = _batch(turn, events, expected, messages, offer, consume)
        try:
            await self._do(
                lambda db: writing.append(db, lease, batch), sync=sync, again=True, tell=lambda session: session
            )
        except DuplicateError as error:
            raise JournalConflictError(f"turn {turn}: somebody else was writing at the same moment") from error

    async def read(self, turn: str, after: int = 0) -> tuple[Event, ...]:
        rows, _ = await self._read(lambda db: reading.events(db, turn, after))
        return tuple(map(event_of, rows))

    async def follow(self, turn: str, after: int = 0) -> AsyncIterator[tuple[int, Event]]:
        _, home = await self._read(lambda db: reading.turn_key(db, turn))
        with self._watch.reader(home) as reader:
            while True:
                reader.look()
                rows, finished = await self._read(lambda db: reading.events(db, turn, after))  # noqa: B023
                for row in rows:
                    after += 1
                    yield after, event_of(row)
                if finished:
                    return
                await reader.wait()

    async def follow_session(self, session: str, after: Position = START) -> AsyncIterator[tuple[Position, Event]]:
        key = await self._read(lambda db: reading.session_key(db, session))
        with self._watch.reader(key) as reader:
            while True:
                reader.look()
                news = await self._read(lambda db: reading.news(db, session, after))  # noqa: B023
                for number, rows in news:
                    for row in rows:
                        done = after.event if after.turn == number else 0
                        after = Position(number, done + 1)
                        yield after, event_of(row)
                if not news:
                    await reader.wait()

    async def keep_output(self, lease: Lease, turn: str, handle: str, text: str, page: int) -> None:
        await self._do(lambda db: writing.keep_output(db, lease, turn, handle, text, page), again=True)

    async def read_output(self, session: str, handle: str, offset: int) -> Slice | None:
        return await self._read(lambda db: reading.output(db, session, handle, offset))

    # ── waiting ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def answer(self, kind: str, key: str, answer: Any, by: str = "") -> Wait:
        _, wait = await self._do(
            lambda db: waiting.answer(db, kind, key, answer, by), sync=True, tell=lambda done: done[0]
        )
        return wait

    async def until_answered(self, kind: str, key: str) -> Wait:
        home = await self._read(lambda db: waiting.home(db, kind, key))
        with self._watch.reader(home) as reader:
            while True:
                reader.look()
                wait, left = await self._read(lambda db: waiting.one(db, kind, key))
                if wait.answered is not None or (left is not None and left <= 0):
                    return wait
                await (reader.wait() if left is None else reader.wait(left))

    async def waits(
        self,
        kind: str | None = None,
        *,
        session: str | None = None,
        turn: str | None = None,
        key: str | None = None,
        open_only: bool = True,
    ) -> list[Wait]:
        return await self._read(lambda db: waiting.waits(db, kind, session, turn, key, open_only))

    async def open_turns(self, session: str | None = None, *, idle: bool = False) -> list[OpenTurn]:
        return await self._read(lambda db: reading.open_turns(db, session, idle))

    # ── sessions ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def sessions(self, prefix: str = "", limit: int = 100, before: float | None = None) -> list[SessionInfo]:
        return await self._read(lambda db: reading.sessions(db, prefix, limit, before))

    async def session(self, session: str) -> SessionInfo:
        return await self._read(lambda db: reading.session(db, session))

    async def turns(
        self, session: str, *, last: int | None = None, after: int = 0, finished_only: bool = True
    ) -> list[StoredTurn]:
        return await self._read(lambda db: reading.turns(db, session, last, after, finished_only))

    async def turn(self, turn: str, session: str | None = None) -> StoredTurn:
        return await self._read(lambda db: reading.turn(db, turn, session))

    async def search(self, session: str, query: str, limit: int = 10) -> list[Hit]:
        return await self._read(lambda db: reading.search(db, session, query, limit))

    async def keep(self, session: str, kept: Kept, replaces: Kept | None) -> None:
        await self._do(lambda db: arranging.keep(db, session, kept, replaces))

    async def kept(self, session: str) -> dict[str, Kept]:
        return await self._read(lambda db: reading.kept(db, session))

    async def fork(self, session: str, new: str, upto: int | None = None) -> SessionInfo:
        await self._arrange(lambda db: arranging.fork(db, session, new, upto), new)
        return await self.session(new)

    async def rename(self, session: str, new: str) -> SessionInfo:
        await self._arrange(lambda db: arranging.rename(db, session, new), new, tell=lambda session: session)
        return await self.session(new)

    async def _arrange(
        self, work: Callable[[Database], T], new: str, tell: Callable[[T], int | None] | None = None
    ) -> T:
        _check_id(new)
        try:
            return await self._do(work, sync=True, tell=tell)
        except DuplicateError as error:
            raise SessionExistsError(arranging.taken(new)) from error

    async def delete(self, session: str) -> Deleted:
        _, deleted = await self._do(lambda db: arranging.delete(db, session), sync=True, tell=lambda done: done[0])
        await self._lane.run(lambda db: db.scrub())
        return deleted

    # ── backups ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def export(self, session: str | None = None) -> AsyncIterator[str]:
        wanted = [session] if session is not None else await self._read(exporting.ids)
        known: set[str] = set()
        yield exporting.HEAD
        for one in wanted:
            lines, turns = await self._read(lambda db: exporting.export(db, one, known))  # noqa: B023
            known.update(turns)
            for line in lines:
                yield line

    async def load(self, lines: Iterable[str], *, skip_existing: bool = False) -> tuple[str, ...]:
        written: list[str] = []
        for whole in exporting.sessions_in(lines):
            work = functools.partial(exporting.load, whole=whole, skip_existing=skip_existing)
            if await self._arrange(work, whole.session.id):
                written.append(whole.session.id)
        return tuple(written)


def _check_id(session: str) -> None:
    if not session or session != storable(session):
        raise ConfigurationError(f"a session's id is some text that can be written down, not {session!r}")


def _batch(
    turn: str,
    events: Sequence[Event],
    expected: int,
    messages: Sequence[Message] | None,
    offer: Sequence[Offer],
    consume: Sequence[tuple[str, str]],
) -> writing.Batch:
    if not events:
        raise ValueError(f"turn {turn}: a batch of no events: there is nothing to append")
    first, last = events[0], events[-1]
    started = first if isinstance(first, TurnStarted) else None
    finished = last if isinstance(last, TurnFinished) else None
    if (started is None) is (expected == 0) or (started is not None and started.turn != turn):
        raise ValueError(f"turn {turn}: its journal begins with its own TurnStarted, as number 0, and has no other")
    if (finished is None) is not (messages is None):
        raise ValueError(f"turn {turn}: messages come with TurnFinished, the last event of its batch, and only with it")
    return writing.Batch(
        turn=turn,
        expected=expected,
        at=last.at,
        events=list(map(row_of, events)),
        started=started,
        finished=finished,
        messages=None if messages is None else text_of(messages),
        words=() if messages is None else words_of_turn(messages),
        offer=offer,
        consume=consume,
    )
