"""Cutting long texts without cutting anything in two, and keeping the whole."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tukang.conversation import Image, Text
from tukang.tools.outputs import MemoryOutputs, Slice, head, too_long


@pytest.mark.parametrize(
    ("text", "most", "wanted"),
    [
        ("abc", 5, "abc"),
        ("abcdef", 3, "abc"),
        ("kafe\u0301 tutup", 4, "kaf"),  # an e and its accent
        ("a👩\u200d👧b", 2, "a"),  # two people, joined
        ("a👩\u200d👧b", 3, "a"),
        ("a👩\u200d👧b", 4, "a👩\u200d👧"),
        ("❤\ufe0fxx", 1, "❤"),  # nothing is left if not something of it
        ('["a\\nb"]', 4, '["a'),
        ('["a\\nb"]', 5, '["a\\n'),
        ('["a\\\\b"]', 4, '["a'),
        ('["a\\\\b"]', 5, '["a\\\\'),
        ('["\\u00e9b"]', 5, '["'),
        ('["\\u00e9b"]', 8, '["\\u00e9'),
        ("C:\\Users\\x", 4, "C:\\U"),
        ("\\" * 9, 4, "\\" * 4),
        ("\\" * 9, 5, "\\" * 4),
    ],
)
def test_nothing_is_cut_in_two(text: str, most: int, wanted: str) -> None:
    assert head(text, most) == wanted


@given(
    st.text(st.sampled_from('ab"\\nu0é\u0301\u200d\ufe0f👩é{[') | st.characters(exclude_categories=["Cs"])),
    st.integers(1, 9),
)
def test_pages_come_to_the_whole(text: str, most: int) -> None:
    rest, pages = text, 0
    while rest:
        page = head(rest, most)
        assert 0 < len(page) <= most
        rest = rest[len(page) :]
        pages += 1
    assert pages <= len(text)


@given(st.text(max_size=30), st.integers(1, 40))
def test_a_cut_in_json_is_never_inside_an_escape(text: str, most: int) -> None:
    written = json.dumps(text)
    cut = head(written, most)
    assert isinstance(json.loads(cut if cut == written else cut + '"'), str)


def test_only_text_counts() -> None:
    parts = [Text("abc"), Image("image/png", b"0" * 100), Text("de")]
    assert not too_long(parts, 5)
    assert too_long(parts, 4)
    assert not too_long(parts, None)


def test_the_oldest_result_makes_room() -> None:
    async def play() -> None:
        outputs = MemoryOutputs(most=10_000)
        assert await outputs.keep("a", "a" * 4000, 10)
        assert await outputs.keep("b", "b" * 4000, 10)
        assert await outputs.keep("c", "c" * 4000, 10)
        assert await outputs.read("a", 0) is None
        assert await outputs.read("b", 3995) == Slice("b" * 5, 3995, 4000, 10)
        assert await outputs.read("c", 0) == Slice("c" * 11, 0, 4000, 10)
        assert not await outputs.keep("d", "d" * 20_000, 10)
        assert await outputs.read("d", 0) is None
        assert await outputs.keep("b", "x", 10)  # the same call again: the later one counts
        assert await outputs.read("b", 0) == Slice("x", 0, 1, 10)
        assert await outputs.keep("e", "e" * 5000, 10)
        assert await outputs.read("c", 0) is not None

    asyncio.run(play())
