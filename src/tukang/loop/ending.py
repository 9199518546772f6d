"""How a turn ends: at any limit, at a cancel, at a fault of the model, and when all went well.

It always ends with every call answered, and with a text: the model's answer, else its forced answer, else what it had said
so far, else the results as they are.
"""

from __future__ import annotations

from tukang.loop import asking, limits, wording
from tukang.loop.effects import Finish, Settle, StopModel
from tukang.loop.limits import StopReason
from tukang.loop.state import Call, State
from tukang.tools.outcome import Outcome, failed


def stop_model(state: State) -> tuple[StopModel, ...]:
    """End a request that has no time left: at once on a cancel or when all time is up. At the deadline a model that is
    already speaking to the user, or giving the forced answer, may use the reserve for it."""
    request = state.asking
    if request is None or request.stopping:
        return ()
    at_once = state.cancelled or state.expired
    in_vain = state.deadline and state.forced is None and not request.speaking
    return (StopModel(),) if at_once or in_vain else ()


def settle(state: State) -> tuple[Settle, ...]:
    """Give every call that may not go on its result."""
    return tuple(
        Settle(call.id, outcome) for call in state.calls if not call.done and (outcome := _stopped(state, call))
    )


def finish(state: State) -> tuple[Finish, ...]:
    """End the turn, when there is an answer or none can come any more."""
    if state.asking is not None:
        return ()
    if state.answered is not None:
        reason, text = state.answered
        return (Finish(reason, text if text or reason == "terminal" else _plain(state, reason)),)
    if state.cancelled:
        return _finish_without_model(state, "cancelled")
    if state.expired:
        return _finish_without_model(state, state.forced or "seconds")
    if state.broken is not None and asking.next_try(state) is None:
        reason = "model_error" if not isinstance(state.broken, str) else "length"
        return _finish_without_model(state, state.forced or reason)
    return ()


def _finish_without_model(state: State, reason: StopReason) -> tuple[Finish, ...]:
    return (Finish(reason, state.partial_text or _plain(state, reason)),)


def _plain(state: State, reason: StopReason) -> str:
    return wording.plain_answer(state.language, reason, state.done)


def _stopped(state: State, call: Call) -> Outcome | None:
    """The result of a call that may not go on, or None if it may."""
    running = call.status == "running"
    if call.cut:
        return failed(
            "invalid_arguments",
            "the reply hit the token limit in the middle of this call; it was not run",
            "Ask again with shorter arguments, or split the work into several calls.",
        )
    if state.cancelled or state.deadline:
        return _interrupted(state, call) if running else _not_run("cancelled" if state.cancelled else "seconds")
    if running:
        return None
    if limits.out_of_tokens(state):
        return _not_run("tokens")
    if call.position >= state.limits.calls - (state.calls_asked - len(state.calls)):
        return _not_run("calls")
    return None


def _interrupted(state: State, call: Call) -> Outcome:
    if not call.reads:
        return failed(
            "outcome_unknown",
            f"{call.name} had started when the turn had to stop; it may or may not have taken effect",
            "Do not assume either; find out before asking for it again.",
        )
    if state.cancelled:
        return failed("cancelled", f"{call.name} was stopped because the turn was cancelled")
    return failed("timed_out", f"{call.name} did not finish before the time for tools was up")


def _not_run(reason: StopReason) -> Outcome:
    why = {
        "cancelled": "the turn was cancelled",
        "seconds": "the time for tools was up",
        "tokens": "the token budget of the turn was used up",
        "calls": "the number of calls allowed in one turn was used up",
    }[reason]
    return failed("not_run", f"not run: {why} before this call started")
