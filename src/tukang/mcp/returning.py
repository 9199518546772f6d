"""What a tool returns, as JSON Schema, from its function's return type; and the value, from the text of a result.

Only what is certain is said: a type that has no schema, that may be words or data, or a picture, says nothing. What is not an
object stands under `result`, because MCP's structured content is an object in every version of the protocol until 2025-11-25.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from typing import Any, cast

import msgspec
from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError

from tukang.conversation import File, Image, Text
from tukang.tools.json_schema import Validator, compiled
from tukang.tools.signature import innermost
from tukang.tools.tool import Tool
from tukang.tools.untrusted import Untrusted

KEY = "result"
"""Where a value stands that is no object."""

_PARTS = (Text, Image, File, Untrusted, bytes, bytearray, memoryview)
_PLAIN = frozenset({"array", "integer", "number", "boolean"})


class Returned(msgspec.Struct, frozen=True):
    """What a tool returns.

    Args:
        schema: of the structured content; an object.
        wrapped: whether the value stands under `KEY`.
        text: whether the value is the text of the result itself.
        validator: the schema, ready to check.
    """

    schema: Mapping[str, Any]
    wrapped: bool
    text: bool
    validator: Validator

    def value(self, text: str) -> dict[str, Any] | None:
        """The structured content of a result with this text; None when it is not what the tool says it returns."""
        try:
            value = text if self.text else msgspec.json.decode(text)
        except msgspec.DecodeError:
            return None
        whole: Any = {KEY: value} if self.wrapped else value
        return cast("dict[str, Any]", whole) if self.validator.is_valid(whole) else None


def returned(tool: Tool) -> Returned | None:
    """What a tool returns, where its function says so; None where it does not, or may return something cut or pictured."""
    if tool.policy.long:
        return None  # what its call returns is a task
    if "max_output" in tool.said and tool.policy.max_output is not None:
        return None  # its author wants long results cut, and half a value is none
    try:
        hint = typing.get_type_hints(innermost(tool.function), include_extras=True).get("return", Any)
        schema = None if hint is Any or hint is type(None) or _pictures(hint) else _schema(hint)
    except Exception:  # of a module of the author's: a name that is not there, a type of their own
        return None
    if schema is None:
        return None
    kind = _kind(schema)
    if kind is None:
        return None
    if kind != "object":
        definitions = {name: schema.pop(name) for name in ("$defs",) if name in schema}
        schema = {"type": "object", "properties": {KEY: schema}, "required": [KEY], **definitions}
    elif "type" not in schema:
        schema = {"type": "object", **schema}
    return Returned(schema, kind != "object", kind == "string", compiled(schema, f"what {tool.name!r} returns"))


def _pictures(hint: Any) -> bool:
    """Whether a value may be parts of a result, which are given as they are and not as JSON."""
    return hint in _PARTS or any(_pictures(one) for one in typing.get_args(hint))


def _schema(hint: Any) -> dict[str, Any]:
    """Pydantic says it, and msgspec what Pydantic does not know (a Struct, a TypedDict of this Python)."""
    try:
        return TypeAdapter(hint).json_schema(mode="serialization")
    except (PydanticUserError, TypeError, ValueError):
        return msgspec.json.schema(hint, ref_template="#/$defs/{name}")


def _kind(schema: Mapping[str, Any]) -> str | None:
    """`object`, `string`, or any other single kind; None when a value may be of several of these, or of any."""
    if reference := schema.get("$ref"):
        found = schema.get("$defs", {}).get(str(reference).removeprefix("#/$defs/"))
        return _kind({**found, "$defs": schema.get("$defs", {})}) if found else None
    if branches := schema.get("anyOf") or schema.get("oneOf"):
        kinds = {_kind({**branch, "$defs": schema.get("$defs", {})}) for branch in branches}
        if kinds <= _PLAIN:
            return "number"
        return kinds.pop() if len(kinds) == 1 else None
    kind = schema.get("type")
    return kind if isinstance(kind, str) and (kind in _PLAIN or kind in ("object", "string")) else None
