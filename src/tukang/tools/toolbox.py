"""A set of tools with unique, legal names. A value: it runs nothing and decides nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, overload

from tukang.errors import ToolDefinitionError
from tukang.tools.adopting import as_tool
from tukang.tools.contract import Contract
from tukang.tools.names import nearest
from tukang.tools.policy import Policy
from tukang.tools.tool import Tool


class Toolbox(Sequence[Tool]):
    """Tools in the order given; see `Toolbox.of`."""

    __slots__ = ("_by_name", "_tools", "contracts", "policies")

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools = tuple(tools)
        self._by_name: dict[str, Tool] = {}
        for tool in self._tools:
            if other := self._by_name.get(tool.name):
                raise ToolDefinitionError(
                    f"two tools have the name {tool.name!r}: {other.signature.label} and {tool.signature.label}; rename one "
                    "with @tool(name=…)"
                )
            self._by_name[tool.name] = tool
        self.contracts: tuple[Contract, ...] = tuple(tool.contract for tool in self._tools)
        self.policies: Mapping[str, Policy] = MappingProxyType({tool.name: tool.policy for tool in self._tools})

    @classmethod
    def of(cls, things: Iterable[Any]) -> Toolbox:
        """A toolbox of anything that `as_tool` takes.

        Raises:
            ToolDefinitionError: one of them is no tool, or two have the same name.
        """
        return cls(as_tool(thing) for thing in things)

    def get(self, name: str) -> Tool | None:
        """The tool of that name."""
        return self._by_name.get(name)

    def near(self, name: str, offered: Iterable[str] | None = None) -> tuple[str, ...]:
        """Up to three names like this one, of all tools or of those offered; the likeliest first."""
        return nearest(name, self._by_name if offered is None else [it for it in offered if it in self._by_name])

    def __len__(self) -> int:
        return len(self._tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools)

    @overload
    def __getitem__(self, index: int) -> Tool: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Tool, ...]: ...

    def __getitem__(self, index: int | slice) -> Tool | tuple[Tool, ...]:
        return self._tools[index]

    def __repr__(self) -> str:
        return f"Toolbox({', '.join(self._by_name)})"
