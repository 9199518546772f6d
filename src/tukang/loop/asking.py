"""The next request to the model: with which tool_choice, with tools or without, with which note, after which wait.

Also here: whether a request that failed is sent again, and to whom: a model that gives up is followed by the next one the
agent has. Retries, fallbacks, and continuations of a reply that is not whole belong to the same round.
"""

from __future__ import annotations

import msgspec

from tukang.loop import limits, progress, returns, wording
from tukang.loop.effects import AskModel
from tukang.loop.events import ModelFault
from tukang.loop.limits import StopReason
from tukang.loop.state import State

FIRST_WAIT = 0.5
LONGEST_WAIT = 8.0
"""Seconds between attempts: doubled each time. A provider's own `Retry-After` counts when it is longer."""

PATIENCE = 300.0
"""Seconds beyond which a `Retry-After` is not waited for: the model has given up, also in a turn that may take its time."""


class Try(msgspec.Struct, frozen=True, gc=False):
    """The next request: to which of the turn's models, the how-manieth attempt of it, after how many seconds."""

    model: int
    attempt: int = 1
    wait: float = 0.0


def ask(state: State) -> tuple[AskModel, ...]:
    """Ask the model for the next reply, when nothing else is under way."""
    if state.asking is not None or state.checking or (following := next_try(state)) is None:
        return ()
    forced = must_answer(state)
    tools_off = forced is not None or state.choice == "none"
    choice = "none" if tools_off else state.choice
    if state.returns is not None:
        choice, tools_off = returns.choice(state, tools_off=tools_off), False
    return (
        AskModel(
            attempt=following.attempt,
            model=following.model,
            tool_choice=choice,
            tools_off=tools_off,
            forced=forced,
            note=_note(state, forced),
            wait=following.wait,
        ),
    )


def must_answer(state: State) -> StopReason | None:
    """The limit for whose sake no further round is allowed, if there is one."""
    if state.forced is not None:
        return state.forced
    if state.deadline:
        return "seconds"
    if progress.exhausted(state):
        return "no_progress"
    if state.partial:
        return None  # the rest of a reply belongs to its round, which was allowed
    return limits.reached(state)


def next_try(state: State) -> Try | None:
    """Which model is asked next, after which wait; None when a reply that is not whole is not worth another request."""
    if state.partial and state.continuations >= state.limits.continuations + state.in_words:
        return None
    fault = state.broken
    if state.acted:
        return None  # what may have happened at the provider must not happen again
    if fault is None or isinstance(fault, str):
        return Try(state.asked)
    wait = 0.0 if state.deadline else _wait(state.attempt, fault)
    in_time = wait <= PATIENCE and (state.deadline or state.seconds_left is None or wait < state.seconds_left)
    if fault.retryable and state.attempt < state.limits.attempts and in_time:
        return Try(state.asked, state.attempt + 1, wait)
    if state.asked + 1 < len(state.models):
        return Try(state.asked + 1)
    return None


def _wait(attempt: int, fault: ModelFault) -> float:
    """Seconds before the next attempt. The driver adds a little chance, so that clients do not come in step."""
    return max(min(FIRST_WAIT * 2 ** (attempt - 1), LONGEST_WAIT), fault.retry_after or 0.0)


def _note(state: State, forced: StopReason | None) -> str | None:
    language = state.language
    lines: list[str] = []
    if forced is not None:
        lines.append(wording.force(language, forced))
    elif state.choice not in ("auto", "none") and state.faults:
        lines.append(wording.call_now(language, state.choice))
    elif _little_time(state):
        lines.append(wording.time_left(language, state.seconds_left or 0))
    if state.sent_back is not None and not state.partial:
        lines.append(wording.unsupported(language, state.sent_back.unsupported))
    if state.returns is not None and (forced is not None or state.in_words):
        lines.append(wording.as_data(language, state.returns.tool))
    elif state.partial and state.broken != "paused" and state.partial_text:  # that goes on by itself
        lines.append(wording.go_on(language))
    return "\n".join(lines) or None


def _little_time(state: State) -> bool:
    """Whether less than a quarter of the time for work is left."""
    left, work = state.seconds_left, state.limits.seconds_for_work
    return left is not None and work is not None and left < work / 4
