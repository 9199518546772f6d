"""What streams by and is not a fact: deltas of text, thinking and arguments.

Signals are numbered for readers and never journaled. A reader that wants the truth waits for the event.
"""

from __future__ import annotations

import msgspec

from tukang.models.base import ArgumentsDelta, CallBegan, TextDelta, ThinkingDelta

Delta = TextDelta | ThinkingDelta | CallBegan | ArgumentsDelta


class Signal(msgspec.Struct, frozen=True):
    """One delta of the reply being streamed.

    Args:
        number: counts up from 0 within the turn, without gaps.
        round: the round the reply belongs to, from 1. The forced answer has the number after the last round.
        attempt: the attempt within the round. Argument deltas of an earlier attempt are void; text is never sent twice.
        delta: what came.
    """

    number: int
    round: int
    attempt: int
    delta: Delta
