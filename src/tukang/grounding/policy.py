"""What an agent's answers are held to: `Agent(grounded=…)`. Data, and a function of the developer's where they want one."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, cast

import msgspec

from tukang.errors import ConfigurationError
from tukang.grounding.evidence import Evidence

Check = Callable[[str, Evidence], "Iterable[str] | Awaitable[Iterable[str]]"]
"""From an answer and what it may rest on to what in it is unsupported. It may be async, and may take its time."""


class Grounded(msgspec.Struct, frozen=True):
    """How an agent's answers are held to what is known.

    Args:
        patterns: regular expressions of what must be known, instead of codes, prices, dates and numbers as they are read in
            `tukang.grounding.reading`. Where one has a group, the first group is what must be known.
        check: your own function, instead of either; see `Check`.
        earlier: whether an answer may rest on earlier turns of the session too: on their results and on what the user said in
            them, never on what the model said. False where what was true then may not be true now.
        correct: whether the first answer that says something unsupported goes back to the model, once.

    Raises:
        ConfigurationError: a pattern is empty or no regular expression; there are patterns and a function.
    """

    patterns: tuple[str, ...] = ()
    check: Check | None = None
    earlier: bool = True
    correct: bool = True

    def __post_init__(self) -> None:
        if self.patterns and self.check is not None:
            raise ConfigurationError(
                "Grounded has both patterns and check: a function says all that is unsupported; call your patterns there"
            )
        for pattern in self.patterns:
            if not pattern:
                raise ConfigurationError("grounded: an empty regular expression holds an answer to nothing")
            try:
                re.compile(pattern)
            except re.error as error:
                raise ConfigurationError(f"grounded: {pattern!r} is not a regular expression: {error}") from error

    @classmethod
    def of(cls, said: Any) -> Grounded | None:
        """What was given to `Agent(grounded=…)`: True, a pattern, several, a function, or this. None for False.

        Raises:
            ConfigurationError: it is none of these.
        """
        match said:
            case None | False:
                return None
            case True:
                return cls()
            case Grounded():
                return said
            case str():
                return cls(patterns=(said,))
            case _ if callable(said):
                return cls(check=cast("Check", said))
            case Sequence() if said and all(isinstance(one, str) for one in cast("Sequence[object]", said)):
                return cls(patterns=tuple(cast("Sequence[str]", said)))
            case _:
                raise ConfigurationError(
                    f"grounded={said!r}: expected True, a regular expression, several of them, a function "
                    "(answer, evidence) -> what is unsupported, or Grounded(…)"
                )


def unsupported(text: str, evidence: Evidence, patterns: Sequence[str] = ()) -> tuple[str, ...]:
    """What in a text is not known: what matches the patterns, or without any the figures that bind."""
    if not patterns:
        return evidence.unsupported(text)
    matches = (match for pattern in patterns for match in re.finditer(pattern, text))
    found = dict.fromkeys((match[1] or "") if match.re.groups else match[0] for match in matches)
    return tuple(one for one in found if one.strip() and not evidence.knows(one))
