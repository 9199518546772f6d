"""What happened in a turn: facts, in the past tense, each with its time.

Events are the journal: a state is a fold over them and nothing else. They are values that can be written down and read
back; they hold no function and no live object. `at` is seconds since the epoch, as the driver's clock had it.

There are two kinds, and the fold does not tell them apart: what came from outside (a reply, a result, a deadline), and what
the loop itself decided (each effect is recorded here *before* it is performed; see `effects.begun`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from tukang.conversation import Message, Part, Usage
from tukang.errors import ModelErrorKind
from tukang.loop.limits import Limits, StopReason
from tukang.loop.permissions import Principal, Rule
from tukang.tools.outcome import Fault, Outcome
from tukang.tools.policy import Policy

Language = Literal["id", "en"]


class Returns(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The answer is data: the arguments of a tool without a function.

    Args:
        tool: its name. The first valid call of it is the answer.
        key: the one argument that holds the data, where the data is not an object; otherwise the arguments are the data.
    """

    tool: str
    key: str | None = None


class Grounding(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The answer is held to what is known; see `tukang.grounding.policy.Grounded`.

    Args:
        patterns: what must be known; empty for codes, prices, dates and numbers.
        function: whether a function of the developer's says what is unsupported. It may take its time.
        earlier: whether earlier turns of the session count.
        correct: whether the first answer that says something unsupported goes back to the model.
    """

    patterns: tuple[str, ...] = ()
    function: bool = False
    earlier: bool = True
    correct: bool = True


class _Event(msgspec.Struct, frozen=True, gc=False, tag=True, kw_only=True, omit_defaults=True):
    at: float


class TurnStarted(_Event, frozen=True, gc=False):
    """A turn begins. Everything that governs it is copied here, so that a replay does not depend on today's code. `hosted`
    names the tools among `policies` that the provider runs, and says of each whether it asks before a call. `menu` names the
    tools that the model is shown at first, where that is not all of them."""

    turn: str
    trigger: Message
    limits: Limits
    policies: Mapping[str, Policy]
    contracts: Mapping[str, str]
    models: tuple[str, ...] = ()
    tool_choice: str = "auto"
    agent: str = ""
    session: str | None = None
    language: Language = "en"
    returns: Returns | None = None
    grounding: Grounding | None = None
    principal: Principal | None = None
    rules: tuple[Rule, ...] = ()
    hosted: Mapping[str, bool] = {}
    menu: tuple[str, ...] | None = None


# ── the model ────────────────────────────────────────────────────────────────────────────────────────────────────────


class ModelAsked(_Event, frozen=True, gc=False):
    """A request is about to be sent, to the turn's model number `model`. `forced` names the limit for whose sake it must
    answer now."""

    attempt: int
    model: int = 0
    tool_choice: str = "auto"
    tools_off: bool = False
    forced: StopReason | None = None
    note: str | None = None
    wait: float = 0.0


class ReplyBegan(_Event, frozen=True, gc=False):
    """The first word of text was streamed: from here on a user has seen part of this reply."""


class ModelReplied(_Event, frozen=True, gc=False):
    """A whole reply. Calls in `parts` have no id yet: the fold gives them out."""

    parts: tuple[Part, ...]
    finish: str
    usage: Usage = Usage()
    model: str | None = None
    refusal: str | None = None


class ModelFault(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Why a request did not end in a reply."""

    kind: ModelErrorKind
    message: str
    hint: str | None = None
    status: int | None = None
    retryable: bool = False
    retry_after: float | None = None


class ModelInterrupted(_Event, frozen=True, gc=False):
    """A request did not end in a reply. `parts` is what had been streamed; `error` is None when the loop stopped it."""

    parts: tuple[Part, ...] = ()
    error: ModelFault | None = None
    usage: Usage = Usage()


class ModelStopping(_Event, frozen=True, gc=False):
    """The loop wants no more of the request under way."""


# ── the calls ────────────────────────────────────────────────────────────────────────────────────────────────────────


class ChecksBegan(_Event, frozen=True, gc=False):
    """These calls are being parsed, repaired and validated."""

    calls: tuple[str, ...]


class CallChecked(_Event, frozen=True, gc=False):
    """A call was checked. `arguments` is canonical JSON; `digest` is over tool and canonical arguments. `why` says why it
    needs permission, where there is more to say than that its tool asks.

    `redacted`: a secret was taken out of the arguments before this was written down. The digest is that of the whole ones.
    Who reads this from a store cannot run the call: its arguments are gone.

    `reads`: with these arguments the call is a read, although its tool is not one (`Policy.reads_when`).
    """

    call: str
    digest: str
    arguments: str | None = None
    repaired: bool = False
    fault: Fault | None = None
    needs_approval: bool = False
    why: str = ""
    redacted: bool = False
    reads: bool = False


class CallStarted(_Event, frozen=True, gc=False):
    """The function is about to run, with this idempotency key. For anything but a read this is written before it runs."""

    call: str
    key: str


class CallFinished(_Event, frozen=True, gc=False):
    """The function ended, well or not. `source` is the call of an earlier turn whose result was kept and given instead."""

    call: str
    outcome: Outcome
    source: str | None = None


class CallSettled(_Event, frozen=True, gc=False):
    """A call got its result without running to its end. `source` is the call whose outcome it shares."""

    call: str
    outcome: Outcome
    source: str | None = None


class RoundEnded(_Event, frozen=True, gc=False):
    """Every call of the round has its result. `answer` is the terminal call whose result is the answer."""

    notes: Mapping[str, str] = {}
    answer: str | None = None


# ── the answer ───────────────────────────────────────────────────────────────────────────────────────────────────────


class AnswerCheckBegan(_Event, frozen=True, gc=False):
    """What the turn is about to end with is being compared with what is known."""


class AnswerChecked(_Event, frozen=True, gc=False):
    """It was compared. `unsupported` is what in it is not known, as it is written there; `unchecked` says why nobody can
    tell."""

    unsupported: tuple[str, ...] = ()
    unchecked: str | None = None


class AnswerSentBack(_Event, frozen=True, gc=False):
    """The answer goes back to the model, because of what is unsupported in it. Who follows the turn has read it already: it
    is void, and another one follows."""

    unsupported: tuple[str, ...]


# ── people ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class ApprovalAsked(_Event, frozen=True, gc=False):
    """Someone is asked whether these calls may run."""

    calls: tuple[str, ...]


class CallApproved(_Event, frozen=True, gc=False):
    """Permission for exactly one call with exactly these arguments. A permission for another digest is void."""

    call: str
    digest: str
    by: str = ""
    reason: str = ""


class CallRefused(_Event, frozen=True, gc=False):
    """Somebody said no, or nobody said anything in time (`expired`): then there is no answer in a store that this uses up."""

    call: str
    digest: str
    by: str = ""
    reason: str = ""
    expired: bool = False


class CallEdited(_Event, frozen=True, gc=False):
    """Somebody changed the arguments. The call is checked again, under a new digest. `redacted` as in `CallChecked`."""

    call: str
    digest: str
    arguments: str
    by: str = ""
    reason: str = ""
    redacted: bool = False


# ── the turn ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class TurnResumed(_Event, frozen=True, gc=False):
    """The turn goes on after nobody ran it: its process had died, or it was let go to wait."""


class DeadlineReached(_Event, frozen=True, gc=False):
    """The time for work is over; the reserve for the forced answer begins."""


class TimeExpired(_Event, frozen=True, gc=False):
    """The reserve is over as well. What is there now is the answer."""


class CancelRequested(_Event, frozen=True, gc=False):
    """The caller wants the turn to end."""

    reason: str = ""


class TurnFinished(_Event, frozen=True, gc=False):
    """The turn is over. `text` is the answer; `unsupported` and `unchecked` say what is known of it, as in
    `AnswerChecked`."""

    stopped: StopReason
    text: str
    unsupported: tuple[str, ...] = ()
    unchecked: str | None = None


Event = (
    TurnStarted
    | ModelAsked
    | ReplyBegan
    | ModelReplied
    | ModelInterrupted
    | ModelStopping
    | ChecksBegan
    | CallChecked
    | CallStarted
    | CallFinished
    | CallSettled
    | RoundEnded
    | AnswerCheckBegan
    | AnswerChecked
    | AnswerSentBack
    | ApprovalAsked
    | CallApproved
    | CallRefused
    | CallEdited
    | TurnResumed
    | DeadlineReached
    | TimeExpired
    | CancelRequested
    | TurnFinished
)
