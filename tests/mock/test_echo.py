"""The echo calls a tool once with arguments that fit its schema, whatever the schema, and otherwise repeats the user."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from tukang.mock.echo import echo
from tukang.mock.values import Asked, Offered

SCHEMAS: dict[str, dict[str, Any]] = {
    "nothing": {"type": "object"},
    "kinds": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 80, "maxLength": 90},
            "short": {"type": "string", "maxLength": 3},
            "whole": {"type": "integer", "exclusiveMinimum": 10, "multipleOf": 7},
            "part": {"type": "number", "minimum": 0.5, "exclusiveMaximum": 1},
            "yes": {"type": "boolean"},
            "none": {"type": "null"},
            "several": {"type": ["integer", "null"]},
            "day": {"type": "string", "format": "date"},
            "letter": {"type": "string", "format": "email"},
        },
        "required": ["text", "short", "whole", "part", "yes", "none", "several", "day", "letter"],
    },
    "named values": {
        "type": "object",
        "properties": {"a": {"enum": [3, 4]}, "b": {"const": "x"}, "c": {"type": "string", "default": "y"}},
        "required": ["a", "b", "c"],
    },
    "nested": {
        "type": "object",
        "properties": {
            "rows": {
                "type": "array",
                "minItems": 2,
                "items": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
            }
        },
        "required": ["rows"],
    },
    "references": {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/Tree"}},
        "required": ["tree"],
        "$defs": {
            "Tree": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
                },
                "required": ["name", "children"],
            }
        },
    },
    "choices": {
        "type": "object",
        "properties": {
            "a": {"anyOf": [{"type": "integer", "minimum": 5}, {"type": "null"}]},
            "b": {"oneOf": [{"type": "object", "properties": {"k": {"const": "v"}}, "required": ["k"]}]},
            "c": {"allOf": [{"type": "string"}, {"minLength": 100}]},
        },
        "required": ["a", "b", "c"],
    },
    "at least one member": {"type": "object", "properties": {"a": {"type": "string"}}, "minProperties": 1},
}


def asked(*schemas: dict[str, Any], **fields: Any) -> Asked:
    tools = tuple(Offered(f"tool_{place}", schema) for place, schema in enumerate(schemas))
    return Asked("m", False, tools, **{"text": "Berapa harganya?", **fields})


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_arguments_fit_the_schema(schema: dict[str, Any]) -> None:
    (call,) = echo(asked(schema)).calls
    assert call.name == "tool_0"
    jsonschema_rs.validator_for(schema, validate_formats=True).validate(call.arguments)


def test_a_text_is_the_users_own() -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    assert echo(asked(schema)).calls[0].arguments == {"q": "Berapa harganya?"}


def test_the_tool_that_is_asked_for_is_called() -> None:
    schema = SCHEMAS["nothing"]
    assert echo(asked(schema, schema, choice="tool_1")).calls[0].name == "tool_1"
    assert echo(asked(schema, choice="none")).calls == ()


def test_a_tool_whose_arguments_cannot_be_made_is_passed_over() -> None:
    never = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^[0-9]{9}$"}}, "required": ["a"]}
    assert echo(asked(never, SCHEMAS["nothing"])).calls[0].name == "tool_1"
    assert "".join(echo(asked(never)).text) == "Berapa harganya?"


def test_results_are_said_and_no_tool_is_called_again() -> None:
    said = echo(asked(SCHEMAS["nothing"], results=("satu", "dua")))
    assert "".join(said.text) == "Hasil: satu | dua"
    assert said.calls == ()


def test_words_come_one_by_one_and_none_is_lost() -> None:
    said = echo(asked(text="a  b\nc "))
    assert len(said.text) > 1
    assert "".join(said.text) == "a  b\nc "
    assert "".join(echo(asked(text="")).text)
