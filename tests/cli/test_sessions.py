"""`tukang sessions`, and a chat that is kept: what is shown, what goes through a pipe, and going on after a crash."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.cli.conftest import Cli
from tukang.cli.session_texts import SESSION_TEXTS, SessionTexts

_AGENT = """
import os, sys
from pathlib import Path
from tukang import Agent, tool
from tukang.models.scripted import Scripted, call

@tool(effect="write", approval="never")
def pesan(barang: str) -> str:
    '''Pesan.'''
    with open("ledger", "a") as ledger:
        ledger.write(barang + "\\n")
    if Path("deadly").exists():
        os.kill(os.getpid(), 9)
    return "dipesan"

def reply(request):
    last = max(place for place, message in enumerate(request.messages) if message.role == "user")
    if request.messages[last].text != "pesan":
        return f"Pesan ke-{len(request.messages)}."
    said = sum(message.role == "assistant" for message in request.messages[last:])
    return [call("pesan", barang="SSD"), "Selesai."][said]

agent = Agent(Scripted(reply), tools=[pesan])
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path) -> str:
    """An agent of one's own, in a module of its own for each test."""
    name = f"toko_{re.sub('[^a-z0-9]', '_', tmp_path.name.lower())}"
    Path(f"{name}.py").write_text(_AGENT)
    return f"{name}:agent"


def test_a_chat_that_is_kept_goes_on_in_another_process(cli: Cli, module: str) -> None:
    ran = cli("chat", module, "--session", "budi", stdin="satu\ndua\n")
    assert (ran.code, ran.out) == (0, "Pesan ke-1.\nPesan ke-3.\n")
    ran = cli("chat", module, "--session", "budi", "--lang", "id", stdin="tiga\n/baru\n/help\n")
    assert ran.out == "Pesan ke-5.\n"
    assert "Sesi budi: 2 giliran. Terakhir: dua" in ran.err
    assert "disimpan dengan nama budi" in ran.err
    assert "/lanjut" in ran.err
    assert cli("chat", module, "--session", "siti", stdin="satu\n").out == "Pesan ke-1.\n"


