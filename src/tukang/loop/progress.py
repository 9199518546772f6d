"""Whether the turn gets anywhere: the same calls with the same results, or A-B-A-B, are noticed and ended.

A round makes progress when at least one of its calls brought a result that this call had not brought before. Rounds without
progress in a row are answered by a nudge, then by a refusal, then by the forced answer. A tool that is repeatable by policy
(a poll, a clock) gets more patience, because the same result twice is what polls are for. A round of polls in which one
came as long after the last as its policy says (`pause`) is not counted: waiting is not going round in circles.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from tukang.loop import duplicates, wording
from tukang.loop.effects import Settle
from tukang.loop.state import Call, State
from tukang.tools.outcome import failed


class Patience(msgspec.Struct, frozen=True):
    """After how many rounds without progress what is done: the last one is commented on (`nudge`), the next one is not run
    again (`refuse`), and no further one is allowed (`force`)."""

    nudge: int
    refuse: int
    force: int


ORDINARY = Patience(nudge=1, refuse=1, force=2)
POLLING = Patience(nudge=3, refuse=5, force=6)


def pairs(calls: Iterable[Call]) -> frozenset[tuple[str, str]]:
    """(digest, result) of each call."""
    return frozenset([_pair(call) for call in calls])


def counted(state: State) -> tuple[int, int]:
    """`stuck` and `polls` as they are once the open round has ended."""
    polling = True
    for call in state.calls:
        if _pair(call) not in state.seen and not _refused(call):
            return 0, 0
        polling = polling and call.policy.repeatable
    if not polling:
        return state.stuck + 1, state.polls
    return state.stuck, state.polls + (not any(_patient(state, call) for call in state.calls))


def refuse(state: State) -> list[Settle]:
    """Calls that are not run again, because they brought nothing new often enough. A twin takes its leader's outcome."""
    if state.stuck < ORDINARY.refuse and state.polls < POLLING.refuse:
        return []
    twins = duplicates.leaders(state.calls)
    return [
        Settle(call.id, failed("no_progress", _message(call), _hint))
        for call in state.calls
        if call.status == "ready"
        and not call.begun
        and call.digest in state.ledger
        and call.id not in twins
        and _at_least("refuse", state, call)
    ]


def notes(state: State) -> dict[str, str]:
    """What is said beside the results of a round that brought nothing new."""
    stuck, polls = counted(state)
    if (stuck, polls) == (state.stuck, state.polls):  # they were patient
        return {}
    if (stuck < ORDINARY.nudge and polls < POLLING.nudge) or _refused(state.calls[-1]):
        return {}
    return {state.calls[-1].id: wording.nudge(state.language)}


def exhausted(state: State) -> bool:
    """Whether nothing but the forced answer is left."""
    return state.stuck >= ORDINARY.force or state.polls >= POLLING.force


def _at_least(what: str, state: State, call: Call) -> bool:
    if call.policy.repeatable:
        return state.polls >= getattr(POLLING, what)
    return state.stuck >= getattr(ORDINARY, what)


def _patient(state: State, call: Call) -> bool:
    """Whether a poll came so long after the last that it may bring the same."""
    pause = call.policy.pause
    if pause is None or call.finished is None:
        return False
    before = next((one for one in reversed(state.done) if one.digest == call.digest and one.finished is not None), None)
    return before is not None and before.finished is not None and call.finished - before.finished >= pause


def _refused(call: Call) -> bool:
    return call.outcome is not None and call.outcome.fault is not None and call.outcome.fault.kind == "no_progress"


def _pair(call: Call) -> tuple[str, str]:
    return call.digest or f"{call.name} {call.text}", call.outcome.text if call.outcome else ""


def _message(call: Call) -> str:
    return f"{call.name} was already called with these arguments and keeps giving the same result; it was not run again"


_hint = "Use the result you have, change the arguments, use another tool, or answer."
