"""A schema in a smaller dialect says as much as it can, is never stricter, and has no end that it did not have before."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from tukang.models.schemas import MOST_NODES, Keywords, inlined, narrowed

SMALL = Keywords()
NODE = {
    "type": "object",
    "properties": {"nama": {"type": "string"}, "anak": {"type": "array", "items": {"$ref": "#/$defs/N"}}},
}
TREE: dict[str, Any] = {"type": "object", "properties": {"akar": {"$ref": "#/$defs/N"}}, "$defs": {"N": NODE}}


def test_references_are_spelled_out_with_what_stands_beside_them() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "a": {"$ref": "#/definitions/A~1B", "description": "dekat"},
            "b": {"$ref": "#/properties/c/anyOf/1"},
        },
        "definitions": {"A/B": {"type": "string", "description": "jauh"}},
    }
    schema["properties"]["c"] = {"anyOf": [{"type": "null"}, {"type": "integer"}]}
    assert inlined(schema) == {
        "type": "object",
        "properties": {
            "a": {"type": "string", "description": "dekat"},
            "b": {"type": "integer"},
            "c": {"anyOf": [{"type": "null"}, {"type": "integer"}]},
        },
    }


def test_a_tree_is_cut_where_it_comes_round() -> None:
    made = inlined(TREE)
    assert made["properties"]["akar"]["properties"]["anak"]["items"] == {"type": "object"}
    assert inlined({"type": "object", "properties": {"diri": {"$ref": "#"}}})["properties"]["diri"]["type"] == "object"


@pytest.mark.parametrize(
    "pointer", ["#/nowhere", "https://example.com/x.json", "other.json#/a", "#/$defs/N/properties/nama/type"]
)
def test_a_reference_that_leads_nowhere_may_be_anything(pointer: str) -> None:
    assert inlined(TREE | {"properties": {"a": {"$ref": pointer}}})["properties"]["a"] == {}


def test_a_schema_that_doubles_with_each_reference_has_an_end() -> None:
    steps = {
        f"s{n}": {"type": "object", "properties": {k: {"$ref": f"#/$defs/s{n + 1}"} for k in "ab"}} for n in range(40)
    }
    made = inlined({"type": "object", "properties": {"x": {"$ref": "#/$defs/s0"}}, "$defs": steps})

    def count(node: Any) -> int:
        return 1 + sum(map(count, node.get("properties", {}).values()))

    assert count(made) < 3 * MOST_NODES


def test_a_property_may_have_the_name_of_a_keyword() -> None:
    properties = {name: {"type": "string"} for name in ("$ref", "$defs", "definitions", "enum", "properties", "const")}
    assert narrowed({"type": "object", "properties": properties}, SMALL)["properties"] == properties


def test_what_has_no_keyword_is_said_in_the_description() -> None:
    schema = {
        "type": "object",
        "properties": {
            "kode": {"type": "string", "description": "Kode produk.", "pattern": "^PRD", "maxLength": 6},
            "kapan": {"type": "string", "format": "date", "default": None, "title": "Kapan"},
        },
    }
    assert narrowed(schema, SMALL)["properties"] == {
        "kode": {"type": "string", "description": 'Kode produk. (pattern: "^PRD", maxLength: 6)'},
        "kapan": {"type": "string", "description": '(format: "date", default: null)'},
    }
    dates = Keywords(kept=frozenset({"format", "title"}), formats=frozenset({"date"}))
    assert narrowed(schema, dates)["properties"]["kapan"] == {
        "type": "string",
        "format": "date",
        "title": "Kapan",
        "description": "(default: null)",
    }


CASES: list[tuple[dict[str, Any], list[Any]]] = [
    ({"const": "a"}, ["a"]),
    ({"oneOf": [{"type": "integer"}, {"type": "null"}]}, [1, None]),
    ({"type": "string", "nullable": True}, ["a"]),
    ({"enum": ["a", None, True, 1]}, ["a", None, True, 1]),
    ({"allOf": [{"type": "object", "properties": {"x": {"type": "integer"}}}, {"required": ["x"]}]}, [{"x": 1}]),
    ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}, [["a", 1], []]),
    ({"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}, [["a", 1]]),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, [{"a": 1}, {}]),
    ({"type": "object", "additionalProperties": False, "required": ["absent"]}, [{}]),
    ({"type": ["string", "null"], "format": "uuid"}, [None]),
    ({"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}, [1.5]),
    ({"not": {"type": "string"}}, [1]),
    ({"type": "object", "properties": {"x": True, "y": {}}}, [{"x": 1, "y": "a"}]),
]
FULL = Keywords(
    frozenset({"additionalProperties", "format", "minimum", "prefixItems", "title"}), enums=(str, int, float)
)


@pytest.mark.parametrize("keywords", [SMALL, FULL])
@pytest.mark.parametrize(("schema", "values"), CASES)
def test_what_was_right_stays_right(schema: dict[str, Any], values: list[Any], keywords: Keywords) -> None:
    made = narrowed({"type": "object", "properties": {"it": schema}}, keywords)
    check = jsonschema_rs.validator_for(made)
    for value in values:
        assert check.is_valid({"it": value}), made
    taken = keywords.kept | {"type", "properties", "required", "items", "enum", "anyOf", "description"}
    assert set(made["properties"]["it"]) <= taken


def test_a_choice_of_values_that_are_not_taken_goes_into_words() -> None:
    made = narrowed({"type": "object", "properties": {"a": {"enum": [True, None]}, "b": {"const": "x"}}}, FULL)
    assert made["properties"] == {"a": {"description": "(enum: [true,null])"}, "b": {"enum": ["x"]}}


def test_only_what_is_declared_is_required() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {}}, "required": ["a", "b", "a"]}
    assert narrowed(schema, SMALL)["required"] == ["a"]
    assert "required" not in narrowed({"type": "object", "required": ["b"]}, SMALL)


@pytest.mark.parametrize(
    "odd", [{"type": 7}, {"required": "a"}, {"items": 1}, {"anyOf": {}}, {"properties": []}, {"enum": 1}]
)
def test_what_is_no_schema_is_left_out(odd: dict[str, Any]) -> None:
    made = narrowed({"type": "object", "properties": {"a": odd}}, SMALL)
    assert made["properties"]["a"] == {}
