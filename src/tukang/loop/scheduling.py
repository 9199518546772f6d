"""Which calls of a round may run now: what is written in the reply reads as a program, and runs like one.

Reads that stand together run together. Anything that may change something runs alone: it waits for all calls before it,
and all calls after it wait. So the results are those of running the calls one after the other in the order asked.
"""

from __future__ import annotations

from collections.abc import Iterator

from tukang.loop import duplicates
from tukang.loop.effects import AskPerson, CheckCalls, RunCall
from tukang.loop.state import Call, State


def check(state: State) -> tuple[CheckCalls, ...]:
    """Calls that nobody has looked at yet."""
    asked = tuple(call.id for call in state.calls if call.status == "asked" and not call.cut)
    return (CheckCalls(asked),) if asked else ()


def ask_person(state: State) -> tuple[AskPerson, ...]:
    """Calls that may not run without permission: all at once, to be decided in any order. A twin does not ask."""
    needing = tuple(call.id for call in _known(state) if call.needs_approval and _leads(state, call))
    return (AskPerson(needing),) if needing else ()


def run(state: State) -> tuple[RunCall, ...]:
    """Calls whose turn has come."""
    effects: list[RunCall] = []
    open_before = write_before = False
    for call in _known(state):
        if call.done:
            continue
        blocked = write_before if call.reads else open_before
        if not blocked and not call.needs_approval and _leads(state, call):
            effects.append(RunCall(call.id, duplicates.key(state, call)))
        open_before = True
        write_before = write_before or not call.reads
    return tuple(effects)


def _known(state: State) -> Iterator[Call]:
    """The calls up to the first that is not checked yet: what comes after it may turn out to be its twin."""
    for call in state.calls:
        if call.status in ("asked", "checking"):
            return
        yield call


def _leads(state: State, call: Call) -> bool:
    return call.status == "ready" and duplicates.leader(state, call) is None
