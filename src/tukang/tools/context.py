"""What a function may know about the call it serves: its name, its key, its time, and whatever the caller passed along.

A function asks for it by annotating a parameter with `CallContext`; that parameter is never shown to the model.
"""

from __future__ import annotations

import time
from typing import Any

import msgspec


class CallContext(msgspec.Struct, frozen=True, kw_only=True):
    """One call, as its function may see it.

    Args:
        call_id: ours, made of turn, round and position.
        idempotency_key: the same for every attempt at this call; pass it on to a service that can tell repeats apart.
        session: the session's name; None outside a session.
        deadline: when the call's time is up, in seconds of `time.monotonic`; None for no bound.
        context: the caller's own object, as given to the agent's run.
    """

    call_id: str
    idempotency_key: str
    session: str | None = None
    deadline: float | None = None
    context: Any = None

    def seconds_left(self) -> float | None:
        """Seconds until the call's time is up, never below 0; None when there is no bound."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())
