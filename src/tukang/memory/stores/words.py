"""The words of a text as they are searched: the same on every database.

A word is a run of letters and digits, without case and accents. The databases get words, not text, so that they find the same
turns however they would have cut the text themselves.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from tukang.conversation import Message, Text, ToolResult

_WORD = re.compile(r"[^\W_]+")
_LONGEST = 60
"""Characters of a word that count. Longer ones are not words: hashes, base64."""
_MOST = 20_000
"""Words of one turn that can be found. A tool that returned a book does not make the index as long as the book."""
_EXCERPT = 300


def folded(text: str) -> str:
    """A text without case and accents."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(sign))


def words_of(text: str) -> list[str]:
    """The words of a text, in order."""
    return [word[:_LONGEST] for word in _WORD.findall(folded(text))]


def words_of_turn(messages: Iterable[Message]) -> list[str]:
    """The words of a turn: what was said and what tools returned."""
    found: list[str] = []
    for text in _texts(messages):
        found += words_of(text)
        if len(found) > _MOST:
            return found[:_MOST]
    return found


def excerpt(messages: Iterable[Message], query: Sequence[str]) -> str:
    """The place in a turn that holds most of the query's words, at most some 300 characters of it."""
    best, most = "", -1
    for text in _texts(messages):
        for start in range(0, max(1, len(text)), _EXCERPT // 2):
            place = text[start : start + _EXCERPT]
            here = words_of(place)
            count = sum(any(word.startswith(wanted) for word in here) for wanted in query)
            if count > most:
                best, most = _trimmed(text, start), count
    return best


def _trimmed(text: str, start: int) -> str:
    """A piece of a text in one line, with dots where it was cut, never in the middle of a word."""
    piece = text[start : start + _EXCERPT]
    if start and " " in piece:
        piece = "… " + piece.partition(" ")[2]
    if start + _EXCERPT < len(text) and " " in piece:
        piece = piece.rpartition(" ")[0] + " …"
    return " ".join(piece.split())


def _texts(messages: Iterable[Message]) -> Iterable[str]:
    for message in messages:
        for part in message.parts:
            if isinstance(part, Text | ToolResult):
                yield part.text