def test_a_store_of_ones_own(cli: Cli, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("chat", module, "--session", "budi", "--store", "sqlite:///mine.db", stdin="satu\n")
    assert Path("mine.db").exists()
    assert cli("sessions", "list").out == ""
    monkeypatch.setenv("TUKANG_STORE", "sqlite:///mine.db")
    assert cli("sessions", "list").out.startswith("budi")
    ran = cli("chat", module, "--store", "sqlite:///mine.db")
    assert (ran.code, "--session" in ran.err) == (2, True)


def test_sessions_are_listed_the_last_used_first(cli: Cli, module: str) -> None:
    for name in ("budi", "siti"):
        cli("chat", module, "--session", name, stdin="halo\napa kabar\n")
    lines = cli("sessions", "list").out.splitlines()
    assert [line.split()[:2] for line in lines] == [["siti", "2"], ["budi", "2"]]
    assert lines[0].endswith("apa kabar")
    assert [line.split()[0] for line in cli("sessions", "list", "--prefix", "b").out.splitlines()] == ["budi"]
    (first,) = msgspec.json.decode(cli("sessions", "list", "-n", "1", "--json").out)
    assert (first["id"], first["turns"], first["question"]) == ("siti", 2, "apa kabar")


def test_a_session_is_shown(cli: Cli, module: str) -> None:
    cli("chat", module, "--session", "budi", stdin="halo\npesan\n")
    out = cli("sessions", "show", "budi", "--lang", "id").out
    assert out.startswith("budi · 2 giliran · agent · ")
    assert re.search(r"^#1  \d{4}-\d\d-\d\d \d\d:\d\d  terjawab\n  › halo\n  Pesan ke-1.\n", out, re.MULTILINE)
    assert out.endswith('  › pesan\n  pesan(barang="SSD")\n    → dipesan\n  Selesai.\n')
    assert "halo" not in cli("sessions", "show", "budi", "--last", "1").out
    whole = msgspec.json.decode(cli("sessions", "show", "budi", "--json").out)
    assert [turn["stopped"] for turn in whole["turns"]] == ["answer", "answer"]
    assert (whole["open"], whole["waits"]) == ([], [])


def test_sessions_are_forked_renamed_and_deleted(cli: Cli, module: str) -> None:
    cli("chat", module, "--session", "budi", stdin="satu\ndua\n")
    assert "1 turns of budi" in cli("sessions", "fork", "budi", "cabang", "--upto", "1").err
    assert cli("chat", module, "--session", "cabang", stdin="lain\n").out == "Pesan ke-3.\n"
    assert cli("sessions", "rename", "budi", "ani").code == 0
    ran = cli("sessions", "delete", "ani")
    assert (ran.code, "--yes" in ran.err) == (2, True), "not without being sure"
    ran = cli("sessions", "delete", "ani", "--yes")
    assert ran.code == 0
    assert "1 turns are still in cabang" in ran.err
    assert [line.split()[0] for line in cli("sessions", "list").out.splitlines()] == ["cabang"]


def test_sessions_go_through_a_pipe_from_one_store_to_another(cli: Cli, module: str) -> None:
    for name in ("budi", "siti"):
        cli("chat", module, "--session", name, stdin="satu\u2028dua\n")
    whole = cli("sessions", "export")
    assert whole.code == 0
    assert all(msgspec.json.decode(line) for line in whole.out.split("\n") if line)
    ran = cli("sessions", "import", "-", "--store", "sqlite:///other.db", stdin=whole.out)
    assert ran.out.split() == ["budi", "siti"]
    assert cli("sessions", "export", "--store", "sqlite:///other.db").out == whole.out
    ran = cli("sessions", "import", "-", "--store", "sqlite:///other.db", stdin=whole.out)
    assert (ran.code, "'budi'" in ran.err) == (2, True)
    ran = cli("sessions", "import", "-", "--skip-existing", "--store", "sqlite:///other.db", stdin=whole.out)
    assert (ran.code, ran.out) == (0, "")
    assert cli("sessions", "export", "budi", "-o", "budi.jsonl").code == 0
    assert cli("sessions", "import", "budi.jsonl", "--store", "sqlite:///third.db").out == "budi\n"


@pytest.mark.parametrize(
    "words",
    [
        ("show", "budi"),
        ("fork", "budi", "b"),
        ("rename", "budi", "b"),
        ("delete", "budi", "--yes"),
        ("export", "budi"),
        ("resume", "budi"),
        ("import", "nowhere.jsonl"),
        ("list", "--store", "mysql://x"),
        ("list", "--store", "sqlite:////no/such/directory/x.db"),
    ],
)
def test_what_is_not_there_is_said(cli: Cli, words: tuple[str, ...]) -> None:
    ran = cli("sessions", *words)
    assert ran.code == 2
    assert ran.out == ""
    assert len(ran.err.strip().splitlines()) <= 2
    assert "Traceback" not in ran.err


# ── going on ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def killed(module: str) -> str:
    """A chat whose process was killed inside a write; its lease has expired."""
    Path("deadly").touch()
    code = (
        "import sys, tukang.memory.stored as stored; stored.StoredSession.__init__.__kwdefaults__['lease'] = 0.2\n"
        "import tukang.agent as agent; agent.Agent.session.__kwdefaults__['lease'] = 0.2\n"
        "from tukang.cli import main; main(sys.argv[1:])"
    )
    died = subprocess.run(
        [sys.executable, "-c", code, "chat", module, "--session", "budi"],
        input="halo\npesan\n",
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=60,
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    Path("deadly").unlink()
    return module


def _resumable(cli: Cli) -> None:
    """Wait until the dead process's lease has expired."""
    for _ in range(1000):
        if "left in the middle" in cli("sessions", "list", "--lang", "en").out:
            return
    raise AssertionError("the lease does not expire")


def test_a_turn_that_was_killed_is_resumed(cli: Cli, killed: str) -> None:
    _resumable(cli)
    shown = cli("sessions", "show", "budi", "--lang", "en").out
    assert re.search(r"^#2 .* left in the middle\n  › pesan$", shown, re.MULTILINE)
    ran = cli("sessions", "resume", "--lang", "en")
    assert (ran.code, ran.out) == (0, "Selesai.\n")
    assert f"going on with budi, turn 2 ({killed})" in ran.err
    assert "[failed: outcome_unknown]" in ran.err
    assert Path("ledger").read_text() == "SSD\n", "it was ordered once"
    ran = cli("sessions", "resume", "--lang", "en")
    assert (ran.code, ran.out) == (0, "")
    assert "no turn to go on with" in ran.err


def test_a_chat_goes_on_with_the_turn_that_was_killed(cli: Cli, killed: str) -> None:
    _resumable(cli)
    ran = cli("chat", killed, "--session", "budi", "--lang", "id", stdin="/lanjut\nhalo lagi\n")
    assert "Ada giliran yang terputus" in ran.err
    assert ran.out == "Selesai.\nPesan ke-7.\n"
    assert Path("ledger").read_text() == "SSD\n"


def test_a_chat_may_go_on_without_the_turn_that_was_killed(cli: Cli, killed: str) -> None:
    _resumable(cli)
    ran = cli("chat", killed, "--session", "budi", stdin="halo lagi\n")
    assert ran.out == "Pesan ke-7.\n"
    assert Path("ledger").read_text() == "SSD\n"


@pytest.mark.usefixtures("killed")
def test_a_turn_is_resumed_as_json(cli: Cli) -> None:
    _resumable(cli)
    ran = cli("sessions", "resume", "budi", "--json", "-q")
    document = msgspec.json.decode(ran.out)
    assert (document["answer"], document["steps"][0]["fault"]) == ("Selesai.", "outcome_unknown")
    assert msgspec.json.decode(cli("sessions", "resume", "--json", "-q").out) == []


def test_it_must_be_known_which_agent_goes_on(cli: Cli, killed: str) -> None:
    _resumable(cli)
    with contextlib.closing(sqlite3.connect("data/sessions.db")) as database, database:
        database.execute("DELETE FROM tukang_kept")
    ran = cli("sessions", "resume", "budi", "--lang", "en")
    assert (ran.code, "--agent" in ran.err) == (2, True)
    assert cli("sessions", "resume", "budi", "--agent", killed).out == "Selesai.\n"


def test_both_languages_fill_in_the_same() -> None:
    for field in SessionTexts.__struct_fields__:
        said, also = (getattr(SESSION_TEXTS[language], field) for language in ("id", "en"))
        assert set(re.findall(r"{\w+}", said)) == set(re.findall(r"{\w+}", also)), field
