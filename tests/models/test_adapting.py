"""What every provider wants of a conversation: one result for each call, legal names, arguments that are an object."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tukang.conversation import Text, ToolCall, ToolResult
from tukang.models.adapting import (
    answered,
    arguments_object,
    arguments_text,
    is_deeper,
    json_bytes,
    legal_name,
    read_json,
)
from tukang.tools.contract import LEGAL_NAME


def result(id: str, text: str = "ya") -> ToolResult:
    return ToolResult(id, "harga", (Text(text),))


def test_each_call_gets_one_result_in_the_order_asked() -> None:
    asked = [ToolCall(id, "harga", "") for id in "abc"]
    found = answered([result("c", "3"), result("a", "1"), result("a", "later"), result("x")], asked)
    assert [one.call_id for one in found] == ["a", "b", "c"]
    assert (found[0].text, found[2].text) == ("1", "3")
    assert found[1].fault
    assert json.loads(found[1].text)["error"]["kind"] == "outcome_unknown"


@given(st.text(max_size=80))
def test_any_name_becomes_a_legal_one_and_a_legal_one_stays(name: str) -> None:
    mended = legal_name(name)
    assert LEGAL_NAME.fullmatch(mended)
    assert legal_name(mended) == mended


@pytest.mark.parametrize("text", ["", "  ", "null", "\n null "])
def test_nothing_is_an_empty_object(text: str) -> None:
    assert arguments_object(text) == {}


@given(st.text(max_size=40) | st.just('{"a": [1, {"b": 2}]}'))
def test_any_text_becomes_an_object_that_says_the_same(text: str) -> None:
    made = arguments_object(text)
    if made == {"unreadable": text}:
        assert not isinstance(read_json(text), dict)
    else:
        assert made == (json.loads(text) if text.strip() not in ("", "null") else {})


def test_what_is_too_deep_is_told_as_it_was_written() -> None:
    text = '{"a":' * 5 + "1" + "}" * 5
    assert arguments_object(text, 5) == json.loads(text)
    assert arguments_object(text, 4) == {"unreadable": text}
    endless = "[" * 100_000
    assert arguments_object(endless) == {"unreadable": endless}


@pytest.mark.parametrize(("value", "depth"), [(1, 0), ([], 1), ({}, 1), ([[1], 2], 2), ({"a": [{"b": 1}]}, 3)])
def test_how_deep_a_value_is(value: object, depth: int) -> None:
    assert is_deeper(value, depth) is False
    assert depth == 0 or is_deeper(value, depth - 1) is True


def test_what_is_no_json_is_told_from_null() -> None:
    assert read_json("null") is None
    assert read_json("{") is msgspec.UNSET


def test_half_a_character_costs_itself_and_nothing_else() -> None:
    value = {"a": "b\ud83d c", "raw": msgspec.Raw(b'{"x": 1.10}'), "nested": [Text("\ude00")]}
    made = json_bytes(value)
    assert json.loads(made) == {"a": "b? c", "raw": {"x": 1.1}, "nested": [{"type": "text", "text": "?"}]}
    assert json_bytes({"a": "é", "raw": msgspec.Raw(b'{"x": 1.10}')}) == '{"a":"é","raw":{"x": 1.10}}'.encode()
    assert arguments_text('{"id": "\ud83d"}') == '{"unreadable":"{\\"id\\": \\"?\\"}"}'
    assert read_json('{"id": "\ud83d"}') is msgspec.UNSET


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ('{ "n": 1.10 }', '{ "n": 1.10 }'),
        ("", "{}"),
        (" null", "{}"),
        ("[1]", '{"unreadable":"[1]"}'),
    ],
)
def test_argument_text_goes_back_as_it_was_written_where_it_is_an_object(text: str, sent: str) -> None:
    assert arguments_text(text) == sent
