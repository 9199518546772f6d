"""Strict JSON, in and out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tukang.tools.json_text import DEEPEST, Unreadable, canonical, decode, depth, with_whole_numbers

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}', "1e999", "-1e400"])
def test_numbers_that_json_does_not_have_are_refused(text: str) -> None:
    with pytest.raises(Unreadable):
        decode(text)


def test_integers_of_any_size_stay_exact() -> None:
    digits = "9" * 200
    assert canonical(decode(f'{{"n":{digits}}}')) == f'{{"n":{digits}}}'


def test_an_integer_longer_than_python_reads_is_refused_not_raised() -> None:
    with pytest.raises(Unreadable, match="5000 digits"):
        decode("1" * 5000)


def test_one_key_with_two_values_is_refused() -> None:
    with pytest.raises(Unreadable, match='"a" is given twice'):
        decode('{"a": 1, "b": 2, "a": 3}')


def test_one_key_twice_with_the_same_value_is_that_value() -> None:
    assert decode('{"a": [1], "a": [1]}') == {"a": [1]}


@pytest.mark.parametrize(
    ("first", "second"), [("1", "true"), ("0", "false"), ("[1]", "[true]"), ("1", "1.0"), ("null", "0")]
)
def test_values_that_only_python_calls_equal_are_two(first: str, second: str) -> None:
    with pytest.raises(Unreadable, match='"a" is given twice'):
        decode(f'{{"a": {first}, "a": {second}}}')


def test_a_long_key_is_shortened_in_the_refusal() -> None:
    with pytest.raises(Unreadable) as refusal:
        decode(f'{{"{"k" * 10_000}": 1, "{"k" * 10_000}": 2}}')
    assert len(str(refusal.value)) < 150


def test_equal_numbers_have_one_text() -> None:
    value = {"a": [2.0, 2, 2.5, -0.0, True], "b": {"c": 1e300, "d": 2.0**53}}
    same = with_whole_numbers(value)
    assert same == value
    assert canonical(same) == '{"a":[2,2,2.5,0,true],"b":{"c":1e300,"d":9007199254740992.0}}'


@pytest.mark.parametrize(("value", "levels"), [(1, 0), ([], 1), ({"a": 1}, 1), ({"a": [1, [2]], "b": {}}, 3)])
def test_levels_are_counted(value: object, levels: int) -> None:
    assert depth(value) == levels


def test_a_hundred_levels_are_the_most() -> None:
    assert depth(decode("[" * DEEPEST + "1" + "]" * DEEPEST)) == DEEPEST
    with pytest.raises(Unreadable, match="nested more than 100 levels"):
        decode("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1))


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(Unreadable, match="surrogate"):
        canonical(decode('{"a": "\\ud800"}'))


def test_a_whole_surrogate_pair_is_a_character() -> None:
    assert canonical(decode('{"a": "\\ud83d\\ude00"}')) == '{"a":"😀"}'


def test_deep_nesting_does_not_end_in_a_recursion_error() -> None:
    with pytest.raises(Unreadable):
        decode("[" * 100_000)


@given(VALUES)
def test_canonical_text_is_the_same_value_again(value: object) -> None:
    assert decode(canonical(value)) == value


@given(st.dictionaries(TEXT, SCALARS.filter(lambda value: not isinstance(value, str)), min_size=2))
def test_canonical_text_does_not_depend_on_the_order_of_keys(value: dict[str, object]) -> None:
    turned = dict(reversed(value.items()))
    assert canonical(turned) == canonical(value)


@given(VALUES)
def test_decode_agrees_with_the_standard_library(value: object) -> None:
    assert decode(json.dumps(value)) == value
