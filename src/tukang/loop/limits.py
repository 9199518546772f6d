"""How far a turn may go: data, and the table that says which limit is reached.

A limit never loses work: at any of them the turn still answers (see `ending`). This file reads a state and decides
nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from tukang.loop.state import State

StopReason = Literal[
    "answer",  # the model answered
    "terminal",  # a terminal tool's result is the answer
    "rounds",  # Limits.rounds
    "seconds",  # Limits.seconds
    "tokens",  # Limits.tokens
    "calls",  # Limits.calls
    "faults",  # Limits.faults
    "no_progress",  # the same calls with the same results, again and again
    "cancelled",  # the caller cancelled
    "length",  # the model's own token limit cut the answer off
    "filtered",  # the provider's content filter
    "refused",  # the model refused
    "no_data",  # data was asked for, and none that fits came, although the model was told why
    "model_error",  # no reply could be had
]


class Limits(msgspec.Struct, frozen=True, omit_defaults=True):
    """The bounds of one turn.

    Args:
        rounds: replies that may ask for tools. The forced answer after the last one is not a round.
        seconds: the whole turn: model requests, tools and retries together. None for no bound.
        tokens: input and output of all requests together. None for no bound.
        calls: calls that may be asked for; the ones beyond get `not_run`.
        parallel: calls that may run at the same time; None for no bound but each tool's own.
        faults: faulty calls (unknown tool, bad arguments, a failed read run again) that are forgiven.
        reserve: seconds of `seconds` kept for the forced answer; never more than a quarter of `seconds`.
        attempts: times one request is tried when it fails in a way that may pass.
        continuations: times one reply that paused, broke off or hit the token limit is asked to go on.
        idle_counts: whether time in which nobody runs the turn counts against `seconds`: while its process is down, and while
            the turn waits for a person.
        deciding: seconds that a person has to decide about a call; after that it is refused. None for no bound.

    Raises:
        ValueError: a bound is negative, or `seconds`, `deciding` or `attempts` is not positive.
    """

    rounds: int = 10
    seconds: float | None = 120.0
    tokens: int | None = None
    calls: int = 100
    parallel: int | None = None
    faults: int = 5
    reserve: float = 10.0
    attempts: int = 3
    continuations: int = 2
    idle_counts: bool = False
    deciding: float | None = None

    def __post_init__(self) -> None:
        for name in ("rounds", "calls", "faults", "reserve", "continuations"):
            if getattr(self, name) < 0:
                raise ValueError(f"Limits.{name} must not be negative, but is {getattr(self, name)!r}")
        if self.seconds is not None and not self.seconds > 0:
            raise ValueError(f"Limits.seconds must be more than 0 or None, not {self.seconds!r}")
        if self.tokens is not None and self.tokens < 1:
            raise ValueError(f"Limits.tokens must be at least 1 or None, not {self.tokens!r}")
        if self.parallel is not None and self.parallel < 1:
            raise ValueError(f"Limits.parallel must be at least 1 or None, not {self.parallel!r}")
        if self.deciding is not None and not self.deciding > 0:
            raise ValueError(f"Limits.deciding must be more than 0 or None, not {self.deciding!r}")
        if self.attempts < 1:
            raise ValueError(f"Limits.attempts must be at least 1, not {self.attempts!r}")

    @property
    def seconds_for_work(self) -> float | None:
        """When work stops and the forced answer begins, in seconds from the start of the turn."""
        return None if self.seconds is None else self.seconds - min(self.reserve, self.seconds / 4)


def out_of_tokens(state: State) -> bool:
    """Whether the token budget is spent, so that calls just asked for must not start."""
    return state.limits.tokens is not None and state.usage.total >= state.limits.tokens


# Looked at before each request, in this order; the first that holds names the reason.
ALLOWANCES: tuple[tuple[StopReason, Callable[[State], bool]], ...] = (
    ("tokens", out_of_tokens),
    ("faults", lambda state: state.faults > state.limits.faults),
    ("calls", lambda state: state.calls_asked >= state.limits.calls),
    ("rounds", lambda state: state.round >= state.limits.rounds),
)


def reached(state: State) -> StopReason | None:
    """The limit that allows no further round, if one does."""
    for reason, holds in ALLOWANCES:
        if holds(state):
            return reason
    return None
