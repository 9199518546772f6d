"""What a turn waits for, as it stands in a store: from a call that needs permission to an offer, and from its answer back to
the event that the turn goes on with.

An answer that cannot be read, or that was given for other arguments, is a refusal. Nothing is asked or decided here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from tukang.loop.events import ApprovalAsked, CallApproved, CallEdited, CallRefused, CallStarted, Event
from tukang.loop.state import Call, State
from tukang.memory.stores.values import Offer, Wait
from tukang.runtime.people import Decision, expired, permits

APPROVAL = "approval"
"""The kind of wait."""


class Answered(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to such a wait.

    Args:
        decision: what is to become of the call.
        digest: the call's, as it was asked about.
        reason: of a refusal, for the model; otherwise for the record.
        arguments: what takes the place of the call's own, where it is edited: all of them. They are permitted with that.
    """

    decision: Literal["approve", "refuse", "edit"]
    digest: str
    reason: str = ""
    arguments: Mapping[str, Any] = {}


class Asked:
    """Which calls of a turn wait in the store, or waited: a fold over its events."""

    def __init__(self) -> None:
        self._times: Counter[str] = Counter()
        self._open: dict[str, str] = {}

    def offered(self, state: State, event: Event) -> list[Offer]:
        """What the turn waits for from this event on."""
        if not isinstance(event, ApprovalAsked):
            return []
        seconds = state.limits.deciding
        until = None if seconds is None else event.at + seconds
        return [self._offer(call, until) for call in state.calls if call.id in event.calls]

    def used(self, event: Event) -> list[tuple[str, str]]:
        """The answers that this event uses up: a permission is used when its call starts. What has expired has no answer."""
        if not isinstance(event, CallStarted | CallRefused | CallEdited):
            return []
        key = self._open.pop(event.call, None)
        unanswered = isinstance(event, CallRefused) and event.expired
        return [] if key is None or unanswered else [(APPROVAL, key)]

    def _offer(self, call: Call, until: float | None) -> Offer:
        self._times[call.id] += 1
        times = self._times[call.id]
        # an edited call is asked about again
        key = self._open[call.id] = call.id if times == 1 else f"{call.id}.{times}"
        asked = Question(
            call.id, call.name, call.arguments, call.digest, call.effect, call.why, call.edited, call.redacted
        )
        return Offer(APPROVAL, key, msgspec.to_builtins(asked), until)


class Question(msgspec.Struct, frozen=True):
    """What stands in the store of a call that waits.

    Args:
        call, tool, arguments, digest, effect, why, edited: of the call; the arguments as canonical JSON.
        redacted: whether they lost a secret on the way: then the call can be refused, and run only by the process that asks.
    """

    call: str
    tool: str
    arguments: str | None
    digest: str
    effect: str = ""
    why: str = ""
    edited: bool = False
    redacted: bool = False


def decisions(waits: Sequence[Wait], state: State, now: float) -> tuple[Decision, ...]:
    """What has become of the calls that still wait."""
    waiting = [call for call in state.calls if call.status == "waiting"]
    found = [(call, wait) for call in waiting if (wait := wait_for(waits, call))]
    known = [decision(call, wait) if wait.answered is not None else late(call, wait, now) for call, wait in found]
    return tuple([one for one in known if one is not None])


def wait_for(waits: Sequence[Wait], call: Call) -> Wait | None:
    """What a call waits for: the last that was offered for it, if it was not used yet."""
    own = [wait for wait in waits if wait.kind == APPROVAL and wait.asked["call"] == call.id]
    return own[-1] if own and own[-1].consumed is None else None


def late(call: Call, wait: Wait, now: float) -> Decision | None:
    """That nobody has decided in time, if that is so."""
    return expired(call) if wait.answered is None and wait.expires is not None and wait.expires <= now else None


def edit_that_permits(waits: Sequence[Wait], call: Call) -> Wait | None:
    """The edit that made a call what it is, if who edited it wrote exactly this: then it is permitted already."""
    edits = [wait for wait in waits if wait.asked["call"] == call.id and wait.consumed is not None]
    if not call.edited or not edits:
        return None
    try:
        answer = msgspec.convert(edits[-1].answer, Answered)
    except msgspec.ValidationError:
        return None
    return edits[-1] if answer.decision == "edit" and permits(answer.arguments, call) else None


def decision(call: Call, wait: Wait) -> Decision:
    """What the answer says about the call."""
    at, by = wait.answered or 0.0, wait.by
    try:
        answer = msgspec.convert(wait.answer, Answered)
    except msgspec.ValidationError:
        return CallRefused(at=at, call=call.id, digest=call.digest, by=by, reason="the decision could not be read")
    if answer.digest != call.digest or wait.asked["digest"] != call.digest:
        reason = "the decision was not about these arguments"
        return CallRefused(at=at, call=call.id, digest=call.digest, by=by, reason=reason)
    match answer.decision:
        case "approve":
            return CallApproved(at=at, call=call.id, digest=call.digest, by=by, reason=answer.reason)
        case "edit":
            arguments = msgspec.json.encode(answer.arguments).decode()
            digest, reason = call.digest, answer.reason
            return CallEdited(at=at, call=call.id, digest=digest, arguments=arguments, by=by, reason=reason)
        case "refuse":
            return CallRefused(at=at, call=call.id, digest=call.digest, by=by, reason=answer.reason)
