"""`tukang tasks`, and the export that is followed with it from another terminal."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, Script, calls
from tests.cli.terminal import Terminal
from tukang.assistants import ekspor
from tukang.assistants.katalog import Katalog

START = ("mulai_ekspor_data", {"format": "csv"})


@pytest.fixture
def orders() -> int:
    """Orders of the customer's, and of somebody else's."""
    katalog = Katalog()
    for number in range(8):
        katalog.order("PRD002", 1, "USR042" if number % 4 else "USR001", f"key{number}")
    return 6


@pytest.fixture
def exported(cli: Cli, script: Script, orders: int, monkeypatch: pytest.MonkeyPatch) -> str:  # noqa: ARG001 - they are there
    """A chat that began an export, and ended after it; the task's id."""
    monkeypatch.setattr(ekspor.agent, "__kwdefaults__", {"jeda": 0.01})
    model = script(calls(START), "Ekspor dimulai.")
    ran = cli("chat", "ekspor", "--user", "USR042", "--session", "budi", "--model", model, stdin="Ekspor pesananku\n")
    assert ran.code == 0
    assert "Tasks still running: 1" in ran.err, "a process does not leave its tasks in the middle unasked"
    (one,) = listed(cli, "--all")
    return one["task"]


def listed(cli: Cli, *more: str) -> list[Any]:
    return json.loads(cli("tasks", "list", "--json", *more).out)


def test_an_export_is_listed_shown_and_followed(cli: Cli, exported: str, orders: int) -> None:
    assert listed(cli) == [], "it has ended"
    (one,) = listed(cli, "--all", "--session", "budi")
    assert (one["tool"], one["state"], one["percent"], one["agent"]) == ("mulai_ekspor_data", "done", 100.0, "ekspor")
    assert exported in cli("tasks", "list", "--all").out
    shown = cli("tasks", "show", exported, "--lang", "id")
    assert "selesai" in shown.out
    assert 'mulai_ekspor_data(format="csv")' in shown.out
    followed = cli("tasks", "follow", exported)
    assert followed.code == 0
    file = Path(json.loads(followed.out)["berkas"])
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == orders
    assert {row["user_id"] for row in rows} == {"USR042"}, "nobody else's orders"


def test_what_cannot_be_done_is_said(cli: Cli, exported: str) -> None:
    assert cli("tasks", "show", "t000").code == 2
    assert "ended already" in cli("tasks", "cancel", exported).err
    assert cli("tasks", "retry", exported).code == 1
    assert cli("tasks", "work", "hitung", "--model", "scripted:replies.jsonl").code == 2
    assert "no tasks" in cli("tasks", "list", "--session", "siti", "--all").err


def test_the_model_asks_how_far_it_is(cli: Cli, script: Script, exported: str) -> None:
    model = script(calls(("cek_status_task", {"task_id": exported})), "Sudah.", name="ask.jsonl")
    ran = cli("chat", "ekspor", "--user", "USR042", "--session", "budi", "--model", model, stdin="Sudah?\n")
    assert "6 pesanan sudah diekspor" in ran.err
    other = cli("chat", "ekspor", "--user", "USR042", "--session", "siti", "--model", model, stdin="Sudah?\n")
    assert "tidak ada" in other.err


def test_nothing_to_be_exported_is_said_at_the_end_of_the_task(
    cli: Cli, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ekspor.agent, "__kwdefaults__", {"jeda": 0.0})
    model = script(calls(START), "Ekspor dimulai.")
    cli("chat", "ekspor", "--user", "USR042", "--session", "budi", "--model", model, stdin="Ekspor\n")
    (one,) = listed(cli, "--all")
    assert (one["state"], one["fault"]) == ("failed", "nothing_done")


def until(true: Callable[[], Any]) -> Any:
    give_up = time.monotonic() + 40
    while not (found := true()):
        assert time.monotonic() < give_up
        time.sleep(0.05)
    return found


def test_a_task_is_followed_live_left_and_gone_on_with(
    cli: Cli, tmp_path: Path, terminals: list[Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("FOLDER", str(tmp_path)), ("CARRIER", "embedded-sqlite"), ("STORE", "")):
        monkeypatch.setenv(f"TASKS_{name}", value)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    chat = _started("chat", "tests.tasks.shop:made", "--session", "budi", stdin=subprocess.PIPE)
    assert chat.stdin is not None
    chat.stdin.write(b"read 1\n")
    chat.stdin.flush()
    (one,) = until(lambda: [one for one in listed(cli) if one["percent"]])
    follower = Terminal("tasks", "follow", one["task"])
    terminals.append(follower)
    assert "running" in follower.expect("10%")
    chat.kill()
    chat.wait()
    chat.stdin.close()
    worker = _started("tasks", "work", "tests.tasks.shop:made")
    try:
        (tmp_path / "gate1").touch()
        follower.expect('"done":1')
        assert follower.end() == 0
        (ended,) = listed(cli, "--all")
        assert (ended["state"], ended["attempts"]) == ("done", 2)
        worker.terminate()
        assert worker.wait(20) == 0
    finally:
        worker.kill()
        worker.wait()


def _started(*arguments: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tukang", *arguments]
    return subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
