"""A turn whose process dies anywhere, any number of times, goes on from its journal and keeps all the rules."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.mortal import Died, MortalWorld
from tests.properties.world import POLICIES, results_of
from tests.sizes import examples
from tukang.conversation import validity
from tukang.loop import events
from tukang.loop.closing import closed
from tukang.loop.evolve import evolve
from tukang.loop.limits import Limits
from tukang.loop.state import State

CHANCE = st.randoms(use_true_random=True)
"""Even chance: deaths in the middle of long turns are what is looked for, and small values are not the interesting ones."""

OFTEN = [None, events.CallStarted, events.CallStarted, events.CallStarted, events.ChecksBegan, events.ModelAsked]
"""With which events a process dies, more often than chance would have it."""


def a_death(chance: Random) -> tuple[type[events.Event] | None, int]:
    kind = chance.choice(OFTEN)
    return kind, chance.randint(1, 25 if kind is None else 3)


def world_of(chance: Random) -> MortalWorld:
    limits = Limits(
        rounds=chance.choice([1, 3, 6, 8, 8]),
        seconds=chance.choice([None, None, 1000.0, 5.0]),
        tokens=chance.choice([None, None, 500, 60]),
        calls=chance.choice([5, 30, 30]),
        faults=chance.choice([2, 20]),
        attempts=chance.randint(1, 3),
        continuations=chance.randint(0, 2),
        idle_counts=chance.choice([True, False]),
    )
    choice = chance.choice(["auto", "auto", "auto", "required", "none", "read"])
    approvals = chance.choice([frozenset[str](), frozenset({"write", "pay"}), frozenset(POLICIES)])
    returns = chance.choice([None, None, None, events.Returns("answer", "a")])
    grounding = chance.choice([None, None, events.Grounding(), events.Grounding(function=True)])
    world = MortalWorld(chance.choice, limits, choice, approvals, returns, grounding)
    world.secretive = chance.choice([True, False])
    return world


def live(world: MortalWorld, steps: int) -> None:
    """Go on until the turn ends, or the process dies."""
    for _ in range(steps):
        if world.state is not None and world.state.finished:
            break
        world.step()
    world.settle_down()


def with_deaths(chance: Random, deaths: int) -> MortalWorld:
    """A turn whose process died so often, if it lived long enough, and was then left alone."""
    world = world_of(chance)
    for left in reversed(range(deaths + 1)):
        world.dies_at = a_death(chance) if left else None
        try:
            if world.deaths:
                world.post(events.TurnResumed(at=world.tick()))
            live(world, chance.randint(0, 60))
            break
        except Died:
            world.come_back()
    return world


@settings(max_examples=examples(1000), deadline=None)
@given(CHANCE, st.integers(1, 4))
def test_a_turn_that_died_anywhere_ends_well(chance: Random, deaths: int) -> None:
    world = with_deaths(chance, deaths)
    state = world.state
    assert state is not None
    assert state.finished
    assert state.text
    assert validity(state.messages) == []
    asked = [call.id for message in state.messages for call in message.calls]
    assert results_of(state.messages) == asked, "every call has exactly one result, in the order asked"
    assert [call.id for call in state.done] == asked
    assert state.round <= world.limits.rounds
    folded: State | None = None
    for event in world.journal:
        folded = evolve(folded, event)
    assert folded == state


@settings(max_examples=examples(300), deadline=None)
@given(CHANCE)
def test_a_turn_that_died_anywhere_can_be_closed_without_running_anything(chance: Random) -> None:
    world = world_of(chance)
    world.dies_at = a_death(chance)
    try:
        live(world, chance.randint(0, 60))
    except Died:
        world.come_back()
    state = world.state
    assert state is not None
    if state.finished:
        return
    open_before = {call.id: call for call in state.calls}
    batch = closed(state, world.time, "a new message came")
    assert {type(event) for event in batch} <= {
        events.TurnResumed,
        events.CancelRequested,
        events.CallSettled,
        events.RoundEnded,
        events.TurnFinished,
    }
    for event in batch:
        state = evolve(state, event)
    assert state.finished
    assert validity(state.messages) == []
    assert state.messages[-1].role == "assistant"
    for call in state.done:
        before = open_before.get(call.id)
        if before is not None and before.status == "running" and not before.reads:
            assert call.outcome is not None
            assert call.outcome.fault is not None
            assert call.outcome.fault.kind == "outcome_unknown"


def test_the_deaths_of_these_tests_are_where_they_matter() -> None:
    """Even chance, so few enough runs show it: calls die running, are run again, and have lost their arguments."""
    chance = Random(1)
    worlds = [with_deaths(chance, 3) for _ in range(400)]
    journals = [event for world in worlds for event in world.journal]
    assert sum(world.deaths for world in worlds) > 100
    assert sum(world.rerun for world in worlds) > 20
    faults = [
        event.outcome.fault for event in journals if isinstance(event, events.CallSettled) and event.outcome.fault
    ]
    assert sum("was interrupted" in fault.message for fault in faults) > 10
    assert sum("held a secret" in fault.message for fault in faults) > 10
