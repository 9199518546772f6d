"""Turns through the real driver with their journal in a store."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tukang import Agent, tool, user
from tukang.conversation import validity
from tukang.loop import events
from tukang.loop.evolve import evolve
from tukang.loop.state import State
from tukang.memory.journal import StoredJournal
from tukang.memory.outputs import StoredOutputs
from tukang.memory.redaction import Redaction
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import LeaseLostError
from tukang.memory.stores.values import Lease
from tukang.models.scripted import Scripted, call
from tukang.runtime.driver import Driver
from tukang.runtime.turn import Turn

KEY = "sk-abcdefghijklmnopqrstuvwxyz123456"


@tool(effect="read")
def cari(kata: str) -> str:
    """Cari.

    Argumen:
        kata: yang dicari
    """
    return f"hasil untuk {kata}"


@tool(effect="write", approval="never")
def pesan(kode: str) -> dict[str, str]:
    """Pesan.

    Argumen:
        kode: kode barang
    """
    return {"pesanan": kode}


def _turn(id: str, script: Any, question: str = "Halo") -> Turn:
    agent = Agent(Scripted(script), tools=[cari, pesan], name="toko")
    started = events.TurnStarted(
        at=0.0,
        turn=id,
        trigger=user(question),
        limits=agent.limits,
        policies=agent.toolbox.policies,
        contracts={},
        models=("scripted",),
        agent="toko",
    )
    return Turn(started=started, models=agent.models, toolbox=agent.toolbox)


_LASTING = {"TurnStarted", "CallStarted", "CallFinished", "TurnFinished"}


class _Seen:
    """A store that remembers which appends had to last."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.synced: list[tuple[bool, list[str]]] = []

    async def append(self, lease: Lease, turn: str, batch: Any, expected: int, **options: Any) -> None:
        self.synced.append((options["sync"], [type(event).__name__ for event in batch]))
        await self._store.append(lease, turn, batch, expected, **options)


def test_a_turn_is_in_the_store_as_it_was(store: Store) -> None:
    async def work() -> None:
        lease = await store.take("budi", "here", 60)
        script = [[call("cari", kata="SSD"), call("pesan", kode="PRD002")], "Sudah dipesan."]
        seen: list[Any] = []
        journal = StoredJournal(store, lease, "t1", Redaction(environment={}))
        state = await Driver(_turn("t1", script), journal, seen.append).run()
        read = await store.read("t1")
        assert list(read) == [event for event in seen if isinstance(event, events.Event)]
        (turn,) = await store.turns("budi")
        assert turn.messages == state.messages
        assert validity(turn.messages) == []
        assert [hit.turn for hit in await store.search("budi", "dipesan")] == ["t1"]
        folded: State | None = None
        for event in read:
            folded = evolve(folded, event)
        assert folded == state

    asyncio.run(work())


def test_what_must_last_is_synced_before_it_is_done(store: Store) -> None:
    async def work() -> None:
        lease = await store.take("budi", "here", 60)
        seen = _Seen(store)
        script = [[call("cari", kata="SSD")], [call("pesan", kode="PRD002")], "Sudah."]
        await Driver(_turn("t1", script), StoredJournal(seen, lease, "t1", Redaction(environment={}))).run()  # type: ignore[arg-type]
        starts = [sync for sync, batch in seen.synced if "CallStarted" in batch]
        ends = [sync for sync, batch in seen.synced if "CallFinished" in batch]
        assert starts == [False, True], "a read, a write"
        assert ends == [False, True]
        assert [sync for sync, batch in seen.synced if "TurnStarted" in batch or "TurnFinished" in batch] == [
            True,
            True,
        ]
        assert not [batch for sync, batch in seen.synced if sync and not _LASTING & set(batch)], "the others are not"

    asyncio.run(work())


