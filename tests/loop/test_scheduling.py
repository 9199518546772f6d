"""Which calls may run now, and how many at once."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import FrameType

import pytest

from tukang.conversation import ToolCall, Usage, user
from tukang.loop import events
from tukang.loop.decide import decide
from tukang.loop.effects import EndRound, RunCall, begun
from tukang.loop.evolve import evolve
from tukang.loop.limits import Limits
from tukang.loop.state import State
from tukang.tools.outcome import Outcome
from tukang.tools.policy import Policy

POLICIES = {
    "read": Policy("read"),
    "few": Policy("read", parallel=2),
    "write": Policy("write"),
    "alone": Policy("read", parallel=1),
}


def asked(names: Sequence[str], parallel: int | None = None, digests: Sequence[str] | None = None) -> State:
    """A turn whose model asked for these calls, all of them checked; without digests, none is a twin of another."""
    state = evolve(
        None,
        events.TurnStarted(
            at=0.0,
            turn="t",
            trigger=user("go"),
            limits=Limits(parallel=parallel, calls=2000),
            policies=POLICIES,
            contracts={},
        ),
    )
    calls = tuple(ToolCall("", name, f'{{"n":{n}}}') for n, name in enumerate(names))
    ids = [f"t-1-{n}" for n in range(len(names))]
    for event in (
        events.ModelAsked(at=0.0, attempt=1),
        events.ModelReplied(at=0.0, parts=calls, finish="calls", usage=Usage()),
        events.ChecksBegan(at=0.0, calls=tuple(ids)),
        *(
            events.CallChecked(at=0.0, call=id, digest=digest, arguments="{}")
            for id, digest in zip(ids, digests or ids, strict=True)
        ),
    ):
        state = evolve(state, event)
    return state


def begin(state: State) -> tuple[State, list[int]]:
    """Begin what is wanted; the positions of the calls that were begun."""
    wanted = decide(state)
    assert all(isinstance(effect, RunCall) for effect in wanted)
    for effect in wanted:
        state = evolve(state, begun(effect, 0.0))
    assert decide(state) == ()
    return state, [int(effect.call.rpartition("-")[2]) for effect in wanted if isinstance(effect, RunCall)]


def finished(state: State, position: int) -> State:
    return evolve(state, events.CallFinished(at=0.0, call=f"t-1-{position}", outcome=Outcome(())))


def test_without_a_bound_all_reads_run_together() -> None:
    assert begin(asked(["read"] * 50 + ["few"] * 2))[1] == list(range(52))


def test_a_tool_has_a_bound_of_its_own() -> None:
    state, running = begin(asked(["few", "few", "few", "read", "few"]))
    assert running == [0, 1, 3], "it holds no other tool up"
    state, running = begin(finished(state, 1))
    assert running == [2], "in the order asked"
    state, running = begin(finished(state, 3))
    assert running == [], "another tool's place is no place"
    _, running = begin(finished(state, 0))
    assert running == [4]


def test_the_turn_has_a_bound_for_all_tools_together() -> None:
    state, running = begin(asked(["read", "few", "read", "alone"], parallel=2))
    assert running == [0, 1]
    state, running = begin(finished(state, 1))
    assert running == [2]
    _, running = begin(finished(finished(state, 0), 2))
    assert running == [3]


def test_the_smaller_bound_counts() -> None:
    state, running = begin(asked(["alone", "alone", "few", "few", "few"], parallel=3))
    assert running == [0, 2, 3]
    _, running = begin(finished(state, 2))
    assert running == [4]


def test_a_write_still_waits_for_all_before_it_and_all_after_wait_for_it() -> None:
    state, running = begin(asked(["alone", "alone", "write", "alone"]))
    assert running == [0]
    state, running = begin(finished(state, 0))
    assert running == [1]
    state, running = begin(finished(state, 1))
    assert running == [2]
    _, running = begin(finished(state, 2))
    assert running == [3]


def test_every_call_gets_its_turn_in_the_end() -> None:
    state = asked(["few", "read", "alone", "few", "write", "few", "alone", "read"] * 3, parallel=2)
    done: list[int] = []
    while True:
        state, running = begin(state)
        open_calls = [call.position for call in state.calls if call.status == "running"]
        assert len(open_calls) <= 2
        done += running
        if not open_calls:
            break
        state = finished(state, open_calls[-1])
        if not any(not call.done for call in state.calls):
            break
    assert sorted(done) == list(range(24))


@pytest.mark.parametrize("parallel", [0, -1])
def test_a_bound_below_one_is_no_bound(parallel: int) -> None:
    with pytest.raises(ValueError, match=r"Limits.parallel must be at least 1 or None"):
        Limits(parallel=parallel)


def work_of(names: Sequence[str], digests: Sequence[str] | None = None) -> int:
    """How many functions are called while a round of these calls is run to its end, one result after the other."""
    state = asked(names, digests=digests)
    called = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal called
        called += event == "call"

    sys.setprofile(count)
    try:
        while (wanted := decide(state)) and not isinstance(wanted[0], EndRound):
            for effect in wanted:
                state = evolve(state, begun(effect, 0.0))
                if isinstance(effect, RunCall):
                    state = evolve(state, events.CallFinished(at=0.0, call=effect.call, outcome=Outcome(())))
    finally:
        sys.setprofile(None)
    assert all(call.done for call in state.calls)
    return called


@pytest.mark.parametrize("name", ["read", "write", "alone"])
@pytest.mark.parametrize("equal", [False, True])
def test_a_long_round_costs_each_of_its_calls_no_more_than_a_short_one(name: str, equal: bool) -> None:
    short, long = (work_of([name] * n, ["same"] * n if equal else None) for n in (50, 400))

    assert long / 400 < 1.5 * short / 50


def test_a_thousand_twins_follow_one_call() -> None:
    state = asked(["write"] * 1500, digests=["same"] * 1500)

    assert [effect.call for effect in decide(state) if isinstance(effect, RunCall)] == ["t-1-0"]


@pytest.mark.parametrize("id", ["t-1-2", "t-2-0", "u-1-0", "t-1--1", "t-1-", "nonsense", ""])
def test_a_call_that_is_not_of_the_open_round_is_not_found(id: str) -> None:
    state = asked(["read", "write"])

    assert [state.call(call.id) for call in state.calls] == list(state.calls)
    assert state.call(id) is None
