"""The loop: `decide(state)` says everything that is wanted now and is not already under way.

This is the whole of it. A rule looks at the state and wants something, or nothing; the first that wants something is
heard, its effects are recorded as begun, and the question is asked again until nobody wants anything. Then the turn waits
for the next event. Pure: no I/O, no clock, no chance, no user code.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache

from tukang.loop import asking, duplicates, ending, grounding, progress, resuming, returns, rounds, scheduling
from tukang.loop.effects import Effect
from tukang.loop.state import CallStatus, State

Rule = Callable[[State], Sequence[Effect]]

# While calls are open, the round goes on until each of them has its one result. A rule is asked while there are calls of
# the statuses it is about.
IN_A_ROUND: Mapping[Rule, Collection[CallStatus]] = {
    ending.settle: ("asked", "checking", "ready", "waiting", "running"),  # at a limit or a cancel, each gets its result
    resuming.settle: ("asked", "ready", "waiting"),  # what had begun before an interruption is not blindly repeated
    scheduling.check: ("asked",),  # a call is untrusted input: parse, repair, validate
    returns.settle: ("ready",),  # data that fits is the answer
    progress.refuse: ("ready",),  # the same again and again is not run again
    duplicates.settle: ("ready",),  # the same call is run once
    scheduling.ask_person: ("ready",),  # nothing that needs permission runs without it
    scheduling.run: ("ready",),  # reads together, everything else alone and in order
    rounds.end: ("done",),  # every call has its result: tell the model
}

# While the model is asked, it may only be stopped.
WHILE_ASKED: tuple[Rule, ...] = (
    ending.stop_model,  # a request that has no time left is stopped
)

# Between rounds, the model is asked until there is an answer.
BETWEEN_ROUNDS: tuple[Rule, ...] = (
    grounding.check,  # an answer is compared with what is known
    grounding.send_back,  # what nothing supports goes back once
    ending.finish,  # there is an answer, or none can come
    asking.ask,  # otherwise: ask the model
)


def decide(state: State) -> tuple[Effect, ...]:
    """Everything wanted now that is not already under way; empty while the turn waits, and once it has finished."""
    if state.stopped is not None:
        return ()
    if state.calls:
        rules = _about(frozenset([call.status for call in state.calls]))
    else:
        rules = BETWEEN_ROUNDS if state.asking is None else WHILE_ASKED
    for rule in rules:
        if effects := rule(state):
            return tuple(effects)
    return ()


@cache
def _about(there: frozenset[CallStatus]) -> tuple[Rule, ...]:
    """The rules of a round that are about calls of these statuses."""
    return tuple(rule for rule, about in IN_A_ROUND.items() if not there.isdisjoint(about))
