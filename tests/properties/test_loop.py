"""The loop's rules, over random orders of everything that can happen. The rules themselves stand in `world`."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.world import POLICIES, World, results_of
from tests.sizes import examples
from tukang.conversation import validity
from tukang.loop import events
from tukang.loop.decide import decide
from tukang.loop.evolve import evolve
from tukang.loop.limits import Limits
from tukang.loop.state import State

LIMITS = st.builds(
    Limits,
    rounds=st.sampled_from([0, 1, 3, 6, 8]),
    seconds=st.sampled_from([None, 5.0, 1000.0]),
    tokens=st.sampled_from([None, 30, 500]),
    calls=st.sampled_from([0, 2, 5, 30]),
    parallel=st.sampled_from([None, 1, 2]),
    faults=st.sampled_from([0, 2, 20]),
    attempts=st.integers(1, 3),
    continuations=st.integers(0, 2),
)
CHOICES = st.sampled_from(["auto", "auto", "required", "none", "read"])
APPROVALS = st.sampled_from([frozenset[str](), frozenset({"write", "pay"}), frozenset(POLICIES)])


GROUNDING = st.builds(events.Grounding, function=st.booleans(), correct=st.sampled_from([True, True, True, False]))


def turn(
    data: st.DataObject,
    steps: int,
    returns: events.Returns | None = None,
    grounding: events.Grounding | None = None,
) -> World:
    def choose(options):  # type: ignore[no-untyped-def]
        return options[data.draw(st.integers(0, len(options) - 1))]

    world = World(choose, data.draw(LIMITS), data.draw(CHOICES), data.draw(APPROVALS), returns, grounding)
    for _ in range(steps):
        if world.state is not None and world.state.finished:
            break
        world.step()
    world.settle_down()
    return world


def ended(world: World) -> State:
    assert world.state is not None
    return world.state


@settings(max_examples=examples(400), deadline=None)
@given(st.data(), st.integers(0, 60))
def test_every_turn_ends_with_an_answer_and_a_valid_conversation(data: st.DataObject, steps: int) -> None:
    state = ended(turn(data, steps))
    assert state.finished
    assert state.text
    assert validity(state.messages) == []
    asked = [call.id for message in state.messages for call in message.calls]
    assert results_of(state.messages) == asked, "every call has exactly one result, in the order asked"
    assert [call.id for call in state.done] == asked


@settings(max_examples=examples(200), deadline=None)
@given(st.data(), st.integers(0, 60))
def test_limits_hold(data: st.DataObject, steps: int) -> None:
    world = turn(data, steps)
    state = ended(world)
    assert state.round <= world.limits.rounds
    started = [event for event in world.journal if isinstance(event, events.CallStarted)]
    assert len(started) <= world.limits.calls
    tries = [request.attempt for request in world.requests]
    assert max(tries, default=1) <= world.limits.attempts
    if world.limits.tokens is not None:
        # once the budget is spent, nothing is asked but the forced answer (and the rest of a reply under way)
        spent = 0
        for event in world.journal:
            if isinstance(event, events.ModelReplied | events.ModelInterrupted):
                spent += event.usage.total
            if isinstance(event, events.CallStarted):
                assert spent < world.limits.tokens


@settings(max_examples=examples(200), deadline=None)
@given(st.data(), st.integers(0, 60))
def test_a_journal_replays_to_the_same_state_at_every_point(data: st.DataObject, steps: int) -> None:
    world = turn(data, steps)
    state: State | None = None
    for event in world.journal:
        state = evolve(state, event)
    assert state == world.state
    assert decide(ended(world)) == ()


@settings(max_examples=examples(100), deadline=None)
@given(st.data(), st.integers(0, 30))
def test_nothing_that_comes_after_the_end_changes_it(data: st.DataObject, steps: int) -> None:
    world = turn(data, steps)
    before = ended(world)
    for _ in range(3):
        world.choose([world.stray, world.cancel, world.deadline])()
    if world.left_behind:
        world.late()
    after = ended(world)
    assert (after.messages, after.text, after.stopped) == (before.messages, before.text, before.stopped)


@settings(max_examples=examples(400), deadline=None)
@given(st.data(), st.integers(0, 60), st.sampled_from([None, "a"]))
def test_a_turn_that_returns_data_ends_with_data_that_fits_or_says_why_not(
    data: st.DataObject, steps: int, key: str | None
) -> None:
    world = turn(data, steps, events.Returns("answer", key))
    state = ended(world)
    assert state.finished
    assert state.text
    assert validity(state.messages) == []
    asked = [call.id for message in state.messages for call in message.calls]
    assert results_of(state.messages) == asked, "every call has exactly one result, in the order asked"
    assert [call.id for call in state.done] == asked
    assert state.round <= world.limits.rounds
    given_ = [call for call in state.done if call.name == "answer"]
    assert all(call.started is None for call in given_)
    taken = [call for call in given_ if call.succeeded]
    wrong = {call.round for call in given_ if call.outcome and call.outcome.fault} - {call.round for call in taken}
    assert len(wrong) <= 2, "what does not fit goes back once"
    if state.data is None:
        assert not taken
        assert state.stopped not in ("answer", "terminal")
    else:
        assert state.text == state.data
        assert taken[0].arguments == (state.data if key is None else f'{{"{key}":{state.data}}}')


@settings(max_examples=examples(500), deadline=None)
@given(st.data(), st.integers(0, 60), st.sampled_from([None, None, events.Returns("answer", "a")]), GROUNDING)
def test_a_turn_that_is_held_to_what_is_known_ends_and_says_what_is_not(
    data: st.DataObject, steps: int, returns: events.Returns | None, grounding: events.Grounding
) -> None:
    world = turn(data, steps, returns, grounding)
    state = ended(world)
    assert state.finished
    assert state.text
    assert validity(state.messages) == []
    assert state.round <= world.limits.rounds
    asked = [call.id for message in state.messages for call in message.calls]
    assert results_of(state.messages) == asked
    compared = [event for event in world.journal if isinstance(event, events.AnswerChecked)]
    back = [event for event in world.journal if isinstance(event, events.AnswerSentBack)]
    assert len(back) <= (1 if grounding.correct else 0), "an answer goes back once"
    if state.unsupported:
        assert state.unsupported in [event.unsupported for event in compared]
    elif back and state.stopped == "answer":
        after = world.journal[world.journal.index(back[0]) :]
        assert any(isinstance(event, events.AnswerChecked) for event in after) or state.unchecked, (
            "it is another answer"
        )
    if state.stopped in ("answer", "terminal") and state.data is not None:
        assert state.text == state.data
    whole = [event for event in world.journal if isinstance(event, events.TurnFinished)]
    assert len(whole) == 1
    checks = [event for event in world.journal if isinstance(event, events.AnswerCheckBegan)]
    assert len(checks) <= 2
    if state.stopped == "answer" and not state.unchecked:
        assert checks, "no answer of a model goes unseen"


@settings(max_examples=examples(200), deadline=None)
@given(st.data(), st.integers(0, 60), GROUNDING)
def test_a_journal_with_answers_that_went_back_replays_to_the_same_state(
    data: st.DataObject, steps: int, grounding: events.Grounding
) -> None:
    world = turn(data, steps, None, grounding)
    state: State | None = None
    for event in world.journal:
        state = evolve(state, event)
    assert state == world.state
