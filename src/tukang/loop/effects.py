"""What the loop wants done. The driver performs effects; nothing here does.

Each effect is recorded as an event *before* it is performed (`begun`): that is what "intent before effect" means, and it
is why `decide` never asks for the same thing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from tukang.loop import events
from tukang.loop.limits import StopReason
from tukang.tools.outcome import Outcome


class AskModel(msgspec.Struct, frozen=True, gc=False):
    """Send the conversation to the turn's model number `model`, after `wait` seconds."""

    attempt: int
    model: int = 0
    tool_choice: str = "auto"
    tools_off: bool = False
    forced: StopReason | None = None
    note: str | None = None
    wait: float = 0.0


class StopModel(msgspec.Struct, frozen=True, gc=False):
    """Stop the request under way; `ModelInterrupted` brings what had been streamed."""


class CheckCalls(msgspec.Struct, frozen=True, gc=False):
    """Parse, repair, validate: one `CallChecked` for each."""

    calls: tuple[str, ...]


class AskPerson(msgspec.Struct, frozen=True, gc=False):
    """Ask for permission for each of these calls."""

    calls: tuple[str, ...]


class RunCall(msgspec.Struct, frozen=True, gc=False):
    """Run the function."""

    call: str
    key: str


class Settle(msgspec.Struct, frozen=True, gc=False):
    """Give a call its result without running it to its end; if it is running, stop it."""

    call: str
    outcome: Outcome
    source: str | None = None


class EndRound(msgspec.Struct, frozen=True, gc=False):
    """Put the results into the conversation."""

    notes: Mapping[str, str] = {}
    answer: str | None = None


class CheckAnswer(msgspec.Struct, frozen=True, gc=False):
    """Compare what the turn is about to end with (`ending.coming`) with what is known: one `AnswerChecked`."""


class SendBack(msgspec.Struct, frozen=True, gc=False):
    """Take the answer back: the model is asked for another one."""

    unsupported: tuple[str, ...]


class Finish(msgspec.Struct, frozen=True, gc=False):
    """End the turn with this answer."""

    stopped: StopReason
    text: str
    unsupported: tuple[str, ...] = ()
    unchecked: str | None = None


Effect = AskModel | StopModel | CheckCalls | AskPerson | RunCall | Settle | EndRound | CheckAnswer | SendBack | Finish

_BEGUN: dict[type[Any], Callable[..., events.Event]] = {
    AskModel: events.ModelAsked,
    StopModel: events.ModelStopping,
    CheckCalls: events.ChecksBegan,
    AskPerson: events.ApprovalAsked,
    RunCall: events.CallStarted,
    Settle: events.CallSettled,
    EndRound: events.RoundEnded,
    CheckAnswer: events.AnswerCheckBegan,
    SendBack: events.AnswerSentBack,
    Finish: events.TurnFinished,
}


def begun(effect: Effect, at: float) -> events.Event:
    """The event that records an effect as under way. Its fields are the effect's own, in the same order, and the time."""
    return _BEGUN[type(effect)](*msgspec.structs.astuple(effect), at=at)
