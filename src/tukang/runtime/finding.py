"""Finding tools in a large toolbox, by what a message says: the search behind a turn's menu and behind `find_tools`.

The index is made once for a toolbox, in a thread, before the clock of the first turn starts. With the extra `knowledge` it
has vectors beside the full text.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Collection, Iterable, Sequence

from tukang.conversation import Message, ToolCall
from tukang.models.embeddings.base import LocalEmbedder
from tukang.models.embeddings.shipped import at_hand
from tukang.retrieval.hybrid import HybridIndex
from tukang.tools.contract import Contract
from tukang.tools.finding import Menu
from tukang.tools.lookup import look_up_of
from tukang.tools.toolbox import Toolbox

_LONGEST = 2000
"""Characters of a message that are searched for: its beginning and its end."""

_MENUS = 64
"""Menus that are kept as they were shown."""


class Finder:
    """Finds tools of one toolbox.

    Args:
        toolbox: the agent's own tools.
        menu: how many are found.
    """

    def __init__(self, toolbox: Toolbox, menu: Menu) -> None:
        self.toolbox = toolbox
        self._menu = menu
        self._names = frozenset(tool.name for tool in toolbox if not toolbox.built_in(tool.name))
        self._look_ups = tuple(tool.name for tool in toolbox if look_up_of(tool.function) is not None)
        self._lock = threading.Lock()
        self._index: HybridIndex | None = None
        self._shown: dict[tuple[tuple[str, ...], int], tuple[tuple[Contract, ...], tuple[Contract, ...]]] = {}

    async def menu(
        self, toolbox: Toolbox, message: str, history: Sequence[Message], named: Iterable[str]
    ) -> tuple[str, ...]:
        """The names that a turn begins with: what it always has, what the conversation has used, what fits the message.
        What looks up whatever is asked is always there: no message says its name.

        Args:
            toolbox: all that the turn has: what is not of this one (to read on with, to answer with) is always shown.
            message: the user's.
            history: what was said before, as far as it is sent: a tool that was called in it is shown again.
            named: names that must be shown.
        """
        used = [part.name for message in history for part in message.parts if isinstance(part, ToolCall)]
        wanted = {
            *self._menu.always,
            *self._look_ups,
            *used,
            *named,
            *(word for word in re.findall(r"[\w-]+", message)),
        }
        found = await self.search(message)
        chosen = wanted | set(found)
        return tuple(tool.name for tool in toolbox if tool.name in chosen or tool.name not in self._names)

    async def search(self, query: str, among: Collection[str] | None = None) -> tuple[str, ...]:
        """The names of the tools that fit, the best first. At most as many as the menu says."""
        return await asyncio.to_thread(self._search, query, among)

    def _search(self, query: str, among: Collection[str] | None) -> tuple[str, ...]:
        return searched(self._made(), query, self._menu.shown, among)

    def _made(self) -> HybridIndex:
        with self._lock:
            if self._index is None:
                own = (tool.contract for tool in self.toolbox if tool.name in self._names)
                self._index = indexed(((one.name, _text(one)) for one in own), at_hand())
            return self._index

    def contracts(self, menu: tuple[str, ...], offered: tuple[Contract, ...]) -> tuple[Contract, ...]:
        """What is shown of a menu: the same tuple for the same menu, so that an adapter need not write it down anew."""
        key = (menu, id(offered))
        kept = self._shown.get(key)
        if kept is None or kept[0] is not offered:
            named = {contract.name: contract for contract in offered}
            if len(self._shown) >= _MENUS:
                self._shown.clear()
            kept = self._shown[key] = (offered, tuple(named[name] for name in menu if name in named))
        return kept[1]


def indexed(tools: Iterable[tuple[str, str]], embedder: LocalEmbedder | None) -> HybridIndex:
    """An index over tools, each with its name and what is said of it."""
    rows = [(name, f"{name}: {said}") for name, said in tools]
    return HybridIndex(rows, embedder, titles={name: name for name, _ in rows})


def searched(index: HybridIndex, query: str, most: int, among: Collection[str] | None = None) -> tuple[str, ...]:
    """The names of the tools that fit, the best first."""
    text = query if len(query) <= _LONGEST else f"{query[: _LONGEST // 2]} {query[-_LONGEST // 2 :]}"
    return tuple(one.id for one in index.search(text, most, among=among))


def _text(contract: Contract) -> str:
    return f"{contract.description} {' '.join(contract.parameters.get('properties', {}))}"
