"""Turns by an id of one's own: begun once, gone on with, given as they ended; and turns that are left to go on elsewhere."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.memory.mortal import LEASE, World, dies_in, steps
from tukang import Agent
from tukang.errors import ConfigurationError
from tukang.loop.events import TurnResumed
from tukang.memory.stores.base import Store
from tukang.models.scripted import Scripted, call
from tukang.running import Running, TurnLeftError


def _started(agent: Agent, store: Store, turn: str) -> Running[Any]:
    return agent.start("go", turn=turn, session=agent.session("budi", store=store, lease=LEASE).session)


def test_a_turn_of_an_id_is_run_once(store: Store) -> None:
    async def run() -> None:
        world = World()
        agent = world.agent(call("write", x=1), "done")
        first = await _started(agent, store, "t-1").answer()
        again = await _started(agent, store, "t-1").answer()
        assert first == again
        assert len(world.keys("write")) == 1
        assert [turn.id for turn in await store.turns("budi")] == ["t-1"]

    asyncio.run(run())


def test_a_turn_that_had_begun_is_gone_on_with(store: Store) -> None:
    async def run() -> None:
        world = World()
        agent = world.agent(call("read", x=1), "done")
        await dies_in("read", agent, store, world)
        (open_turn,) = await store.open_turns("budi")
        answer = await _started(agent, store, open_turn.turn).answer()
        assert answer.text == "done"
        assert any(isinstance(event, TurnResumed) for event in answer.events)

    asyncio.run(run())


def test_another_turn_that_was_left_is_ended_first(store: Store) -> None:
    async def run() -> None:
        world = World()
        agent = world.agent(call("read", x=1), "done")
        await dies_in("read", agent, store, world)
        answer = await _started(agent, store, "t-2").answer()
        assert answer.text == "done"
        assert [turn.stopped for turn in await store.turns("budi")] == ["cancelled", "answer"]

    asyncio.run(run())


def test_an_id_needs_a_store() -> None:
    agent = Agent(Scripted(["done"]))
    with pytest.raises(ConfigurationError, match="only a session in a store"):
        agent.start("go", turn="t-1", session=agent.session().session)
    with pytest.raises(ConfigurationError, match="only a session in a store"):
        agent.start("go", turn="t-1")


def test_a_turn_that_is_left_ends_its_write_first_and_goes_on_elsewhere(store: Store) -> None:
    async def run() -> None:
        world = World()
        agent = world.agent([call("write", x=1), call("write", x=2)], "done")
        world.hangs.add("write")
        running = _started(agent, store, "t-1")
        answer = asyncio.create_task(running.answer())
        await world.began.wait()
        running.leave()
        await asyncio.sleep(0)
        assert not answer.done(), "nobody else could find out how the write ends"
        world.hangs.clear()
        world.end.set()
        with pytest.raises(TurnLeftError):
            await answer
        assert len(world.did) == 1, "nothing new began"
        (left,) = await store.open_turns("budi", idle=True)
        assert left.holder is None

        there = await _started(agent, store, "t-1").answer()
        assert steps(there) == [("write", None), ("write", None)]
        assert [len(world.keys("write", x)) for x in (1, 2)] == [1, 1]

    asyncio.run(run())


def test_a_turn_that_is_left_at_once_says_that_nobody_knows(store: Store) -> None:
    async def run() -> None:
        world = World()
        agent = world.agent(call("write", x=1), "done")
        world.hangs.add("write")
        running = _started(agent, store, "t-1")
        answer = asyncio.create_task(running.answer())
        await world.began.wait()
        running.leave(at_once=True)
        with pytest.raises(TurnLeftError):
            await answer
        world.hangs.clear()
        assert steps(await _started(agent, store, "t-1").answer()) == [("write", "outcome_unknown")]
        assert len(world.keys("write")) == 1

    asyncio.run(run())


def test_a_read_is_left_in_the_middle_and_run_again(store: Store) -> None:
    async def run() -> None:
        world = World()
        agent = world.agent(call("read", x=1), "done")
        world.hangs.add("read")
        running = _started(agent, store, "t-1")
        answer = asyncio.create_task(running.answer())
        await world.began.wait()
        running.leave()
        with pytest.raises(TurnLeftError):
            await answer
        world.hangs.clear()
        assert steps(await _started(agent, store, "t-1").answer()) == [("read", None)]
        assert len(world.keys("read")) == 2

    asyncio.run(run())


def test_a_turn_can_be_left_before_it_begins(store: Store) -> None:
    async def run() -> None:
        agent = World().agent("done")
        lease = await store.take("budi", "somebody", 60)
        running = _started(agent, store, "t-1")
        answer = asyncio.create_task(running.answer())
        await asyncio.sleep(0.05)
        running.leave()
        with pytest.raises(TurnLeftError):
            await answer
        await store.release(lease)
        assert await store.turns("budi", finished_only=False) == []
        assert (await _started(agent, store, "t-1").answer()).text == "done"

    asyncio.run(run())
