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
    """Write it down; about a method, on its object: a method is made anew each time it is asked for."""
    owner = getattr(function, "__self__", None)
    if owner is None:
        setattr(function, _MARK, look_up)
    else:
        setattr(owner, _MARK, {**_of_methods(owner), function.__name__: look_up})


def look_up_of(function: Any) -> LookUp | None:
    """What was written down about a function, if anything."""
    owner = getattr(function, "__self__", None)
    found = getattr(function, _MARK, None) if owner is None else _of_methods(owner).get(function.__name__)
    return found if isinstance(found, LookUp) else None


def _of_methods(owner: object) -> Mapping[str, object]:
    found = getattr(owner, _MARK, None)
    return cast("Mapping[str, object]", found) if isinstance(found, Mapping) else {}
