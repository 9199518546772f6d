"""The numbered steps of the schema: whole or not at all, once, and never backwards."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from tests.memory.turns import conversation
from tukang.memory.stores import migrations
from tukang.memory.stores.addresses import store_at
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import StoreError
from tukang.memory.stores.migrations import Migration

RELEASED = migrations.MIGRATIONS
NEXT = migrations.newest() + 1


def _with(monkeypatch: pytest.MonkeyPatch, *more: Migration) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", (*RELEASED, *more))


ADDS = Migration(NEXT, both="ALTER TABLE tukang_sessions ADD COLUMN mood TEXT; CREATE TABLE tukang_moods (key $key)")
BREAKS = Migration(NEXT, both="CREATE TABLE tukang_moods (key $key); INSERT INTO nowhere VALUES (1)")


def test_a_step_is_applied_whole_or_not_at_all(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        await conversation(store, "budi", "a")
        await store.close()
        _with(monkeypatch, BREAKS)
        with pytest.raises(StoreError):
            await store.upgrade()
        await store.close()
        _with(monkeypatch, ADDS)
        assert await store.upgrade() == (NEXT,), "the table that was made before the fault is gone again"
        assert await store.upgrade() == ()
        assert (await store.session("budi")).turns == 1

    asyncio.run(work())


def test_an_older_program_leaves_a_newer_schema_alone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        _with(monkeypatch, ADDS)
        await store.close()
        await store.upgrade()
        _with(monkeypatch)
        await store.close()
        for attempt in (store.sessions(), store.upgrade()):
            with pytest.raises(StoreError) as failed:
                await attempt
            assert failed.value.kind == "too_new"
            assert f"schema {NEXT}" in str(failed.value)

    asyncio.run(work())


def test_two_that_upgrade_at_once_do_it_once(url: str) -> None:
    async def work() -> Sequence[tuple[int, ...]]:
        stores = [store_at(url), store_at(url, patience=11.0), store_at(url, patience=12.0)]
        done = await asyncio.gather(*(store.upgrade() for store in stores))
        for store in stores:
            await store.close()
        return done

    assert sorted(asyncio.run(work())) == [(), (), tuple(range(1, NEXT))]


def test_steps_are_numbered_without_gaps() -> None:
    assert [step.number for step in migrations.MIGRATIONS] == list(range(1, migrations.newest() + 1))
