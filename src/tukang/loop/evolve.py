"""What is true after an event: `evolve(state, event) -> State`, a pure fold.

Nothing is decided here. One small function for each kind of event says which fields change, and a table names them all.
What a whole reply means is longer and stands in `replies`. Every event brings the time, so each of them changes `now`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from tukang.conversation import Message, Part, Text, ToolResult
from tukang.loop import events, grounding, menu, progress, replies, resuming, returns, served
from tukang.loop.state import CALL_MOVES, Asking, Call, Execution, State
from tukang.tools.outcome import Outcome, failed

FAULTY = frozenset({"unknown_tool", "invalid_arguments"})
"""The kinds that draw on the turn's fault budget."""


Changes = dict[str, Any]
"""The fields of a state (or a call) that an event changes."""

Fold = Callable[[State, Any], State]
"""What is true after an event of one kind."""


def evolve(state: State | None, event: events.Event) -> State:
    """The state after `event`. Only `TurnStarted` may come without a state before it."""
    if state is None:
        assert type(event) is events.TurnStarted, "a journal begins with TurnStarted"
        return _started(event)
    return _FOLD[type(event)](state, event)


def _started(event: events.TurnStarted) -> State:
    return State(
        turn=event.turn,
        agent=event.agent,
        session=event.session,
        language=event.language,
        limits=event.limits,
        policies=event.policies,
        started=event.at,
        now=event.at,
        messages=(event.trigger,),
        choice=event.tool_choice,
        models=event.models,
        returns=event.returns,
        grounding=event.grounding,
        hosted=event.hosted,
        menu=event.menu,
    )


# ── the model ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _asked(state: State, event: events.ModelAsked) -> State:
    # a request for data alone is the answer already: like one that speaks, it may use the reserve
    speaking = state.returns is not None and event.tool_choice == state.returns.tool
    return replace(
        state,
        now=event.at,
        asking=Asking(event.tools_off, speaking),
        attempt=event.attempt,
        asked=event.model,
        continuations=state.continuations + bool(state.partial),
        forced=event.forced,
        broken=None,
    )


def _speaking(state: State, event: events.ReplyBegan) -> State:
    return replace(state, now=event.at, asking=replace(state.asking, speaking=True) if state.asking else None)


def _stopping(state: State, event: events.ModelStopping) -> State:
    return replace(state, now=event.at, asking=replace(state.asking, stopping=True) if state.asking else None)


def _interrupted(state: State, event: events.ModelInterrupted) -> State:
    said = served.kept(state.partial, event.parts)
    error = event.error
    acted = error is not None and served.may_have_acted(state, error)
    if acted and error is not None:
        error = served.as_unrepeatable(error)
    return replace(
        state,
        now=event.at,
        asking=None,
        usage=state.usage + event.usage,
        partial=replies.joined(state.partial, said),
        broken=error,
        error=error or state.error,
        acted=acted,
        **served.noted(state, event.parts, state.round + 1),
    )


# ── the calls ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _moved(state: State, these: Iterable[Call | None], event: str, **changes: Any) -> tuple[Call, ...]:
    """The calls of the round, with these moved as the table says. One the table does not move is left as it is."""
    calls = list(state.calls)
    for call in these:
        after = None if call is None else CALL_MOVES.get((call.status, event))
        if call is not None and after is not None:
            calls[call.position] = replace(call, status=after, **changes)
    return tuple(calls)


def _moved_one(state: State, call: Call | None, event: str, **changes: Any) -> tuple[Call, ...]:
    """The same for one call, which is what nearly every event is about."""
    calls = state.calls
    if call is None or (after := CALL_MOVES.get((call.status, event))) is None:
        return calls
    moved = replace(call, status=after, **changes)
    if len(calls) == 1:
        return (moved,)
    return (*calls[: call.position], moved, *calls[call.position + 1 :])


def _checks_began(state: State, event: events.ChecksBegan) -> State:
    return replace(state, now=event.at, calls=_moved(state, map(state.call, event.calls), "ChecksBegan"))


