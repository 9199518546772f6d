"""Agents for the tests that start `tukang mcp` as a program: `tests.mcp.served:agent`."""

from __future__ import annotations

import time
from pathlib import Path

from tests.mcp.shop import Shop
from tests.mcp.shop import agent as made
from tukang import Agent, Limits, tool
from tukang.models.scripted import Scripted


def agent() -> Agent:
    """The shop; its model says one word."""
    return made(Shop(), "halo")


def brief() -> Agent:
    """One slow tool, and little time."""

    @tool(effect="write", approval="never")
    def note(text: str, path: str) -> str:
        """Write something down, and take a while."""
        with Path(path).open("a") as file:
            file.write(f"{text}\n")
        time.sleep(30)
        return "written"

    return Agent(Scripted([]), tools=[note], name="brief", limits=Limits(seconds=2))
