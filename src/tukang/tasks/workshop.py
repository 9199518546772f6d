"""What is needed to run the functions of one agent outside its turns: its tools, its secrets, its callers. Runs nothing by
itself.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import msgspec

from tukang.chat import Chat
from tukang.loop.events import Language
from tukang.memory.redaction import Redaction
from tukang.running import Running
from tukang.runtime.cache import ResultCache
from tukang.runtime.vault import Vault
from tukang.tools.aside import aside
from tukang.tools.context import CallContext
from tukang.tools.long import Task
from tukang.tools.tool import Tool
from tukang.tools.toolbox import Toolbox

Caller = Callable[[Any], Any]
"""Makes the caller's own object of the JSON that was kept of it, in a process that has not got the object."""


class Host(Protocol):
    """An agent, as its tasks need it; see `tukang.agent.Agent`."""

    name: str
    language: Language

    @property
    def toolbox(self) -> Toolbox:
        """Its tools."""
        ...

    @property
    def start(self) -> Callable[..., Running[Any]]:
        """A turn that has not begun."""
        ...

    @property
    def session(self) -> Callable[..., Chat]:
        """A conversation with it."""
        ...


class Live(msgspec.Struct, frozen=True):
    """What this process knows of a task that it made, and no store does: the caller's own object, and what is taken out of
    what is written."""

    context: Any
    redaction: Redaction


class Workshop:
    """The functions of one agent, and what they need.

    Args:
        host: the agent.
        vault: its secrets.
        caller: see `Caller`; without one, what was kept is the object.
        redact: the last word on every text before it is written; see `Agent.session`.
        cache: results of the agent's reads, which do not hold any more when something was changed.
    """

    def __init__(
        self,
        host: Host,
        vault: Vault | None = None,
        caller: Caller | None = None,
        redact: Callable[[str], str] | None = None,
        cache: ResultCache | None = None,
    ) -> None:
        self.host = host
        self.vault = vault
        self.caller = caller
        self.redact = redact
        self.cache = cache
        self.live: dict[str, Live] = {}
        self.unfinished: set[str] = set()  # what was asked for here and has not ended, as far as is known here
        self._redaction = Redaction(redact, secrets=vault.known if vault else ())

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.host.name

    def context_of(self, task: str, kept: Any) -> Any:
        """The caller's own object: as it was given, where it was given here."""
        live = self.live.get(task)
        if live is not None:
            return live.context
        return kept if self.caller is None or kept is None else self.caller(kept)

    def redact_of(self, task: str) -> Callable[[str], str] | None:
        """The session's own last word on what is written of a task, or what stands for it here."""
        live = self.live.get(task)
        return self.redact if live is None or live.redaction.hook is None else live.redaction.hook

    def redaction_of(self, task: str) -> Redaction:
        """What is taken out of what is written of a task."""
        live = self.live.get(task)
        return self._redaction if live is None else live.redaction


def working(tool: Tool, context: CallContext[Any]) -> Tool:
    """The tool with the work behind it, where its function only returns a `Task`."""
    if not tool.signature.makes_task:
        return tool
    function = tool.function

    def plain(*positional: Any, **named: Any) -> Any:
        value = function(*positional, **named)
        return value.work(context) if isinstance(value, Task) else value

    async def awaiting(*positional: Any, **named: Any) -> Any:
        value = function(*positional, **named)
        value = await value if inspect.isawaitable(value) else value
        return await aside(value.work, context) if isinstance(value, Task) else value

    whole = functools.wraps(function)(awaiting if tool.signature.is_async else plain)
    return replace(tool, function=whole)
