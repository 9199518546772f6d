"""What a session's past gives: the same in memory and in a store, and of a store no more than is wanted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.memory.turns import conversation, said, started, whole_turn
from tukang.conversation import Message, Text, ToolCall, ToolResult, assistant, user
from tukang.memory.past import MemoryPast, Past, PastTurn, split
from tukang.memory.redaction import Redaction
from tukang.memory.stored_past import StoredPast
from tukang.memory.stores.addresses import store_at
from tukang.memory.stores.base import Store
from tukang.memory.stores.values import Kept
from tukang.runtime.journal import JournalConflictError


def everything(_: Sequence[PastTurn]) -> bool:
    return False


def at_least(count: int) -> Any:
    return lambda turns: len(turns) >= count


def numbers(turns: Sequence[PastTurn]) -> list[int]:
    return [turn.number for turn in turns]


class Counting:
    """A store, and how many turns were read from it at a time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.read: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def turns(self, session: str, **options: Any) -> Any:
        found = await self._store.turns(session, **options)
        self.read.append(len(found))
        return found


def questions(count: int, begin: int = 1) -> list[str]:
    return [f"tanya {number}" for number in range(begin, begin + count)]


# ── in memory and in a store ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def past(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Past]:
    """A session of 40 turns."""
    if request.param == "memory":
        made = MemoryPast()
        for number, question in enumerate(questions(40), 1):
            made.add(f"budi{number}", float(number), said(question, f"Jawaban: {question}"))
        yield made
        return
    sqlite = request.param == "sqlite"
    store = store_at(f"sqlite:///{tmp_path}/tukang.db" if sqlite else request.getfixturevalue("postgres_url"))
    asyncio.run(store.upgrade())
    asyncio.run(conversation(store, "budi", *questions(40)))
    asyncio.run(conversation(store, "siti", "rahasia siti"))
    yield StoredPast(store, "budi", Redaction(environment={}))
    asyncio.run(store.close())


def test_the_newest_turns_come_oldest_first(past: Past) -> None:
    async def work() -> None:
        assert numbers(await past.newest(everything)) == list(range(1, 41))
        assert numbers(await past.newest(everything, after=37)) == [38, 39, 40]
        assert numbers(await past.newest(everything, after=40)) == []
        some = numbers(await past.newest(at_least(2)))
        assert some == list(range(some[0], 41))
        assert len(some) >= 2
        assert (await past.newest(everything))[2].messages == said("tanya 3", "Jawaban: tanya 3")

    asyncio.run(work())


def test_a_turn_is_found_by_its_id_in_this_session_only(past: Past) -> None:
    async def work() -> None:
        found = await past.turn("budi7")
        assert found is not None
        assert (found.number, found.messages[0]) == (7, user("tanya 7"))
        assert await past.turn("budi99") is None
        assert await past.turn("siti1") is None

    asyncio.run(work())


def test_words_are_found(past: Past) -> None:
    async def work() -> None:
        hits = await past.search("Tanya 17", 3)
        assert hits[0].turn == "budi17"
        assert "tanya 17" in hits[0].excerpt
        assert len(hits) == 3
        assert await past.search("rahasia", 3) == []
        assert await past.search("?!", 3) == []

    asyncio.run(work())


def test_a_value_is_kept_in_place_of_the_one_that_was_seen(past: Past) -> None:
    async def work() -> None:
        one, two = Kept("summary", 3, {"text": "satu"}), Kept("summary", 5, {"text": "dua"})
        await past.keep(one, None)
        assert (await past.kept())["summary"] == one
        with pytest.raises(JournalConflictError):
            await past.keep(two, None)
        await past.keep(two, one)
        assert dict(await past.kept()) == {"summary": two}

    asyncio.run(work())


def test_a_turn_is_found_by_a_call_that_was_made_in_it(store: Store) -> None:
    call = ToolCall("t7-1-0", "baca", "{}")
    messages = (user("?"), assistant(call), Message("tool", (ToolResult(call.id, "baca", (Text("isi"),)),)))

    async def work() -> None:
        memory = MemoryPast()
        memory.add("given1", 0.0, messages)
        assert await memory.of_call("t7-1-0") == PastTurn("given1", 1, 0.0, messages)
        assert await memory.of_call("t7-1-1") is None
        lease = await store.take("budi", "test", 60)
        await whole_turn(store, lease, "t7")
        found = await StoredPast(store, "budi", Redaction(environment={})).of_call("t7-1-0")
        assert found is not None
        assert found.id == "t7"

    asyncio.run(work())


# ── a store ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_no_more_is_read_than_is_wanted_and_no_turn_twice(store: Store) -> None:
    async def work() -> None:
        await conversation(store, "budi", *questions(200))
        counting = Counting(store)
        past = StoredPast(counting, "budi", Redaction(environment={}))  # type: ignore[arg-type]
        first = await past.newest(at_least(10))
        assert counting.read == [32]
        lease = await store.take("budi", "test", 60)
        await whole_turn(store, lease, "baru", "tanya 201")
        again = await past.newest(at_least(10))
        assert counting.read == [32, 2], "the last one that is known, and what has come since"
        assert numbers(again)[-1] == 201
        known = {turn.number: turn for turn in first}
        assert all(turn is known[turn.number] for turn in again if turn.number in known)
        assert numbers(await past.newest(at_least(100)))[0] <= 101
        assert numbers(await past.newest(everything)) == list(range(1, 202))
        assert len(await past.newest(at_least(10))) < 40, "what is not needed is let go"

    asyncio.run(work())


def test_a_session_that_was_made_anew_is_read_anew(store: Store) -> None:
    async def work() -> None:
        await conversation(store, "budi", "lama satu", "lama dua")
        past = StoredPast(store, "budi", Redaction(environment={}))
        assert len(await past.newest(everything)) == 2
        await store.delete("budi")
        assert await past.newest(everything) == []
        lease = await store.take("budi", "test", 60)
        for turn in ("x", "y", "z"):
            await whole_turn(store, lease, turn, "baru")
        assert [turn.id for turn in await past.newest(everything)] == ["x", "y", "z"]

    asyncio.run(work())


def test_a_turn_that_has_not_finished_is_not_past(store: Store) -> None:
    async def work() -> None:
        await conversation(store, "budi", "satu")
        lease = await store.take("budi", "test", 60)
        await store.append(lease, "terbuka", [started("terbuka")], 0)
        past = StoredPast(store, "budi", Redaction(environment={}))
        assert await past.turn("terbuka") is None
        assert numbers(await past.newest(everything)) == [1]

    asyncio.run(work())


def test_what_is_kept_holds_no_secret(store: Store) -> None:
    async def work() -> None:
        await conversation(store, "budi", "satu")
        past = StoredPast(store, "budi", Redaction(environment={"API_TOKEN": "s3cr3t-value-of-mine"}))
        await past.keep(Kept("summary", 1, {"text": "Kuncinya s3cr3t-value-of-mine."}), None)
        assert "s3cr3t-value-of-mine" not in str(await store.kept("budi"))

    asyncio.run(work())


# ── a conversation in turns ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_turn_begins_where_the_user_speaks_after_somebody_else() -> None:
    call = ToolCall("a", "b", "{}")
    tool = Message("tool", (ToolResult("a", "b", ()),))
    messages = [assistant("Hai"), user("1"), user("2"), assistant(call), tool, assistant("x"), user("3")]
    assert [len(turn) for turn in split(messages)] == [1, 5, 1]
    assert [message for turn in split(messages) for message in turn] == messages
    assert split([]) == []
