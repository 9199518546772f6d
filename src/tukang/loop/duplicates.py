"""The same call is run once per turn.

A *twin* asked for in the same reply follows its leader: it never asks for permission, never starts, and takes the leader's
outcome, whatever that is. A call that was already run in an earlier round gets that result back, marked as reused: a read
only while no write has begun since, a write always. After a failure a read may run again; anything else only when it is
certain that it did nothing. A tool that must run each time says so in its policy (`repeatable`).
"""

from __future__ import annotations

from tukang.loop.effects import Settle
from tukang.loop.state import Call, Execution, State
from tukang.tools.outcome import HARMLESS, Outcome


def leader(state: State, call: Call) -> Call | None:
    """The earlier call of the same reply whose outcome this one takes."""
    if call.policy.repeatable or not call.digest:
        return None
    between_writes = False
    for earlier in reversed(state.calls[: call.position]):
        if earlier.digest == call.digest:
            return None if call.reads and between_writes else leader(state, earlier) or earlier
        between_writes = between_writes or _may_change(earlier)
    return None


def settle(state: State) -> tuple[Settle, ...]:
    """Calls that need not run, because their result is there already."""
    return tuple(effect for call in state.calls if call.status == "ready" and (effect := _reuse(state, call)))


def _reuse(state: State, call: Call) -> Settle | None:
    first = leader(state, call)
    if first is not None:
        return Settle(call.id, first.outcome, first.id) if first.outcome else None
    before = state.ledger.get(call.digest)
    if before is None or before.outcome is None or call.policy.repeatable:
        return None
    if _stands(state, call, before, before.outcome):
        return Settle(call.id, before.outcome, before.call)
    return None


def _stands(state: State, call: Call, before: Execution, outcome: Outcome) -> bool:
    """Whether an earlier outcome is still the outcome of this call."""
    if call.reads:
        writes_first = any(_may_change(earlier) and not earlier.done for earlier in state.calls[: call.position])
        return outcome.fault is None and before.epoch == state.epoch and not writes_first
    if outcome.fault is None:
        return True
    return outcome.fault.kind not in HARMLESS and call.policy.effect != "idempotent"


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
