"""Polls that bring nothing new: those that come at once are ended, those that have waited are not."""

from __future__ import annotations

import pytest

from tests.loop.test_resuming import OK, Turn
from tukang.conversation import Text
from tukang.loop import effects, events
from tukang.loop.limits import Limits
from tukang.tools.long import Long
from tukang.tools.outcome import Outcome
from tukang.tools.policy import Policy

POLL = Policy("read", repeatable=True, pause=1.0)


def polled(turn: Turn, times: int, seconds: float) -> None:
    """Ask so often, each time so long after the last, and get the same."""
    for _ in range(times):
        turn.at += seconds
        number = turn.state.round + 1
        asked = turn.asks("a")
        if any(isinstance(one, effects.RunCall) for one in asked):
            turn.ends(f"t-{number}-0", OK)


@pytest.mark.parametrize(("seconds", "polls"), [(0.0, 5), (0.9, 5), (1.0, 0), (30.0, 0)])
def test_only_the_impatient_are_counted(seconds: float, polls: int) -> None:
    turn = Turn(Limits(rounds=20, seconds=None), a=POLL)
    polled(turn, 6, seconds)
    assert turn.state.polls == polls
    assert turn.state.stuck == 0


def test_who_spins_is_refused_and_ends() -> None:
    turn = Turn(Limits(rounds=20, seconds=None), a=POLL)
    polled(turn, 7, 0.0)
    assert turn.fault("t-7-0") == "no_progress"
    assert turn.state.forced == "no_progress"


def test_the_patient_are_not_commented_on_after_the_impatient_were() -> None:
    turn = Turn(Limits(rounds=20, seconds=None), a=POLL)
    polled(turn, 4, 0.0)
    assert "nothing new" in str(turn.state.messages[-1])
    polled(turn, 1, 5.0)
    assert "nothing new" not in str(turn.state.messages[-1])
    assert turn.state.polls == 3


def test_a_wait_inside_the_poll_counts_as_well() -> None:
    turn = Turn(Limits(rounds=20, seconds=None), a=POLL)
    polled(turn, 1, 0.0)
    turn.asks("a")
    turn.at += 2.0
    turn.happens(events.CallFinished(at=turn.at, call="t-2-0", outcome=OK))
    assert turn.state.polls == 0


def runs(wanted: list[effects.Effect]) -> list[str]:
    return [one.call for one in wanted if isinstance(one, effects.RunCall)]


def test_what_was_read_before_a_poll_is_read_again_after_it() -> None:
    turn = Turn(a=POLL, b="read")
    turn.asks("b", "a")
    turn.ends("t-1-0", OK)
    turn.ends("t-1-1", Outcome((Text("it has ended"),)))
    assert runs(turn.asks("b")) == ["t-2-0"], "what the poll follows may have changed something"
    turn.ends("t-2-0", OK)
    assert runs(turn.asks("b")) == []


def test_while_long_work_that_changes_something_goes_on_nothing_read_is_given_again() -> None:
    for effect, again in (("write", True), ("read", False)):
        turn = Turn(a=Policy(effect, long=Long()), b="read")  # type: ignore[arg-type]
        turn.asks("a")
        turn.ends("t-1-0", OK)
        turn.asks("b")
        turn.ends("t-2-0", OK)
        assert runs(turn.asks("b")) == (["t-3-0"] if again else [])


def test_a_twin_follows_its_leader_also_where_nothing_gets_on() -> None:
    turn = Turn(Limits(rounds=20, seconds=None), a="write", b="read")
    turn.asks("b")
    turn.ends("t-1-0", OK)
    turn.asks("b")
    assert turn.state.stuck == 1
    turn.asks("a", "a")
    assert [call.status for call in turn.state.calls] == ["running", "ready"], (
        "it is not refused before its leader has ended"
    )
    turn.ends("t-3-0", OK)
    assert turn.fault("t-3-1") is None
