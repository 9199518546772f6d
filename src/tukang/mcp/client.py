"""The servers a program uses, together: what is given to an agent among its tools, and asked for resources and prompts.

    servers = McpServers.from_file("mcp.json")
    agent = Agent("openai:gpt-4o-mini", tools=[cek_stok, servers])

They are connected when that is first needed, and stay so until they are closed or the program ends. One connection serves
every thread and every event loop.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec
from mcp import Client
from mcp import types as wire

from tukang.conversation import File, Image, Message, Text
from tukang.errors import ConfigurationError
from tukang.mcp.client_asking import Asks, Elicit, Sample
from tukang.mcp.client_config import McpServer, must_be_distinct, read_servers, servers_of
from tukang.mcp.client_connection import UnreachableError, pages
from tukang.mcp.client_link import Link
from tukang.mcp.client_names import Names
from tukang.mcp.client_result import part_of, resource_part, without_secrets
from tukang.mcp.client_thread import there, wait
from tukang.mcp.client_tool import resources_of, tools_of
from tukang.tools import advice
from tukang.tools.source import ToolSource
from tukang.tools.tool import Tool

T = TypeVar("T")


class McpPrompt(msgspec.Struct, frozen=True):
    """A prompt that a server offers: its name, what it is for, and its arguments (name → whether it must be given)."""

    server: str
    name: str
    description: str
    arguments: Mapping[str, bool]


class McpState(msgspec.Struct, frozen=True):
    """How it stands with one server. `tools` counts what is taken of what it offers; `why` says what was wrong last."""

    server: str
    where: str
    connected: bool
    tools: int
    why: str | None = None


class McpServers(ToolSource):
    """Several servers.

    Args:
        servers: which; see `McpServer`.
        elicitation: asks the user for what a server wants to know; without it servers are told that nobody can be asked.
        sampling: has a model say what a server wants said; without it servers are told that there is none.

    Raises:
        ConfigurationError: two have the same name.
    """

    def __init__(self, *servers: McpServer, elicitation: Elicit | None = None, sampling: Sample | None = None) -> None:
        must_be_distinct(servers)
        self._names = Names()
        self._built: dict[str, tuple[int, frozenset[str], Sequence[Tool]]] = {}
        self._links = {one.name: Link(one, Asks(one.name, elicitation, sampling)) for one in servers}
        for link in self._links.values():
            weakref.finalize(self, link.abandon).atexit = False

    @classmethod
    def from_file(
        cls, path: str | Path, *, elicitation: Elicit | None = None, sampling: Sample | None = None
    ) -> McpServers:
        """The servers of a file in the common `mcpServers` form; see `tukang.mcp.client_config.servers_of`.

        Raises:
            ConfigurationError: it cannot be read, or something in it is wrong.
        """
        return cls(*read_servers(path), elicitation=elicitation, sampling=sampling)

    @classmethod
    def from_dict(
        cls, value: Mapping[str, Any], *, elicitation: Elicit | None = None, sampling: Sample | None = None
    ) -> McpServers:
        """The servers that such a file would hold.

        Raises:
            ConfigurationError: something in it is wrong.
        """
        return cls(*servers_of(value, "the description"), elicitation=elicitation, sampling=sampling)

    @property
    def servers(self) -> tuple[McpServer, ...]:
        """Which they are."""
        return tuple(link.server for link in self._links.values())

    @property
    def state(self) -> tuple[McpState, ...]:
        """How it stands with each, as of now."""
        return tuple(
            McpState(name, link.server.where, link.connected, self._count(link), link.why)
            for name, link in self._links.items()
        )

    def _count(self, link: Link) -> int:
        if built := self._built.get(link.server.name):
            return len(built[2])
        return len(link.offer.tools) if link.offer else 0

    def __repr__(self) -> str:
        return f"McpServers({', '.join(self._links)})"

    # ── connecting ───────────────────────────────────────────────────────────────────────────────────────────────────

    def connect(self) -> Self:
        """Connect to all of them, at the same time, each within its patience. Building an agent does it too; on an event loop
        that has other things to do, `await aconnect()` before that.

        Raises:
            ConfigurationError: one that is not optional cannot be reached. It says which, why, and what that said last.
        """
        wait(self._connected)
        return self

    async def aconnect(self) -> Self:
        """`connect`, awaited."""
        await there(self._connected)
        return self

    async def _connected(self) -> None:
        links = [link for link in self._links.values() if not (link.offer is None and link.given_up)]
        ends = await asyncio.gather(*(link.opened() for link in links), return_exceptions=True)
        missing: list[str] = []
        for link, error in zip(links, ends, strict=True):
            if not isinstance(error, BaseException):
                continue
            if not isinstance(error, (ConfigurationError, UnreachableError)):
                raise error
            if link.server.optional:
                advice.warn(f"{error}; going on without its tools")
            else:
                missing.append(str(error))
        if missing:
            raise ConfigurationError("\n".join(missing) + '\nSay "optional": true where it may be missing')

    def close(self) -> None:
        """End the connections, and the servers that were started. Using them again connects again."""
        wait(self._closed)

    async def aclose(self) -> None:
        """`close`, awaited."""
        await there(self._closed)

    async def _closed(self) -> None:
        await asyncio.gather(*(link.close() for link in self._links.values()))

    def __enter__(self) -> Self:
        return self.connect()

    def __exit__(self, *raised: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return await self.aconnect()

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()

    # ── tools ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def tools(self, taken: Collection[str] = ()) -> Sequence[Tool]:
        """The tools of all of them, as they are now; connects first where that has not been done.

        Args:
            taken: names that they may not have.

        Raises:
            ConfigurationError: as `connect`.
        """
        if any(link.offer is None for link in self._links.values()):
            self.connect()
        return [tool for link in self._links.values() for tool in self._of(link, frozenset(taken))]

    def _of(self, link: Link, taken: frozenset[str]) -> Sequence[Tool]:
        """The tools of one server: the same ones, as long as its list is the same."""
        edition, name = link.edition, link.server.name
        built = self._built.get(name)
        if built is None or built[:2] != (edition, taken):
            built = self._built[name] = (edition, taken, tools_of(link, self._names, taken))
        return built[2]

    def look(self) -> int:
        """Counts the changes of what they offer."""
        return sum(link.look() for link in self._links.values())

    # ── resources and prompts ────────────────────────────────────────────────────────────────────────────────────────

    def resources(self, server: str | None = None) -> list[dict[str, Any]]:
        """What can be read: `server`, `uri` (or the `template` of one), and what the server says about it.

        Raises:
            ConfigurationError: there is no such server, or it cannot be reached.
        """
        return wait(lambda: self._resources(server))

    async def aresources(self, server: str | None = None) -> list[dict[str, Any]]:
        """`resources`, awaited."""
        return await there(lambda: self._resources(server))

    def read(self, uri: str, server: str | None = None) -> tuple[Text | Image | File, ...]:
        """A resource. Its words come from outside: they are nobody's wish.

        Args:
            uri: its address.
            server: whose it is; may be left out where there is one server only.

        Raises:
            ConfigurationError: there is no such server, or it has to be said which.
            UnreachableError: it cannot be reached.
            ToolError: the server says that there is no such resource.
        """
        return wait(lambda: self._read(uri, server))

    async def aread(self, uri: str, server: str | None = None) -> tuple[Text | Image | File, ...]:
        """`read`, awaited."""
        return await there(lambda: self._read(uri, server))

    def prompts(self, server: str | None = None) -> list[McpPrompt]:
        """The prompts that are offered."""
        return wait(lambda: self._prompts(server))

    async def aprompts(self, server: str | None = None) -> list[McpPrompt]:
        """`prompts`, awaited."""
        return await there(lambda: self._prompts(server))

    def prompt(self, name: str, server: str | None = None, /, **arguments: str) -> list[Message]:
        """A prompt, filled in: messages, the last of which may be given to an agent, and those before it to a session.

        Args:
            name: the prompt's.
            server: whose it is; may be left out where there is one server only.
            arguments: texts.

        Raises:
            ConfigurationError, UnreachableError, ToolError: as `read`.
        """
        return wait(lambda: self._prompt(name, server, arguments))

    async def aprompt(self, name: str, server: str | None = None, /, **arguments: str) -> list[Message]:
        """`prompt`, awaited."""
        return await there(lambda: self._prompt(name, server, arguments))

    async def _resources(self, server: str | None) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for link in self._meant(server):
            await link.opened()
            if link.offer is not None and link.offer.resources:
                found += [{"server": link.server.name, **one} for one in await resources_of(link)]
        return found

    async def _read(self, uri: str, server: str | None) -> tuple[Text | Image | File, ...]:
        link = self._one(server)
        result = await link.ask(lambda client: client.read_resource(uri))
        return without_secrets([resource_part(one) for one in result.contents], link.server.secrets)

    async def _prompts(self, server: str | None) -> list[McpPrompt]:
        found: list[McpPrompt] = []
        for link in self._meant(server):
            await link.opened()
            if link.offer is None or not link.offer.prompts:
                continue
            for one in await pages(_paged(link, lambda client, cursor: client.list_prompts(cursor=cursor))):
                arguments = {argument.name: bool(argument.required) for argument in one.arguments or ()}
                found.append(McpPrompt(link.server.name, one.name, one.description or one.title or "", arguments))
        return found

    async def _prompt(self, name: str, server: str | None, arguments: Mapping[str, str]) -> list[Message]:
        given = {key: str(value) for key, value in arguments.items()}
        result = await self._one(server).ask(lambda client: client.get_prompt(name, given or None))
        return [Message(one.role, (part_of(one.content),)) for one in result.messages]

    def _meant(self, server: str | None) -> list[Link]:
        return [*self._links.values()] if server is None else [self._one(server)]

    def _one(self, server: str | None) -> Link:
        if server is None and len(self._links) == 1:
            return next(iter(self._links.values()))
        link = self._links.get(server) if server is not None else None
        if link is None:
            said = "say which server" if server is None else f"there is no MCP server {server!r}"
            raise ConfigurationError(f"{said}: {', '.join(self._links) or 'there are none'}")
        return link


def _paged(
    link: Link, request: Callable[[Client, str | None], Awaitable[wire.ListPromptsResult]]
) -> Callable[[str | None], Awaitable[tuple[list[Any], str | None]]]:
    async def page(cursor: str | None) -> tuple[list[Any], str | None]:
        got = await link.ask(lambda client: request(client, cursor))
        return got.prompts, got.next_cursor

    return page
