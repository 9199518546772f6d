"""What the provider ran itself, read off its replies: a record, and what follows from it. Part of the fold, and pure.

Such calls are never run here. They count as calls (`Limits.calls`) once they have happened. What has no result in its reply
may get it in the next one.

What may have happened must not happen again: a request that breaks off after the provider may have run a tool that changes
something is not repeated, and neither does another model take it over (`may_have_acted`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from tukang.conversation import Part, ServerCall, ServerResult, Text, ToolCall
from tukang.loop.events import ModelFault
from tukang.loop.state import Served, State

_KINDS = frozenset((ServerCall, ServerResult))
_UNDONE = frozenset({503, 529})
"""Statuses of the server's side that say that it did not begin."""


def noted(state: State, parts: Sequence[Part], round: int) -> dict[str, Any]:
    """What the parts of a reply add to the record.

    Args:
        state: before the reply.
        parts: what came.
        round: the number it has, or would have, as a round.
    """
    if _KINDS.isdisjoint(map(type, parts)):
        return {}
    served = list(state.served)
    asked = len(state.done)
    for part in parts:
        if isinstance(part, ToolCall):
            asked += 1
        elif isinstance(part, ServerCall):
            tool = part.tool or part.name
            served.append(Served(part.id, tool, part.arguments, round, asked, part.result, part.fault))
        elif isinstance(part, ServerResult):
            _complete(served, part)
    more = len(served) - len(state.served)
    return {"served": tuple(served), "calls_asked": state.calls_asked + more} if served else {}


def _complete(served: list[Served], result: ServerResult) -> None:
    for place in range(len(served) - 1, -1, -1):
        one = served[place]
        if one.id == result.call_id and one.result is None:
            served[place] = replace(one, result=result.text, fault=result.fault)
            return


def kept(before: Sequence[Part], came: Sequence[Part]) -> tuple[Part, ...]:
    """What stays of a reply that broke off: its words, and the results of calls in the part of it before, whose calls would
    stand without them."""
    waiting = {part.id for part in before if isinstance(part, ServerCall)}
    return tuple(
        part
        for part in came
        if (isinstance(part, Text) and part.text) or (isinstance(part, ServerResult) and part.call_id in waiting)
    )


def may_have_acted(state: State, fault: ModelFault | None = None) -> bool:
    """Whether the request under way may have had the provider do what must not be done twice.

    Args:
        state: while it is under way.
        fault: how it ended; None where nobody knows.
    """
    if not state.hosted or state.asking is None:
        return False
    status = None if fault is None else fault.status
    if fault is not None and (fault.kind == "configuration" or (status and (status < 500 or status in _UNDONE))):
        return False
    permitted, off = (
        _permitted(state),
        state.asking.tools_off,
    )  # a permission goes also with a request that offers no tools
    return any(
        state.policies[name].effect not in ("read", "idempotent") and (name in permitted or not (asks or off))
        for name, asks in state.hosted.items()
    )


def _permitted(state: State) -> set[str]:
    """The servers whose calls the round before permitted."""
    if not state.done or state.messages[-1].role != "tool":
        return set()
    last = state.done[-1].round
    return {call.name for call in state.done if call.permission and call.succeeded and call.round == last}


def as_unrepeatable(fault: ModelFault) -> ModelFault:
    """The fault of a request that is not sent again for that reason."""
    hint = "The provider may have run a tool that changes something, so the request was not repeated: find out first."
    return replace(fault, retryable=False, hint=hint)
