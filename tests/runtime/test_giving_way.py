"""Functions that are waited for on the spot leave the event loop to others between the calls of a reply, and a turn in which
nothing is waited for leaves it to them now and then."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import pytest

from tukang import Agent, tool
from tukang.answer import Answer
from tukang.loop.limits import Limits
from tukang.models.base import ArgumentsDelta, CallBegan, ModelEvent, ModelRequest, ReplyEnded
from tukang.models.scripted import Scripted, call


def test_others_go_on_between_quick_calls_of_one_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    # whatever this machine is like: a function is stood for until it has ended
    monkeypatch.setattr("tukang.tools.execute.QUICK", 60.0)
    monkeypatch.setattr("tukang.tools.execute.MOMENT", 60.0)
    ran: list[str] = []

    @tool(effect="write", approval="never")
    def note(text: str) -> str:
        """Write a note."""
        ran.append(text)
        return f"noted {text}"

    async def main() -> Answer:
        agent = Agent(
            Scripted([call("note", text="first"), [call("note", text=text) for text in "abc"], "done"]), tools=[note]
        )
        running = asyncio.create_task(agent.arun("go"))
        while not running.done():
            if ran[-1:] != ["other"]:
                ran.append("other")
            await asyncio.sleep(0)
        return await running

    assert asyncio.run(main()).text == "done"
    assert ran[ran.index("a") :] == ["a", "other", "b", "other", "c", "other"]


@pytest.mark.parametrize("ends_by", ["cancel", "deadline"])
def test_a_turn_that_waits_for_nothing_is_ended_all_the_same(monkeypatch: pytest.MonkeyPatch, ends_by: str) -> None:
    monkeypatch.setattr("tukang.tools.execute.QUICK", 60.0)
    monkeypatch.setattr("tukang.tools.execute.MOMENT", 60.0)
    asked = 0
    known = asyncio.Event()

    @tool
    def look(number: int) -> int:
        """Look."""
        time.sleep(0.02)  # it is called quick, so that nobody gives way
        return number

    class Here:
        name = provider = "here"

        async def prepare(self, request: ModelRequest) -> None: ...

        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:  # noqa: ARG002
            nonlocal asked
            asked += 1
            if asked == 3:  # by now it is known to be quick
                known.set()
            for event in (CallBegan(0, "look"), ArgumentsDelta(0, f'{{"number":{asked}}}'), ReplyEnded("calls")):
                yield event

    async def main() -> None:
        limits = Limits(rounds=1000, calls=2000, seconds=0.1 if ends_by == "deadline" else None)
        running = asyncio.create_task(Agent(Here(), tools=[look], limits=limits).arun("go"))
        if ends_by == "cancel":
            await known.wait()
            running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running

    asyncio.run(main())
    assert 0 < asked < 900
