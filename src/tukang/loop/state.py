"""What is true of a turn at one moment: a frozen value, folded from its events.

A state holds only this turn. The conversation before it belongs to the session, so nothing here grows with its length.
Containers are never changed in place; `evolve` makes new ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from tukang.conversation import Message, Part, Text, Usage
from tukang.loop.events import Language, ModelFault
from tukang.loop.limits import Limits, StopReason
from tukang.tools.outcome import Outcome
from tukang.tools.policy import Policy

CallStatus = Literal["asked", "checking", "ready", "waiting", "running", "done"]

# How a call moves: (where it is, what happened) → where it is then. Anything else leaves it where it is.
CALL_MOVES: dict[tuple[CallStatus, str], CallStatus] = {
    ("asked", "ChecksBegan"): "checking",
    ("checking", "CallChecked"): "ready",
    ("checking", "CallChecked with a fault"): "done",
    ("ready", "ApprovalAsked"): "waiting",
    ("waiting", "CallApproved"): "ready",
    ("waiting", "CallEdited"): "asked",
    ("waiting", "CallRefused"): "done",
    ("ready", "CallStarted"): "running",
    ("running", "CallFinished"): "done",
    ("asked", "CallSettled"): "done",
    ("checking", "CallSettled"): "done",
    ("ready", "CallSettled"): "done",
    ("waiting", "CallSettled"): "done",
    ("running", "CallSettled"): "done",
}


class Call(msgspec.Struct, frozen=True, gc=False):
    """One requested call and how far it has come.

    `text` is the arguments as asked for (or as edited), `arguments` the checked, canonical JSON.
    """

    id: str
    name: str
    round: int
    position: int
    text: str
    policy: Policy
    status: CallStatus = "asked"
    cut: bool = False
    arguments: str | None = None
    digest: str = ""
    repaired: bool = False
    edited: bool = False
    needs_approval: bool = False
    outcome: Outcome | None = None
    source: str | None = None
    started: float | None = None
    finished: float | None = None
    key: str = ""

    @property
    def reads(self) -> bool:
        return self.policy.effect == "read"

    @property
    def done(self) -> bool:
        return self.status == "done"

    @property
    def succeeded(self) -> bool:
        return self.outcome is not None and self.outcome.fault is None


class Execution(msgspec.Struct, frozen=True, gc=False):
    """The last time a call with this digest ran in this turn. `epoch` is the number of writes begun before it."""

    call: str
    key: str
    epoch: int
    outcome: Outcome | None


class Asking(msgspec.Struct, frozen=True, gc=False):
    """A request under way."""

    tools_off: bool
    speaking: bool = False
    stopping: bool = False


Broken = Literal["paused", "length"] | ModelFault
"""Why the reply so far is not whole."""


class State(msgspec.Struct, frozen=True, gc=False):
    """A turn.

    Args:
        models: the names of the models that may be asked; the next takes over when one gives up. `asked` is the one in use.
        messages: what this turn has added to the conversation so far, the trigger first.
        partial: the part of a reply that is there although the reply is not whole yet.
        broken: why it is not whole.
        calls: the calls of the open round, in the order asked.
        done: the calls of the rounds before.
        ledger: digest → the last execution of such a call.
        epoch: how many calls that may have changed something have begun.
        seen: (digest, hash of the result) of every call answered so far: what "no progress" means.
        stuck, polls: rounds in a row without progress; `polls` counts those that only asked for repeatable calls.
        choice: the forced tool_choice, until one valid call was made.
        forced: the limit for whose sake the model was told to answer.
        answered: the reason and the text, once there is an answer.
        model: the model that answered, in its provider's words.
        error: the last fault of a request, for the record.
    """

    turn: str
    agent: str
    session: str | None
    language: Language
    limits: Limits
    policies: Mapping[str, Policy]
    started: float
    now: float
    messages: tuple[Message, ...]
    choice: str
    models: tuple[str, ...] = ()
    asked: int = 0
    round: int = 0
    attempt: int = 0
    continuations: int = 0
    asking: Asking | None = None
    partial: tuple[Part, ...] = ()
    broken: Broken | None = None
    calls: tuple[Call, ...] = ()
    done: tuple[Call, ...] = ()
    ledger: Mapping[str, Execution] = {}
    epoch: int = 0
    seen: frozenset[tuple[str, str]] = frozenset()
    stuck: int = 0
    polls: int = 0
    faults: int = 0
    calls_asked: int = 0
    usage: Usage = Usage()
    model: str | None = None
    deadline: bool = False
    expired: bool = False
    cancelled: bool = False
    forced: StopReason | None = None
    answered: tuple[StopReason, str] | None = None
    error: ModelFault | None = None
    stopped: StopReason | None = None
    text: str = ""

    @property
    def finished(self) -> bool:
        return self.stopped is not None

    @property
    def partial_text(self) -> str:
        return "".join(part.text for part in self.partial if isinstance(part, Text))

    @property
    def seconds_left(self) -> float | None:
        """Until the time for work is over, as of the last event; None without a bound."""
        work = self.limits.seconds_for_work
        return None if work is None else self.started + work - self.now

    @property
    def waiting(self) -> bool:
        """Whether the turn can only go on when somebody decides."""
        return any(call.status == "waiting" for call in self.calls) and not any(
            call.status in ("asked", "checking", "running") for call in self.calls
        )


def call_id(turn: str, round: int, position: int) -> str:
    """Our own id of a call: no randomness, the same in every replay. Legal for every provider's id rules."""
    return f"{turn}-{round}-{position}"