def _checked(state: State, event: events.CallChecked) -> State:
    known = {
        "digest": event.digest,
        "arguments": event.arguments,
        "repaired": event.repaired,
        "needs_approval": event.needs_approval,
        "why": event.why,
        "redacted": event.redacted,
        "reading": event.reads,
    }
    if event.fault is not None:
        known |= {"outcome": failed(event.fault.kind, event.fault.message, event.fault.hint), "finished": event.at}
        calls = _moved_one(state, state.call(event.call), "CallChecked with a fault", **known)
        return replace(state, now=event.at, calls=calls, faults=state.faults + (event.fault.kind in FAULTY))
    calls = _moved_one(state, state.call(event.call), "CallChecked", **known)
    if state.choice == "auto":
        return replace(state, now=event.at, calls=calls)
    demanded = state.choice in ("required", *(call.name for call in state.calls if call.id == event.call))
    return replace(state, now=event.at, calls=calls, choice="auto" if demanded else state.choice)


def _call_started(state: State, event: events.CallStarted) -> State:
    call = state.call(event.call)
    if call is None:
        return replace(state, now=event.at)
    before = state.ledger.get(call.digest)
    again = call.reads and not call.policy.repeatable and before is not None and not _succeeded(before)
    epoch = state.epoch if call.reads else state.epoch + 1
    return replace(
        state,
        now=event.at,
        calls=_moved_one(state, call, "CallStarted", started=event.at, key=event.key),
        epoch=epoch,
        faults=state.faults + again,
        ledger={**state.ledger, call.digest: Execution(call.id, event.key, epoch, None)},
    )


def _call_finished(state: State, event: events.CallFinished) -> State:
    """A result. One that comes after its call was settled changes the ledger only, never the conversation."""
    there = state.call(event.call)
    call = there or _find(state.done, event.call)
    if call is None:
        return replace(state, now=event.at)
    calls = _moved_one(state, there, "CallFinished", outcome=event.outcome, source=event.source, finished=event.at)
    # what a poll has followed may have changed something meanwhile
    epoch = state.epoch + (call.policy.pause is not None)
    return replace(state, now=event.at, calls=calls, epoch=epoch, ledger=_known(state, call, event.outcome))


def _known(state: State, call: Call, outcome: Outcome) -> Mapping[str, Execution]:
    """The ledger with what became of a call that had begun, unless an equal one has begun since."""
    execution = state.ledger.get(call.digest)
    if execution is None or execution.call != call.id:
        return state.ledger
    return {**state.ledger, call.digest: replace(execution, outcome=outcome)}


def _settled(state: State, event: events.CallSettled) -> State:
    faulty = event.outcome.fault is not None and event.outcome.fault.kind in FAULTY and event.source is None
    known = {"outcome": event.outcome, "source": event.source, "finished": event.at}
    call = state.call(event.call)
    calls = _moved_one(state, call, "CallSettled", **known)
    begun = call is not None and call.begun  # it may have happened: what is known of it is this
    ledger = _known(state, call, event.outcome) if call is not None and begun else state.ledger
    return replace(state, now=event.at, calls=calls, faults=state.faults + faulty, ledger=ledger)


def _round_ended(state: State, event: events.RoundEnded) -> State:
    results = tuple([_result(call, event.notes.get(call.id)) for call in state.calls])
    answer = state.call(event.answer) if event.answer else None
    answered = ("terminal", answer.outcome.text) if answer and answer.outcome else state.answered
    stuck, polls = progress.counted(state)
    return replace(
        state,
        now=event.at,
        messages=(*state.messages, Message("tool", results)),
        calls=(),
        done=(*state.done, *state.calls),
        seen=state.seen | progress.pairs(state.calls),
        stuck=stuck,
        polls=polls,
        **{"answered": answered, **returns.concluded(state, answer), **menu.with_more(state)},
    )


def _result(call: Call, note: str | None) -> ToolResult:
    assert call.outcome is not None, "a round ends when every call has its outcome"
    content = call.outcome.content if note is None else (*call.outcome.content, Text(note))
    return ToolResult(call.id, call.name, content, fault=call.outcome.fault is not None)


# ── people ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _approval_asked(state: State, event: events.ApprovalAsked) -> State:
    return replace(state, now=event.at, calls=_moved(state, map(state.call, event.calls), "ApprovalAsked"))


