"""A schema in OpenAI's dialect without strict mode is legal, and loses only what is refused."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs

from tests.wire.recordings import mcp_contracts
from tukang.models.openai_schemas import plain_schema
from tukang.models.openai_strict import strict_schema


def declared() -> list[dict[str, Any]]:
    return [dict(contract.parameters) for contract in mcp_contracts()]


def test_every_schema_of_real_servers_is_sent_legally() -> None:
    for schema in declared():
        before = json.dumps(schema)
        strict = (strict_schema(schema), strict_schema(schema, optional=True))
        for made in (plain_schema(schema), *[form.schema for form in strict if form is not None]):
            jsonschema_rs.meta.validate(made)
            assert made["type"] == "object"
            assert not {"anyOf", "oneOf", "allOf", "not", "enum", "$schema"} & set(made)
        assert json.dumps(schema) == before


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
