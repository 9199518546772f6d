"""The editor's commands, and those that the memory has beside them, on real files."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from tests.machine.calling import outcome, refused, said
from tukang import ConfigurationError
from tukang.machine import editor, memory
from tukang.machine.writing import inserted, numbered, replaced
from tukang.tools.outcome import NothingDone

LINES = "satu\ndua\ntiga\n"


def test_a_file_is_made_seen_and_changed(tmp_path: Path) -> None:
    tool = editor(tmp_path)

    said(tool, command="create", path="/workspace/a/b.txt", file_text=LINES)
    assert said(tool, command="view", path="a/b.txt") == "     1\tsatu\n     2\tdua\n     3\ttiga"
    assert said(tool, command="view", path="a/b.txt", view_range=[2, -1]) == "     2\tdua\n     3\ttiga"
    assert "     2\tDUA" in said(tool, command="str_replace", path="a/b.txt", old_str="dua", new_str="DUA")
    said(tool, command="insert", path="a/b.txt", insert_line=0, insert_text="nol\n")
    said(tool, command="str_replace", path="a/b.txt", old_str="tiga\n")

    assert (tmp_path / "a" / "b.txt").read_text() == "nol\nsatu\nDUA\n"
    assert said(tool, command="view", path="/workspace") == "/workspace\n/workspace/a/\n/workspace/a/b.txt  13 bytes"
    assert sorted(one.name for one in (tmp_path / "a").iterdir()) == ["b.txt"]  # nothing half-written is left


def test_what_cannot_be_done_says_how_it_can(tmp_path: Path) -> None:
    tool = editor(tmp_path)
    (tmp_path / "a.txt").write_text("x\ny\nx\n")

    assert "exists already" in refused(tool, command="create", path="a.txt", file_text="new")
    assert "2 times, in lines 1, 3" in refused(tool, command="str_replace", path="a.txt", old_str="x", new_str="z")
    assert "nowhere" in refused(tool, command="str_replace", path="a.txt", old_str="q", new_str="z")
    assert "empty" in refused(tool, command="str_replace", path="a.txt", old_str="", new_str="z")
    assert "it has 3" in refused(tool, command="insert", path="a.txt", insert_line=4, insert_text="z")
    assert "it has 3" in refused(tool, command="view", path="a.txt", view_range=[4, 5])
    assert "needs file_text" in refused(tool, command="create", path="b.txt")
    assert "does not exist" in refused(tool, command="view", path="b.txt")
    assert "is not a directory" in refused(tool, command="view", path="a.txt/b")
    assert (tmp_path / "a.txt").read_text() == "x\ny\nx\n"


def test_a_file_keeps_its_permissions_and_its_line_ends(tmp_path: Path) -> None:
    file = tmp_path / "run.sh"
    file.write_bytes(b"satu\r\ndua\r\n")
    file.chmod(0o755)

    said(editor(tmp_path), command="str_replace", path="run.sh", old_str="satu\ndua", new_str="satu\ntiga\ndua")
    said(editor(tmp_path), command="insert", path="run.sh", insert_line=3, insert_text="empat\n")

    assert file.read_bytes() == b"satu\r\ntiga\r\ndua\r\nempat\r\n"
    assert file.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    ("text", "line", "new", "becomes"),
    [
        ("", 0, "a", "a\n"),
        ("a\n", 1, "b", "a\nb\n"),
        ("a\n", 1, "b\n", "a\nb\n"),
        ("a", 1, "b", "a\nb"),
        ("a\nc\n", 1, "b\n", "a\nb\nc\n"),
        ("a\nc", 1, "b", "a\nb\nc"),
        ("a\n", 0, "x\ny\n", "x\ny\na\n"),
        ("a\r\nc\r\n", 1, "b\n", "a\r\nb\r\nc\r\n"),
    ],
)
def test_inserting_keeps_what_is_there(text: str, line: int, new: str, becomes: str) -> None:
    assert inserted(text, line, new)[0] == becomes


def test_lines_are_counted_as_they_are_shown() -> None:
    assert numbered("") == ""
    assert numbered("a\n\nb") == "     1\ta\n     2\t\n     3\tb"
    with pytest.raises(NothingDone):
        numbered("a", (1,))
    after, around = replaced("\n".join(map(str, range(1, 21))), "10", "zehn", "x")
    assert "zehn" in after
    assert around.splitlines()[0].strip() == "7\t7"
    assert around.splitlines()[-1].strip() == "13\t13"


def test_a_listing_has_an_end(tmp_path: Path) -> None:
    for number in range(510):
        (tmp_path / f"{number:03}").touch()
    (tmp_path / ".hidden").touch()

    listed = said(editor(tmp_path), command="view", path="").splitlines()

    assert len(listed) == 502
    assert listed[-1] == "(no more than 500 are shown)"
    assert not any("hidden" in line for line in listed)


def test_a_memory_is_for_its_owner_and_can_be_moved_and_deleted(tmp_path: Path) -> None:
    tool = memory(tmp_path / "catatan")

    said(tool, command="create", path="/memories/a.md", file_text="kota: Bandung\n")
    file = tmp_path / "catatan" / "a.md"
    assert [one.stat().st_mode & 0o777 for one in (file, file.parent)] == [0o600, 0o700]
    said(tool, command="rename", old_path="/memories/a.md", new_path="/memories/orang/budi.md")
    assert "Bandung" in said(tool, command="view", path="/memories/orang/budi.md")
    said(tool, command="create", path="b.md", file_text="x")
    assert "exists already" in refused(tool, command="rename", old_path="b.md", new_path="orang/budi.md")
    assert "exists already" in refused(tool, command="rename", old_path="b.md", new_path="orang")
    assert "into itself" in refused(tool, command="rename", old_path="orang", new_path="orang/x")
    said(tool, command="rename", old_path="orang", new_path="people")
    said(tool, command="delete", path="people")

    assert [one.name for one in (tmp_path / "catatan").iterdir()] == ["b.md"]


def test_what_was_deleted_in_part_is_not_said_to_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "d").mkdir()
    for name in "ab":
        (tmp_path / "d" / name).touch()
    real, left = os.unlink, [1]

    def unlink(name: str, *, dir_fd: int) -> None:
        if not left:
            raise PermissionError(1, "Operation not permitted")
        left.pop()
        real(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", unlink)
    fault = asyncio.run(outcome(memory(tmp_path), command="delete", path="d")).fault

    assert fault is not None
    assert (fault.kind, "in part only" in fault.message) == ("tool_failed", True)


def test_a_directory_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is not a directory"):
        editor(tmp_path / "none")
    with pytest.raises(ConfigurationError, match="is the whole machine"):
        editor("/")
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="is not a directory"):
        memory(tmp_path / "file")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_the_system_does_not_permit_is_said(tmp_path: Path) -> None:
    (tmp_path / "a").touch(mode=0)

    assert "no permission" in refused(editor(tmp_path), command="view", path="a")


def test_a_directory_that_is_gone_names_no_place_of_the_host(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    tool = editor(tmp_path / "x")
    (tmp_path / "x").rmdir()

    assert refused(tool, command="view", path="") == "/workspace does not exist"
