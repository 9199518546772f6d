"""The built-in tools `task_status` and `task_result`: how far long work is, and what came of it.

They are in a toolbox from the start when some tool of it is long, or never; see `tukang.tools.toolbox`. What they may see is
what the turn's session has: `CallContext.tasks`.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from tukang.conversation import File, Image, Text
from tukang.tools.context import CallContext
from tukang.tools.long import FINAL, RESULT, STATUS, TaskSeen
from tukang.tools.outcome import NothingDone
from tukang.tools.tool import tool
from tukang.tools.untrusted import Untrusted, untrusted

LONGEST_WAIT = 60.0
_MARGIN = 2.0
"""Seconds of a turn that waiting leaves it."""

PAUSE = 1.0
"""Seconds after which a model that asks again is not impatient: the least it can be told to wait."""

_Id = Annotated[str, Field(description="The id that the call gave which began the task.")]
_Wait = Annotated[
    float,
    Field(ge=0, le=LONGEST_WAIT, description="Seconds to wait for its end before answering, instead of asking again."),
]


@tool(effect="read", isolation="async", repeatable=True, pause=PAUSE, name=STATUS)
async def task_status(task: _Id, context: CallContext, wait: _Wait = 0.0) -> dict[str, Any]:
    """How far a task is. Ask again only after the seconds that the result says, or say how long to wait."""
    return status(await _seen(task, context, wait))


@tool(effect="read", isolation="async", repeatable=True, pause=PAUSE, name=RESULT)
async def task_result(task: _Id, context: CallContext) -> dict[str, Any] | list[Text | Image | File] | Untrusted:
    """The result of a task that has ended. Of one that has not: how far it is."""
    seen = await _seen(task, context, 0.0)
    if seen.state != "done" or seen.outcome is None:
        return status(seen)
    whole = [*seen.outcome.content]
    return whole if seen.outcome.origin is None else untrusted(whole, seen.outcome.origin)


def status(seen: TaskSeen) -> dict[str, Any]:
    """A task as a model reads it; what is not known is left out."""
    said: dict[str, Any] = {"task": seen.id, "tool": seen.tool, "state": seen.state}
    if seen.percent is not None and seen.state != "queued":
        said["percent"] = round(seen.percent, 1)
    if seen.message:
        said["message"] = seen.message
    if seen.state not in FINAL:
        said["ask_again_in_seconds"] = seen.wait
    elif seen.state == "done":
        said["next"] = f'{RESULT}(task="{seen.id}")'
    elif seen.outcome is not None and seen.outcome.fault is not None:
        fault = seen.outcome.fault
        said["error"] = {"kind": fault.kind, "message": fault.message, **({"hint": fault.hint} if fault.hint else {})}
    return said


async def _seen(task: str, context: CallContext, wait: float) -> TaskSeen:
    left = context.seconds_left()
    most = wait if left is None else max(0.0, min(wait, left - _MARGIN))
    seen = None if context.tasks is None else await context.tasks.look(task.strip(), most)
    if seen is None:
        raise NothingDone(f"there is no task {task[:80]!r}", "Use the id that the call gave which began the task.")
    return seen
