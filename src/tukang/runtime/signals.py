"""What streams by and is not a fact: deltas of text, thinking and arguments, and the progress of calls.

Signals are numbered for readers and never journaled. A reader that wants the truth waits for the event.
"""

from __future__ import annotations

import msgspec

from tukang.models.base import ArgumentsDelta, CallBegan, TextDelta, ThinkingDelta


class Progress(msgspec.Struct, frozen=True, gc=False, tag=True):
    """How far a call has come, in its function's own words: `CallContext.progress`, or what a generator yielded.

    Args:
        call: its id.
        tool: its tool's name.
        percent: 0 to 100; None when that is not known.
        message: what is being done, or what was yielded.
    """

    call: str
    tool: str
    percent: float | None = None
    message: str = ""


class Served(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A call that the provider ran itself, with its result, or because the reply ended without one.

    Args:
        call: the provider's id of it.
        tool: as in a step.
        arguments: as it was called with.
        result: what it returned, in words.
        fault: whether it failed.
    """

    call: str
    tool: str
    arguments: str
    result: str
    fault: bool = False


Delta = Served | TextDelta | ThinkingDelta | CallBegan | ArgumentsDelta | Progress


class Signal(msgspec.Struct, frozen=True):
    """One delta of the reply being streamed, or of a call that is running.

    Args:
        number: counts up from 0 within the turn, without gaps.
        round: the round it belongs to, from 1. The forced answer has the number after the last round.
        attempt: the attempt within the round; 0 for progress. Argument deltas of an earlier attempt are void; text is never
            sent twice.
        delta: what came.
    """

    number: int
    round: int
    attempt: int
    delta: Delta
