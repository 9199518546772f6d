"""What an agent was given for its tools, and the toolbox that it makes now.

The toolbox is made once, and again when a source of tools has others: between turns, because a turn asks once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tukang.tools.finding import Menu
from tukang.tools.source import ToolSource
from tukang.tools.toolbox import Toolbox


class Supply:
    """Args:
    things: what `Toolbox.of` takes.
    menu: how large a toolbox may be that has no tool to find others with.

    Raises:
        ToolDefinitionError: as `Toolbox.of`.
    """

    def __init__(self, things: Iterable[Any], menu: Menu) -> None:
        self._things = tuple(things)
        self._menu = menu
        self._sources = tuple(thing for thing in self._things if isinstance(thing, ToolSource))
        self._owners: dict[str, ToolSource] = {}
        self._made = self._make(self._editions())

    def with_more(self, things: Iterable[Any]) -> Supply:
        """The same, and these."""
        return Supply((*self._things, *things), self._menu)

    @property
    def toolbox(self) -> Toolbox:
        """The toolbox as it is now."""
        return self._now()[1]

    def now(self) -> tuple[Toolbox, Mapping[str, str]]:
        """The toolbox as it is now, and the digests of its contracts by their names: of one moment."""
        _, toolbox, contracts = self._now()
        return toolbox, contracts

    def _now(self) -> tuple[tuple[int, ...], Toolbox, Mapping[str, str]]:
        if not self._sources:
            return self._made
        editions = self._editions()
        if editions != self._made[0]:
            self._made = self._make(editions)
        return self._made

    def _editions(self) -> tuple[int, ...]:
        return tuple(source.look() for source in self._sources)

    def _make(self, editions: tuple[int, ...]) -> tuple[tuple[int, ...], Toolbox, Mapping[str, str]]:
        toolbox = Toolbox.of(self._things, self._owners)
        if len(toolbox) > self._menu.most:
            toolbox = toolbox.searched()
        return editions, toolbox, {contract.name: contract.digest for contract in toolbox.contracts}
