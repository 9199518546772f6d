"""Tools that other libraries made: LangChain's tool objects, and MCP's tools beside a function that calls them.

They are known by their shape; neither library is imported. Their effect is unknown until somebody says it here: an MCP
server's hints about itself are not a promise.
"""

from __future__ import annotations

import base64
import functools
import inspect
from collections.abc import Mapping
from typing import Any, cast

import msgspec
from pydantic import BaseModel

from tukang.conversation import File, Image, Text
from tukang.errors import ToolDefinitionError
from tukang.tools.docstrings import describe
from tukang.tools.forms import Form, as_object_schema
from tukang.tools.hinted import QuietSchema
from tukang.tools.signature import Function, Signature


class ToolError(Exception):
    """An MCP tool reported that it failed."""


class Foreign(msgspec.Struct, frozen=True):
    """A tool of another library: its contract, what runs, how that is to be called, and whether its result is the answer."""

    form: Form
    function: Function
    signature: Signature
    terminal: bool = False


# ── LangChain ────────────────────────────────────────────────────────────────────────────────────────────────────────


def is_langchain(thing: Any) -> bool:
    """Whether this looks like a LangChain tool."""
    return all(hasattr(thing, name) for name in ("name", "description", "args_schema")) and (
        hasattr(thing, "invoke") or hasattr(thing, "ainvoke")
    )


def from_langchain(thing: Any) -> Foreign:
    """Read a LangChain tool: `name`, `description`, `args_schema`, and `invoke` or `ainvoke`."""
    label = f"the LangChain tool {thing.name!r}"
    described = describe(thing.description)
    schema = dict(_langchain_schema(thing, label))
    schema.pop("title", None)
    schema.pop("description", None)
    properties = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties", {}))
    schema["properties"] = {
        name: {**member, "description": described.parameters[name]}
        if name in described.parameters and not member.get("description")
        else member
        for name, member in properties.items()
    }
    is_async = not hasattr(thing, "invoke") or getattr(thing, "coroutine", None) is not None
    signature = Signature(label, (), (), takes_any=True, is_async=is_async, may_return_none=False)
    function = functools.partial(_ainvoked if is_async else _invoked, thing)
    form = Form(str(thing.name), described.description, as_object_schema(schema))
    return Foreign(form, function, signature, terminal=bool(getattr(thing, "return_direct", False)))


def _langchain_schema(thing: Any, label: str) -> Mapping[str, Any]:
    """What a model may fill: without arguments that LangChain would inject."""
    simple = getattr(thing, "args", None) if thing.args_schema is None else None
    if isinstance(simple, Mapping) and set(cast("Mapping[str, Any]", simple)) == {
        "tool_input"
    }:  # takes a single string
        return {"properties": simple, "required": ["tool_input"]}
    schema = getattr(thing, "tool_call_schema", None) or thing.args_schema
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return schema.model_json_schema(schema_generator=QuietSchema)
    for maker in ("model_json_schema", "schema"):  # Pydantic's own model, or one of its first version
        if isinstance(schema, type) and hasattr(schema, maker):
            return cast("Mapping[str, Any]", getattr(schema, maker)())
    if isinstance(schema, Mapping):
        return cast("Mapping[str, Any]", schema)
    raise ToolDefinitionError(f"{label} has no args_schema that could be shown to a model; wrap it in a function")


def _invoked(thing: Any, /, **arguments: Any) -> Any:
    return thing.invoke(arguments)


async def _ainvoked(thing: Any, /, **arguments: Any) -> Any:
    return await thing.ainvoke(arguments)


# ── MCP ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def is_mcp(thing: Any) -> bool:
    """Whether this looks like a tool as the MCP SDK describes it (`inputSchema`, or `input_schema` since its version 2)."""
    return not isinstance(thing, type) and isinstance(_schema_of_mcp(thing), Mapping) and hasattr(thing, "name")


def from_mcp(thing: Any, function: Function, signature: Signature) -> Foreign:
    """Read an MCP tool.

    Args:
        thing: what a server's list of tools holds.
        function: calls it with these arguments by keyword, such as `lambda **given: session.call_tool(name, given)`. What
            it returns may be the SDK's `CallToolResult`.
        signature: the function's.
    """
    form = Form(str(thing.name), str(thing.description or ""), as_object_schema(_schema_of_mcp(thing)))
    unpacked = functools.partial(_unpacked_async if signature.is_async else _unpacked, function)
    return Foreign(form, unpacked, signature)


def _schema_of_mcp(thing: Any) -> Any:
    return getattr(thing, "inputSchema", None) or getattr(thing, "input_schema", None)


def _unpacked(function: Function, /, *positional: Any, **named: Any) -> Any:
    result = function(*positional, **named)
    return _awaited(result) if inspect.isawaitable(result) else _parts(result)


async def _unpacked_async(function: Function, /, *positional: Any, **named: Any) -> Any:
    return _parts(await function(*positional, **named))


async def _awaited(result: Any) -> Any:
    return _parts(await result)


def _parts(result: Any) -> Any:
    """What a `CallToolResult` says, as parts; anything else as it is. Raises `ToolError` when it says that it failed."""
    blocks = getattr(result, "content", None)
    if not isinstance(blocks, list) or not (hasattr(result, "isError") or hasattr(result, "is_error")):
        return result
    parts = [_part(block) for block in cast("list[Any]", blocks)]
    if getattr(result, "isError", False) or getattr(result, "is_error", False):
        raise ToolError("\n".join(part.text for part in parts if isinstance(part, Text)))
    structured = getattr(result, "structuredContent", None) or getattr(result, "structured_content", None)
    return parts or structured or {"ok": True}


def _part(block: Any) -> Text | Image | File:
    media_type = getattr(block, "mimeType", None) or getattr(block, "mime_type", None)
    match block.type:
        case "text":
            return Text(block.text)
        case "image":
            return Image(str(media_type), base64.b64decode(block.data))
        case "audio":
            return File(str(media_type), data=base64.b64decode(block.data))
        case "resource" if getattr(block.resource, "text", None) is not None:
            return Text(block.resource.text)
        case _:
            return Text(block.model_dump_json(exclude_none=True))
