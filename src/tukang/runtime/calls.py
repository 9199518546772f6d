"""Checking and running one call: the runtime's side of a tool.

Performs `CheckCalls` and `RunCall`. User code decides nothing inside the loop: what a function or a schema says comes back
as an event.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from tukang.loop.events import CallChecked, CallFinished, Event
from tukang.loop.state import Call
from tukang.runtime.turn import Turn
from tukang.tools.checking import check
from tukang.tools.context import CallContext
from tukang.tools.execute import execute
from tukang.tools.outcome import failed
from tukang.tools.toolbox import Toolbox


def check_call(toolbox: Toolbox, call: Call, at: float) -> CallChecked:
    """Parse, repair, validate."""
    checked = check(toolbox, call.name, call.text)
    return CallChecked(
        at=at,
        call=call.id,
        digest=checked.digest,
        arguments=checked.arguments,
        repaired=checked.repaired,
        fault=checked.fault,
    )


async def run_call(
    turn: Turn,
    call: Call,
    key: str,
    seconds: float | None,
    post: Callable[[Event], None],
    clock: Callable[[], float],
) -> None:
    """Run the function of a checked call within `seconds`, and post how it ended."""
    tool = turn.toolbox.get(call.name)
    if tool is None or call.arguments is None:
        outcome = failed("not_run", f"{call.name} is not available any more")
    else:
        context = CallContext(
            call_id=call.id,
            idempotency_key=key,
            session=turn.started.session,
            deadline=None if seconds is None else time.monotonic() + seconds,
            context=turn.context,
        )
        outcome = await execute(tool, call.arguments, context, seconds)
    post(CallFinished(at=clock(), call=call.id, outcome=outcome))
