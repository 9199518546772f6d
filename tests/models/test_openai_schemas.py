"""A schema in OpenAI's dialect: strict where that accepts exactly what was declared, and legal in any case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tukang.models.openai_schemas import plain_schema, strict_schema

MCP_TOOLS = Path(__file__).parents[3] / "shared" / "data" / "mcp_tools" / "tools.jsonl"


def test_every_schema_of_real_servers_is_sent_legally() -> None:
    if not MCP_TOOLS.exists():
        pytest.skip(f"the schemas are not at hand ({MCP_TOOLS})")
    declared = [json.loads(line)["inputSchema"] for line in MCP_TOOLS.read_text().splitlines()]
    assert len(declared) == 611
    for schema in declared:
        before = json.dumps(schema)
        for made in (plain_schema(schema), strict_schema(schema)):
            if made is not None:
                jsonschema_rs.meta.validate(made)
                assert made["type"] == "object"
                assert not {"anyOf", "oneOf", "allOf", "not", "enum", "$schema"} & set(made)
        assert json.dumps(schema) == before


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "string"}}},  # an optional property
        {**_object(), "additionalProperties": True},
        _object(a={}),
        _object(a={"type": "object"}),
        _object(a={"type": "string", "minLength": 1}),
        _object(a={"type": "string", "default": "x"}),
        _object(a={"type": "string", "format": "uri"}),
        _object(a={"type": "string", "pattern": "(?=x)"}),
        _object(a={"oneOf": [{"type": "string"}]}),
        _object(a={"type": "array"}),
        _object(a={"$ref": "#/$defs/lost"}),
        {**_object(), "anyOf": [{"type": "object"}]},
        {**_object(a={"$ref": "#", "description": "for ever"})},
        {"type": "object"},
    ],
)
def test_what_strict_mode_would_change_is_not_strict(schema: dict[str, Any]) -> None:
    assert strict_schema(schema) is None


def test_strict_mode_closes_every_object_and_puts_a_reference_with_words_in_place() -> None:
    schema = {
        **_object(a={"$ref": "#/$defs/A", "description": "satu"}, b={"type": ["object", "null"], **_object()}),
        "$defs": {"A": _object(n={"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]})},
    }
    made = strict_schema(schema)
    assert made is not None
    assert made["properties"]["a"] == {
        **_object(n={"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}),
        "description": "satu",
        "additionalProperties": False,
    }
    assert made["$defs"]["A"]["additionalProperties"] is False


def test_a_tree_may_point_at_itself() -> None:
    tree = _object(kids={"type": "array", "items": {"$ref": "#"}})
    made = strict_schema(tree)
    assert made is not None
    assert made["properties"]["kids"]["items"] == {"$ref": "#"}


def test_a_plain_schema_loses_only_what_is_refused() -> None:
    schema = {
        "$schema": "x",
        "type": "object",
        "anyOf": [{"required": ["a"]}, {"properties": {"b": {"type": "array"}}}],
        "properties": {"a": {"type": "number", "minimum": 0, "exclusiveMinimum": True, "required": True}},
    }
    made = plain_schema(schema)
    assert made["properties"] == {"a": {"type": "number", "exclusiveMinimum": 0}, "b": {"type": "array", "items": {}}}
    assert '"required":["a"]' in made["description"]
    assert set(made) == {"type", "properties", "description"}
    assert plain_schema({"type": "object"}) == {"type": "object", "properties": {}}
    pointed = plain_schema({"type": "object", "properties": {"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}}})
    assert pointed["properties"]["b"] == {"type": "string"}
