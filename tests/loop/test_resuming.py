"""What going on after an interruption changes, one thing at a time. Random deaths are in `tests/properties`."""

from __future__ import annotations

import pytest

from tukang.conversation import Part, Text, ToolCall, user
from tukang.loop import effects, events
from tukang.loop.decide import decide
from tukang.loop.evolve import evolve
from tukang.loop.limits import Limits
from tukang.loop.state import State
from tukang.tools.long import Long
from tukang.tools.outcome import FaultKind, Outcome, failed
from tukang.tools.policy import Policy, ToolEffect


class Turn:
    """A turn that a test tells what happens, at a time of its own. What is wanted is recorded as begun; nothing is done."""

    def __init__(self, limits: Limits | None = None, **effects_of: ToolEffect | Policy) -> None:
        self.at = 100.0
        self.state: State
        self.wanted: list[effects.Effect] = []
        policies = {name: one if isinstance(one, Policy) else Policy(one) for name, one in effects_of.items()}
        started = events.TurnStarted(
            at=self.at, turn="t", trigger=user("go"), limits=limits or Limits(), policies=policies, contracts={}
        )
        self._fold(None, started)

    def happens(self, *happened: events.Event) -> list[effects.Effect]:
        """Fold these in; what is wanted then."""
        for event in happened:
            self._fold(self.state, event)
        return self.wanted

    def _fold(self, state: State | None, event: events.Event) -> None:
        self.state = evolve(state, event)
        self.wanted = []
        while more := decide(self.state):
            for effect in more:
                self.state = evolve(self.state, effects.begun(effect, self.at))
            self.wanted += more

    def asks(self, *calls: str, arguments: str = "{}", redacted: bool = False) -> list[effects.Effect]:
        """The model asks for calls, and they are found good."""
        parts = tuple(ToolCall("", name, arguments, redacted=redacted) for name in calls)
        self.happens(events.ModelReplied(at=self.at, parts=parts, finish="calls"))
        for call in self.state.calls:
            self.checks(call.id)
        return self.wanted

    def checks(self, call: str, digest: str = "", *, redacted: bool = False, needs_approval: bool = False) -> None:
        digest = digest or next(one.name for one in self.state.calls if one.id == call)
        self.happens(
            events.CallChecked(
                at=self.at, call=call, digest=digest, arguments="{}", redacted=redacted, needs_approval=needs_approval
            )
        )

    def ends(self, call: str, outcome: Outcome) -> list[effects.Effect]:
        return self.happens(events.CallFinished(at=self.at, call=call, outcome=outcome))

    def goes_on(self, after: float = 0.0) -> list[effects.Effect]:
        self.at += after
        return self.happens(events.TurnResumed(at=self.at))

    def fault(self, call: str) -> FaultKind | None:
        outcome = next(one.outcome for one in (*self.state.calls, *self.state.done) if one.id == call)
        return outcome.fault.kind if outcome and outcome.fault else None


OK = Outcome((Text("ok"),))


@pytest.mark.parametrize(
    ("effect", "again"), [("read", True), ("idempotent", True), ("write", False), ("unknown", False)]
)
def test_a_call_that_had_begun_is_run_again_if_that_is_harmless(effect: ToolEffect, again: bool) -> None:
    turn = Turn(a=effect)
    (begun,) = turn.asks("a")
    assert isinstance(begun, effects.RunCall)
    wanted = turn.goes_on()
    if again:
        assert wanted == [begun], "with the same key"
    else:
        assert turn.fault("t-1-0") == "outcome_unknown"
        assert not any(isinstance(one, effects.RunCall) for one in wanted)


@pytest.mark.parametrize("effect", ["read", "idempotent", "write", "unknown"])
def test_a_long_call_that_had_begun_finds_the_task_it_has_made(effect: ToolEffect) -> None:
    turn = Turn(a=Policy(effect, long=Long()))
    (begun,) = turn.asks("a")
    assert turn.goes_on() == [begun], "with the same key"


