"""A toolbox as AgentCore Gateway wants to hear of it: the tool schema of a Lambda target, to paste or to upload.

Its schemas are small: type, description, properties, required and items. What else a tool's schema says is left out there,
and still checked here when the call comes in.

Source: https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-add-target-lambda.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from tukang.mcp.serving import Caller, Service

_KINDS = ("string", "number", "object", "array", "boolean", "integer")


def tool_schema(service: Service, caller: Caller | None = None) -> list[dict[str, Any]]:
    """The `inlinePayload` of a target's `toolSchema`.

    Args:
        service: what is served.
        caller: whose tools; those that the function's direct callers may use.
    """
    return [
        {
            "name": tool["name"],
            "description": tool["description"],
            "inputSchema": _plain(tool["inputSchema"], tool["inputSchema"]),
        }
        for tool in service.listed(caller or Caller())
    ]


def _plain(schema: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    """A schema in the few words that a target knows."""
    schema = _resolved(schema, root)
    plain: dict[str, Any] = {"type": _kind(schema)}
    if isinstance(schema.get("description"), str):
        plain["description"] = schema["description"]
    if plain["type"] == "object":
        properties = cast("Mapping[str, Any]", schema.get("properties", {}))
        plain["properties"] = {name: _plain(one, root) for name, one in properties.items()}
        if schema.get("required"):
            plain["required"] = list(schema["required"])
    elif plain["type"] == "array":
        plain["items"] = _plain(_first(schema.get("items", {})), root)
    return plain


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without references, and with the first of several ways that is not null."""
    if isinstance(reference := schema.get("$ref"), str):
        found = root.get("$defs", {}).get(reference.removeprefix("#/$defs/"), {})
        return _resolved({**found, **{name: value for name, value in schema.items() if name != "$ref"}}, root)
    for word in ("anyOf", "oneOf"):
        branches = [branch for branch in schema.get(word, ()) if branch.get("type") != "null"]
        if branches:
            return _resolved(
                {**branches[0], **{name: schema[name] for name in ("description",) if name in schema}}, root
            )
    return schema


def _kind(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    kinds: Sequence[Any] = cast("list[Any]", kind) if isinstance(kind, list) else [kind]
    known = next((one for one in kinds if one in _KINDS), None)
    return known or ("object" if "properties" in schema else "string")


def _first(items: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", items) if isinstance(items, Mapping) else {}
