"""A turn that went well is gone at once: nothing of it waits for the garbage collector, which would have to look for it."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable

import pytest

from tests.servers import ChatServer, Say
from tukang import Agent, tool
from tukang.models.base import Model
from tukang.models.openai_chat import OpenAIChat
from tukang.models.scripted import Scripted, call

SCRIPT = ([call("read", page=1), call("look", page=1)], [call("read", page=2), call("nothing")], "done")


@tool(effect="read")
def read(page: int) -> dict[str, int]:
    """Read a page."""
    return {"page": page}


@tool(effect="read")
async def look(page: int) -> dict[str, int]:
    """Look at a page."""
    return {"page": page}


async def awaited(agent: Agent) -> None:
    await agent.arun("go")


async def followed(agent: Agent) -> None:
    async for _ in agent.stream("go"):
        pass


async def in_a_session(agent: Agent) -> None:
    await agent.session("budi").arun("go")


def left_by(way: Callable[[Agent], Awaitable[None]], model: Model) -> set[str]:
    """What kinds of our own things are left for the garbage collector by a turn."""
    agent = Agent(model, tools=[read, look])

    async def work() -> set[str]:
        await way(agent)  # what is made once
        gc.collect()
        gc.set_debug(gc.DEBUG_SAVEALL)
        await way(agent)
        gc.collect()
        return {type(thing).__qualname__ for thing in gc.garbage if type(thing).__module__.startswith("tukang.")}

    gc.disable()
    try:
        return asyncio.run(work())
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.mark.parametrize("way", [awaited, followed, in_a_session])
def test_a_turn_leaves_nothing_to_collect(way: Callable[[Agent], Awaitable[None]]) -> None:
    assert left_by(way, Scripted([*SCRIPT, *SCRIPT])) == set()


@pytest.mark.parametrize("stream", [False, True])
def test_neither_does_one_over_the_wire(stream: bool) -> None:
    says = [Say(calls=[("read", {"page": 1})]), Say("done")]
    with ChatServer([*says, *says]) as server:
        assert left_by(awaited, OpenAIChat("any", base_url=server.base_url, stream=stream)) == set()
