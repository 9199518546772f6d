"""Marks a result as coming from outside: from people or places whose words must not count as the user's or the host's.

The model is told where it came from and that it is data; the loop remembers that it was read, so that a rule can ask somebody
before anything is written after it (`Rule(after_untrusted=True)`). A tool all of whose results are such says so in its policy
(`untrusted=True`).
"""

from __future__ import annotations

from typing import Any


class Untrusted:
    """A result, and where it came from. Made by `untrusted`."""

    __slots__ = ("origin", "value")

    def __init__(self, value: Any, origin: str) -> None:
        self.value = value
        self.origin = origin


def untrusted(value: Any, origin: str) -> Untrusted:
    """What a tool returns when its result comes from outside. It is the whole result, not a part of one.

    Args:
        value: the result, as a function may return it.
        origin: where it came from, in a few words: `a web page, https://…`, `the e-mail from …`. The model reads it.

    Raises:
        ValueError: the origin is empty.
    """
    if not origin.strip():
        raise ValueError("untrusted needs an origin: where the result came from, in a few words")
    return Untrusted(value, " ".join(origin.split())[:200])
