"""A value is read as another type only where its schema leaves no other way."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.test_json_text import VALUES
from tukang.tools.coercion import coerce
from tukang.tools.json_text import DEEPEST, depth

INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
STRING = {"type": "string"}
BOOLEAN = {"type": "boolean"}
INTEGERS = {"type": "array", "items": INTEGER}
NULLABLE = {"anyOf": [INTEGER, {"type": "null"}]}
OBJECT = {"type": "object", "properties": {"n": INTEGER}}


@pytest.mark.parametrize(
    ("schema", "given", "wanted"),
    [
        (INTEGER, "200000", 200000),
        (INTEGER, " -4 ", -4),
        (INTEGER, 5.0, 5),
        (INTEGER, "5.0", 5),
        (INTEGER, str(2**80), 2**80),
        (NUMBER, "1.5", 1.5),
        (BOOLEAN, "true", True),
        (BOOLEAN, "False", False),
        (NULLABLE, "null", None),
        (NULLABLE, "7", 7),
        (INTEGERS, '["1", 2]', [1, 2]),
        ({"type": "array", "items": STRING}, "['python', 'tutorial']", ["python", "tutorial"]),
        (OBJECT, '{"n": "3"}', {"n": 3}),
        (OBJECT, {"n": "3", "other": "4"}, {"n": 3, "other": "4"}),
        ({"type": "object", "additionalProperties": INTEGER}, {"a": "1"}, {"a": 1}),
        ({"type": "array", "prefixItems": [STRING, INTEGER]}, ["1", "1"], ["1", 1]),
        ({"type": ["integer", "null"]}, "4", 4),
        ({"allOf": [INTEGER]}, "4", 4),
        ({"oneOf": [INTEGERS, OBJECT]}, "[1]", [1]),
        ({"type": "array", "items": [STRING, INTEGER], "additionalItems": BOOLEAN}, ["1", "1", "true"], ["1", 1, True]),
        ({"properties": {"n": INTEGER}, "anyOf": [{"required": ["n"]}, {"required": ["m"]}]}, {"n": "1"}, {"n": 1}),
    ],
)
def test_the_right_content_in_the_wrong_type_is_read(schema: dict[str, Any], given: Any, wanted: Any) -> None:
    got = coerce(given, schema, schema)
    assert got == wanted
    assert type(got) is type(wanted)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (STRING, "true"),
        (STRING, "null"),
        (STRING, "123"),
        (STRING, '["a"]'),
        (STRING, 5),
        (STRING, None),
        ({"anyOf": [INTEGER, STRING]}, "5"),
        ({"type": ["integer", "string"]}, "5"),
        ({}, "5"),
        ({"enum": [1, 2]}, "1"),
        (True, "5"),
        (INTEGER, "4,000"),
        (INTEGER, "five"),
        (INTEGER, "1.5"),
        (INTEGER, "0x10"),
        (INTEGER, "1_000"),
        (INTEGER, "١٢"),
        (INTEGER, "Infinity"),
        (INTEGER, "9" * 5000),
        (INTEGER, "007"),
        (INTEGER, 1.5),
        (INTEGER, 1e300),
        (INTEGER, True),
        (INTEGER, None),
        (INTEGER, ""),
        (BOOLEAN, "yes"),
        (BOOLEAN, "1"),
        (BOOLEAN, 1),
        (NUMBER, "NaN"),
        (NUMBER, "1e999"),
        (INTEGERS, 4),
        (INTEGERS, '["a"'),
        (INTEGERS, "null"),
        ({"$ref": "#/$defs/missing"}, "5"),
        ({"$ref": "other.json"}, "5"),
        ({"type": "object", "patternProperties": {"^s": STRING}, "additionalProperties": INTEGER}, {"s": "1"}),
        (OBJECT, '{"n": 1}{"n": 2}'),
        (OBJECT, '{"n": 1'),
    ],
)
def test_everything_else_stays_as_it_is(schema: Any, value: Any) -> None:
    got = coerce(value, schema, schema if isinstance(schema, dict) else {})
    assert got == value
    assert type(got) is type(value)


def test_local_references_are_followed() -> None:
    schema = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/tree"}},
        "$defs": {
            "tree": {"type": "object", "properties": {"n": INTEGER, "a/b": {"$ref": "#/$defs/odd~1name"}}},
            "odd/name": BOOLEAN,
        },
    }
    assert coerce({"tree": {"n": "1", "a/b": "true"}}, schema, schema) == {"tree": {"n": 1, "a/b": True}}


def test_references_into_lists_and_with_escapes_are_followed() -> None:
    schema = {
        "properties": {"a": {"$ref": "#/anyOf/1"}, "b": {"$ref": "#/$defs/b%20c"}},
        "anyOf": [{}, INTEGER],
        "$defs": {"b c": BOOLEAN},
    }
    assert coerce({"a": "1", "b": "true"}, schema, schema) == {"a": 1, "b": True}


def test_references_in_circles_end() -> None:
    names = [f"a{number}" for number in range(40)]
    circle = {
        name: {"anyOf": [{"$ref": f"#/$defs/{following}"}] * 2}
        for name, following in zip(names, names[1:] + names[:1], strict=True)
    }
    schema = {"$ref": "#/$defs/a0", "$defs": circle}
    assert coerce("5", schema, schema) == "5"  # takes for ever where each branch is followed again


def test_only_what_was_refused_is_read_again() -> None:
    either = {
        "anyOf": [{"type": "object", "properties": {"a": INTEGER}}, {"type": "object", "properties": {"a": STRING}}]
    }
    schema = {"type": "object", "properties": {"n": INTEGER, "either": either, "list": INTEGERS}}
    value = {"n": "1", "either": {"a": "5"}, "list": ["1", "2", 3.0]}
    assert coerce(value, schema, schema, [("n",), ("list", 1)]) == {"n": 1, "either": {"a": "5"}, "list": ["1", 2, 3]}
    assert coerce(value, schema, schema, []) == value
    assert coerce(value, schema, schema, [("either", "a", "further in")]) == value


def test_of_alternatives_the_one_that_can_be_meant_is_taken() -> None:
    def shape(kind: str, inner: Any, **more: Any) -> dict[str, Any]:
        return {"type": "object", "properties": {"kind": {"const": kind}, "n": inner}, **more}

    schema = {
        "oneOf": [shape("a", INTEGER), shape("b", STRING), shape("c", BOOLEAN, required=["m"]), shape("c", INTEGERS)]
    }
    assert coerce({"kind": "a", "n": "1"}, schema, schema) == {"kind": "a", "n": 1}
    assert coerce({"kind": "b", "n": "1"}, schema, schema) == {"kind": "b", "n": "1"}
    assert coerce({"kind": "c", "n": "[1]"}, schema, schema) == {"kind": "c", "n": [1]}


def test_what_is_spelled_too_deeply_is_not_read() -> None:
    schema = {"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}}
    assert coerce(["[]"], schema, schema) == [[]]
    assert coerce("[" * 400 + "]" * 400, schema, schema) == "[" * 400 + "]" * 400
    text = ""
    for _ in range(8):  # a string in a string in a string: each read alone is shallow
        text = "[" * 30 + json.dumps(text) + "]" * 30
    got = coerce(text, schema, schema)
    assert depth(got) <= DEEPEST


def test_a_reference_to_itself_ends() -> None:
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}
    assert coerce("5", schema, schema) == "5"


def test_a_null_that_is_the_default_is_left_out() -> None:
    text = {"type": "string", "default": None}
    schema = {
        "type": "object",
        "properties": {"a": text, "b": text, "c": STRING, "d": {"type": "string", "default": "x"}},
    }
    value = {"a": None, "c": None, "d": None}
    assert coerce(value, schema, schema) == {"c": None, "d": None}
    assert coerce(value, schema, schema, [("c",), ("d",)]) == value
    required = {**schema, "required": ["a"]}
    assert coerce(value, required, required) == value


def test_the_given_value_is_not_changed_in_place() -> None:
    value = {"n": "3"}
    assert coerce(value, OBJECT, OBJECT) == {"n": 3}
    assert value == {"n": "3"}


SCHEMAS = st.recursive(
    st.sampled_from([INTEGER, NUMBER, STRING, BOOLEAN, {"type": "null"}, {}, {"type": ["integer", "string"]}]),
    lambda inner: st.one_of(
        inner.map(lambda it: {"type": "array", "items": it}),
        st.dictionaries(st.sampled_from("abc"), inner).map(lambda it: {"type": "object", "properties": it}),
        st.lists(inner, min_size=1, max_size=3).map(lambda it: {"anyOf": it}),
    ),
    max_leaves=6,
)


@given(SCHEMAS, VALUES)
def test_what_is_valid_is_not_changed(schema: dict[str, Any], value: Any) -> None:
    if jsonschema_rs.is_valid(schema, value):
        assert coerce(value, schema, schema) == value