def test_no_secret_reaches_the_store_and_the_turn_works_with_the_whole_ones(store: Store) -> None:
    got: list[str] = []

    @tool(effect="write", approval="never")
    def masuk(password: str, api: str) -> str:
        """Masuk.

        Argumen:
            password: sandi
            api: kunci
        """
        got.append(password + api)
        return f"kunci baru {KEY}"

    async def work() -> None:
        lease = await store.take("budi", "here", 60)
        turn = _turn("t1", [[call("masuk", password="hunter2", api=KEY)], f"Kuncinya {KEY}."], f"Pakai {KEY}")
        agent = Agent(turn.models[0], tools=[masuk])
        turn = Turn(started=turn.started, models=agent.models, toolbox=agent.toolbox)
        state = await Driver(turn, StoredJournal(store, lease, "t1", Redaction(environment={}))).run()
        assert got == ["hunter2" + KEY]
        assert state.text == f"Kuncinya {KEY}."
        lines = [line async for line in store.export()]
        assert not [line for line in lines if KEY in line or "hunter2" in line]
        (stored,) = await store.turns("budi")
        assert validity(stored.messages) == []
        assert stored.messages[-1].text == "Kuncinya [secret]."
        (asked,) = stored.messages[1].calls
        assert (asked.arguments, asked.redacted) == ('{"password":"[secret]","api":"[secret]"}', True)
        checked = [event for event in await store.read("t1") if isinstance(event, events.CallChecked)]
        assert checked[0].redacted
        assert checked[0].digest == state.done[0].digest, "the digest is that of the whole arguments"

    asyncio.run(work())


def test_a_turn_whose_session_was_taken_over_stops(store: Store) -> None:
    """What it has begun is not done: nothing is performed before it is written."""
    ran: list[str] = []

    @tool(effect="write", approval="never")
    def pesan(kode: str) -> str:
        """Pesan.

        Argumen:
            kode: kode barang
        """
        ran.append(kode)
        return "ok"

    async def work() -> None:
        lease = await store.take("budi", "slow", 0.0)
        turn = _turn("t1", [[call("pesan", kode="A")], [call("pesan", kode="B")], "Sudah."])
        agent = Agent(turn.models[0], tools=[pesan])
        turn = Turn(started=turn.started, models=agent.models, toolbox=agent.toolbox)

        class Slow(StoredJournal):
            async def append(self, batch: Any, expected: int, **options: Any) -> None:
                if ran:
                    await store.take("budi", "fast", 60)
                await super().append(batch, expected, **options)

        with pytest.raises(LeaseLostError):
            await Driver(turn, Slow(store, lease, "t1", Redaction(environment={}))).run()
        assert ran == ["A"]
        kinds = [type(event).__name__ for event in await store.read("t1")]
        assert kinds[-1] == "CallStarted", "and everybody can see that A may have happened"

    asyncio.run(work())


def test_a_store_grows_with_rounds_not_with_their_square(store: Store) -> None:
    async def size(id: str, rounds: int) -> int:
        lease = await store.take(id, "here", 600)
        script = [*([call("cari", kata=f"{n} " + "barang " * 30)] for n in range(rounds)), "Sudah."]
        turn = _turn(id, script)
        limits = events.Limits(rounds=rounds + 1)
        turn = Turn(
            started=events.TurnStarted(
                at=0.0, turn=id, trigger=user("Halo"), limits=limits, policies=turn.toolbox.policies, contracts={}
            ),
            models=turn.models,
            toolbox=turn.toolbox,
        )
        await Driver(turn, StoredJournal(store, lease, id, Redaction(environment={}))).run()
        return sum([len(line) async for line in store.export(id)])

    async def work() -> None:
        small, large = await size("a", 10), await size("b", 40)
        assert large < 4.2 * small

    asyncio.run(work())


def test_long_results_are_read_on_in_a_later_turn(store: Store) -> None:
    async def work() -> None:
        lease = await store.take("budi", "here", 60)
        await Driver(_turn("t1", ["Halo."]), StoredJournal(store, lease, "t1", Redaction(environment={}))).run()
        outputs = StoredOutputs(store, lease, "t1", Redaction(environment={}))
        assert await outputs.keep("t1-1-0", f"awal {KEY} " + "x" * 500, 100)
        later = StoredOutputs(store, await store.take("lain", "here", 60), "t2", Redaction(environment={}))
        piece = await outputs.read("t1-1-0", 0)
        assert piece is not None
        assert piece.text.startswith("awal [secret] x")
        assert await later.read("t1-1-0", 0) is None

    asyncio.run(work())
