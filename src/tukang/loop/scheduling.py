"""Which calls of a round may run now: what is written in the reply reads as a program, and runs like one.

Reads that stand together run together. Anything that may change something runs alone: it waits for all calls before it,
and all calls after it wait. So the results are those of running the calls one after the other in the order asked.

How many may run together is bounded for the turn (`Limits.parallel`) and for each tool (`Policy.parallel`). A call that has
to wait for a place holds no other up: reads behind it, of another tool, take what places there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tukang.loop import duplicates
from tukang.loop.effects import AskPerson, CheckCalls, RunCall
from tukang.loop.state import Call, State


def check(state: State) -> tuple[CheckCalls, ...]:
    """Calls that nobody has looked at yet."""
    asked = [call.id for call in state.calls if call.status == "asked" and not call.cut]
    return (CheckCalls(tuple(asked)),) if asked else ()


def ask_person(state: State) -> tuple[AskPerson, ...]:
    """Calls that may not run without permission: all at once, to be decided in any order. A twin does not ask."""
    if not any([call.needs_approval for call in state.calls]):
        return ()
    twins = duplicates.leaders(state.calls)
    needing = [c.id for c in _known(state) if c.needs_approval and c.status == "ready" and c.id not in twins]
    return (AskPerson(tuple(needing)),) if needing else ()


def run(state: State) -> list[RunCall]:
    """Calls whose turn has come."""
    if len(state.calls) == 1:  # as in most rounds: it has no place to wait for, and nobody to follow
        call = state.calls[0]
        may_run = call.status == "ready" and not call.needs_approval
        return [RunCall(call.id, duplicates.key(state, call))] if may_run else []
    effects: list[RunCall] = []
    twins = duplicates.leaders(state.calls)
    places = _Places(state)
    open_before = False
    for call in _known(state):
        if call.status == "done":
            continue
        reads = call.reading or call.policy.effect == "read"
        in_turn = call.status == "ready" and not call.needs_approval and (reads or not open_before)
        if in_turn and call.name not in places.full and call.id not in twins and places.take(call):
            effects.append(RunCall(call.id, duplicates.key(state, call)))
        if not reads:
            break  # what comes after it waits for it
        open_before = True
    return effects


class _Places:
    """How many calls may run together, in the turn and of one tool. `full` are the tools of which no more may."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._taken: Counter[str] | None = None
        self.full: set[str] = set()

    def take(self, call: Call) -> bool:
        """Have a place for one more call, if there is one."""
        most, own = self._state.limits.parallel, call.policy.parallel
        if most is None and own is None:
            return True
        if self._taken is None:
            self._taken = Counter([other.name for other in self._state.calls if other.status == "running"])
        if (most is not None and self._taken.total() >= most) or (own is not None and self._taken[call.name] >= own):
            self.full.add(call.name)
            return False
        self._taken[call.name] += 1
        return True


def _known(state: State) -> Sequence[Call]:
    """The calls up to the first that is not checked yet: what comes after it may turn out to be its twin."""
    statuses = [call.status for call in state.calls]
    unchecked = [statuses.index(status) for status in ("asked", "checking") if status in statuses]
    return state.calls[: min(unchecked)] if unchecked else state.calls
