"""A grammar allows what the schema allows, written compactly, and as little else as can be."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.local.gbnf import Gbnf
from tukang.models.local.grammar import Grammar, compact
from tukang.models.local.patterns import integers_between, pattern_to_gbnf

Schema = dict[str, Any]


def grammar_of(schema: Schema) -> Gbnf:
    grammar = Grammar()
    return Gbnf(grammar.text(grammar.arguments("call", schema)))


def object_of(**properties: Any) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


EXACT: list[tuple[Schema, list[Any], list[Any]]] = [
    ({"type": "string"}, ["", "Bandung", 'say "hi"\n'], [1, None, ["x"]]),
    ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "abc"], ["a", "abcd"]),
    ({"type": "string", "format": "date"}, ["2026-11-30"], ["2026-13-01", "besok"]),
    ({"type": "string", "pattern": "^PRD\\d{3}$"}, ["PRD001"], ["PRD01", "prd001", "xPRD001"]),
    ({"type": "string", "pattern": "^(?:a|bc)+-[x-z]?$"}, ["abca-", "a-y"], ["-x", "ac-"]),
    ({"type": "integer"}, [0, -5, 123456789], [1.5, "1", True]),
    ({"type": "integer", "minimum": 1}, [1, 10, 99999], [0, -1]),
    ({"type": "integer", "minimum": 3, "maximum": 217}, [3, 9, 10, 99, 100, 199, 217], [2, 218, 1000, -3]),
    ({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 11}, [1, 10], [0, 11]),
    ({"type": "integer", "minimum": -12, "maximum": 5}, [-12, -1, 0, 5], [-13, 6]),
    ({"type": "number"}, [0, 12.5, -3], ["12.5"]),
    ({"type": "number", "minimum": 0}, [0, 12.5], [-1]),
    ({"type": "boolean"}, [True, False], ["true", 1]),
    ({"type": "null"}, [None], [0]),
    ({"enum": ["hr", "keuangan", 3, None]}, ["hr", "keuangan", 3, None], ["teknik", 4]),
    ({"const": {"a": [1, "x"]}}, [{"a": [1, "x"]}], [{"a": [1]}]),
    ({"type": ["string", "null"]}, ["x", None], [1]),
    ({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, [3, True], ["x"]),
    ({"type": "array", "items": {"type": "integer"}}, [[], [1], [1, 2, 3]], [["x"], 1]),
    (
        {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3},
        [[1, 2], [1, 2, 3]],
        [[1], [1, 2, 3, 4]],
    ),
    ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}, [["a", 1]], [[1, "a"]]),
    ({"type": "object"}, [{}, {"a": 1, "b": ["x"]}], ["x"]),
    ({"type": "object", "properties": {}, "additionalProperties": False}, [{}], [{"a": 1}]),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, [{}, {"a": 1, "b": 2}], [{"a": "x"}]),
    ({"allOf": [object_of(a={"type": "integer"}), object_of(b={"type": "string"})]}, [{"a": 1, "b": "x"}], [{"a": 1}]),
]


@pytest.mark.parametrize(("schema", "right", "wrong"), EXACT, ids=[json.dumps(schema)[:60] for schema, _, _ in EXACT])
def test_what_a_schema_allows_and_nothing_else(schema: Schema, right: list[Any], wrong: list[Any]) -> None:
    grammar = grammar_of(object_of(it=schema))
    validator = jsonschema_rs.validator_for(schema)
    for value in right:
        assert validator.is_valid(value), "the case itself is wrong"
        assert grammar.allows(compact({"it": value})), value
    for value in wrong:
        assert not grammar.allows(compact({"it": value})), value


def test_optional_properties_may_be_left_out_anywhere() -> None:
    text = {"type": "string"}
    schema = {"type": "object", "properties": {"a": text, "b": text, "c": text}, "required": ["b"]}
    grammar = grammar_of(schema)
    for present in ("b", "ab", "bc", "abc"):
        assert grammar.allows(compact(dict.fromkeys(present, "x"))), present
    for absent in ("", "a", "c", "ac"):
        assert not grammar.allows(compact(dict.fromkeys(absent, "x"))), absent


def test_only_optional_properties_make_no_stray_comma() -> None:
    grammar = grammar_of({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}})
    assert all(grammar.allows(text) for text in ("{}", '{"a": 1}', '{"b": 1}', '{"a": 1, "b": 2}'))
    assert not any(grammar.allows(text) for text in ('{, "b": 1}', '{"a": 1, }', '{"a": 1"b": 2}'))


def test_references_are_followed_also_into_themselves() -> None:
    tree = object_of(name={"type": "string"}, children={"type": "array", "items": {"$ref": "#/$defs/tree"}})
    schema = {**object_of(root={"$ref": "#/$defs/tree"}), "$defs": {"tree": tree}}
    leaf = {"name": "x", "children": []}
    assert grammar_of(schema).allows(compact({"root": {"name": "r", "children": [leaf, leaf]}}))
    assert not grammar_of(schema).allows(compact({"root": {"name": "r", "children": ["x"]}}))


def test_no_white_space_is_left_open() -> None:
    grammar = grammar_of(object_of(a={"type": "integer"}))
    assert grammar.allows('{"a": 1}')
    assert not any(grammar.allows(text) for text in ('{ "a": 1}', '{"a":  1}', '{"a": 1 }', '{"a": 1}\n'))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": True, "b": {"not": {"type": "string"}}, "c": {"$ref": "#/nowhere"}}},
        {"type": "object", "properties": {"a": {"$ref": "https://example.org/x.json"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}},
        {"type": "object", "properties": {"a": {"allOf": [{"$ref": "#/properties/a"}]}}},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "(?<=x)y(?=z)\\b"}}},
        {"type": "object", "properties": {"a": {"type": "integer", "minimum": 9, "maximum": 1}}},
        {"type": "object", "properties": {"ünïcode \"x\"\\": {"enum": ["é\n", '"']}}, "required": ["ünïcode \"x\"\\"]},
        {"type": "object", "properties": {"a": {"type": "nonsense"}, "b": {"type": []}, "c": {"enum": []}}},
        {"type": "object", "properties": {"a": {"type": "array", "minItems": 100}, "b": {"type": "array", "maxItems": 0}}},
    ],
)  # fmt: skip
def test_a_schema_that_cannot_be_said_exactly_is_said_loosely(schema: Schema) -> None:
    grammar = Grammar()
    assert Gbnf(grammar.text(grammar.arguments("call", schema))) is not None


def test_tools_of_one_grammar_do_not_share_rules_by_accident() -> None:
    grammar = Grammar()
    first = grammar.arguments("call-a_b", object_of(x={"type": "integer", "minimum": 1}))
    second = grammar.arguments("call-a-b", object_of(x={"type": "string", "maxLength": 2}))
    both = Gbnf(grammar.text(f"{first} | {second}"))
    assert both.allows('{"x": 5}')
    assert both.allows('{"x": "ab"}')
    assert not both.allows('{"x": 0}')


@settings(deadline=None)
@given(st.integers(-3000, 3000), st.integers(-3000, 3000), st.integers(-4000, 4000))
def test_a_range_of_integers_is_exact(one: int, other: int, value: int) -> None:
    low, high = sorted((one, other))
    assert Gbnf(f"root ::= {integers_between(low, high)}").allows(str(value)) == (low <= value <= high)


@settings(deadline=None)
@given(st.integers(0, 5000), st.integers(0, 60000))
def test_a_lower_bound_alone_is_exact(low: int, value: int) -> None:
    assert Gbnf(f"root ::= {integers_between(low, None)}").allows(str(value)) == (value >= low)


def test_a_pattern_without_anchors_may_stand_anywhere() -> None:
    body = pattern_to_gbnf("b+")
    assert body is not None
    assert all(Gbnf(f"root ::= {body}").allows(text) for text in ("b", "abc", "bbb"))
    assert not Gbnf(f"root ::= {body}").allows("ac")


SCHEMAS = st.recursive(
    st.sampled_from(
        [
            {"type": "string", "maxLength": 4},
            {"type": "integer", "minimum": 0, "maximum": 40},
            {"type": "boolean"},
            {"enum": ["a", "b c", 7]},
            {"type": "null"},
        ]
    ),
    lambda inner: st.one_of(
        st.builds(lambda item: {"type": "array", "items": item, "maxItems": 2}, inner),
        st.builds(lambda options: {"anyOf": options}, st.lists(inner, min_size=1, max_size=2)),
        st.builds(
            lambda members, needed: {
                "type": "object",
                "properties": dict(sorted(members.items())),
                "required": [name for name in members if name in needed],
                "additionalProperties": False,
            },
            st.dictionaries(st.sampled_from("pqr"), inner, min_size=1, max_size=3),
            st.sets(st.sampled_from("pqr")),
        ),
    ),
    max_leaves=5,
)
VALUES = st.recursive(
    st.sampled_from(["a", "b c", "x", 7, 40, 41, True, None]),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("pqr"), inner, max_size=3)),
    max_leaves=4,
)


@settings(deadline=None)
@given(SCHEMAS, VALUES)
def test_a_value_is_allowed_exactly_when_it_is_valid(schema: Schema, value: Any) -> None:
    ordered = _ordered(value)
    valid = jsonschema_rs.validator_for(schema).is_valid(ordered)
    assert grammar_of(object_of(it=schema)).allows(compact({"it": ordered})) == valid


def _ordered(value: Any) -> Any:
    """Members in the order of the alphabet: the order the schemas above have once they are sorted too."""
    if isinstance(value, dict):
        return {name: _ordered(value[name]) for name in sorted(value)}
    return [_ordered(item) for item in value] if isinstance(value, list) else value
