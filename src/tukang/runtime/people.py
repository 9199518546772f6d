"""Who decides about a call that needs permission: what is asked, what may be answered, and what that means for the turn.

Performs `AskPerson`. Every way out that is not a clear yes is a no: an answer that cannot be read, a function that raises,
nobody to ask. Who edits a call permits exactly what they wrote; where the check makes something else of it, they are asked
again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, cast

import msgspec

from tukang.loop.events import CallApproved, CallEdited, CallRefused
from tukang.loop.state import Call, State
from tukang.tools.advice import warn
from tukang.tools.aside import aside
from tukang.tools.failure import words
from tukang.tools.json_text import Unreadable, canonical, decode
from tukang.tools.policy import ToolEffect

Decision = CallApproved | CallRefused | CallEdited

MOST_EDITS = 10
"""Times one call may be edited: a function that edits whatever it is asked would never come to an end."""


class Approve(msgspec.Struct, frozen=True):
    """Yes, to exactly this call. `by` says who, `reason` why: both for the record."""

    by: str = ""
    reason: str = ""


class Refuse(msgspec.Struct, frozen=True):
    """No. `reason` is for the record, and the model reads it."""

    reason: str = ""
    by: str = ""


class Edit(msgspec.Struct, frozen=True):
    """Yes, with other arguments: a whole object, not only what changes. They are checked like those of any call."""

    arguments: Mapping[str, Any]
    by: str = ""
    reason: str = ""


Verdict = Approve | Refuse | Edit


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """A call that needs permission, as it is shown to whoever decides.

    Args:
        call_id: our id.
        tool: its tool's name.
        arguments: as checked: what the function would get.
        effect: of the tool.
        digest: of tool and arguments: what a permission is bound to.
        turn, session, agent: where it was asked for; `session` is None outside one.
        why: why it needs permission, where there is more to say than that its tool asks.
        edited: whether somebody has changed the arguments already.
    """

    call_id: str
    tool: str
    arguments: Mapping[str, Any]
    effect: ToolEffect
    digest: str
    turn: str
    session: str | None = None
    agent: str = ""
    why: str = ""
    edited: bool = False

    def approve(self, reason: str = "", *, by: str = "") -> Approve:
        """Yes."""
        return Approve(by, reason)

    def refuse(self, reason: str = "", *, by: str = "") -> Refuse:
        """No, and why: the model reads it."""
        return Refuse(reason, by)

    def edit(
        self, arguments: Mapping[str, Any] | None = None, *, by: str = "", reason: str = "", **changes: Any
    ) -> Edit:
        """Yes, with other arguments: all of them, or those that change, by name."""
        return Edit({**(self.arguments if arguments is None else arguments), **changes}, by, reason)


Approver = Callable[[Approval], Verdict | bool | Awaitable[Verdict | bool | None] | None]
"""Decides: with `approval.approve()`, `.refuse(reason)` or `.edit(arguments)`. True and False are yes and no. None is no
decision: in a session in a store the call waits for another one, anywhere else it is refused. It may be async; a plain
function is called in a thread."""


class People(Protocol):
    """Whom a turn can ask."""

    @property
    def present(self) -> bool:
        """Whether there is somebody to ask now, and not only elsewhere or later."""
        ...

    async def decide(self, state: State, call: Call) -> Decision | None:
        """What becomes of a waiting call, less the time; None when nobody has decided, and the turn may be let go to wait.

        Only store faults may be raised.
        """
        ...


class Nobody:
    """There is nobody to ask, and nowhere to wait."""

    present = False

    async def decide(self, state: State, call: Call) -> Decision | None:  # noqa: ARG002
        return refusal(call, "it needs somebody's permission, and there is nobody to ask")


class Present:
    """A function of the caller's decides, in this process.

    Args:
        approver: the function.
    """

    present = True

    def __init__(self, approver: Approver) -> None:
        self._approver = approver
        self._edits: dict[str, list[Edit]] = {}

    async def decide(self, state: State, call: Call) -> Decision | None:
        edits = self._edits.setdefault(call.id, [])
        if edits and permits(edits[-1].arguments, call):
            return CallApproved(at=0.0, call=call.id, digest=call.digest, by=edits[-1].by, reason=edits[-1].reason)
        if len(edits) >= MOST_EDITS:
            return refusal(call, f"it was edited {MOST_EDITS} times, and still needs permission")
        verdict = await asked(self._approver, approval_of(state, call), state.limits.deciding)
        if isinstance(verdict, Edit):
            edits.append(verdict)
        if verdict is None:
            return refusal(call, "nobody decided about it")
        return meant(call, verdict)


class Expired(msgspec.Struct, frozen=True):
    """Nobody decided in time."""


async def asked(approver: Approver, approval: Approval, seconds: float | None) -> Verdict | Expired | None:
    """What the function decides within so many seconds. What it does not say clearly, and what it cannot say, is no."""
    try:
        async with asyncio.timeout(seconds):
            said = cast("object", await aside(approver, approval))
    except TimeoutError:
        return Expired()
    except Exception as error:
        warn(f"the function that decides about {approval.tool!r} failed, so it was refused: {words(error)}")
        return Refuse("the decision could not be made")
    if isinstance(said, Edit):
        return _readable(said)
    if said is None or isinstance(said, Approve | Refuse):
        return said
    if isinstance(said, bool):
        return Approve() if said else Refuse()
    warn(
        f"the function that decides about {approval.tool!r} returned {type(said).__name__}, so it was refused: return "
        "approval.approve(), approval.refuse(reason) or approval.edit(arguments)"
    )
    return Refuse("the decision could not be read")


def approval_of(state: State, call: Call) -> Approval:
    """What there is to decide about."""
    return Approval(
        call_id=call.id,
        tool=call.name,
        arguments=decode(call.arguments or "{}"),
        effect=call.effect,
        digest=call.digest,
        turn=state.turn,
        session=state.session,
        agent=state.agent,
        why=call.why,
        edited=call.edited,
    )


def meant(call: Call, verdict: Verdict | Expired) -> Decision:
    """What a verdict means for the turn."""
    match verdict:
        case Approve(by, reason):
            return CallApproved(at=0.0, call=call.id, digest=call.digest, by=by, reason=reason)
        case Refuse(reason, by):
            return refusal(call, reason, by)
        case Expired():
            return expired(call)
        case Edit(arguments, by, reason):
            if permits(arguments, call):  # nothing was changed
                return CallApproved(at=0.0, call=call.id, digest=call.digest, by=by, reason=reason)
            text = canonical(dict(arguments))
            return CallEdited(at=0.0, call=call.id, digest=call.digest, arguments=text, by=by, reason=reason)


def refusal(call: Call, reason: str, by: str = "") -> CallRefused:
    """No."""
    return CallRefused(at=0.0, call=call.id, digest=call.digest, by=by, reason=reason)


def expired(call: Call) -> CallRefused:
    """No, because nobody decided in time."""
    reason = "nobody decided about it in time"
    return CallRefused(at=0.0, call=call.id, digest=call.digest, reason=reason, expired=True)


def permits(arguments: Mapping[str, Any], call: Call) -> bool:
    """Whether a call has exactly these arguments."""
    try:
        return call.arguments is not None and canonical(dict(arguments)) == call.arguments
    except Unreadable:
        return False


def _readable(edit: Edit) -> Verdict:
    """An edit as JSON has it, so that what it holds cannot change any more; a no, where it is no JSON object."""
    arguments = cast("object", edit.arguments)
    try:
        if isinstance(arguments, Mapping):
            return Edit(decode(canonical(dict(cast("Mapping[str, Any]", arguments)))), edit.by, edit.reason)
    except (Unreadable, TypeError, ValueError, OverflowError, RecursionError):
        pass
    return Refuse("the edited arguments are no JSON object", edit.by)
