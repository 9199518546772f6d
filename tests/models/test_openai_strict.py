"""Strict mode accepts what was declared, once what it forced is undone; a schema of which that is not true is not strict."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.models.test_openai_schemas import declared
from tests.sizes import examples
from tukang.models.openai_chat_dialect import Dialect
from tukang.models.openai_strict import Form, forced_by, strict_schema, tool_form
from tukang.models.openai_undoing import undone
from tukang.tools.contract import Contract

STRICT = Dialect(strict=True)


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def form(schema: dict[str, Any]) -> Form:
    """How a tool with this schema is sent, which must be strict."""
    made = strict_schema(schema, optional=True)
    assert made is not None
    return made


def undo(schema: dict[str, Any], sent: Any) -> Any:
    """What a tool with this schema gets, where a model in strict mode sent this."""
    made = form(schema)
    assert jsonschema_rs.is_valid(made.schema, sent)
    return json.loads(undone(json.dumps(sent), made.forced)) if made.forced is not None else sent


@pytest.mark.parametrize(
    "schema",
    [
        {**_object(), "additionalProperties": True},
        _object(a={}),
        _object(a={"type": "object"}),
        _object(a={"type": "string", "minLength": 1}),
        _object(a={"type": "string", "format": "uri"}),
        _object(a={"type": "string", "pattern": "(?=x)"}),
        _object(a={"oneOf": [{"type": "string"}]}),
        _object(a={"type": "array"}),
        _object(a={"$ref": "#/$defs/lost"}),
        {**_object(), "anyOf": [{"type": "object"}]},
        {**_object(a={"$ref": "#", "description": "for ever"})},
        {**_object(), "required": ["undeclared"]},
        {"type": "object"},
    ],
)
def test_what_strict_mode_would_change_is_not_strict(schema: dict[str, Any]) -> None:
    assert strict_schema(schema) is None
    assert strict_schema(schema, optional=True) is None


def test_strict_mode_closes_every_object_and_puts_a_reference_with_words_in_place() -> None:
    schema = {
        **_object(a={"$ref": "#/$defs/A", "description": "satu"}, b={"type": ["object", "null"], **_object()}),
        "$defs": {"A": _object(n={"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]})},
    }
    made = form(schema)
    assert made.forced is None
    assert made.schema["properties"]["a"] == {
        **_object(n={"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}),
        "description": "satu",
        "additionalProperties": False,
    }
    assert made.schema["$defs"]["A"]["additionalProperties"] is False


def test_a_tree_may_point_at_itself() -> None:
    tree = _object(kids={"type": "array", "items": {"$ref": "#"}})
    assert form(tree).schema["properties"]["kids"]["items"] == {"$ref": "#"}


def test_a_default_and_examples_are_told_in_words() -> None:
    made = form(_object(a={"type": "string", "description": "Mata uang.", "default": "IDR", "examples": ["USD"]}))
    assert made.schema["properties"]["a"] == {
        "type": "string",
        "description": 'Mata uang. (default: "IDR", examples: ["USD"])',
    }


def test_a_property_that_may_be_left_out_is_null_on_the_wire_and_absent_for_the_tool() -> None:
    schema = {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "batas": {"type": "integer", "default": 5},
            "urut": {"enum": ["naik", "turun"], "type": "string"},
        },
        "required": ["id"],
    }
    sent = form(schema).schema
    assert sent["required"] == ["id", "batas", "urut"]
    assert sent["properties"]["batas"] == {"type": ["integer", "null"], "description": "(default: 5)"}
    assert sent["properties"]["urut"] == {"anyOf": [{"enum": ["naik", "turun"], "type": "string"}, {"type": "null"}]}
    assert undo(schema, {"id": "a", "batas": None, "urut": None}) == {"id": "a"}
    assert undo(schema, {"id": "a", "batas": 3, "urut": "naik"}) == {"id": "a", "batas": 3, "urut": "naik"}
    assert strict_schema(schema) is None, "the text of an answer cannot be changed once it was streamed"


def test_a_null_that_was_declared_is_a_value() -> None:
    nullable = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    default_null = {**_object(), "properties": {"a": {**nullable, "default": None}}, "required": []}
    assert undo(default_null, {"a": None}) == {"a": None}
    for ambiguous in (nullable, {**nullable, "default": "x"}, {"type": ["string", "null"]}, {"enum": ["x", None]}):
        assert strict_schema({"type": "object", "properties": {"a": ambiguous}}, optional=True) is None
    named = {**_object(), "properties": {"a": {"$ref": "#/$defs/A"}}, "required": [], "$defs": {"A": nullable}}
    assert strict_schema(named, optional=True) is None


def test_what_is_forced_inside_lists_definitions_and_trees_is_undone_there() -> None:
    line = {"type": "object", "properties": {"id": {"type": "string"}, "n": {"type": "integer"}}, "required": ["id"]}
    order = {
        **_object(baris={"type": "array", "items": {"$ref": "#/$defs/Baris"}}, satu={"$ref": "#/$defs/Baris"}),
        "$defs": {"Baris": line},
    }
    sent = {"baris": [{"id": "a", "n": None}, {"id": "b", "n": 2}], "satu": {"id": "c", "n": None}}
    assert undo(order, sent) == {"baris": [{"id": "a"}, {"id": "b", "n": 2}], "satu": {"id": "c"}}
    tree = {
        "type": "object",
        "properties": {"x": {"type": "string"}, "kids": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["kids"],
    }
    assert undo(tree, {"x": None, "kids": [{"x": "a", "kids": [{"x": None, "kids": []}]}]}) == {
        "kids": [{"x": "a", "kids": [{"kids": []}]}]
    }


def test_a_choice_among_objects_does_not_say_whose_null_it_is() -> None:
    one = {"type": "object", "properties": {"a": {"type": "string"}}}
    other = _object(a={"type": ["string", "null"]})
    assert strict_schema(_object(x={"anyOf": [one, other]}), optional=True) is None
    assert undo(_object(x={"anyOf": [one, {"type": "null"}]}), {"x": {"a": None}}) == {"x": {}}
    assert undo(_object(x={"anyOf": [one, {"type": "null"}]}), {"x": None}) == {"x": None}


def test_one_tool_goes_without_strict_mode_and_the_others_keep_it() -> None:
    closed = Contract("stok", "", _object(id={"type": "string"}))
    open_ended = Contract("cari", "", {"type": "object", "properties": {"q": {}}, "required": ["q"]})
    optional = Contract("harga", "", {"type": "object", "properties": {"id": {"type": "string"}}})
    tools = (closed, open_ended, optional)
    assert [tool_form(tool, STRICT).strict for tool in tools] == [True, False, True]
    assert [tool_form(tool, Dialect()).strict for tool in tools] == [False, False, False]
    assert tool_form(open_ended, STRICT).schema == open_ended.parameters
    assert set(forced_by(tools, STRICT)) == {"harga"}
    assert forced_by(tools, replace(STRICT, not_strict=frozenset({"harga"}))) == {}
    assert forced_by(tools, Dialect()) == {}


def test_most_tools_of_real_servers_can_be_strict() -> None:
    schemas = declared()
    assert sum(strict_schema(schema, optional=True) is not None for schema in schemas) > len(schemas) // 2


_plain = st.sampled_from([{"type": "string"}, {"type": "integer"}, {"enum": ["a", "b"]}, {"const": 1}])
_schemas: st.SearchStrategy[dict[str, Any]] = st.recursive(
    _plain,
    lambda inner: st.one_of(
        st.builds(lambda one: {"type": "array", "items": one}, inner),
        st.builds(lambda one: {"anyOf": [one, {"type": "null"}]}, inner),
        st.builds(
            lambda properties, some: {
                "type": "object",
                "properties": properties,
                "required": [name for name in properties if name in some],
            },
            st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            st.sets(st.sampled_from("abc")),
        ),
    ),
    max_leaves=6,
)


def _write(schema: Any, draw: st.DrawFn) -> tuple[Any, Any]:
    """A value as a model in strict mode writes it, and what was meant by it."""
    if "enum" in schema or "const" in schema:
        value = schema["const"] if "const" in schema else draw(st.sampled_from(schema["enum"]))
        return value, value
    if "anyOf" in schema:
        return (None, None) if draw(st.booleans()) else _write(schema["anyOf"][0], draw)
    match schema["type"]:
        case "array":
            pairs = [_write(schema["items"], draw) for _ in range(draw(st.integers(0, 2)))]
            return [sent for sent, _ in pairs], [meant for _, meant in pairs]
        case "object":
            sent: dict[str, Any] = {}
            meant: dict[str, Any] = {}
            for name, inner in schema["properties"].items():
                if name not in schema["required"] and draw(st.booleans()):
                    sent[name] = None
                else:
                    sent[name], meant[name] = _write(inner, draw)
            return sent, meant
        case kind:
            value = draw(st.text(max_size=3) if kind == "string" else st.integers(-(2**70), 2**70))
            return value, value


@given(st.data())
@hypothesis_settings(max_examples=examples(200), deadline=None)
def test_whatever_a_model_writes_in_strict_mode_a_tool_gets_what_was_meant(data: st.DataObject) -> None:
    properties = data.draw(st.dictionaries(st.sampled_from("xyz"), _schemas, min_size=1, max_size=3))
    schema = {
        "type": "object",
        "properties": properties,
        "required": data.draw(st.sets(st.sampled_from(list(properties)))),
    }
    schema["required"] = sorted(schema["required"])
    made = strict_schema(schema, optional=True)
    if made is None:
        return
    sent, meant = data.draw(st.composite(lambda draw: _write(schema, draw))())
    assert jsonschema_rs.is_valid(made.schema, sent)
    text = json.dumps(sent, ensure_ascii=False)
    assert json.loads(undone(text, made.forced) if made.forced is not None else text) == meant
    assert jsonschema_rs.is_valid(schema, meant)
