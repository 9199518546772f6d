"""Servers to talk to, and what they heard."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tukang import Agent, Answer
from tukang.mcp import McpServer, McpServers
from tukang.models.scripted import Scripted

PLAIN = Path(__file__).with_name("servers") / "plain.py"


class Plain:
    """Starts servers of `servers/plain.py`, and ends them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._made: list[McpServers] = []

    def server(self, name: str = "plain", *, fault: str = "", **more: Any) -> McpServer:
        """A description of one."""
        environment = {"HEARD": str(self.folder / f"{name}.jsonl"), "FAULT": fault, "NAME": name, **more.pop("env", {})}
        return McpServer(
            name=name,
            command=sys.executable,
            args=("-I", "-S", str(PLAIN)),
            env=environment,
            **{"patience": 20.0, **more},
        )

    def servers(self, *several: McpServer, **more: Any) -> McpServers:
        """Some of them, to be ended after the test."""
        made = McpServers(*(several or (self.server(),)), **more)
        self._made.append(made)
        return made

    def heard(self, name: str = "plain") -> list[dict[str, Any]]:
        """All that one heard so far."""
        path = self.folder / f"{name}.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def calls(self, tool: str, name: str = "plain") -> int:
        """How often a tool was called."""
        return sum(one.get("method") == "tools/call" and one["params"]["name"] == tool for one in self.heard(name))

    def wait_for(self, fits: Callable[[dict[str, Any]], bool], name: str = "plain") -> None:
        """Wait until one has heard something."""
        until = time.monotonic() + 10
        while not any("method" in one and fits(one) for one in self.heard(name)):
            assert time.monotonic() < until, "it was not heard"
            time.sleep(0.01)

    def wait_for_call(self, tool: str) -> None:
        """Wait until a tool was called."""
        self.wait_for(lambda one: one["method"] == "tools/call" and one["params"]["name"] == tool)

    def close(self) -> None:
        for one in self._made:
            one.close()


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Plain]:
    made = Plain(tmp_path)
    yield made
    made.close()


def permit(_: Any) -> bool:
    """Permits everything."""
    return True


Run = Callable[..., Answer[Any]]


def run(servers: Any, *script: Any, **options: Any) -> Answer[Any]:
    """A turn over a scripted model."""
    agent = Agent(
        Scripted([*script, "done"]), tools=servers if isinstance(servers, list) else [servers], approve=permit
    )
    return agent.run("go", **options)
