"""What becomes of a task: what may have begun is done again only if it may be repeated."""

from __future__ import annotations

import pytest

from tests.tasks.rows import DONE, row
from tukang.tasks import deciding
from tukang.tools.long import TaskState
from tukang.tools.outcome import FaultKind, failed
from tukang.tools.policy import ToolEffect

EFFECTS: tuple[ToolEffect, ...] = ("read", "idempotent", "write", "unknown")


@pytest.mark.parametrize("effect", EFFECTS)
def test_what_returned_is_done_also_when_its_end_was_asked_for(effect: ToolEffect) -> None:
    assert deciding.ended(row(effect), DONE).state == "done"
    assert deciding.ended(row(effect, cancel=1.0), DONE).state == "done"


@pytest.mark.parametrize(
    ("effect", "kind", "state"),
    [
        ("read", "tool_failed", "queued"),
        ("idempotent", "tool_failed", "queued"),
        ("idempotent", "outcome_unknown", "queued"),
        ("read", "invalid_arguments", "failed"),
        ("write", "tool_failed", "failed"),
        ("write", "outcome_unknown", "unknown"),
        ("unknown", "outcome_unknown", "unknown"),
    ],
)
def test_a_failure_is_followed_by_another_attempt_where_that_may_be(
    effect: ToolEffect, kind: FaultKind, state: TaskState
) -> None:
    attempts = 3 if effect in ("read", "idempotent") else 1
    assert deciding.ended(row(effect, attempts), failed(kind, "")).state == state


def test_attempts_are_counted_and_their_pauses_double() -> None:
    fault = failed("tool_failed", "")
    assert [deciding.ended(row("read", 4, tries=tries), fault).delay for tries in (1, 2, 3)] == [2.0, 4.0, 8.0]
    assert deciding.ended(row("read", 4, tries=4), fault).state == "failed"
    assert deciding.ended(row("read", 10_000, tries=500), fault).delay == deciding.LONGEST_PAUSE
    assert deciding.ended(row("read", 4, cancel=1.0), fault).state == "cancelled"
    assert deciding.ended(row("read", 4, expires=0.5), fault).state == "failed"


def test_a_write_that_raised_after_it_was_cancelled_is_not_said_to_be_cancelled() -> None:
    assert deciding.ended(row("write", cancel=1.0), failed("tool_failed", "")).state == "failed"
    assert deciding.ended(row("write", cancel=1.0), failed("cancelled", "")).state == "cancelled", (
        "it has said so itself"
    )
    assert deciding.ended(row("write", cancel=1.0), failed("nothing_done", "")).state == "cancelled"
    assert deciding.ended(row("write"), failed("cancelled", "")).state == "failed", "nobody asked"


@pytest.mark.parametrize(
    ("effect", "state"),
    [("read", "cancelled"), ("idempotent", "unknown"), ("write", "unknown"), ("unknown", "unknown")],
)
def test_what_had_to_be_stopped_is_known_to_have_done_nothing_only_of_a_read(
    effect: ToolEffect, state: TaskState
) -> None:
    assert deciding.stopped(row(effect)).state == state


@pytest.mark.parametrize(
    ("effect", "state"), [("read", "queued"), ("idempotent", "queued"), ("write", "unknown"), ("unknown", "unknown")]
)
def test_after_a_death_only_what_may_be_repeated_is(effect: ToolEffect, state: TaskState) -> None:
    assert deciding.given_up(row(effect)).state == state


def test_what_everybody_dies_of_is_given_to_nobody_any_more() -> None:
    assert deciding.given_up(row("read", lost=deciding.MOST_LOST - 2)).state == "queued"
    assert deciding.given_up(row("read", lost=deciding.MOST_LOST - 1)).state == "failed"
    assert deciding.given_up(row("idempotent", lost=deciding.MOST_LOST - 1)).state == "unknown"


def test_a_death_after_a_cancel_or_behind_its_time_ends_it() -> None:
    for changes, state in (({"cancel": 1.0}, "cancelled"), ({"expires": 0.5}, "expired")):
        assert deciding.given_up(row("read", **changes)).state == state
        assert deciding.given_up(row("idempotent", **changes)).state == "unknown"


def test_what_was_not_begun_in_time_expires() -> None:
    for effect in EFFECTS:
        assert deciding.overdue(row(effect, state="queued", attempts=0, tries=0)).state == "expired"
    assert deciding.overdue(row("idempotent", state="queued")).state == "failed", "it has begun once"
    assert deciding.ended(row("read", expires=0.5), failed("timed_out", "")).state == "expired"
    assert deciding.ended(row("write", expires=0.5), failed("outcome_unknown", "")).state == "unknown"


def test_a_person_can_have_tried_again_what_may_be() -> None:
    for effect in EFFECTS:
        again = effect in ("read", "idempotent")
        for state in ("failed", "unknown", "expired", "cancelled"):
            assert (deciding.retried(row(effect, state=state)) is not None) is again
        assert deciding.retried(row(effect, state="cancelled", attempts=0)) is not None, "it never began"
        assert deciding.retried(row(effect, state="failed", outcome=failed("nothing_done", ""))) is not None
        for state in ("done", "running", "queued"):
            assert deciding.retried(row(effect, state=state)) is None
