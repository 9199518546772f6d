"""The loop: `decide(state)` says everything that is wanted now and is not already under way.

This is the whole of it. A rule looks at the state and wants something, or nothing; the first that wants something is
heard, its effects are recorded as begun, and the question is asked again until nobody wants anything. Then the turn waits
for the next event. Pure: no I/O, no clock, no chance, no user code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tukang.loop import asking, duplicates, ending, progress, rounds, scheduling
from tukang.loop.effects import Effect
from tukang.loop.state import State

Rule = Callable[[State], Sequence[Effect]]

# While calls are open, the round goes on until each of them has its one result.
IN_A_ROUND: tuple[Rule, ...] = (
    ending.settle,  # at a limit or a cancel, every open call gets its result
    scheduling.check,  # a call is untrusted input: parse, repair, validate
    progress.refuse,  # the same again and again is not run again
    duplicates.settle,  # the same call is run once
    scheduling.ask_person,  # nothing that needs permission runs without it
    scheduling.run,  # reads together, everything else alone and in order
    rounds.end,  # every call has its result: tell the model
)

# Between rounds, the model is asked until there is an answer.
BETWEEN_ROUNDS: tuple[Rule, ...] = (
    ending.stop_model,  # a request that has no time left is stopped
    ending.finish,  # there is an answer, or none can come
    asking.ask,  # otherwise: ask the model
)


def decide(state: State) -> tuple[Effect, ...]:
    """Everything wanted now that is not already under way; empty while the turn waits, and once it has finished."""
    if state.finished:
        return ()
    for rule in IN_A_ROUND if state.calls else BETWEEN_ROUNDS:
        if effects := rule(state):
            return tuple(effects)
    return ()
