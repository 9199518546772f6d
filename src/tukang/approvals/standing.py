"""Permission that somebody gave once for a whole session: for one tool, within bounds for each of its arguments.

Each call within them is still approved for itself, for exactly its arguments; only nobody is asked again. What is not
bounded is
not permitted: an argument that was not there when the permission was given is outside. Values only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tukang.runtime.people import Approval, Approve
from tukang.tools.json_text import canonical


class Bound(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one argument may be. Exactly one of the three is said.

    Args:
        equals: this value and no other, in a list of one, so that it may be null too.
        at_most: a number from 0 up to this.
        anything: whatever it is.
    """

    equals: tuple[Any, ...] = ()
    at_most: float | None = None
    anything: bool = False

    def holds(self, value: Any) -> bool:
        """Whether a value is within it."""
        if self.anything:
            return True
        if self.at_most is not None:
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            return number and 0 <= value <= self.at_most
        return any(canonical(value) == canonical(one) for one in self.equals)

    def __str__(self) -> str:
        if self.anything:
            return "*"
        if self.at_most is not None:
            return f"≤ {self.at_most:g}" if self.at_most < 1e15 else f"≤ {self.at_most:.0f}"
        return " / ".join(f"= {msgspec.json.encode(one).decode()}" for one in self.equals)


class Standing(msgspec.Struct, frozen=True):
    """A permission for a session.

    Args:
        tool: for this tool only.
        bounds: argument → its bound.
        by: who gave it.
    """

    tool: str
    bounds: Mapping[str, Bound]
    by: str = ""

    def covers(self, asked: Approval) -> bool:
        """Whether a call is within it. One that somebody has edited is not: who edits says what they mean."""
        if asked.tool != self.tool or asked.edited:
            return False
        return all(name in self.bounds and self.bounds[name].holds(value) for name, value in asked.arguments.items())

    def __str__(self) -> str:
        return f"{self.tool}({', '.join(f'{name} {bound}' for name, bound in self.bounds.items())})"


def standing_verdict(given: tuple[Standing, ...], asked: Approval) -> Approve | None:
    """Yes, where one of the permissions covers the call."""
    for one in given:
        if one.covers(asked):
            return Approve(one.by, f"always in this session: {one}")
    return None
