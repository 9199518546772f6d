"""Where a turn has long work begun, and how its function is asked whether there is any. Who keeps and runs tasks stands in
`tukang.tasks`.
"""

from __future__ import annotations

import functools
import inspect
from dataclasses import replace
from typing import Any, Protocol

from tukang.loop.state import Call
from tukang.tools.long import Task, Tasks
from tukang.tools.outcome import Outcome
from tukang.tools.tool import Tool


class Desk(Tasks, Protocol):
    """The long work of one turn's session."""

    async def begin(self, call: Call, key: str, context: Any) -> Outcome:
        """Make the task of a checked call, or find the one that it has made before: at once, whatever its work is.

        Args:
            call: the call, which has its permission.
            key: its idempotency key: the same again is the same task.
            context: the caller's own object.

        Returns:
            The task's id and state as data, or a fault where it could not be made.
        """
        ...


class Prepared:
    """What a function returned that may return a `Task`."""

    task: Task | None = None


def preparing(tool: Tool, prepared: Prepared) -> Tool:
    """The tool with a function whose `Task` is put aside instead of being taken for a result."""
    function = tool.function

    def kept(value: Any) -> Any:
        if not isinstance(value, Task):
            return value
        prepared.task = value
        return ""

    def plain(*positional: Any, **named: Any) -> Any:
        return kept(function(*positional, **named))

    async def awaiting(*positional: Any, **named: Any) -> Any:
        value = function(*positional, **named)
        return kept(await value if inspect.isawaitable(value) else value)

    return replace(tool, function=functools.wraps(function)(awaiting if tool.signature.is_async else plain))
