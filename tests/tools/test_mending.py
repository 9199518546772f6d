"""Mending by itself: what it reads, and the places it names. What becomes of whole calls is in `test_arguments`."""

from __future__ import annotations

from typing import Any

import pytest

from tukang.tools.json_text import DEEPEST, Unreadable
from tukang.tools.mending import mend


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("['a', True, None,]", ["a", True, None]),
        ("{a: {'b': [1, 2}}", {"a": {"b": [1, 2]}}),
        ("```\n[1,]\n```", [1]),
        ("{'a': '\x01\x02'}", {"a": "\x01\x02"}),
        ("{'a': 'b\\tc'}", {"a": "b\tc"}),
        ("{'a': '\\u00e9'}", {"a": "é"}),
        ("{'a': -0.5e-3}", {"a": -0.0005}),
        ("{}{}", {}),
        ("[" * DEEPEST + "'a'" + "]" * DEEPEST, None),
    ],
)
def test_objects_and_arrays_are_read(text: str, value: Any) -> None:
    got = mend(text)
    assert got == value or value is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "there is nothing in it"),
        ("x", "it does not begin with '{'"),
        ("'x'", "it does not begin with '{'"),
        ("{'a': 1, 'a': 2}", 'the key "a" is given twice, with different values'),
        ("{'a': 1e999}", "1e999 is too large a number"),
        ("{'a': x}", "a value is missing, or it is a text without quotes, at character 7, near: {'a': x}"),
        ("{'a' 1}", "':' is missing after a key, at character 6"),
        ("{'a': 'b' 'c'}", "',' is missing, or a quote inside a string is not escaped, at character 11"),
        ("{'a': [}", "something is missing before a bracket, at character 8"),
        ("{'a': {'b': [1}", "the brackets do not match, at character 15"),
        ("{'a': 1}{'b': 2}", "two objects run together, at character 9"),
        ("{'a': 1} x", "there is more after the object, at character 10"),
        ("{'a': '\\d\\n'}", "a backslash in a string can be read in two ways"),
        ("{'a\n': 1}", "a key holds a line break or another control character, at character 2"),
        ("{1: 2}", "a key is missing, or it is not a string, at character 2"),
        ("{'a': 'b", "it stops in the middle"),
        ("[" * (DEEPEST + 1) + "'a'" + "]" * (DEEPEST + 1), "it is nested more than 100 levels deep"),
    ],
)
def test_a_refusal_says_why(text: str, reason: str) -> None:
    with pytest.raises(Unreadable) as refusal:
        mend(text)
    assert str(refusal.value).startswith(reason)
    assert len(str(refusal.value)) < 150