def test_a_write_of_unknown_outcome_is_not_run_when_it_is_asked_for_again() -> None:
    turn = Turn(a="write")
    turn.asks("a")
    turn.goes_on()
    wanted = turn.asks("a")
    assert not any(isinstance(one, effects.RunCall) for one in wanted)
    assert turn.fault("t-2-0") == "outcome_unknown"


def test_an_idempotent_write_keeps_its_key_over_any_number_of_interruptions() -> None:
    turn = Turn(a="idempotent")
    turn.asks("a")
    for _ in range(3):
        assert turn.goes_on() == [effects.RunCall("t-1-0", "t-1-0")]
    turn.ends("t-1-0", failed("tool_failed", "no"))
    assert turn.asks("a") == [effects.RunCall("t-2-0", "t-1-0")]


def test_a_read_that_is_run_again_has_not_failed() -> None:
    turn = Turn(Limits(faults=0), a="read")
    turn.asks("a")
    for _ in range(3):
        assert turn.goes_on() == [effects.RunCall("t-1-0", "t-1-0")]
    assert turn.state.faults == 0
    (asked,) = turn.ends("t-1-0", OK)[1:]
    assert isinstance(asked, effects.AskModel)
    assert asked.forced is None


def test_what_had_begun_is_not_refused_for_lack_of_progress() -> None:
    turn = Turn(a="read", b="idempotent")
    for number in (1, 2):
        turn.asks("a")
        turn.ends(f"t-{number}-0", OK)
    assert turn.state.stuck == 1
    assert turn.asks("b") == [effects.RunCall("t-3-0", "t-3-0")]
    assert turn.goes_on() == [effects.RunCall("t-3-0", "t-3-0")]


def test_checks_that_were_under_way_are_made_again() -> None:
    turn = Turn(a="read", b="read")
    parts: tuple[Part, ...] = (ToolCall("", "a", "{}"), ToolCall("", "b", "{}"))
    assert turn.happens(events.ModelReplied(at=100.0, parts=parts, finish="calls")) == [
        effects.CheckCalls(("t-1-0", "t-1-1"))
    ]
    turn.checks("t-1-0")
    assert [call.status for call in turn.state.calls] == ["running", "checking"]
    assert turn.goes_on() == [effects.CheckCalls(("t-1-1",)), effects.RunCall("t-1-0", "t-1-0")]


def test_a_request_that_was_under_way_is_asked_again_as_it_was() -> None:
    turn = Turn()
    (first,) = turn.wanted
    turn.happens(events.ReplyBegan(at=100.0))
    assert turn.goes_on() == [first]


def test_a_continuation_that_was_under_way_does_not_count_twice() -> None:
    turn = Turn(Limits(continuations=1))
    wanted = turn.happens(events.ModelReplied(at=100.0, parts=(Text("a"),), finish="length"))
    for _ in range(3):
        assert turn.goes_on() == wanted
    assert turn.state.continuations == 1
    turn.happens(events.ModelReplied(at=100.0, parts=(Text("b"),), finish="stop"))
    assert turn.state.text == "ab"


def test_a_forced_answer_stays_forced() -> None:
    turn = Turn(Limits(rounds=1), a="read")
    turn.asks("a")
    forced = turn.ends("t-1-0", OK)[-1]
    assert isinstance(forced, effects.AskModel)
    assert forced.forced == "rounds"
    assert turn.goes_on() == [forced]


# ── time ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_time_in_which_nobody_ran_the_turn_does_not_count() -> None:
    turn = Turn(Limits(seconds=60, reserve=10), a="read")
    turn.at += 20
    turn.asks("a")
    assert turn.goes_on(after=3600.0) == [effects.RunCall("t-1-0", "t-1-0")]
    assert turn.state.seconds_left == 30.0
    assert turn.state.paused == 3600.0


