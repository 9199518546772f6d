"""A value is read as another type only where its schema leaves no other way."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.test_json_text import VALUES
from tukang.tools.coercion import coerce

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


def test_a_reference_to_itself_ends() -> None:
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}
    assert coerce("5", schema, schema) == "5"


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
