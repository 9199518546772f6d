"""Results that are too long for a model: it gets the beginning, and the whole is kept under a handle.

What is here cuts and keeps; it asks no model and runs no function. A whole result stands neither in the state of a turn nor
in its journal: both hold what the model was given, so that a result of 50 MB is there once.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Sequence
from typing import Protocol

import msgspec

from tukang.conversation import File, Image, Text

MOST_KEPT = 64_000_000
"""Bytes that one `MemoryOutputs` keeps; the oldest results go first."""

_JOINS = frozenset("\u200d\ufe0e\ufe0f")  # zero-width joiner, variation selectors
_LONGEST_CLUSTER = 16


class Slice(msgspec.Struct, frozen=True):
    """A piece of a kept result: its text, where it begins, the size of the whole and of one page, all in characters."""

    text: str
    start: int
    whole: int
    page: int


class Outputs(Protocol):
    """Where the whole results of one session are kept (of one turn, when there is no session), each under its call's id."""

    async def keep(self, handle: str, text: str, page: int) -> bool:
        """Keep a result, to be read in pages of so many characters; False when there is no room for it."""
        ...

    async def read(self, handle: str, offset: int) -> Slice | None:
        """One page and one character more, from this character on; None when no such result is kept (any more)."""
        ...


class MemoryOutputs:
    """Keeps results as long as the object lives, up to so many bytes."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._size = 0
        self._kept: dict[str, tuple[str, int]] = {}

    async def keep(self, handle: str, text: str, page: int) -> bool:
        """Keep a result; the oldest make room for it."""
        size = sys.getsizeof(text)
        if size > self._most:
            return False
        self._drop(handle)
        while self._size + size > self._most:
            self._drop(next(iter(self._kept)))
        self._kept[handle] = (text, page)
        self._size += size
        return True

    async def read(self, handle: str, offset: int) -> Slice | None:
        """A page and one character more."""
        if handle not in self._kept:
            return None
        text, page = self._kept[handle]
        return Slice(text[offset : offset + page + 1], offset, len(text), page)

    def _drop(self, handle: str) -> None:
        text, _ = self._kept.pop(handle, ("", 0))
        if text:
            self._size -= sys.getsizeof(text)


def head(text: str, most: int) -> str:
    """The longest beginning of at most so many characters, and at least one, that cuts nothing in two.

    Not cut: a letter and its accents, an emoji and what it is joined to, a JSON escape such as `\\n` or `\\u00e9`.
    """
    if len(text) <= most:
        return text
    end = most
    while end > max(1, most - _LONGEST_CLUSTER) and _joined(text[end - 1], text[end]):
        end -= 1
    begun = text.rfind("\\", max(0, end - 6), end)
    if begun > 0 and _escapes(text, begun) and end < begun + (6 if text[begun + 1] == "u" else 2):
        end = begun
    return text[:end]


def too_long(parts: Sequence[Text | Image | File], most: int | None) -> bool:
    """Whether a result has more than so many characters of text. Pictures and files are not counted."""
    return most is not None and sum([len(part.text) for part in parts if isinstance(part, Text)]) > most


async def shortened(
    parts: Sequence[Text | Image | File], most: int, handle: str, outputs: Outputs | None
) -> tuple[Text | Image | File, ...]:
    """A result that is too long as the model gets it: its beginning, its size, and how to read on. Pictures and files stay.

    Args:
        parts: the whole result.
        most: characters of it that are shown.
        handle: under which the whole text is kept.
        outputs: where; None when the model has no means to read on.
    """
    text = "\n".join(part.text for part in parts if isinstance(part, Text))
    kept = outputs is not None and await outputs.keep(handle, text, most)
    shown = head(text, most)
    note = reading_on(len(shown), 0, len(text), handle) if kept else _left_out(len(shown), len(text))
    if text[:1] in ("{", "["):
        note = f"The JSON above is incomplete. {note}"
    others = [part for part in parts if not isinstance(part, Text)]
    return (Text(shown), Text(f"[{note}]"), *others)


def reading_on(end: int, start: int, whole: int, handle: str) -> str:
    """Which characters were shown, and how to go on; for the model."""
    shown = f"Shown: characters {start} to {end} of {whole}."
    return shown if end >= whole else f'{shown} To read on: read_more(handle="{handle}", offset={end})'


def _left_out(end: int, whole: int) -> str:
    return f"Shown: the first {end} of {whole} characters. The rest is left out: ask for less at a time"


def _joined(before: str, after: str) -> bool:
    return unicodedata.combining(after) > 0 or after in _JOINS or before == "\u200d"


def _escapes(text: str, place: int) -> bool:
    """Whether the backslash at this place begins an escape, and is not one that is escaped itself."""
    first = place
    while first > 0 and text[first - 1] == "\\":
        first -= 1
    return (place - first) % 2 == 0