def test_it_counts_where_the_limits_say_so() -> None:
    turn = Turn(Limits(seconds=60, reserve=10, idle_counts=True), a="read", b="write")
    turn.asks("a", "b")
    turn.goes_on(after=3600.0)
    assert turn.state.finished
    assert turn.state.stopped == "seconds"
    assert [turn.fault("t-1-0"), turn.fault("t-1-1")] == ["timed_out", "not_run"]


def test_between_the_time_for_work_and_the_end_the_answer_is_forced() -> None:
    turn = Turn(Limits(seconds=60, reserve=10, idle_counts=True), a="idempotent")
    turn.asks("a")
    forced = turn.goes_on(after=55.0)[-1]
    assert isinstance(forced, effects.AskModel)
    assert forced.forced == "seconds"
    assert turn.fault("t-1-0") == "outcome_unknown", "it had begun, and there is no time to try it again"


def test_a_clock_that_went_back_gives_no_time_away() -> None:
    turn = Turn(Limits(seconds=60, reserve=10), a="read")
    turn.at += 20
    turn.asks("a")
    turn.goes_on(after=-15.0)
    assert turn.state.paused == 0.0


# ── people, and secrets ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_turn_that_waits_still_waits() -> None:
    turn = Turn(a="write", b="read")
    parts: tuple[Part, ...] = (ToolCall("", "a", "{}"), ToolCall("", "b", "{}"))
    turn.happens(events.ModelReplied(at=100.0, parts=parts, finish="calls"))
    turn.checks("t-1-1")
    turn.checks("t-1-0", needs_approval=True)
    assert turn.state.waiting
    assert turn.goes_on(after=3600.0) == []
    assert turn.state.waiting
    approved = turn.happens(events.CallApproved(at=turn.at, call="t-1-0", digest="a"))
    assert approved == [effects.RunCall("t-1-0", "t-1-0")]
    again = turn.goes_on()
    assert again[-1] == effects.RunCall("t-1-1", "t-1-1"), "an approval is used once: what it started is not repeated"
    assert turn.fault("t-1-0") == "outcome_unknown"


@pytest.mark.parametrize(("idle_counts", "left"), [(False, 50.0), (True, -3550.0)])
def test_time_that_a_turn_waits_in_its_own_process_does_not_count_either(idle_counts: bool, left: float) -> None:
    turn = Turn(Limits(seconds=60, reserve=10, idle_counts=idle_counts), a="write")
    turn.happens(events.ModelReplied(at=100.0, parts=(ToolCall("", "a", "{}"),), finish="calls"))
    turn.checks("t-1-0", needs_approval=True)
    assert 50.0 - turn.state.seconds_used(turn.at + 3600.0) == left
    turn.at += 3600.0
    turn.happens(events.CallApproved(at=turn.at, call="t-1-0", digest="a"))
    assert turn.state.seconds_left == left


@pytest.mark.parametrize(
    ("effect", "begun", "kind"),
    [
        ("read", True, "not_run"),
        ("idempotent", True, "outcome_unknown"),
        ("write", True, "outcome_unknown"),
        ("write", False, "not_run"),
    ],
)
def test_a_call_whose_arguments_were_taken_out_cannot_go_on_and_says_so(
    effect: ToolEffect, begun: bool, kind: FaultKind
) -> None:
    turn = Turn(a=effect, other="write")
    parts = (ToolCall("", "other", "{}"), ToolCall("", "a", '{"k":"[removed]"}', redacted=True))
    turn.happens(events.ModelReplied(at=100.0, parts=parts[1:] if begun else parts, finish="calls"))
    for call in turn.state.calls:
        turn.checks(call.id, redacted=call.redacted)
    wanted = turn.goes_on()
    assert not any(isinstance(one, effects.RunCall | effects.CheckCalls) for one in wanted)
    call = turn.state.done[-1]
    assert (call.name, turn.fault(call.id)) == ("a", kind)
    if kind == "not_run":
        assert call.outcome is not None
        assert "held a secret" in call.outcome.text
