"""Sessions in a store: listing, reading, forking, renaming, deleting, searching, and what is kept with them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.memory.turns import asked, conversation, said, started, whole_turn
from tukang.conversation import Message, ToolResult, user
from tukang.conversation import Text as Words
from tukang.errors import ConfigurationError, SessionBusyError
from tukang.loop.events import TurnFinished
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import LeaseLostError, SessionExistsError, UnknownSessionError
from tukang.memory.stores.values import Kept, Offer
from tukang.runtime.journal import JournalConflictError


def test_sessions_are_listed_the_last_used_first(store: Store) -> None:
    async def work() -> None:
        for name in ("toko/budi", "toko/siti", "bank/budi"):
            await conversation(store, name, "Halo", f"Saya {name}")
        lease = await store.take("toko/budi", "host:1", 60)
        await store.append(lease, "open", [started("open", "Masih di sini?\n" + "x" * 500)], 0)
        listed = await store.sessions()
        assert [info.id for info in listed] == ["toko/budi", "bank/budi", "toko/siti"]
        first = listed[0]
        assert (first.turns, first.agent, first.open_turn, first.holder) == (3, "toko", "open", "host:1")
        assert first.question == ("Masih di sini? " + "x" * 500)[:200]
        assert (listed[1].question, listed[1].open_turn, listed[1].holder) == ("Saya bank/budi", None, None)
        assert [info.id for info in await store.sessions(prefix="toko/")] == ["toko/budi", "toko/siti"]
        assert [info.id for info in await store.sessions(prefix="toko/%")] == []
        page = await store.sessions(limit=1)
        rest = await store.sessions(before=page[-1].updated)
        assert [info.id for info in rest] == ["bank/budi", "toko/siti"]
        assert await store.session("toko/siti") == listed[2]
        with pytest.raises(UnknownSessionError, match="nobody"):
            await store.session("nobody")

    asyncio.run(work())


def test_turns_are_read_in_order_from_either_end(store: Store) -> None:
    async def work() -> None:
        ids = await conversation(store, "budi", *"abcde")
        lease = await store.take("budi", "here", 60)
        await store.append(lease, "open", [started("open")], 0)

        async def numbers(**wanted: int | bool) -> list[int]:
            return [turn.number for turn in await store.turns("budi", **wanted)]  # type: ignore[arg-type]

        assert await numbers() == [1, 2, 3, 4, 5]
        assert await numbers(last=2) == [4, 5]
        assert await numbers(last=0) == []
        assert await numbers(after=3) == [4, 5]
        assert await numbers(after=1, last=2) == [4, 5]
        assert await numbers(finished_only=False, last=1) == [6]
        assert [turn.id for turn in await store.turns("budi")] == ids
        assert (await store.turn(ids[2])).messages == said("c", "Jawaban: c")
        assert (await store.turn("open")).finished is None
        assert await store.turns("nobody") == []
        with pytest.raises(UnknownSessionError):
            await store.turn("nothing")

    asyncio.run(work())


def test_reading_a_session_for_its_next_turn_reads_no_events(store: Store) -> None:
    async def work() -> None:
        await conversation(store, "budi", "a", "b")
        await store._lane.run(_forget_events)  # type: ignore[attr-defined]
        assert [turn.messages for turn in await store.turns("budi")] == [said(x, f"Jawaban: {x}") for x in "ab"]
        lease = await store.take("budi", "here", 60)
        await whole_turn(store, lease, "t3", "c", "C")
        assert len(await store.turns("budi")) == 3

    def _forget_events(db) -> None:  # type: ignore[no-untyped-def]
        with db.transaction():
            db.change("DELETE FROM tukang_events")

    asyncio.run(work())


# ── forks ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_fork_shares_what_was_and_nothing_that_comes(store: Store) -> None:
    async def work() -> None:
        ids = await conversation(store, "budi", "a", "b", "c")
        await store.keep("budi", Kept("summary", 2, "a b"), None)
        await store.keep("budi", Kept("pins", 3, [3]), None)
        fork = await store.fork("budi", "lain", 2)
        assert (fork.id, fork.turns, fork.origin) == ("lain", 2, "budi")
        assert list(await store.kept("lain")) == ["summary"], "what knows of turn 3 stays behind"
        lease = await store.take("lain", "here", 60)
        await whole_turn(store, lease, "x", "d", "D")
        assert [turn.id for turn in await store.turns("lain")] == [*ids[:2], "x"]
        assert [turn.id for turn in await store.turns("budi")] == ids
        assert [turn.number for turn in await store.turns("lain")] == [1, 2, 3]
        assert (await store.fork("budi", "semua")).turns == 3
        assert (await store.fork("budi", "kosong", 0)).turns == 0

    asyncio.run(work())


def test_an_open_turn_is_not_forked(store: Store) -> None:
    async def work() -> None:
        await conversation(store, "budi", "a")
        lease = await store.take("budi", "here", 60)
        await store.append(lease, "open", [started("open")], 0)
        assert (await store.fork("budi", "lain")).turns == 1
        with pytest.raises(UnknownSessionError, match="no finished turn 2"):
            await store.fork("budi", "lain2", 2)
        with pytest.raises(UnknownSessionError):
            await store.fork("nobody", "lain2")
        with pytest.raises(SessionExistsError):
            await store.fork("budi", "lain")
        with pytest.raises(ConfigurationError):
            await store.fork("budi", "")

    asyncio.run(work())


def test_a_fork_costs_the_same_however_long_its_turns_are(store: Store) -> None:
    async def work() -> None:
        lease = await store.take("budi", "here", 60)
        await whole_turn(store, lease, "t1", "x" * 200_000, "y" * 200_000)
        before = await _size(store)
        for number in range(10):
            await store.fork("budi", f"fork{number}")
        assert await _size(store) - before < 200_000

    asyncio.run(work())


# ── renaming and deleting ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_session_is_renamed(store: Store) -> None:
    async def work() -> None:
        ids = await conversation(store, "budi", "a")
        await conversation(store, "siti", "b")
        stale = await store.take("budi", "here", 0.0)
        assert (await store.rename("budi", "Budi Santoso 💬")).id == "Budi Santoso 💬"
        assert [turn.id for turn in await store.turns("Budi Santoso 💬")] == ids
        with pytest.raises(UnknownSessionError):
            await store.rename("budi", "x")
        with pytest.raises(SessionExistsError):
            await store.rename("siti", "Budi Santoso 💬")
        assert (await store.rename("siti", "siti")).id == "siti"
        with pytest.raises(LeaseLostError):
            await store.append(stale, "t9", [started("t9")], 0)

    asyncio.run(work())


def test_what_is_in_the_middle_of_a_turn_is_neither_renamed_nor_deleted(store: Store) -> None:
    async def work() -> None:
        lease = await store.take("budi", "here", 60)
        await store.append(lease, "t1", [started("t1")], 0)
        with pytest.raises(SessionBusyError):
            await store.rename("budi", "lain")
        with pytest.raises(SessionBusyError):
            await store.delete("budi")
        await store.release(lease)
        assert (await store.delete("budi")).turns == 1, "an open turn that nobody runs goes with its session"

    asyncio.run(work())


def test_a_deleted_session_is_gone_with_all_it_had(store: Store) -> None:
    async def work() -> None:
        await conversation(store, "siti", "Rahasia siti")
        lease = await store.take("budi", "here", 60)
        offer = [Offer("approval", "k")]
        await store.append(lease, "t1", [started("t1", "Harga panci"), asked()], 0, offer=offer)
        await store.keep_output(lease, "t1", "t1-1-0", "panjang", 10)
        await store.keep("budi", Kept("summary", 0, "x"), None)
        await store.release(lease)
        deleted = await store.delete("budi")
        assert (deleted.turns, deleted.shared) == (1, {})
        for sql in ("turns", "events", "waits", "outputs", "kept", "history", "words"):
            (count,) = await store._lane.run(lambda db, sql=sql: _one(db, f"SELECT count(*) FROM tukang_{sql}"))  # type: ignore[attr-defined]
            expected = {"turns": 1, "events": 4, "history": 1, "words": 1}.get(sql, 0)
            assert count == expected, f"tukang_{sql}: only siti's is left"
        assert await store.search("budi", "panci") == []
        with pytest.raises(UnknownSessionError):
            await store.delete("budi")
        with pytest.raises(LeaseLostError):
            await store.append(lease, "t1", [asked()], 2)
        for _ in range(3):
            again = await store.take("budi", "here", 0)
            assert again.open_turn is None, "the name can be used again"
            assert again.token > lease.token
            with pytest.raises(LeaseLostError):
                await store.append(lease, "t9", [started("t9")], 0)  # but not by who had it before

    asyncio.run(work())


def test_shared_turns_live_as_long_as_somebody_holds_them(store: Store) -> None:
    async def work() -> None:
        ids = await conversation(store, "budi", "apel", "jeruk")
        await store.fork("budi", "lain", 1)
        deleted = await store.delete("budi")
        assert (deleted.turns, deleted.shared) == (1, {"lain": 1})
        assert [turn.id for turn in await store.turns("lain")] == ids[:1]
        assert len(await store.read(ids[0])) == 4
        assert [hit.turn for hit in await store.search("lain", "apel")] == ids[:1]
        assert (await store.turn(ids[0])).number == 1
        assert (await store.delete("lain")).turns == 1
        (count,) = await store._lane.run(lambda db: _one(db, "SELECT count(*) FROM tukang_turns"))  # type: ignore[attr-defined]
        assert count == 0

    asyncio.run(work())


def test_forks_and_deletions_at_once_lose_and_leave_nothing(store: Store) -> None:
    async def work() -> None:
        for number in range(5):
            await conversation(store, f"a{number}", "x", "y")
            await store.fork(f"a{number}", f"b{number}")
            deeds = [
                store.delete(f"a{number}"),
                store.delete(f"b{number}"),
                store.fork(f"a{number}", f"c{number}"),
                store.fork(f"b{number}", f"d{number}"),
            ]
            results = await asyncio.gather(*deeds, return_exceptions=True)
            assert all(not isinstance(r, BaseException) or isinstance(r, UnknownSessionError) for r in results), results
        left = {info.id: info.turns for info in await store.sessions()}
        assert set(left.values()) <= {2}
        for name in left:
            assert (await store.delete(name)) is not None
        (count,) = await store._lane.run(lambda db: _one(db, "SELECT count(*) FROM tukang_turns"))  # type: ignore[attr-defined]
        assert count == 0

    asyncio.run(work())


def test_sqlite_overwrites_what_is_deleted(tmp_path: Path) -> None:
    from tukang.memory.stores.addresses import store_at

    store = store_at(f"sqlite:///{tmp_path}/tukang.db")

    async def work() -> None:
        for number in range(20):
            await conversation(store, f"s{number}", f"biasa {number}", "biasa " * 50)
        await conversation(store, "budi", "sayarahasia1 " * 3000, "halo")
        lease = await store.take("budi", "here", 60)
        await store.append(lease, "t1", [started("t1", "sayarahasia2")], 0)
        await store.keep_output(lease, "t1", "t1-1-0", "sayarahasia3" * 1000, 10)
        await store.release(lease)
        assert _holds(tmp_path, b"sayarahasia")
        await store.delete("budi")
        assert not _holds(tmp_path, b"sayarahasia")
        assert (await store.session("s7")).turns == 2
        await store.close()

    asyncio.run(work())


# ── search and kept values ───────────────────────────────────────────────────────────────────────────────────────────


def test_older_turns_are_found_by_their_words(store: Store) -> None:
    async def work() -> None:
        await conversation(
            store, "budi", "Berapa harganya SSD PRD002 di Café Sukamaju?", "Apa itu RAM?", "Pesan 3 keyboard"
        )
        await conversation(store, "siti", "SSD untuk siti")
        lease = await store.take("budi", "here", 60)
        result = ToolResult("t4-1-0", "cek", (Words('{"resi":"JNE99812","status":"dikirim"}'),))
        messages = (user("Cek kiriman"), Message("tool", (result,)))
        await store.append(lease, "t4", [started("t4", "Cek kiriman")], 0)
        await store.append(lease, "t4", [TurnFinished(at=9.0, stopped="answer", text="x")], 1, messages=messages)

        async def found(query: str, limit: int = 10) -> list[int]:
            return [hit.number for hit in await store.search("budi", query, limit)]

        assert await found("ssd") == [1]
        assert await found("HARGA") == [1]
        assert await found("cafe") == [1]
        assert await found("jne99812") == [4]
        assert await found("prd002 keyboard zzz") in ([1, 3], [3, 1])
        assert (await found("ssd harganya keyboard"))[0] == 1, "more words are better"
        assert await found("jawaban", limit=2) != []
        assert len(await found("jawaban", limit=2)) == 2
        assert await found("siti") == []
        for odd in ("", "  ", '"', "ssd' OR 1=1 --", "ssd:* & (", "* NEAR ^", "'; DROP TABLE tukang_turns; --", "\0"):
            assert await found(odd) in ([], [1])
        (hit,) = await store.search("budi", "sukamaju")
        assert hit.excerpt == "Berapa harganya SSD PRD002 di Café Sukamaju?"
        assert await store.search("nobody", "ssd") == []

    asyncio.run(work())


def test_kept_values_are_replaced_by_who_has_seen_the_last_one(store: Store) -> None:
    async def work() -> None:
        await conversation(store, "budi", "a")
        one, two = Kept("summary", 1, {"text": "a", "n": 0.1}), Kept("summary", 2, {"text": "ab"})
        await store.keep("budi", one, None)
        with pytest.raises(JournalConflictError):
            await store.keep("budi", two, None)
        seen = (await store.kept("budi"))["summary"]
        assert seen == one
        await store.keep("budi", two, seen)
        with pytest.raises(JournalConflictError):
            await store.keep("budi", Kept("summary", 3, "x"), seen)
        assert await store.kept("budi") == {"summary": two}
        assert await store.kept("nobody") == {}
        with pytest.raises(UnknownSessionError):
            await store.keep("nobody", one, None)

    asyncio.run(work())


# ── size ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_store_grows_with_what_was_said_not_with_rounds_squared(store: Store) -> None:
    """A turn of 4n rounds takes at most a little more than four times what a turn of n rounds takes."""

    async def work() -> None:
        lease = await store.take("budi", "here", 600)

        async def turn(id: str, rounds: int) -> int:
            before = await _size(store)
            await store.append(lease, id, [started(id)], 0)
            words = []
            for number in range(rounds):
                words.append(f"{number} " + "harga barang " * 60)
                await store.append(lease, id, [asked(), asked()], 1 + 2 * number)
            messages = tuple(user(word) for word in words)
            await store.append(
                lease, id, [TurnFinished(at=9.0, stopped="answer", text="x")], 1 + 2 * rounds, messages=messages
            )
            return await _size(store) - before

        await turn("t0", 10)
        small, large = await turn("t1", 100), await turn("t2", 400)
        assert large < 6 * small

    asyncio.run(work())


def _one(db, sql: str):  # type: ignore[no-untyped-def]
    with db.transaction(write=False):
        return db.one(sql)


async def _size(store: Store) -> int:
    """Bytes of all tables."""
    (size,) = await store._lane.run(  # type: ignore[attr-defined]
        lambda db: _one(
            db,
            "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
            if db.for_update == ""
            else "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relname LIKE 'tukang%' "
            "AND relkind = 'r' AND relnamespace = current_schema()::regnamespace",
        )
    )
    return int(size)


def _holds(directory: Path, text: bytes) -> bool:
    return any(text in path.read_bytes() for path in directory.iterdir())
