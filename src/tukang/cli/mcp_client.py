"""`--mcp FILE`: the tools of other servers beside an assistant's own. Connects them, and says what was found."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Generator, Sequence
from typing import Any

from msgspec.structs import replace

from tukang.agent import Agent
from tukang.cli.mcp_client_texts import MCP_CLIENT_TEXTS
from tukang.cli.screen import Screen
from tukang.cli.target import Target
from tukang.cli.texts import Texts


def with_servers(target: Target, files: Sequence[str] | None, screen: Screen, texts: Texts) -> Target:
    """The target, with the servers of these files among its agent's tools.

    Raises:
        ConfigurationError: a file cannot be used, or a server in it cannot be reached and is not optional.
    """
    return replace(target, agent=agent_with(target.agent, files, screen, texts)) if files else target


def agent_with(agent: Agent, files: Sequence[str], screen: Screen, texts: Texts) -> Agent:
    """An agent with them; see `with_servers`."""
    from tukang.mcp import McpServers

    said = MCP_CLIENT_TEXTS[texts.language]
    several = [McpServers.from_file(file) for file in files]
    screen.busy(said.connecting + " …")
    try:
        with _warnings() as warned:
            agent = agent.with_tools(*several)
    finally:
        screen.still()
    for text in warned:
        screen.note((text, "yellow"))
    states = [state for servers in several for state in servers.state]
    found = [
        said.connected.format(server=state.server, count=state.tools)
        if state.connected
        else said.missing.format(server=state.server)
        for state in states
    ]
    screen.note(("MCP: " + ", ".join(found), "dim"))
    return agent


@contextlib.contextmanager
def _warnings() -> Generator[list[str]]:
    """What is warned of meanwhile, in whatever thread: to be said in words, and without the line of code it comes from."""
    said: list[str] = []

    def heard(message: Warning | str, *_: Any, **__: Any) -> None:
        said.append(str(message))

    before, warnings.showwarning = warnings.showwarning, heard
    try:
        yield said
    finally:
        warnings.showwarning = before
