"""`--tool`: tools that work on this machine, for one command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Script, calls
from tests.machine.calling import needs_bwrap
from tukang.cli.machine_texts import MACHINE_TEXTS, MachineTexts

VIEW = ("str_replace_based_edit_tool", {"command": "view", "path": "/workspace/a.txt"})
WRITE = ("str_replace_based_edit_tool", {"command": "create", "path": "b.txt", "file_text": "x"})


def test_an_editor_of_the_named_directory(cli: Cli, script: Script, tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "a.txt").write_text("isi\n")
    model = script(calls(VIEW), calls(WRITE), "Selesai.")

    ran = cli("run", "obrolan", "Lihat", "--tool", "editor:p", "--model", model, "--lang", "id")

    assert ran.code == 0
    assert ran.out == "Selesai.\n"
    assert "→ 1 isi" in ran.err
    assert "ditolak: refused" in ran.err  # nobody permitted it
    assert not (tmp_path / "p" / "b.txt").exists()


def test_writing_may_be_permitted_beforehand(cli: Cli, script: Script, tmp_path: Path) -> None:
    ran = cli(
        "run", "obrolan", "Tulis", "--tool", "editor", "--approve", WRITE[0], "--model", script(calls(WRITE), "Ya.")
    )

    assert ran.code == 0
    assert (tmp_path / "b.txt").read_text() == "x"


@needs_bwrap
def test_a_shell_and_a_memory_in_a_chat(cli: Cli, script: Script, tmp_path: Path) -> None:
    noted = ("memory", {"command": "create", "path": "/memories/a.md", "file_text": "x"})
    model = script(calls(("bash", {"command": "pwd > b.txt"}), noted), "Ya.")
    permitted = ("--approve", "bash", "--approve", "memory")

    ran = cli("chat", "obrolan", "--tool", "bash", "--tool", "memory:m", *permitted, "--model", model, stdin="go\n")

    assert ran.code == 0
    assert (tmp_path / "b.txt").read_text() == "/workspace\n"
    assert (tmp_path / "m" / "a.md").read_text() == "x"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("kursi", "there is no tool 'kursi'"),
        ("memory", "name its place, such as --tool memory:catatan"),
        ("computer", "name its place, such as --tool computer::99"),
        ("editor:tidak-ada", "is not a directory"),
    ],
)
def test_what_cannot_be_had_is_said(cli: Cli, script: Script, given: str, told: str) -> None:
    ran = cli("run", "obrolan", "x", "--tool", given, "--model", script("Ya."), "--lang", "en")

    assert ran.code == 2
    assert told in ran.err


def test_both_languages_fill_in_the_same() -> None:
    for field in MachineTexts.__struct_fields__:
        said, also = (getattr(MACHINE_TEXTS[language], field) for language in ("id", "en"))
        assert set(re.findall(r"{\w+[!\w]*}", said)) == set(re.findall(r"{\w+[!\w]*}", also)), field
