"""Ends a turn that nobody runs, without asking or running anything more: so that another one can begin.

It is a cancel, decided by the same rules as any other: open calls get their results, and there is an answer that says how far
it came.
"""

from __future__ import annotations

from tukang.loop.decide import decide
from tukang.loop.effects import begun
from tukang.loop.events import CancelRequested, Event, TurnResumed
from tukang.loop.evolve import evolve
from tukang.loop.state import State


def closed(state: State, at: float, reason: str) -> tuple[Event, ...]:
    """The events that end a turn.

    Args:
        state: as its journal folds; not finished.
        at: now, in seconds since the epoch.
        reason: why it does not go on, for the record.
    """
    at = max(at, state.now)
    batch: list[Event] = [TurnResumed(at=at), CancelRequested(at=at, reason=reason)]
    for event in batch:
        state = evolve(state, event)
    while not state.finished:
        wanted = decide(state)
        assert wanted, "a cancelled turn that runs nothing waits for nothing"
        for effect in wanted:
            batch.append(begun(effect, at))
            state = evolve(state, batch[-1])
    return tuple(batch)
