"""How a turn ends: at any limit, at a cancel, at a fault of the model, and when all went well.

It always ends with every call answered, and with a text: the model's answer, else its forced answer, else what it had said
so far, else the results as they are.
"""

from __future__ import annotations

import msgspec

from tukang.loop import asking, limits, returns, wording
from tukang.loop.effects import Finish, Settle, StopModel
from tukang.loop.events import ModelFault
from tukang.loop.limits import StopReason
from tukang.loop.state import Call, SentBack, State
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


def settle(state: State) -> list[Settle]:
    """Give every call that may not go on its result."""
    if not _anything_stops(state):
        return []
    return [Settle(call.id, outcome) for call in state.calls if not call.done and (outcome := _stopped(state, call))]


class End(msgspec.Struct, frozen=True, gc=False):
    """What a turn is about to end with.

    Args:
        reason: why it ends.
        said: the model's words or data, or a terminal tool's; empty when there are none.
        unsupported: what in it is not known; None when it was not compared.
    """

    reason: StopReason
    said: str
    unsupported: tuple[str, ...] | None = None

    @property
    def comparable(self) -> bool:
        """Whether it is a model's, and says something."""
        return bool(self.said) and self.reason != "terminal"


def finish(state: State) -> tuple[Finish, ...]:
    """End the turn, when there is an answer or none can come any more."""
    awaited = state.checking and not (state.cancelled or state.expired)
    end = None if awaited or state.asking is not None else coming(state)
    if end is None:
        return ()
    text = end.said if end.said or end.reason == "terminal" else _plain(state, end.reason)
    return (Finish(end.reason, text, end.unsupported or (), _unchecked(state, end)),)


def coming(state: State) -> End | None:
    """What the turn ends with as it stands, when no request is under way; None while it goes on."""
    if state.answered is not None and (state.sent_back is None or _better(*state.answered)):
        return End(*state.answered, state.unsupported)
    if state.sent_back is not None:
        return _after_all(state, state.sent_back)
    if state.cancelled:
        return End("cancelled", state.partial_text, state.unsupported)
    if state.expired:
        return End(state.forced or "seconds", state.partial_text, state.unsupported)
    if asking.next_try(state) is None:
        return End(state.forced or _given_up(state), state.partial_text, state.unsupported)
    return None


def _better(reason: StopReason, said: str) -> bool:
    """Whether what came is better than an answer that says something unsupported."""
    return bool(said) and reason != "no_data"


def _after_all(state: State, before: SentBack) -> End | None:
    """The answer that went back, once no other can come."""
    if state.cancelled:
        return End("cancelled", before.text, before.unsupported)
    over = state.answered is not None or state.expired or asking.must_answer(state) is not None
    return End("answer", before.text, before.unsupported) if over or asking.next_try(state) is None else None


def _unchecked(state: State, end: End) -> str | None:
    """Why an answer that should have been compared was not."""
    if state.grounding is None or not end.comparable:
        return None
    if end.unsupported is None:
        return "the turn was cancelled" if state.cancelled else "there was no time left"
    return state.unchecked


def _given_up(state: State) -> StopReason:
    """Why a reply that is not whole stays so. One that the loop stopped itself has nothing that is broken about it."""
    if isinstance(state.broken, ModelFault):
        return "model_error"
    return "seconds" if state.deadline else "length"


def _plain(state: State, reason: StopReason) -> str:
    fault = state.broken.kind if isinstance(state.broken, ModelFault) else None
    return wording.plain_answer(state.language, reason, state.done, fault)


def _anything_stops(state: State) -> bool:
    """Whether there may be such a call. Most of the time there is none, and that is found out without looking at each."""
    return (
        state.cancelled
        or state.deadline
        or state.calls_asked > state.limits.calls
        or state.calls[-1].cut  # only the last of a reply is cut
        or limits.out_of_tokens(state)
    )


def _stopped(state: State, call: Call) -> Outcome | None:
    """The result of a call that may not go on, or None if it may."""
    running = call.status == "running" or call.begun
    if call.cut:
        return failed(
            "invalid_arguments",
            "the reply hit the token limit in the middle of this call; it was not run",
            "Ask again with shorter arguments, or split the work into several calls.",
        )
    if returns.gives(state, call) and not (state.cancelled or state.expired):
        return None  # it costs nothing any more, and is what the turn is for
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
