"""Tasks in a store: one of two who change the same is heard, on both databases."""

from __future__ import annotations

import asyncio

import pytest

from tests.tasks.rows import DONE, new
from tukang.memory.stores.base import Store
from tukang.memory.stores.task_values import Move, TaskLostError, UnknownTaskError

RUNNING = Move("running", lease=5.0, holder="a")


def test_the_same_task_is_made_once(store: Store) -> None:
    async def work() -> None:
        first = await store.tasks.add(new("t1"))
        assert first.state == "queued"
        moved = await store.tasks.move(first, RUNNING)
        again = await store.tasks.add(new("t1", "write"))
        assert (again.token, again.spec.policy.effect) == (moved.token, "read")

    asyncio.run(work())


def test_of_those_who_take_a_task_one_gets_it(store: Store) -> None:
    async def work() -> None:
        row = await store.tasks.add(new("t1"))
        taken = await asyncio.gather(
            *(store.tasks.move(row, Move("running", lease=5.0, holder=str(n))) for n in range(8)),
            return_exceptions=True,
        )
        assert sum(isinstance(one, TaskLostError) for one in taken) == 7
        assert (await store.tasks.one("t1")).attempts == 1

    asyncio.run(work())


def test_who_was_given_up_changes_nothing_any_more(store: Store) -> None:
    async def work() -> None:
        slow = await store.tasks.move(await store.tasks.add(new("t1")), Move("running", lease=0.0, holder="slow"))
        found = await store.tasks.one("t1")
        assert found.abandoned
        await store.tasks.move(found, Move("queued", lost=True))
        with pytest.raises(TaskLostError):
            await store.tasks.beat(slow, 5.0, 50, "still here")
        with pytest.raises(TaskLostError):
            await store.tasks.move(slow, Move("done", DONE))
        now = await store.tasks.one("t1")
        assert (now.state, now.lost, now.outcome, now.percent) == ("queued", 1, None, None)

    asyncio.run(work())


def test_progress_and_a_wish_to_end_pass_between_who_runs_it_and_who_watches(store: Store) -> None:
    async def work() -> None:
        held = await store.tasks.move(await store.tasks.add(new("t1")), RUNNING)
        seen = []
        began = asyncio.Event()
        following = asyncio.create_task(_all(store, seen, began))
        await began.wait()
        assert await store.tasks.beat(held, 5.0, 40, "half") is None
        assert await store.tasks.ask_to_end(held)
        assert await store.tasks.beat(held, 5.0, 60, "more") is not None
        await store.tasks.move(held, Move("cancelled", DONE))
        await following
        assert seen[0].state == "running"
        assert (seen[-1].state, seen[-1].percent, seen[-1].message) == ("cancelled", 60.0, "more")

    async def _all(store: Store, seen: list[object], began: asyncio.Event) -> None:
        async for row in store.tasks.follow("t1"):
            seen.append(row)
            began.set()

    asyncio.run(work())


def test_trying_again_begins_afresh(store: Store) -> None:
    async def work() -> None:
        held = await store.tasks.move(await store.tasks.add(new("t1", expires=100.0, wake=True)), RUNNING)
        await store.tasks.ask_to_end(held)
        ended = await store.tasks.move(held, Move("failed", DONE))
        await store.tasks.woke("t1")
        again = await store.tasks.move(ended, Move("queued", afresh=True, expires=50.0))
        assert (again.cancel, again.outcome, again.finished, again.woken, again.tries) == (None, None, None, None, 0)
        assert again.attempts == 1, "that it has begun once stays true"
        assert again.expires is not None
        assert again.expires < (held.expires or 0.0)

    asyncio.run(work())


def test_a_task_goes_with_its_session_and_with_its_name(store: Store) -> None:
    async def work() -> None:
        await store.tasks.add(new("t1"))
        await store.tasks.add(new("t2", session="ani"))
        await store.rename("budi", "cici")
        assert (await store.tasks.one("t1")).session == "cici"
        assert [row.id for row in await store.tasks.several(session="cici")] == ["t1"]
        await store.delete("cici")
        with pytest.raises(UnknownTaskError):
            await store.tasks.one("t1")
        assert [row.id for row in await store.tasks.several()] == ["t2"]

    asyncio.run(work())


def test_pending_is_what_there_is_still_something_to_be_done_about(store: Store) -> None:
    async def work() -> None:
        for id, wake in (("t1", False), ("t2", False), ("t3", True), ("t4", True), ("t5", False)):
            await store.tasks.add(new(id, wake=wake))
        for id, state in (("t2", "done"), ("t3", "done"), ("t4", "failed")):
            held = await store.tasks.move(await store.tasks.one(id), RUNNING)
            await store.tasks.move(held, Move(state, DONE))
        await store.tasks.move(await store.tasks.one("t5"), RUNNING)
        await store.tasks.woke("t4")
        assert {row.id for row in await store.tasks.pending("gudang", "embedded")} == {"t1", "t3", "t5"}
        assert await store.tasks.pending("gudang", "celery") == await store.tasks.pending("toko", "embedded") == []

    asyncio.run(work())
