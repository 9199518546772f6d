"""What turns leave for the garbage collector, as a program of its own: in the process of a test the threads of others leave
things, too.

    python -m tests.runtime.leaving_behind

Prints, for each way to run a turn, what kinds of our own things one left.
"""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Awaitable, Callable

from tests.servers import ChatServer, Say
from tukang import Agent, tool
from tukang.conversation import Message, Text
from tukang.models.base import Model
from tukang.models.openai_chat import OpenAIChat
from tukang.models.scripted import Scripted, call

SCRIPT = ([call("read", page=1), call("look", page=1)], [call("read", page=2), call("nothing")], "done")
SAYS = (Say(calls=[("read", {"page": 1})]), Say("done"))


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


async def in_a_circle(_: Agent) -> None:
    """What would be found."""
    message = Message("user", (Text("go"),))
    vars(message)["circle"] = message


def left_by(way: Callable[[Agent], Awaitable[None]], model: Model) -> list[str]:
    """What kinds of our own things are left for the garbage collector by a turn."""
    agent = Agent(model, tools=[read, look])

    async def work() -> list[str]:
        await way(agent)  # what is made once
        gc.collect()
        gc.set_debug(gc.DEBUG_SAVEALL)
        await way(agent)
        gc.collect()
        kinds = {type(thing) for thing in gc.garbage}
        return sorted(kind.__qualname__ for kind in kinds if kind.__module__.startswith("tukang."))

    gc.disable()
    try:
        return asyncio.run(work())
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def over_the_wire(*, stream: bool) -> list[str]:
    with ChatServer([*SAYS, *SAYS]) as server:
        return left_by(awaited, OpenAIChat("any", base_url=server.base_url, stream=stream))


def main() -> None:
    ways = (awaited, followed, in_a_session, in_a_circle)
    left = {way.__name__: left_by(way, Scripted([*SCRIPT, *SCRIPT])) for way in ways}
    left |= {"whole replies": over_the_wire(stream=False), "streaming": over_the_wire(stream=True)}
    print(json.dumps(left))


if __name__ == "__main__":
    main()
