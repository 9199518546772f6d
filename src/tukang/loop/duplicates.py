"""The same call is run once per turn.

A *twin* asked for in the same reply follows its leader: it never asks for permission, never starts, and takes the leader's
outcome, whatever that is. A call that was already run in an earlier round gets that result back, marked as reused: a read
only while no write has begun since, none goes on beside the turn, and no poll came back; a write always. After a failure a
read may run again; anything else only when it is certain that it did nothing. A tool that must run each time says so in its
policy (`repeatable`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tukang.loop.effects import Settle
from tukang.loop.state import Call, Execution, State
from tukang.tools.outcome import HARMLESS, Outcome


def leaders(calls: Sequence[Call]) -> Mapping[str, Call]:
    """By a twin's id, the call of the same reply whose outcome it takes: an earlier one, or a later one that was already
    running when somebody changed the arguments of this one.

    One pass over the round, however many twins there are: a reply may ask for a thousand calls, and this is asked after each
    of their events.
    """
    if len(calls) < 2:
        return _NO_TWINS
    digests = [call.digest for call in calls]
    if len(set(digests)) == len(digests):
        return _NO_TWINS
    found: dict[str, Call] = {}
    last: dict[
        str, tuple[Call, int]
    ] = {}  # digest → the last such call so far, and how many before the next may change things
    changes = 0
    for call in calls:
        changes_before, changes = changes, changes + _may_change(call)
        if not call.digest or call.policy.repeatable:
            continue
        if call.digest in last:
            earlier, changes_then = last[call.digest]
            if not call.reads or changes_before == changes_then:
                found[call.id] = found.get(earlier.id, earlier)
        elif call.edited and (later := _running(calls[call.position + 1 :], call.digest)):
            found[call.id] = later
        last[call.digest] = call, changes
    return found


_NO_TWINS: Mapping[str, Call] = {}


def _running(calls: Sequence[Call], digest: str) -> Call | None:
    return next((call for call in calls if call.digest == digest and call.status == "running"), None)


def settle(state: State) -> list[Settle]:
    """Calls that need not run, because their result is there already."""
    twins, ledger = leaders(state.calls), state.ledger
    if not twins and not ledger:
        return []
    there = [call for call in state.calls if call.status == "ready" and (call.id in twins or call.digest in ledger)]
    unfinished = _first_unfinished_change(state.calls) if there else 0
    effects: list[Settle] = []
    for call in there:
        if first := twins.get(call.id):
            if first.outcome:
                effects.append(Settle(call.id, first.outcome, first.id))
        elif outcome := _standing(state, call, ledger[call.digest], unfinished):
            effects.append(Settle(call.id, outcome, ledger[call.digest].call))
    return effects


def _first_unfinished_change(calls: Sequence[Call]) -> int:
    """The position of the first call that may yet change something; beyond the last where there is none."""
    for call in calls:
        if call.status != "done" and _may_change(call):
            return call.position
    return len(calls)


def _standing(state: State, call: Call, before: Execution, unfinished: int) -> Outcome | None:
    """The outcome of an earlier execution, where it is still the outcome of this call."""
    outcome = before.outcome
    if outcome is None or call.policy.repeatable:
        return None
    if call.reads:
        stands = outcome.fault is None and before.epoch == state.epoch and call.position <= unfinished
        stands = stands and not _goes_on(state)
    else:
        stands = outcome.fault is None or (outcome.fault.kind not in HARMLESS and call.policy.effect != "idempotent")
    return outcome if stands else None


def _goes_on(state: State) -> bool:
    """Whether long work that this turn has begun may be changing something beside it."""
    return any(call.policy.long is not None and not call.reads and call.begun for call in state.done)


def _may_change(call: Call) -> bool:
    """Whether a call has changed something, or still may: it is not a read, and not known to do nothing."""
    did_nothing = call.source is not None or (
        call.outcome is not None and call.outcome.fault is not None and call.outcome.fault.kind in HARMLESS
    )
    return not call.reads and not did_nothing


def key(state: State, call: Call) -> str:
    """The idempotency key: the call's own id; an idempotent call that is tried again keeps the key of the first try."""
    before = state.ledger.get(call.digest)
    return before.key if before is not None and call.policy.effect == "idempotent" else call.id
