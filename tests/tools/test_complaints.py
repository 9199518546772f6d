"""Complaints in words: short, whatever they are about."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.test_json_text import VALUES
from tukang.tools.complaints import ENOUGH, MOST, Complaint, as_fault, cut, missing, refused, shown, unknown

SCHEMA = {"properties": {"kota": {}, "jumlah": {}}, "required": ["kota"]}


@pytest.mark.parametrize(
    ("complaint", "told"),
    [
        (missing((), "kota"), "kota: is required"),
        (missing(("a", 2), "kota"), "a[2].kota: is required"),
        (unknown((), "Kota", ["kota", "jumlah"]), "Kota: is not a parameter; did you mean kota?"),
        (unknown((), "xyz", ["kota", "jumlah"]), "xyz: is not a parameter"),
        (refused(("kota",), 5, "it is not a text", SCHEMA), "kota: 5 is not allowed: it is not a text"),
        (refused(("kota",), None, "no", SCHEMA), "kota: null is not allowed: no"),
        (refused(("jumlah",), None, "no", SCHEMA), "jumlah: null is not allowed: no; leave it out to use its default"),
        (refused((), {}, "no", SCHEMA), "arguments: {} is not allowed: no"),
    ],
)
def test_one_complaint(complaint: Complaint, told: str) -> None:
    assert as_fault([complaint], SCHEMA).message == told


def test_several_complaints_and_the_parameters() -> None:
    fault = as_fault([missing((), name) for name in "abcde"], SCHEMA)
    assert fault.message == "a: is required; b: is required; c: is required; and 2 more"
    assert fault.hint == "Parameters: kota (required), jumlah."
    assert as_fault([missing((), "a")] * MOST, {}).hint == "This tool takes no parameters."
    assert as_fault([missing((), "a")] * ENOUGH, {}).message.endswith("; and many more")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("é", '"é"'),
        ({"a": [1, None, True]}, '{"a": [1, null, true]}'),
        ("x" * 10_000_000, '"' + "x" * 49 + "… (10000000 characters)"),
        (["x"] * 1_000_000, '["x", ' + '"x", ' * 8 + '"x",… (1000000 items)'),
        ({str(key): 1 for key in range(1000)}, '{"0": 1, "1": 1, "2": 1, "3": 1, "4": 1, "5": 1, "… (1000 members)'),
        (10**100, "1" + "0" * 49 + "… (101 characters)"),
        ({1, 2}, "a set"),
    ],
)
def test_a_value_is_shown_shortly(value: Any, told: str) -> None:
    assert shown(value) == told


@given(VALUES, st.lists(st.text() | st.integers(), max_size=30), st.text())
def test_a_fault_is_short_whatever_it_is_about(value: Any, path: list[str | int], reason: str) -> None:
    schema = {"properties": {f"{place}{'x' * 100}": {} for place in range(100)}}
    complaint = refused([*path, "k" * 1000], value, reason * 100, schema)
    fault = as_fault([complaint] * 10, schema)
    assert len(fault.message) < 1500
    assert len(fault.hint or "") < 2500


def test_a_text_is_cut() -> None:
    assert (cut("abc", 3), cut("abcd", 3)) == ("abc", "ab…")
