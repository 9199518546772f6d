"""Exports and imports: a backup of either database, and the way to the other, with equal results."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from tests.memory.turns import asked, conversation, replied, started
from tests.postgres import PostgresServer
from tukang.memory.stores.addresses import store_at
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import ImportFormatError, SessionExistsError, UnknownSessionError
from tukang.memory.stores.values import Kept, Offer


async def _lines(store: Store, session: str | None = None) -> list[str]:
    return [line async for line in store.export(session)]


async def _fill(store: Store) -> None:
    """Sessions of every kind: whole, forked, open, waiting, with long results and odd letters."""
    await conversation(store, "budi", "Berapa harga SSD?", 'Odd: "\\ \0 \u2028 😀 é', "c")
    await store.keep("budi", Kept("summary", 2, {"text": "SSD…"}), None)
    await store.fork("budi", "cabang", 2)
    await conversation(store, "cabang", "lanjut")
    lease = await store.take("menunggu", "here", 60)
    offers = [Offer("approval", "a", {"n": 1}, 5e9), Offer("task", "b"), Offer("task", "c")]
    await store.append(lease, "w1", [started("w1"), asked()], 0, offer=offers)
    await store.keep_output(lease, "w1", "w1-1-0", "panjang 😀" * 100, 50)
    await store.answer("approval", "a", [True, None], "siti")
    await store.answer("task", "b", None)
    await store.append(lease, "w1", [replied("x")], 2, consume=[("approval", "a")])
    await store.take("kosong", "here", 60)


def test_an_export_imported_elsewhere_is_the_same(
    store: Store, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    """From each of the databases to each of them."""
    elsewhere = postgres_server.new_schema()

    async def work() -> None:
        await _fill(store)
        lines = await _lines(store)
        for url in (f"sqlite:///{tmp_path}/copy.db", elsewhere):
            copy = store_at(url)
            await copy.upgrade()
            assert await copy.load(lines) == ("budi", "cabang", "menunggu", "kosong")
            assert await _lines(copy) == lines
            for session in ("budi", "cabang", "menunggu", "kosong"):
                assert await copy.turns(session, finished_only=False) == await store.turns(session, finished_only=False)
                assert await copy.kept(session) == await store.kept(session)
                assert await _lines(copy, session) == await _lines(store, session)
            for turn in ("budi1", "cabang1", "w1"):
                assert await copy.read(turn) == await store.read(turn)
            assert await copy.waits(open_only=False) == await store.waits(open_only=False)
            assert [hit.turn for hit in await copy.search("cabang", "ssd")] == ["budi1"]
            assert await copy.read_output("menunggu", "w1-1-0", 3) == await store.read_output("menunggu", "w1-1-0", 3)
            assert (await copy.session("menunggu")).holder is None, "a lease is not copied"
            lease = await copy.take("menunggu", "there", 60)
            assert lease.open_turn == "w1"
            await copy.append(lease, "w1", [asked()], 3, consume=[("task", "b")])
            assert await copy.load(lines, skip_existing=True) == ()
            await copy.close()

    asyncio.run(work())
    postgres_server.drop_schema(elsewhere)


def test_one_session_is_exported_with_what_it_shares(store: Store) -> None:
    async def work() -> None:
        await _fill(store)
        lines = await _lines(store, "cabang")
        kinds = [next(iter(msgspec.json.decode(line))) for line in lines]
        assert kinds == ["tukang", "turn", "turn", "turn", "session"]
        await store.delete("cabang")
        assert await store.load(lines) == ("cabang",)
        assert [turn.id for turn in await store.turns("cabang")] == ["budi1", "budi2", "cabang1"]
        assert await _lines(store, "cabang") == lines
        assert (await store.delete("budi")).shared == {"cabang": 2}, "what was there is shared again"
        with pytest.raises(UnknownSessionError):
            await _lines(store, "nobody")

    asyncio.run(work())


def test_an_import_never_writes_over_anything(store: Store) -> None:
    async def work() -> None:
        await conversation(store, "budi", "a")
        lines = await _lines(store)
        with pytest.raises(SessionExistsError, match="budi"):
            await store.load(lines)
        await store.rename("budi", "lain")
        other = [line.replace("Jawaban: a", "Jawaban: b") for line in lines]
        with pytest.raises(ImportFormatError, match="different"):
            await store.load(other)
        assert [info.id for info in await store.sessions()] == ["lain"]
        assert await store.load(lines) == ("budi",), "the same turn is shared"
        assert (await store.session("budi")).turns == 1

    asyncio.run(work())


def test_what_is_no_export_is_refused_whole(store: Store) -> None:
    async def work() -> None:
        await conversation(store, "satu", "a", "b")
        await conversation(store, "dua", "c")
        lines = await _lines(store)
        for session in ("satu", "dua"):
            await store.delete(session)
        head, turn1, turn2, session1, turn3, session2 = lines

        async def refused(*broken: str) -> str:
            with pytest.raises(ImportFormatError) as failed:
                await store.load(broken)
            return str(failed.value)

        assert "begins with" in await refused()
        assert "begins with" in await refused(turn1, turn2, session1)
        assert "form 99" in await refused(head.replace("1", "99"), turn1)
        assert "line 2 is not a line of an export" in await refused(head, turn1[:-20])
        assert "line 2" in await refused(head, '{"turn": {"id": 5}}')
        assert "neither" in await refused(head, "{}")
        assert "middle of a session" in await refused(head, turn1, turn2)
        assert "neither in the lines" in await refused(head, turn1, session1)
        assert "whole journal" in await refused(head, turn1.replace("TurnStarted", "TimeExpired"), turn2, session1)
        assert "version 99" in await refused(head, turn1.replace('"version":1', '"version":99'), turn2, session1)
        rules = turn1.replace('"messages":[{"role"', '"messages":[{"rule"')
        assert "the stored messages" in await refused(head, rules, turn2, session1)
        assert await store.sessions() == []
        with pytest.raises(ImportFormatError):
            await store.load([head, turn1, turn2, session1, turn3])
        assert [info.id for info in await store.sessions()] == ["satu"], "what was whole was written"
        assert await store.load([head, "", turn3, session2, "\n"]) == ("dua",)

    asyncio.run(work())
