"""A turn that was left in the middle goes on: what was under way when its process died, or when it was let go to wait.

Nothing of what was under way is under way any more. A request to the model is asked again, and what had come of its reply is
forgotten. Checks are made again. Of the calls that had begun, a read is run again, and an idempotent write too, with the same
key; of anything else nobody knows whether it happened, so it gets `outcome_unknown` and is not run again. A call whose
arguments held a secret has lost them, and cannot go on either. A request in which the provider may have run a tool of its own
that changes something is not asked again.
"""

from __future__ import annotations

from typing import Any

from tukang.loop import served
from tukang.loop.effects import Settle
from tukang.loop.events import ModelFault, TurnResumed
from tukang.loop.state import Call, State
from tukang.tools.outcome import Outcome, failed


def changed(state: State, event: TurnResumed) -> dict[str, Any]:
    """What going on changes, less the calls themselves: see `CALL_MOVES` for these."""
    paused = state.paused
    if not state.limits.idle_counts:
        paused += max(0.0, event.at - state.now)
    used = event.at - state.started - paused
    seconds, work = state.limits.seconds, state.limits.seconds_for_work
    begun = {call.id for call in state.calls if call.status == "running" and call.reads}
    return {
        "resumed": state.resumed + 1,
        "paused": paused,
        "deadline": state.deadline or (work is not None and used >= work),
        "expired": state.expired or (seconds is not None and used >= seconds),
        "asking": None,
        "checking": False,
        # the request that is asked again does not count twice
        "continuations": state.continuations - (state.asking is not None and bool(state.partial)),
        # a read that is run again has not failed
        "ledger": {digest: one for digest, one in state.ledger.items() if one.call not in begun},
        **({"acted": True, "broken": _CUT_OFF, "error": _CUT_OFF} if served.may_have_acted(state) else {}),
    }


_CUT_OFF = served.as_unrepeatable(ModelFault("connection", "the program was interrupted while the model was asked"))


def settle(state: State) -> list[Settle]:
    """Calls that cannot go on where they were."""
    if not state.resumed:
        return []
    left = [call for call in state.calls if call.status in ("asked", "ready", "waiting")]
    return [Settle(call.id, outcome) for call in left if (outcome := _lost(call))]


def _lost(call: Call) -> Outcome | None:
    """The result of a call that cannot go on, or None if it can."""
    if call.begun and not _repeats(call):
        return failed(
            "outcome_unknown",
            f"{call.name} had started when the program was interrupted; it may or may not have taken effect",
            "Do not assume either; find out before asking for it again.",
        )
    if call.redacted:
        return failed(
            "not_run",
            f"{call.name} cannot be run after an interruption: its arguments held a secret, which was not kept",
            "Ask for it again with whole arguments, if you still know them; or say what is missing.",
        )
    return None


def _repeats(call: Call) -> bool:
    """Whether running a call again that may have happened is harmless."""
    # the call of a long tool makes a task under its key, and finds it the second time
    once = call.policy.effect == "idempotent" or call.policy.long is not None
    return call.reads or (once and not call.redacted)
