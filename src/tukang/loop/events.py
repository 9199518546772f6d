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
from tukang.tools.outcome import Fault, Outcome
from tukang.tools.policy import Policy

Language = Literal["id", "en"]


class _Event(msgspec.Struct, frozen=True, gc=False, tag=True, kw_only=True, omit_defaults=True):
    at: float


class TurnStarted(_Event, frozen=True, gc=False):
    """A turn begins. Everything that governs it is copied here, so that a replay does not depend on today's code."""

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
    """A call was checked. `arguments` is canonical JSON; `digest` is over tool and canonical arguments."""

    call: str
    digest: str
    arguments: str | None = None
    repaired: bool = False
    fault: Fault | None = None
    needs_approval: bool = False


class CallStarted(_Event, frozen=True, gc=False):
    """The function is about to run, with this idempotency key. For anything but a read this is written before it runs."""

    call: str
    key: str


class CallFinished(_Event, frozen=True, gc=False):
    """The function ended, well or not."""

    call: str
    outcome: Outcome


class CallSettled(_Event, frozen=True, gc=False):
    """A call got its result without running to its end. `source` is the call whose outcome it shares."""

    call: str
    outcome: Outcome
    source: str | None = None


class RoundEnded(_Event, frozen=True, gc=False):
    """Every call of the round has its result. `answer` is the terminal call whose result is the answer."""

    notes: Mapping[str, str] = {}
    answer: str | None = None


# ── people ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class ApprovalAsked(_Event, frozen=True, gc=False):
    """Someone is asked whether these calls may run."""

    calls: tuple[str, ...]


class CallApproved(_Event, frozen=True, gc=False):
    """Permission for exactly one call with exactly these arguments. A permission for another digest is void."""

    call: str
    digest: str
    by: str = ""


class CallRefused(_Event, frozen=True, gc=False):
    """Somebody said no."""

    call: str
    digest: str
    by: str = ""
    reason: str = ""


class CallEdited(_Event, frozen=True, gc=False):
    """Somebody changed the arguments. The call is checked again, under a new digest."""

    call: str
    digest: str
    arguments: str
    by: str = ""


# ── the turn ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class DeadlineReached(_Event, frozen=True, gc=False):
    """The time for work is over; the reserve for the forced answer begins."""


class TimeExpired(_Event, frozen=True, gc=False):
    """The reserve is over as well. What is there now is the answer."""


class CancelRequested(_Event, frozen=True, gc=False):
    """The caller wants the turn to end."""

    reason: str = ""


class TurnFinished(_Event, frozen=True, gc=False):
    """The turn is over. `text` is the answer."""

    stopped: StopReason
    text: str


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
    | ApprovalAsked
    | CallApproved
    | CallRefused
    | CallEdited
    | DeadlineReached
    | TimeExpired
    | CancelRequested
    | TurnFinished
)
