"""Functions that are waited for on the spot leave the event loop to others between the calls of a reply."""

from __future__ import annotations

import asyncio

import pytest

from tukang import Agent, tool
from tukang.answer import Answer
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
