"""What is true of a turn at one moment: a frozen value, folded from its events.

A state holds only this turn. The conversation before it belongs to the session, so nothing here grows with its length.
Containers are never changed in place; `evolve` makes new ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from tukang.conversation import Message, Part, Text, Usage
from tukang.loop.events import Grounding, Language, ModelFault, Returns
from tukang.loop.limits import Limits, StopReason
from tukang.tools.outcome import Outcome
from tukang.tools.policy import Policy, ToolEffect

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
    ("checking", "TurnResumed"): "asked",
    ("running", "TurnResumed"): "ready",
}


class Call(msgspec.Struct, frozen=True, gc=False):
    """One requested call and how far it has come.

    `why` is why it needs permission. `text` is the arguments as asked for (or as edited), `arguments` the checked, canonical
    JSON. `effect` is that of this call, as far as it is known: its tool's until it was checked.
    `permission`: the provider would run it, and only asks whether it may.
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
    why: str = ""
    redacted: bool = False
    outcome: Outcome | None = None
    source: str | None = None
    started: float | None = None
    finished: float | None = None
    key: str = ""
    reading: bool = False
    permission: bool = False

    @property
    def effect(self) -> ToolEffect:
        return "read" if self.reading else self.policy.effect

    @property
    def reads(self) -> bool:
        return self.reading or self.policy.effect == "read"

    @property
    def begun(self) -> bool:
        """Whether its function was started, once or before an interruption."""
        return bool(self.key)

    @property
    def done(self) -> bool:
        return self.status == "done"

    @property
    def kept(self) -> bool:
        """Whether its result is that of a call of an earlier turn, because the tool's policy says `cache`."""
        return self.source is not None and _turn_of(self.source) != _turn_of(self.id)

    @property
    def succeeded(self) -> bool:
        return self.outcome is not None and self.outcome.fault is None


class Execution(msgspec.Struct, frozen=True, gc=False):
    """The last time a call with this digest ran in this turn. `epoch` is the number of writes begun before it."""

    call: str
    key: str
    epoch: int
    outcome: Outcome | None


class Served(msgspec.Struct, frozen=True, gc=False):
    """A call that the provider ran itself: its own id, what it is called, and after how many calls of ours it was asked for.

    `result` is None while none has come.
    """

    id: str
    tool: str
    arguments: str
    round: int
    after: int
    result: str | None = None
    fault: bool = False


class Asking(msgspec.Struct, frozen=True, gc=False):
    """A request under way."""

    tools_off: bool
    speaking: bool = False
    stopping: bool = False


class SentBack(msgspec.Struct, frozen=True, gc=False):
    """An answer that went back to the model: its words as they were said, or its data, and what in it is unsupported."""

    text: str
    unsupported: tuple[str, ...]
    parts: tuple[Part, ...] = ()
    data: str | None = None


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
        epoch: how many calls that may have changed something have begun, and polls of what may have come back.
        served: the calls that the provider ran itself. `hosted` names its tools that are on offer, and says whether it asks
            before a call; `acted` that a request broke off after which nobody knows what they did.
        menu: the names of the tools that the model is shown; None for all.
        seen: (digest, result) of every call answered so far: what "no progress" means.
        stuck, polls: rounds in a row without progress; `polls` counts those that only asked for repeatable calls.
        choice: the forced tool_choice, until one valid call was made.
        forced: the limit for whose sake the model was told to answer.
        returns: that the answer is data, and which tool gives it. `in_words` and `misfit` say that words, or data that does
            not fit, have gone back already; `data` is what fits, as canonical JSON.
        answered: the reason and the text, once there is an answer.
        grounding: what the answer is held to, if it is. `checking` says that it is being compared, `unsupported` what came of
            that (None: nothing yet), `unchecked` why nothing could.
        sent_back: the answer that went back, while there is none in its place; `corrected` says that one has.
        model: the model that answered, in its provider's words.
        error: the last fault of a request, for the record.
        resumed: how often the turn was left and went on.
        paused: seconds that do not count against the limit, because nobody ran the turn.
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
    returns: Returns | None = None
    in_words: bool = False
    misfit: bool = False
    data: str | None = None
    answered: tuple[StopReason, str] | None = None
    grounding: Grounding | None = None
    checking: bool = False
    unsupported: tuple[str, ...] | None = None
    unchecked: str | None = None
    sent_back: SentBack | None = None
    corrected: bool = False
    error: ModelFault | None = None
    resumed: int = 0
    paused: float = 0.0
    served: tuple[Served, ...] = ()
    hosted: Mapping[str, bool] = {}
    menu: tuple[str, ...] | None = None
    acted: bool = False
    stopped: StopReason | None = None
    text: str = ""

    @property
    def finished(self) -> bool:
        return self.stopped is not None

    @property
    def partial_text(self) -> str:
        return "".join([part.text for part in self.partial if isinstance(part, Text)])

    @property
    def seconds_left(self) -> float | None:
        """Until the time for work is over, as of the last event; None without a bound."""
        work = self.limits.seconds_for_work
        return None if work is None else self.started + self.paused + work - self.now

    def seconds_used(self, at: float) -> float:
        """How much of the turn's time is over, at a moment after the last event."""
        return at - self.started - self.paused - self.idle(at)

    def idle(self, at: float) -> float:
        """Seconds since the last event that do not count, because the turn only waits."""
        return max(0.0, at - self.now) if self.waiting and not self.limits.idle_counts else 0.0

    @property
    def untrusted(self) -> bool:
        """Whether a result that the model has read holds what comes from outside."""
        if self.served and any([_from_outside(self.policies, one) for one in self.served]):
            return True
        return any(call.outcome is not None and call.outcome.origin is not None for call in self.done)

    @property
    def waiting(self) -> bool:
        """Whether the turn can only go on when somebody decides."""
        there = {call.status for call in self.calls}
        return "waiting" in there and there.isdisjoint(("asked", "checking", "running"))

    def call(self, call_id: str) -> Call | None:
        """The call of the open round that has this id. Its place is in its id, so that no other is looked at."""
        calls = self.calls
        if len(calls) == 1:  # as in most rounds: then there is no place to read
            found = calls[0]
        else:
            try:
                found = calls[int(call_id.rpartition("-")[2])]
            except (ValueError, IndexError):
                return None
        return found if found.id == call_id else None


def _from_outside(policies: Mapping[str, Policy], one: Served) -> bool:
    """Whether what the provider ran brought what comes from outside: unless the policy of it, or of its server, says no."""
    policy = policies.get(one.tool.partition(".")[0])
    return policy is None or policy.untrusted


def _turn_of(call: str) -> str:
    return call.rpartition("-")[0].rpartition("-")[0]


def call_id(turn: str, round: int, position: int) -> str:
    """Our own id of a call: no randomness, the same in every replay. Legal for every provider's id rules."""
    return f"{turn}-{round}-{position}"
