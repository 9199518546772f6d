"""A store against a simple model of it: writers that interleave, leases that expire, forks, renamings and deletions.

After every step all that can be read is compared with what the model says.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from tests.memory.turns import asked, finished, said, started
from tests.postgres import PostgresServer
from tukang.conversation import Message
from tukang.errors import SessionBusyError
from tukang.loop.events import Event
from tukang.memory.stores.addresses import store_at
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import LeaseLostError, SessionExistsError, UnknownSessionError
from tukang.memory.stores.values import Lease
from tukang.runtime.journal import JournalConflictError

T = TypeVar("T")
NAMES = st.sampled_from(["budi", "siti", "andi"])


class Turn:
    def __init__(self, id: str, home: Session) -> None:
        self.id = id
        self.home = home
        self.events: list[Event] = []
        self.messages: tuple[Message, ...] = ()

    @property
    def open(self) -> bool:
        return not self.messages


class Session:
    def __init__(self) -> None:
        self.token = 0
        self.held = False
        self.live = False
        self.turns: list[Turn] = []

    @property
    def open_turn(self) -> Turn | None:
        return next((turn for turn in self.turns if turn.open), None)


class Stores(RuleBasedStateMachine):
    """The rules. Where the store comes from is said by a subclass."""

    leases: Bundle[tuple[Lease, Session]] = Bundle("leases")
    batches: Bundle[tuple[Lease, Session, str, list[Event], int, tuple[Message, ...] | None]] = Bundle("batches")
    numbers: ClassVar = itertools.count()

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.store = self.new_store()
        self.run(self.store.upgrade())
        self.sessions: dict[str, Session] = {}

    def new_store(self) -> Store:
        raise NotImplementedError

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def teardown(self) -> None:
        self.run(self.store.close())
        self.runner.close()

    def named(self, session: Session) -> str | None:
        return next((name for name, one in self.sessions.items() if one is session), None)

    def owns(self, lease: Lease, session: Session) -> bool:
        return self.sessions.get(lease.session) is session and session.token == lease.token

    # ── leases ───────────────────────────────────────────────────────────────────────────────────────────────────────

    @rule(target=leases, name=NAMES, live=st.booleans())
    def take(self, name: str, live: bool) -> tuple[Lease, Session]:
        session = self.sessions.setdefault(name, Session())
        if session.live:
            with pytest.raises(SessionBusyError):
                self.run(self.store.take(name, "x", 600))
            return Lease(name, 0, "x", 0.0), session
        lease = self.run(self.store.take(name, "x", 600 if live else 0))
        assert lease.token > session.token
        assert lease.taken_over is session.held
        assert lease.open_turn == (session.open_turn.id if session.open_turn else None)
        session.token, session.held, session.live = lease.token, True, live
        return lease, session

    @rule(held=leases, live=st.booleans())
    def renew(self, held: tuple[Lease, Session], live: bool) -> None:
        lease, session = held
        if not self.owns(lease, session):
            with pytest.raises(LeaseLostError):
                self.run(self.store.renew(lease, 600))
            return
        self.run(self.store.renew(lease, 600 if live else 0))
        session.live = live

    @rule(held=leases)
    def release(self, held: tuple[Lease, Session]) -> None:
        lease, session = held
        self.run(self.store.release(lease))
        if self.owns(lease, session):
            session.token += 1
            session.held = session.live = False

    # ── the journal ──────────────────────────────────────────────────────────────────────────────────────────────────

    @rule(
        target=batches,
        held=leases,
        new=st.booleans(),
        ends=st.booleans(),
        size=st.integers(1, 3),
        shift=st.sampled_from([0, 0, 0, 0, -1, 1]),
        sync=st.booleans(),
    )
    def append(
        self, held: tuple[Lease, Session], new: bool, ends: bool, size: int, shift: int, sync: bool
    ) -> tuple[Lease, Session, str, list[Event], int, tuple[Message, ...] | None]:
        lease, session = held
        turn = session.open_turn
        begins = new or turn is None
        id = f"t{next(self.numbers)}" if begins or turn is None else turn.id
        count = 0 if begins or turn is None else len(turn.events)
        expected = 0 if begins else max(1, count + shift)
        batch: list[Event] = [asked() for _ in range(size)]
        if begins:
            batch[0] = started(id)
        messages = said(id, "x") if ends else None
        if ends:
            batch.append(finished())
        work = self.store.append(lease, id, batch, expected, sync=sync, messages=messages)
        if not self.owns(lease, session):
            with pytest.raises(LeaseLostError):
                self.run(work)
        elif expected != count or (begins and turn is not None):
            with pytest.raises(JournalConflictError):
                self.run(work)
        else:
            self.run(work)
            if begins or turn is None:
                session.turns.append(turn := Turn(id, session))
            turn.events += batch
            turn.messages = messages or ()
        return lease, session, id, batch, expected, messages

    @rule(batch=batches)
    def append_again(self, batch: tuple[Lease, Session, str, list[Event], int, tuple[Message, ...] | None]) -> None:
        """The same batch a second time: it is the end of its turn, or it is refused."""
        lease, session, id, events, expected, messages = batch
        turn = next((one for one in session.turns if one.id == id and one.home is session), None)
        work = self.store.append(lease, id, events, expected, messages=messages)
        if not self.owns(lease, session):
            with pytest.raises(LeaseLostError):
                self.run(work)
        elif turn is not None and turn.events[expected:] == events:
            self.run(work)
        elif turn is None and expected == 0 and session.open_turn is None:
            self.run(work)  # it was refused the first time, and nothing is in its way now
            session.turns.append(turn := Turn(id, session))
            turn.events, turn.messages = list(events), messages or ()
        elif turn is not None and turn.open and len(turn.events) == expected:
            self.run(work)
            turn.events += events
            turn.messages = messages or ()
        else:
            with pytest.raises(JournalConflictError):
                self.run(work)

    # ── sessions ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @rule(name=NAMES, new=NAMES, upto=st.none() | st.integers(0, 3))
    def fork(self, name: str, new: str, upto: int | None) -> None:
        source = self.sessions.get(name)
        done = [turn for turn in source.turns if not turn.open] if source else []
        work = self.store.fork(name, new, upto)
        if source is None or (upto or 0) > len(done):
            with pytest.raises(UnknownSessionError):
                self.run(work)
        elif new in self.sessions:
            with pytest.raises(SessionExistsError):
                self.run(work)
        else:
            self.run(work)
            self.sessions[new] = fork = Session()
            fork.turns = done if upto is None else done[:upto]

    @rule(name=NAMES, new=NAMES)
    def rename(self, name: str, new: str) -> None:
        session = self.sessions.get(name)
        work = self.store.rename(name, new)
        if session is None:
            with pytest.raises(UnknownSessionError):
                self.run(work)
        elif session.live:
            with pytest.raises(SessionBusyError):
                self.run(work)
        elif new == name:
            self.run(work)
        elif new in self.sessions:
            with pytest.raises(SessionExistsError):
                self.run(work)
        else:
            self.run(work)
            session.token += 1
            self.sessions[new] = self.sessions.pop(name)

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        session = self.sessions.get(name)
        work = self.store.delete(name)
        if session is None:
            with pytest.raises(UnknownSessionError):
                self.run(work)
        elif session.live:
            with pytest.raises(SessionBusyError):
                self.run(work)
        else:
            deleted = self.run(work)
            del self.sessions[name]
            left = {turn.id for one in self.sessions.values() for turn in one.turns}
            assert deleted.turns == sum(turn.id not in left for turn in session.turns)

    @rule()
    def move(self) -> None:
        """All of it to another store, which goes on in the place of this one; leases do not come along."""
        lines = self.run(self._lines(self.store))
        other = self.new_store()
        self.run(other.upgrade())
        self.run(other.load(lines))
        assert self.run(self._lines(other)) == lines
        self.run(self.store.close())
        self.store = other
        moved: dict[int, Turn] = {}
        for name, old in list(self.sessions.items()):
            self.sessions[name] = new = Session()
            for turn in old.turns:
                if id(turn) not in moved:
                    moved[id(turn)] = copy = Turn(turn.id, new)
                    copy.events, copy.messages = list(turn.events), turn.messages
                new.turns.append(moved[id(turn)])

    async def _lines(self, store: Store) -> list[str]:
        return [line async for line in store.export()]

    @invariant()
    def it_reads_as_the_model_says(self) -> None:
        self.run(self._compare())

    async def _compare(self) -> None:
        assert {info.id for info in await self.store.sessions()} == set(self.sessions)
        for name, session in self.sessions.items():
            info = await self.store.session(name)
            assert info.turns == len(session.turns)
            assert info.open_turn == (session.open_turn.id if session.open_turn else None)
            assert (info.holder is not None) is session.live
            stored = await self.store.turns(name, finished_only=False)
            assert [(turn.id, turn.events, turn.messages) for turn in stored] == [
                (turn.id, len(turn.events), turn.messages) for turn in session.turns
            ]
            for turn in session.turns:
                assert await self.store.read(turn.id) == tuple(turn.events)
        open_turns = {turn.id for session in self.sessions.values() for turn in session.turns if turn.open}
        assert {turn.turn for turn in await self.store.open_turns()} == open_turns


def _check(machine: type[Stores], examples: int, steps: int = 30) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("examples", [10, pytest.param(500, marks=pytest.mark.long)])
def test_sqlite_is_as_the_model(examples: int, tmp_path: Path) -> None:
    class OnSqlite(Stores):
        def new_store(self) -> Store:
            return store_at(f"sqlite:///{tmp_path}/{next(self.numbers)}.db")

    _check(OnSqlite, examples)


@pytest.mark.parametrize("examples", [5, pytest.param(100, marks=pytest.mark.long)])
def test_postgres_is_as_the_model(examples: int, postgres_server: PostgresServer) -> None:
    class OnPostgres(Stores):
        def new_store(self) -> Store:
            return store_at(postgres_server.new_schema())

    _check(OnPostgres, examples, 25)