def _decided(move: str) -> Fold:
    """A decision counts only for the call and the digest it was made for."""

    def fold(state: State, event: events.CallApproved | events.CallRefused | events.CallEdited) -> State:
        call = state.call(event.call)
        if call is None or call.digest != event.digest:
            return replace(state, now=event.at)
        paused = state.paused + state.idle(event.at)
        calls = _moved_one(state, call, move, **_after_decision(event))
        return replace(state, now=event.at, calls=calls, paused=paused)

    return fold


def _after_decision(event: events.CallApproved | events.CallRefused | events.CallEdited) -> Changes:
    match event:
        case events.CallApproved():
            return {"needs_approval": False}
        case events.CallEdited():
            return {"text": event.arguments, "edited": True, "redacted": event.redacted}
        case events.CallRefused():
            outcome = failed("refused", "permission to run this call was refused", event.reason or None)
            return {"outcome": outcome, "finished": event.at}


# ── the turn ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _resumed(state: State, event: events.TurnResumed) -> State:
    calls = _moved(state, state.calls, "TurnResumed")
    return replace(state, now=event.at, calls=calls, **resuming.changed(state, event))


def _deadline(state: State, event: events.DeadlineReached) -> State:
    return replace(state, now=event.at, deadline=True)


def _expired(state: State, event: events.TimeExpired) -> State:
    return replace(state, now=event.at, deadline=True, expired=True)


def _cancel(state: State, event: events.CancelRequested) -> State:
    return replace(state, now=event.at, cancelled=True)


def _check_began(state: State, event: events.AnswerCheckBegan) -> State:
    return replace(state, now=event.at, checking=True)


def _finished(state: State, event: events.TurnFinished) -> State:
    back = state.sent_back
    after_all = back is not None and state.data is None and event.stopped == "answer" and event.text == back.text
    said = _last_words((state.partial, back.parts if back else ()), event.text)
    return replace(
        state,
        now=event.at,
        messages=(*state.messages, Message("assistant", said)) if said else state.messages,
        partial=(),
        data=back.data if back and after_all else state.data,
        checking=False,
        unsupported=event.unsupported,
        unchecked=event.unchecked,
        stopped=event.stopped,
        text=event.text,
    )


def _last_words(replies: Iterable[tuple[Part, ...]], text: str) -> tuple[Part, ...]:
    """The last assistant message: a reply's own parts where they say the answer, else the answer as text."""
    for parts in replies:
        if text and "".join(part.text for part in parts if isinstance(part, Text)) == text:
            return parts
    return (Text(text),) if text else ()


def _find(calls: tuple[Call, ...], call_id: str) -> Call | None:
    for call in calls:
        if call.id == call_id:
            return call
    return None


def _succeeded(execution: Execution) -> bool:
    return execution.outcome is not None and execution.outcome.fault is None


def _by(changes: Callable[[State, Any], Changes]) -> Fold:
    """A fold that says what changes as a dict, because what that is stands elsewhere."""
    return lambda state, event: replace(state, now=event.at, **changes(state, event))


_FOLD: dict[type[Any], Fold] = {
    events.ModelAsked: _asked,
    events.ReplyBegan: _speaking,
    events.ModelStopping: _stopping,
    events.ModelReplied: _by(replies.accepted),
    events.ModelInterrupted: _interrupted,
    events.ChecksBegan: _checks_began,
    events.CallChecked: _checked,
    events.CallStarted: _call_started,
    events.CallFinished: _call_finished,
    events.CallSettled: _settled,
    events.RoundEnded: _round_ended,
    events.AnswerCheckBegan: _check_began,
    events.AnswerChecked: _by(grounding.checked),
    events.AnswerSentBack: _by(grounding.sent_back),
    events.ApprovalAsked: _approval_asked,
    events.CallApproved: _decided("CallApproved"),
    events.CallRefused: _decided("CallRefused"),
    events.CallEdited: _decided("CallEdited"),
    events.TurnResumed: _resumed,
    events.DeadlineReached: _deadline,
    events.TimeExpired: _expired,
    events.CancelRequested: _cancel,
    events.TurnFinished: _finished,
}
