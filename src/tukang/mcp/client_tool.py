"""A tool of another server as one of ours: its contract, how it may run, and the function that calls it.

Everything that holds for a tool of ours holds for it: checked arguments, permission, time, the journal. It adds nothing to
the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from fnmatch import fnmatchcase
from typing import Any

from mcp import Client, MCPError
from mcp import types as wire

from tukang.errors import ToolDefinitionError
from tukang.mcp.client_config import McpServer
from tukang.mcp.client_connection import pages
from tukang.mcp.client_link import Link
from tukang.mcp.client_names import Names
from tukang.mcp.client_policy import declaration_for
from tukang.mcp.client_result import parts_of, resource_part, without_secrets
from tukang.mcp.client_thread import there
from tukang.tools import advice
from tukang.tools.context import CallContext
from tukang.tools.contract import Contract
from tukang.tools.declared import DeclaredParameters
from tukang.tools.forms import as_object_schema
from tukang.tools.json_schema import Validator, compiled
from tukang.tools.json_text import decode
from tukang.tools.signature import Signature
from tukang.tools.tool import Tool
from tukang.tools.untrusted import Untrusted, untrusted

Function = Callable[[dict[str, Any], CallContext], Any]


class _Whole(DeclaredParameters):
    """Arguments that are handed over as they are, in one dict, with the context beside it."""

    def bind(self, text: str, context: CallContext) -> tuple[list[Any], dict[str, Any]]:
        """The values to call the function with."""
        return [decode(text), context], {}


def tools_of(link: Link, names: Names, taken: Collection[str]) -> list[Tool]:
    """The tools a server offers, as it was last seen. One that cannot be used is left out, with a warning; so is a second one
    of the same name.

    Args:
        link: the server.
        names: what was given out so far.
        taken: the names of tools that are not from a server.
    """
    server, offer = link.server, link.offer
    if offer is None:
        return []
    listed: dict[str, wire.Tool] = {}
    for tool in offer.tools:
        listed.setdefault(tool.name, tool)
    _must_be_there(server, listed)
    made: list[Tool] = []
    for original, tool in listed.items():
        if not _wanted(server, original):
            continue
        if tool.execution is not None and tool.execution.task_support == "required":
            advice.warn(f"MCP server {server.name!r}: its tool {original!r} is left out: it can only be run as a task")
            continue
        try:
            made.append(_tool(link, tool, names.of(server.name, _prefix(server), original, taken)))
        except ToolDefinitionError as error:
            advice.warn(f"MCP server {server.name!r}: its tool {original!r} is left out: {error}")
    if server.resources and offer.resources:
        made += _for_resources(link, names, taken)
    return made


def _prefix(server: McpServer) -> str:
    return server.name if server.prefix is None else server.prefix


def _wanted(server: McpServer, original: str) -> bool:
    def fits(patterns: Iterable[str]) -> bool:
        return any(fnmatchcase(original, pattern) for pattern in patterns)

    return (server.only is None or fits(server.only)) and not fits(server.without)


def _must_be_there(server: McpServer, listed: Collection[str]) -> None:
    """A word about a tool that the server does not have protects nothing: its author is told."""
    plain = [name for name in (*(server.only or ()), *server.without) if not set(name) & set("*?[")]
    for name in dict.fromkeys([*server.policies, *plain]):
        if name not in listed:
            there_are = ", ".join(sorted(listed)[:20]) or "none"
            advice.warn(
                f"MCP server {server.name!r} has no tool {name!r}, which its description speaks of: {there_are}"
            )


def _tool(link: Link, tool: wire.Tool, name: str) -> Tool:
    declaration = declaration_for(link.server, tool.name, tool.annotations)
    reads = declaration.policy.effect == "read"
    promised = _promised(link.server, tool)
    original, secrets = tool.name, link.server.secrets

    async def run(arguments: dict[str, Any], context: CallContext) -> Untrusted:
        result = await there(lambda: link.call(original, arguments, reads=reads, tell=context.tell))
        return untrusted(without_secrets(parts_of(result, promised), secrets), origin_of(link.server))

    schema = as_object_schema(tool.input_schema)
    about = tool.description or tool.title or (tool.annotations and tool.annotations.title) or ""
    return _made(link.server, Contract(name, about, schema), declaration, run)


def _made(server: McpServer, contract: Contract, declaration: Any, run: Function) -> Tool:
    label = f"{contract.name} of the MCP server {server.name!r}"
    signature = Signature(label, (), (), takes_any=True, is_async=True, may_return_none=False)
    parameters = _Whole(contract.name, contract.parameters, signature)
    return Tool(contract, declaration.policy, run, signature, parameters, declaration.said, declaration.approval)


def origin_of(server: McpServer) -> str:
    """Where what it returns comes from, as the model is told."""
    return f"the MCP server {server.name!r}"


def _promised(server: McpServer, tool: wire.Tool) -> Validator | None:
    if tool.output_schema is None:
        return None
    try:
        return compiled(tool.output_schema, f"the result of {tool.name!r}")
    except ToolDefinitionError as error:
        advice.warn(f"MCP server {server.name!r}: {error}; results are passed on without being held against it")
        return None


# ── resources ────────────────────────────────────────────────────────────────────────────────────────────────────────

_NOTHING: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
_URI: dict[str, Any] = {
    "type": "object",
    "properties": {"uri": {"type": "string", "description": "as it is listed, or made from a listed template"}},
    "required": ["uri"],
    "additionalProperties": False,
}


def _for_resources(link: Link, names: Names, taken: Collection[str]) -> list[Tool]:
    """Two tools: what can be read of the server, and reading it. Their policy follows from how far it is trusted, as any."""
    server = link.server
    hints = wire.ToolAnnotations(read_only_hint=True)

    async def listed(arguments: dict[str, Any], context: CallContext) -> Untrusted:  # noqa: ARG001
        return untrusted(await there(lambda: resources_of(link)), origin_of(server))

    async def read(arguments: dict[str, Any], context: CallContext) -> Untrusted:  # noqa: ARG001
        result = await there(lambda: link.ask(lambda client: client.read_resource(arguments["uri"])))
        parts = [resource_part(one) for one in result.contents]
        return untrusted(without_secrets(parts, server.secrets), origin_of(server))

    several: list[tuple[str, str, dict[str, Any], Function]] = [
        (
            "list_resources",
            f"Lists what can be read from {server.name}: URIs, and templates of URIs.",
            _NOTHING,
            listed,
        ),
        ("read_resource", f"Reads a resource of {server.name} by its URI.", _URI, read),
    ]
    return [
        _made(
            server,
            Contract(names.of(server.name, _prefix(server), original, taken), about, schema),
            declaration_for(server, original, hints),
            run,
        )
        for original, about, schema, run in several
    ]


async def resources_of(link: Link) -> list[dict[str, Any]]:
    """The resources of a server and the templates of resources, as data."""

    async def page(cursor: str | None) -> tuple[list[wire.Resource], str | None]:
        got = await link.ask(lambda client: client.list_resources(cursor=cursor))
        return got.resources, got.next_cursor

    async def template(cursor: str | None) -> tuple[list[wire.ResourceTemplate], str | None]:
        got = await link.ask(lambda client: _templates(client, cursor))
        return got.resource_templates, got.next_cursor

    plain: list[wire.Resource] = await pages(page)
    templates: list[wire.ResourceTemplate] = await pages(template)
    return [_described(one, uri=one.uri) for one in plain] + [
        _described(one, template=one.uri_template) for one in templates
    ]


async def _templates(client: Client, cursor: str | None) -> wire.ListResourceTemplatesResult:
    try:
        return await client.list_resource_templates(cursor=cursor)
    except MCPError as error:
        if error.code != wire.METHOD_NOT_FOUND:  # some have resources, and have never heard of templates
            raise
        return wire.ListResourceTemplatesResult(resource_templates=[])


def _described(one: wire.Resource | wire.ResourceTemplate, **place: str) -> dict[str, Any]:
    about = {"name": one.title or one.name, "description": one.description, "type": one.mime_type}
    return {**place, **{key: value for key, value in about.items() if value}}
