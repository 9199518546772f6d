"""What is shown of a turn besides its answer: here, how far a call has come."""

from __future__ import annotations

from typing import Any

import pytest

from tukang.cli.screen import Screen
from tukang.cli.texts import TEXTS
from tukang.cli.view import View
from tukang.runtime.signals import Progress, Signal


@pytest.mark.parametrize(
    ("progress", "shown"),
    [
        (Progress("t-1-0", "unduh", 40.4, "berkas\n2"), "running unduh 40% berkas 2 …"),
        (Progress("t-1-0", "unduh", None, ""), "running unduh …"),
        (Progress("t-1-0", "unduh", 0, "x" * 500), "running unduh 0% " + "x" * 119 + "… …"),
    ],
)
def test_progress_is_on_the_line_that_goes_away(progress: Progress, shown: str) -> None:
    screen = Screen()
    said: list[str] = []
    screen.busy = said.append  # type: ignore[method-assign]
    View(screen, TEXTS["en"]).see(Signal(0, 1, 0, progress))
    assert [line.lower() for line in said] == [shown]


def test_a_quiet_screen_shows_none_of_it(capsys: Any) -> None:
    View(Screen(quiet=True), TEXTS["en"]).see(Signal(0, 1, 0, Progress("t-1-0", "unduh", 1, "x")))
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""
