"""When a Postgres server refuses, restarts or cannot be reached: clear kinds of errors, nothing half-written."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time

import pytest

from tests.memory.cut import Wire
from tests.memory.test_store_failures import kind_of_refusal
from tests.memory.turns import asked, finished, said, started, whole_turn
from tests.postgres import PostgresServer
from tukang.memory.stores.addresses import store_at
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import StoreError


def test_what_postgres_refuses(postgres_server: PostgresServer, postgres_url: str) -> None:
    port = postgres_server.port
    store = store_at(postgres_url)
    assert asyncio.run(kind_of_refusal(store)) == "not_upgraded"
    asyncio.run(store.upgrade())
    asyncio.run(store.close())
    schema = postgres_url.rpartition("%3D")[2]
    postgres_server.run(f"CREATE ROLE tamu LOGIN PASSWORD 'rahasia'; GRANT USAGE ON SCHEMA {schema} TO tamu")
    try:
        for url, expected in (
            (postgres_url.replace("rahasia-banget", "rahasia-salah"), "denied"),
            (postgres_server.url(user="nobody"), "denied"),
            (postgres_server.url(database="tidak_ada"), "not_found"),
            (f"postgresql://tamu:rahasia@127.0.0.1:{port}/postgres?{postgres_url.partition('?')[2]}", "denied"),
            (f"{postgres_url}%20-cdefault_transaction_read_only%3Don", "read_only"),
        ):
            before = time.monotonic()
            assert asyncio.run(kind_of_refusal(store_at(url))) == expected, url
            assert time.monotonic() - before < 5, "what will not pass is not tried again"
    finally:
        postgres_server.run("DROP OWNED BY tamu; DROP ROLE tamu")


def test_a_server_that_is_not_there_is_tried_for_a_while() -> None:
    with Wire(1) as wire:
        wire.cut()
        url = f"postgresql://a:rahasia@127.0.0.1:{wire.port}/x"
        before = time.monotonic()
        assert asyncio.run(kind_of_refusal(store_at(url, patience=0.5))) == "unavailable"
        assert time.monotonic() - before > 0.2


def test_a_row_that_another_transaction_holds(postgres_url: str) -> None:
    import psycopg

    async def work() -> None:
        store = store_at(postgres_url, patience=0.2)
        await store.upgrade()
        lease = await store.take("budi", "here", 60)
        with psycopg.connect(postgres_url) as other:
            other.execute("SELECT 1 FROM tukang_sessions FOR UPDATE")
            with pytest.raises(StoreError) as failed:
                await store.append(lease, "t1", [started("t1")], 0)
            assert failed.value.kind == "locked"
        await whole_turn(store, lease, "t1")
        await store.close()

    asyncio.run(work())


def test_an_append_over_a_network_that_fails_is_done_once(postgres_server: PostgresServer, postgres_url: str) -> None:
    async def work() -> None:
        with Wire(postgres_server.port) as wire:
            url = postgres_url.replace(f":{postgres_server.port}/", f":{wire.port}/")
            store = store_at(url)
            await store.upgrade()
            lease = await store.take("budi", "here", 60)
            wire.cut_once_behind(b"COMMIT")  # it was written, and nobody said so
            await store.append(lease, "t1", [started("t1")], 0)
            wire.cut_once_behind(b"INSERT INTO tukang_events")  # it was not written
            await store.append(lease, "t1", [asked()], 1)
            wire.cut_once_behind(b"COMMIT")
            await store.append(lease, "t1", [finished()], 2, messages=said("a", "b"))
            wire.cut_once_behind(b"COMMIT")
            await store.take("siti", "here", 60)  # the same attempt finds what it has taken
            wire.cut_once_behind(b"COMMIT")
            with pytest.raises(StoreError) as failed:
                await store.fork("budi", "lain")  # cannot be told from somebody else's
            assert failed.value.uncertain
            assert {info.id for info in await store.sessions()} == {"budi", "lain", "siti"}
            assert len(await store.read("t1")) == 3
            await store.close()

    asyncio.run(work())


def test_a_network_that_stays_cut_is_an_error_and_nothing_is_half_written(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    async def work() -> None:
        with Wire(postgres_server.port) as wire:
            store = store_at(postgres_url.replace(f":{postgres_server.port}/", f":{wire.port}/"), patience=0.3)
            await store.upgrade()
            lease = await store.take("budi", "here", 60)
            await store.append(lease, "t1", [started("t1")], 0)
            wire.cut()
            with pytest.raises(StoreError) as failed:
                await store.append(lease, "t1", [asked(), asked()], 1)
            assert failed.value.kind == "unavailable"
            wire.mend()
            assert len(await store.read("t1")) == 1
            await store.append(lease, "t1", [asked(), asked()], 1)
            await store.close()

    asyncio.run(work())


def test_a_follower_goes_on_when_the_network_comes_back(postgres_server: PostgresServer, postgres_url: str) -> None:
    async def work() -> None:
        with Wire(postgres_server.port) as wire:
            writer = store_at(postgres_url)
            await writer.upgrade()
            lease = await writer.take("budi", "here", 60)
            await writer.append(lease, "t1", [started("t1")], 0)
            reader = store_at(postgres_url.replace(f":{postgres_server.port}/", f":{wire.port}/"))
            following = asyncio.create_task(_places(reader))
            await asyncio.sleep(0.1)
            wire.cut()
            await writer.append(lease, "t1", [asked()], 1)
            wire.mend()
            await writer.append(lease, "t1", [finished()], 2, messages=said("a", "b"))
            assert await asyncio.wait_for(following, 30) == [1, 2, 3]
            await reader.close()
            await writer.close()

    async def _places(reader: Store) -> list[int]:
        return [place async for place, _ in reader.follow("t1")]

    asyncio.run(work())


def test_a_server_that_restarts_in_the_middle_costs_time_and_nothing_else(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    async def work() -> None:
        store = store_at(postgres_url, patience=30)
        await store.upgrade()
        over = threading.Event()

        def restart() -> None:
            with contextlib.suppress(Exception):
                postgres_server.stop("immediate")
                postgres_server.start()
            over.set()

        lease = await store.take("budi", "here", 600)
        written = [started("t1")]
        await store.append(lease, "t1", written, 0)
        restarting = threading.Thread(target=restart)
        restarting.start()
        while not over.is_set() or len(written) < 50:
            await store.append(lease, "t1", batch := [asked()], len(written))
            written += batch
        restarting.join()
        assert await store.read("t1") == tuple(written)
        await store.close()

    asyncio.run(work())


def test_sync_overrules_a_server_that_does_not_wait_for_its_disk(postgres_url: str) -> None:
    async def work() -> None:
        store = store_at(f"{postgres_url}%20-csynchronous_commit%3Doff")
        await store.upgrade()
        asked_for: list[str] = []

        def look(db, sync: bool) -> None:  # type: ignore[no-untyped-def]
            with db.transaction(sync=sync):
                asked_for.append(db.one("SHOW synchronous_commit")[0])

        for sync in (True, False, True):
            await store._lane.run(lambda db, sync=sync: look(db, sync))  # type: ignore[attr-defined]
        assert asked_for == ["on", "off", "on"]
        await store.close()

    asyncio.run(work())


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("DiskFull", "full"),
        ("AdminShutdown", "unavailable"),
        ("CannotConnectNow", "unavailable"),
        ("DeadlockDetected", "locked"),
        ("IndexCorrupted", "corrupt"),
        ("DivisionByZero", "unexpected"),
    ],
)
def test_what_the_server_says_has_a_kind(state: str, expected: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    from tukang.memory.stores.postgres import PostgresDatabase

    database = PostgresDatabase("postgresql://budi:rahasia@host/db", 1.0)
    error = database._explained(getattr(psycopg.errors, state)("it says so"))
    assert error.kind == expected
    assert str(error).startswith("postgresql://budi@host/db: it says so.")
