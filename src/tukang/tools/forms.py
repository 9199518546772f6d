"""The forms in which people have written a tool's contract down: OpenAI's, Bedrock's, Anthropic's, MCP's, or the plain one.

Reads dicts into a name, a description and a JSON Schema. It knows no functions.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from tukang.errors import ToolDefinitionError
from tukang.tools.names import nearest

_SCHEMAS = ("parameters", "inputSchema", "input_schema")
_KNOWN = ("name", "description", "strict", *_SCHEMAS)


class Form(msgspec.Struct, frozen=True):
    """A contract as somebody wrote it."""

    name: str
    description: str
    parameters: Mapping[str, Any]


def read_form(schema: Mapping[str, Any], label: str) -> Form:
    """Read a contract.

    Args:
        schema: `{"type": "function", "function": {…}}` or `{"toolSpec": {…}}` around, or without either,
            `{"name", "description", "parameters" | "inputSchema" | "input_schema"}`; Bedrock's schema stands in
            `{"json": …}`.
        label: whose contract it is, for its author.

    Raises:
        ToolDefinitionError: it is none of these.
    """
    spec = _unwrapped(schema, label)
    name = spec.get("name")
    if not isinstance(name, str):
        raise ToolDefinitionError(f"the schema for {label} has no 'name'")
    for key in [key for key in spec if key not in (*_KNOWN, "type")]:
        close = nearest(key, _KNOWN, most=1)
        raise ToolDefinitionError(
            f"tool {name!r}: its schema has the unknown key {key!r}"
            + (f"; did you mean {close[0]!r}?" if close else ": name, description and parameters are known")
        )
    description = spec.get("description") or ""
    parameters = _parameters(spec, name)
    if not isinstance(description, str) or not isinstance(parameters, Mapping):
        raise ToolDefinitionError(f"tool {name!r}: 'description' must be a string and 'parameters' a JSON Schema")
    return Form(name, description, as_object_schema(cast("Mapping[str, Any]", parameters)))


def as_object_schema(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A copy of the schema (its author may go on to change it), of type object unless it says otherwise."""
    return {"type": "object"} | copy.deepcopy(dict(schema))


def _unwrapped(schema: Mapping[str, Any], label: str) -> Mapping[str, Any]:
    for key, form in (("function", '{"type": "function", "function": {…}}'), ("toolSpec", '{"toolSpec": {…}}')):
        if key not in schema:
            continue
        inner = schema[key]
        if (
            set(schema) - {key, "type"}
            or schema.get("type", "function") != "function"
            or not isinstance(inner, Mapping)
        ):
            raise ToolDefinitionError(f"the schema for {label} must look like {form}")
        return cast("Mapping[str, Any]", inner)
    return schema


def _parameters(spec: Mapping[str, Any], name: str) -> Any:
    given = [key for key in _SCHEMAS if spec.get(key) is not None]
    if len(given) > 1:
        raise ToolDefinitionError(f"tool {name!r}: its schema has both {given[0]!r} and {given[1]!r}: one is enough")
    if not given:
        return {"type": "object", "properties": {}}
    schema = spec[given[0]]
    if given[0] == "inputSchema" and isinstance(schema, Mapping):
        inner = cast("Mapping[str, Any]", schema)
        return inner["json"] if set(inner) == {"json"} else inner
    return schema
