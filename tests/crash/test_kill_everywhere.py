"""A turn's process is killed with SIGKILL at every point there is: before and after every single event is written, inside the
transaction, between writing and doing, inside the functions before and after their effect, in the model's reply, when the
session is taken and given back. Others go on: they resume the turn, or just say something else.

The turn reads, writes, writes idempotently, does several of these in one reply, asks for a write again, and waits twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.judges import Court, court
from tests.crash.killing import Case, Programs, Scene
from tukang.loop import events

NOT_HERE = {
    *("ModelInterrupted", "ModelStopping", "AnswerSentBack", "CallRefused", "CallEdited"),
    *("DeadlineReached", "TimeExpired", "CancelRequested"),
}
"""Kinds of events that a turn in which nothing fails has none of."""


@pytest.fixture(scope="module")
def programs() -> Iterator[Programs]:
    with Programs() as running:
        yield running


@pytest.fixture(scope="module")
def judges() -> Iterator[Court]:
    with court() as sitting:
        yield sitting


@pytest.fixture(params=["sqlite", "postgres"])
def scene(request: pytest.FixtureRequest, tmp_path: Path, programs: Programs, judges: Court) -> Iterator[Scene]:
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path}/tukang.db"
    else:
        url = request.getfixturevalue("postgres_url")
    scene = Scene(url, tmp_path, programs, judges)
    yield scene
    scene.close()


AGAIN = (
    "after the row of TurnResumed 1",
    "before performing RunCall 1",
    "after performing AskModel 1",
    "before tulis has effect 1",
    "after ulang had effect 1",
)
"""Where the one that goes on dies, too."""


def _kill_all(scene: Scene, cases: list[Case]) -> tuple[int, int]:
    """Let each die, some of them twice, and go on with each; returns how many died, and how many of them twice."""
    for number, case in enumerate(cases):
        scene.kill(number, case)
    twice = [number for number, case in enumerate(cases) if case.then == "resume"][::4]
    again = sum(scene.kill_again(number, AGAIN[place % len(AGAIN)]) for place, number in enumerate(twice))
    for number, case in enumerate(cases):
        scene.go_on(number, case, scene.left(number))
    return len(cases), again


def _points_are_everywhere(cases: list[Case]) -> None:
    """There are points around every kind of event that there is, and around all that is done."""
    names = {case.point.rpartition(" ")[0] for case in cases}
    kinds = {kind.__name__ for kind in events.Event.__args__} - NOT_HERE
    assert {f"{place} the row of {kind}" for place in ("before", "after") for kind in kinds} <= names
    for what in ("AskModel", "RunCall", "AskPerson", "Settle"):
        assert {f"before performing {what}", f"after performing {what}"} <= names
    for tool in ("baca", "tulis", "ulang", "bayar", "bayar_ulang"):
        assert {f"before {tool} has effect", f"after {tool} had effect"} <= names
    for what in ("take", "release", "offering", "consuming"):
        assert {f"before {what}", f"after {what}"} <= names


def test_killed_here_and_there(scene: Scene, judges: Court) -> None:
    """A sample, so that each run of the suite sees the worst deaths, and some others."""
    cases = scene.rehearse()
    _points_are_everywhere(cases)
    worst = [case for case in cases if "had effect" in case.point and "baca" not in case.point]
    step = 1 if scene.url.startswith("sqlite") else 3  # a process takes longer to get to Postgres
    sample = [*[case for case in worst if case.then == "resume"][::step], *cases[7 :: 120 * step]]
    killed, _ = _kill_all(scene, sample)
    assert killed == len(sample) >= 5
    assert judges.judged >= 5


@pytest.mark.long
def test_killed_everywhere(scene: Scene, judges: Court) -> None:
    cases = scene.rehearse()
    _points_are_everywhere(cases)
    assert len(cases) == len(set(map(str, cases)))
    assert len(cases) >= 700, "points, each gone on from in two ways"
    if scene.url.startswith("postgresql"):  # a process takes longer to get there: the second way from every fourth
        resumed, others = ([case for case in cases if case.then == then] for then in ("resume", "another"))
        cases = [*resumed, *others[::4]]
    killed, again = _kill_all(scene, cases)
    assert killed == len(cases), "each of them was hit"
    assert again >= 40
    assert judges.judged >= 20
