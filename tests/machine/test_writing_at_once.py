"""What is written is there as a whole, under one name, whoever else writes at the same time."""

from __future__ import annotations

import fcntl
import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from tests.machine.calling import refused, said
from tukang.machine import editor, locking, memory, moving
from tukang.machine.directory import Directory
from tukang.machine.editor import change
from tukang.machine.writing import inserted
from tukang.tools.outcome import NothingDone


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    return tmp_path


# ── in one step ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(params=["one step", "two steps"])
def step(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of moving: not every file system has the one step."""
    if request.param == "two steps":
        monkeypatch.setattr(moving, "_rename", lambda: None)


@pytest.mark.usefixtures("step")
def test_a_name_that_something_has_is_not_taken(inside: Path) -> None:
    tool = memory(inside)
    for name in ("a", "b"):
        (inside / name).mkdir()
        (inside / f"{name}.md").write_text(name)

    for old, new in (("a", "b"), ("a.md", "b.md"), ("a.md", "b"), ("a", "b.md")):
        assert "exists already" in refused(tool, command="rename", old_path=old, new_path=new)
    assert "exists already" in refused(tool, command="create", path="a.md", file_text="x")
    assert "exists already" in refused(tool, command="create", path="a", file_text="x")
    assert "now" in said(tool, command="rename", old_path="a", new_path="new/c")
    assert "now" in said(tool, command="rename", old_path="a.md", new_path="new/c.md")
    assert sorted(str(one.relative_to(inside)) for one in inside.rglob("*")) == [
        "b",
        "b.md",
        "new",
        "new/c",
        "new/c.md",
    ]
    assert (inside / "new" / "c.md").read_text() == "a"


def test_no_file_has_two_names_for_a_moment(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What would be left of it if the program ended just then is a file that nobody may read."""
    if moving._rename() is None:  # pyright: ignore[reportPrivateUsage]
        pytest.skip("this system moves in two steps")
    monkeypatch.delattr(os, "link")

    said(memory(inside), command="create", path="a.md", file_text="x")
    said(memory(inside), command="rename", old_path="a.md", new_path="b.md")

    assert [one.name for one in inside.iterdir()] == ["b.md"]


# ── several at once ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_several_change_at_once_is_not_lost(inside: Path) -> None:
    (inside / "file").write_text("")
    done: list[str] = []

    def work(who: int) -> None:
        directory = Directory(inside, "/x")  # as in an agent, or a process, of its own
        for number in range(30):
            line = f"{who}-{number}"
            with suppress(NothingDone):
                change(directory, ("file",), lambda text, _, line=line: inserted(text, 0, line))
                done.append(line)

    threads = [threading.Thread(target=work, args=(who,)) for who in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted((inside / "file").read_text().split()) == sorted(done)
    assert len(done) > 30


def test_a_lock_that_somebody_keeps_is_not_waited_for_without_end(
    inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locking, "_PATIENCE", 0.01)
    tool = editor(inside)
    (inside / "file").write_text("own")
    kept = os.open(inside, os.O_RDONLY)
    try:
        fcntl.flock(kept, fcntl.LOCK_EX)
        assert "being changed by somebody else" in refused(
            tool, command="str_replace", path="file", old_str="own", new_str="x"
        )
    finally:
        os.close(kept)
    assert "was changed" in said(tool, command="str_replace", path="file", old_str="own", new_str="x")
