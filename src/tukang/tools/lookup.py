"""A tool whose function is a look-up of the user's own question: it may be made before the model is asked, where that
is wanted.

What such a function is called with, and whether a question is one for it, is written down on the function.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, cast

import msgspec

_MARK = "__tukang_look_up__"

Fit = Literal["direct", "open", "strange"]
"""What a question is to a look-up: one that it answers at once, one of which that cannot be told, or one about something
else."""


class LookUp(msgspec.Struct, frozen=True):
    """What is known about such a function.

    Args:
        argument: the name of the argument that takes the question; all others can be left out.
        fit: what a question is to it.
        prepare: gets ready, before a turn's clock starts, what takes its time the first time.
    """

    argument: str
    fit: Callable[[str], Awaitable[Fit]]
    prepare: Callable[[], Awaitable[None]]


def looks_up(function: Any, look_up: LookUp) -> None:
    """Write it down."""
    setattr(function, _MARK, look_up)


def look_up_of(function: Any) -> LookUp | None:
    """What was written down about a function, if anything; about a method, its object may have it (`look_ups`, by name)."""
    found = getattr(function, _MARK, None)
    of_object = getattr(getattr(function, "__self__", None), "look_ups", None)
    if found is None and isinstance(of_object, Mapping):
        found = cast("Mapping[str, object]", of_object).get(getattr(function, "__name__", ""))
    return found if isinstance(found, LookUp) else None
