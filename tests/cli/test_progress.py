"""What a user sees while the local model gets ready, where nothing can move on the screen."""

from __future__ import annotations

import pytest

from tukang.cli.progress import progress
from tukang.cli.screen import Screen
from tukang.cli.target import open_target
from tukang.cli.texts import TEXTS
from tukang.models.local import Loading
from tukang.models.scripted import Scripted


def test_a_few_lines_and_no_more(capsys: pytest.CaptureFixture[str]) -> None:
    tell = progress(Screen(), TEXTS["en"])
    for done in range(0, 101):
        tell(Loading("joining", done, 100))
    tell(Loading("loading"))
    for done in range(5):
        tell(Loading("warming", done, 4))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("%")[0].split()[-1] for line in lines[:5]] == ["0", "25", "50", "75", "100"]
    assert lines[5:] == ["loading the model …", "warming the model up …"]


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    tell = progress(Screen(quiet=True), TEXTS["en"])
    tell(Loading("loading"))
    assert capsys.readouterr().err == ""


def test_only_the_local_model_tells() -> None:
    model = Scripted(["ya"])
    target = open_target("obrolan", model=model, tell=lambda loading: pytest.fail(f"told {loading}"))
    assert target.agent.model is model
    assert target.models == ("scripted",)
