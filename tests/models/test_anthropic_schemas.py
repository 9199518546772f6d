"""Schemas in the dialects the Messages API takes; nothing that is declared is lost, and nobody's schema is changed."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from tukang.errors import ConfigurationError
from tukang.models.anthropic_dialect import Dialect
from tukang.models.anthropic_schemas import Weight, format_schema, strict_schema, tool_schema, weigh
from tukang.models.anthropic_tools import tools
from tukang.models.base import ModelRequest, Settings
from tukang.tools.contract import Contract


def an_object(required: tuple[str, ...] = (), /, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def test_older_drafts_are_rewritten() -> None:
    old = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **an_object(
            pair={"type": "array", "items": [{"type": "string"}, {"type": "number"}], "additionalItems": False},
            more={"type": "number", "minimum": 1, "exclusiveMinimum": True, "required": True},
        ),
    }
    before = copy.deepcopy(old)
    assert tool_schema("t", old)["properties"] == {
        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "items": False},
        "more": {"type": "number", "minimum": 1, "exclusiveMinimum": 1},
    }
    assert "$schema" not in tool_schema("t", old)
    assert old == before


def test_alternatives_at_the_top_become_one_object() -> None:
    schema = {
        **an_object(("a",), a={"type": "string"}),
        "oneOf": [an_object(("b", "c"), b={"type": "string"}, c={}), {"$ref": "#/$defs/Lain"}],
        "$defs": {"Lain": an_object(("c",), b={"type": "integer"}, c={})},
    }
    sent = tool_schema("t", schema)
    assert "oneOf" not in sent
    assert sent["properties"]["b"] == {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    assert sent["required"] == ["a", "c"]


def test_a_property_name_that_is_refused_names_the_tool() -> None:
    with pytest.raises(ConfigurationError, match=r"tool 'cari'.*'\$filter'"):
        tool_schema("cari", an_object(x=an_object((), **{"$filter": {"type": "string"}})))


def test_every_object_of_a_strict_schema_is_closed() -> None:
    schema = an_object(("a",), a=an_object(b={"type": "string"}), c={"type": "array", "items": an_object()})
    strict = strict_schema(schema)
    assert strict is not None
    assert json.dumps(strict).count('"additionalProperties": false') == 3


@pytest.mark.parametrize(
    "lost",
    [
        {"type": "integer", "minimum": 1},
        {"type": "string", "pattern": "^P"},
        {"type": "string", "format": "color"},
        {"type": "array", "items": {"type": "string"}, "minItems": 2},
        {"type": "array"},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"oneOf": [{"type": "string"}, {"type": "null"}]},
        {"enum": [{"a": 1}]},
        {"$ref": "https://example.com/x"},
        {"$ref": "#"},
        {},
        True,
    ],
)
def test_what_a_grammar_cannot_say_keeps_a_tool_from_being_strict(lost: Any) -> None:
    assert strict_schema(an_object(x=lost)) is None


def test_recursion_keeps_a_tool_from_being_strict_and_is_refused_as_a_format() -> None:
    tree = {**an_object(x={"$ref": "#/$defs/T"}), "$defs": {"T": an_object(t={"$ref": "#/$defs/T"})}}
    assert strict_schema(tree) is None
    with pytest.raises(ConfigurationError, match="recursive"):
        format_schema(tree)
    twice = {**an_object(x={"$ref": "#/$defs/T"}, y={"$ref": "#/$defs/T"}), "$defs": {"T": an_object()}}
    assert strict_schema(twice) is not None


def test_what_a_format_cannot_say_goes_into_words() -> None:
    sent = format_schema(an_object(n={"type": "integer", "minimum": 1, "description": "Jumlah."}))
    assert sent["properties"]["n"] == {"type": "integer", "description": 'Jumlah.\n\n{"minimum":1}'}
    with pytest.raises(ConfigurationError, match="outside"):
        format_schema(an_object(n={"$ref": "https://example.com/x"}))


def test_the_limits_of_strict_mode_are_kept_one_tool_at_a_time() -> None:
    text = {"type": "string"}
    big = Contract("besar", "", an_object((), **{f"p{place}": text for place in range(20)}))
    assert weigh(big.parameters) == Weight(20, 0)
    union = {"type": ["string", "null"]}
    wide = Contract(
        "lebar", "", an_object(tuple(f"u{place}" for place in range(17)), **{f"u{place}": union for place in range(17)})
    )
    small = [Contract(f"kecil{place}", "", an_object(x=text)) for place in range(25)]
    loose = Contract("longgar", "", an_object(n={"type": "integer", "minimum": 1}))
    offered = (big, wide, loose, *small)
    dialect = Dialect(structured=True)
    sent = [json.loads(one) for one in tools(ModelRequest("", (), offered), dialect)]
    assert [one["name"] for one in sent if one.get("strict")] == ["besar", "kecil0", "kecil1", "kecil2", "kecil3"]
    assert sent[2]["input_schema"]["properties"]["n"]["minimum"] == 1
    many = tuple(Contract(f"t{place}", "", an_object()) for place in range(25))
    assert len([one for one in tools(ModelRequest("", (), many), dialect) if b'"strict"' in one]) == 20
    assert not any(
        b'"strict"' in one for one in tools(ModelRequest("", (), many), Dialect(structured=True, strict=False))
    )


def test_tools_of_the_providers_own_must_be_objects() -> None:
    for given in ("web_search", ["web_search"]):
        with pytest.raises(ConfigurationError, match=r'extra\["tools"\]'):
            tools(ModelRequest("", (), settings=Settings(extra={"tools": given})), Dialect())
