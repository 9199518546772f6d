"""The built-in tool `find_tools`, and what it may search: a menu that is longer than what a model is shown at once.

It is in a toolbox from the start when an agent has more tools than its `Menu` shows, or never. What it finds is in the menu
for the rest of the turn; the loop sees to that (`loop/menu.py`). It finds only what the caller may use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Protocol

import msgspec
from pydantic import Field

from tukang.tools.context import CallContext
from tukang.tools.contract import Contract
from tukang.tools.tool import tool

NAME = "find_tools"


class Menu(msgspec.Struct, frozen=True):
    """How much of a large toolbox a model is shown: `Agent(menu=…)`.

    Args:
        most: a toolbox with so many tools or fewer is shown whole.
        shown: how many tools are found for a message, and by each search.
        always: names of tools that are shown in every turn.

    Raises:
        ValueError: a number is less than 1.
    """

    most: int = 30
    shown: int = 10
    always: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.most < 1 or self.shown < 1:
            raise ValueError(f"Menu: most and shown are at least 1, not {self.most} and {self.shown}")


class Search(Protocol):
    """Finds tools that the caller of one turn may use."""

    async def __call__(self, query: str) -> Sequence[Contract]:
        """The tools that fit, the best first."""
        ...


class Found:
    """A result that puts tools into the menu. It is the whole result, not a part of one."""

    __slots__ = ("names", "value")

    def __init__(self, value: Any, names: Sequence[str]) -> None:
        self.value = value
        self.names = tuple(names)


@tool(effect="read", isolation="async")
async def find_tools(
    query: Annotated[str, Field(min_length=1, max_length=500, description="What you want to do, in a few words.")],
    context: CallContext,
) -> Found:
    """Find more tools than you are shown, by what they do. Those that are found can be called from then on."""
    contracts: Sequence[Contract] = () if context.search is None else await context.search(query)
    if not contracts:
        return Found({"tools": [], "hint": "Nothing fits: say it in other words, or do without."}, ())
    listed = [{"name": one.name, "description": one.description} for one in contracts]
    return Found({"tools": listed}, [one.name for one in contracts])
