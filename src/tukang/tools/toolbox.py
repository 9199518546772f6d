"""A set of tools with unique, legal names. A value: it runs nothing and decides nothing.

A toolbox never changes. If any of its tools can give more than its author wants a model to read at once, the tool to read on
with is among them from the start (see `read_more`); if any is long, so are the tools to follow its tasks with (`following`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from types import MappingProxyType
from typing import Any, overload

from tukang.errors import ToolDefinitionError
from tukang.tools import finding, following, noticing, read_more
from tukang.tools.adopting import as_tool
from tukang.tools.contract import Contract
from tukang.tools.forms import read_form
from tukang.tools.hosted import Hosted
from tukang.tools.names import nearest
from tukang.tools.policy import Policy
from tukang.tools.signature import innermost, label_of
from tukang.tools.source import ToolSource
from tukang.tools.tool import Tool

_BUILT_IN = (read_more.NAME, finding.NAME, "task_status", "task_result")
"""Names that tools from elsewhere may not have, whether a toolbox has these or not."""


class Toolbox(Sequence[Tool]):
    """Tools in the order given; see `Toolbox.of`."""

    __slots__ = ("_by_name", "_needy", "_tools", "contracts", "hosted", "policies", "sending")

    def __init__(self, tools: Iterable[Tool] = (), hosted: Iterable[Hosted] = ()) -> None:
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
        # the tools that are sent the caller's own object; see `isolation.must_be_sendable`
        self.sending: tuple[str, ...] = tuple(
            tool.name for tool in self._tools if tool.policy.isolation == "process" and tool.signature.context
        )
        self._needy = any(tool.policy.needs for tool in self._tools)
        # what the model's provider runs: no tool of ours, but under a name and a policy like one
        self.hosted: tuple[Hosted, ...] = tuple(hosted)
        policies = {tool.name: tool.policy for tool in self._tools}
        for one in self.hosted:
            if one.name in policies:
                raise ToolDefinitionError(
                    f"two tools have the name {one.name!r}, and {one!r} is one of them; rename the other"
                )
            policies[one.name] = one.policy
        self.policies: Mapping[str, Policy] = MappingProxyType(policies)

    @classmethod
    def of(cls, things: Iterable[Any], owners: MutableMapping[str, ToolSource] | None = None) -> Toolbox:
        """A toolbox of anything that `as_tool` takes, of `hosted` tools, and of what a `ToolSource` has now behind them; and
        `read_more` if one of them declares `max_output`.

        Args:
            things: what it is made of.
            owners: the names that sources have given out so far, and which one; added to. A name stays with its source, also
                when another one has a tool that it would call so.

        Raises:
            ToolDefinitionError: one of them is no tool, or two have the same name.
        """
        given = list(things)
        named: MutableMapping[str, ToolSource] = {} if owners is None else owners
        hosted = [thing for thing in given if isinstance(thing, Hosted)]
        tools = [as_tool(thing) for thing in given if not isinstance(thing, (Hosted, ToolSource))]
        for tool in tools:
            noticing.built(tool)
        taken = {*_BUILT_IN, *(tool.name for tool in tools), *(one.name for one in hosted)}
        for thing in given:
            if isinstance(thing, ToolSource):
                theirs = thing.tools({*taken, *(name for name, owner in named.items() if owner is not thing)})
                named.update((tool.name, thing) for tool in theirs)
                tools += theirs
                taken |= {tool.name for tool in theirs}
        built_in = _read_more()
        if built_in not in tools and any(_may_be_cut(tool) for tool in tools):
            tools.append(built_in)
        if any(tool.policy.long for tool in tools):
            tools += _following(tools)
        return cls(tools, hosted)

    @classmethod
    def paired(cls, schemas: Iterable[Mapping[str, Any]], functions: Mapping[str, Callable[..., Any]]) -> Toolbox:
        """A toolbox of contracts and, by the names in them, their functions: what a loop written by hand has.

        Args:
            schemas: the contracts, each in a form that `forms.read_form` reads.
            functions: name → function, decorated with `@tool` or not. Two names may have one function.

        Raises:
            ToolDefinitionError: a contract has no function, a function has no contract, or the two do not fit.
        """
        named: dict[str, Mapping[str, Any]] = {}
        for place, schema in enumerate(schemas, 1):
            name = read_form(schema, f"tool {place}").name
            if name in named:
                raise ToolDefinitionError(f"two schemas have the name {name!r}: rename one, and its function")
            named[name] = schema
        for name in named:
            if name not in functions:
                raise ToolDefinitionError(f"tool {name!r} has a schema but no function{_near(name, functions)}")
        for name, function in functions.items():
            if name not in named:
                raise ToolDefinitionError(
                    f"{label_of(function)} stands under {name!r}, but no schema has that name{_near(name, named)}"
                )
        return cls.of((schema, functions[name]) for name, schema in named.items())

    def more(self, tools: Iterable[Tool]) -> Toolbox:
        """This toolbox with more tools behind its own, whose results give handles: so the tool to read on with is there too.

        Raises:
            ToolDefinitionError: one of them has a name that is taken.
        """
        reading = () if self.reads_on else (_read_more(),)
        return Toolbox((*self._tools, *tools, *reading), self.hosted)

    def searched(self) -> Toolbox:
        """This toolbox with the tool that finds others in it.

        Raises:
            ToolDefinitionError: one of them has its name.
        """
        own = self._by_name.get(finding.NAME)
        if own is not None and own is not _find_tools():
            raise ToolDefinitionError(
                f"{own.signature.label} has the name {finding.NAME!r}, under which a model finds tools in a toolbox that is "
                "too large to be shown whole: give it another one with @tool(name=…), or say Agent(menu=Menu(most=…))"
            )
        return self if own is not None else Toolbox((*self._tools, _find_tools()), self.hosted)

    @property
    def finds(self) -> bool:
        """Whether a model finds tools in it, because it is too large to be shown whole."""
        return self._by_name.get(finding.NAME) is _find_tools()

    def built_in(self, name: str) -> bool:
        """Whether the tool of that name is one of ours, which is there for the sake of the others."""
        return self._by_name.get(name) in (_read_more(), _find_tools(), *_follow())

    def permitted(self, scopes: Collection[str]) -> tuple[Contract, ...]:
        """What of it is offered to a caller who was granted these scopes."""
        if not self._needy:
            return self.contracts
        return tuple(tool.contract for tool in self._tools if all(need in scopes for need in tool.policy.needs))

    @property
    def reads_on(self) -> bool:
        """Whether a model can read the rest of a result that was cut."""
        return self._by_name.get(read_more.NAME) is _read_more()

    def alike(self, name: str) -> tuple[str, ...]:
        """The other tools behind which the same function stands. That is allowed; it is worth knowing."""
        own = _function_of(self._by_name[name])
        return tuple(tool.name for tool in self._tools if tool.name != name and _function_of(tool) == own)

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


@functools.cache
def _read_more() -> Tool:
    return as_tool(read_more.read_more)


@functools.cache
def _find_tools() -> Tool:
    return as_tool(finding.find_tools)


@functools.cache
def _follow() -> tuple[Tool, ...]:
    return as_tool(following.task_status), as_tool(following.task_result)


def _following(tools: Sequence[Tool]) -> list[Tool]:
    """The tools to follow tasks with, less those that are there."""
    wanted = {tool.name: tool for tool in _follow()}
    for tool in tools:
        if tool.name in wanted and tool is not wanted.pop(tool.name):
            long = next(one.name for one in tools if one.policy.long)
            raise ToolDefinitionError(
                f"{tool.signature.label} has the name {tool.name!r}, under which a model follows the tasks of {long!r}, a "
                "long tool: give it another one with @tool(name=…)"
            )
    return list(wanted.values())


def _may_be_cut(tool: Tool) -> bool:
    return "max_output" in tool.said and tool.policy.max_output is not None


def _function_of(tool: Tool) -> Any:
    """What runs, without what partials and methods add: bound methods of two objects are two functions."""
    return innermost(tool.function)


def _near(name: str, known: Iterable[str]) -> str:
    listed = tuple(known)
    close = nearest(name, listed, most=1)
    return f"; the nearest is {close[0]!r}" if close else f"; there are {', '.join(map(repr, listed)) or 'none'}"
