"""`tukang tools` and `tukang doctor`: what is shown of contracts, and of this machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tukang.assistants import toko
from tukang.cli import doctor, policies
from tukang.errors import ToolWarning
from tukang.models.local import machine, weights
from tukang.models.names import Choice
from tukang.models.scripted import Scripted

KEY = "sk-proj-abcdefghijklmnop0123456789"


def test_contracts_are_shown_as_the_model_sees_them(cli: Cli, tmp_path: Path) -> None:
    ran = cli("tools", "toko", "--json")
    shown = json.loads(ran.out)
    contracts = toko.agent(Scripted([]), tmp_path / "toko.db").toolbox.contracts
    wanted = [{"name": c.name, "description": c.description, "parameters": c.parameters} for c in contracts]
    assert [{name: tool[name] for name in ("name", "description", "parameters")} for tool in shown] == wanted
    assert ran.err == ""
    assert shown[0]["policy"]["effect"] == {
        "value": "read",
        "declared": True,
        "why": "declared; runs beside other reads, and may be run again",
    }


def test_contracts_for_reading(cli: Cli) -> None:
    out = cli("tools", "toko", "--lang", "id").out
    assert "buat_pesanan  [write]" in out
    assert "quantity: integer ≥ 1, wajib" in out
    assert "ID produk, contoh: PRD001" in out
    assert "! setelah 5 detik ditinggal di thread-nya, dan tetap berjalan; isolation=" in out
    assert "context" not in out
    assert cli("tools", "obrolan").out == "This assistant has no tools.\n"


ODD = """
from tukang import Agent, tool

def jam_sekarang() -> str:
    return "10.00"

def a(x: int) -> int:
    return x

form = lambda name: {"name": name, "parameters": {"properties": {"x": {"type": "integer"}}, "required": ["x"]}}

@tool(effect="read", isolation="process", memory=64, parallel=2, max_output=500, cache=60, timeout=1.5)
def berat(x: int) -> int:
    return x

@tool(terminal=True)
async def akhir(x: int) -> str:
    return ""

agent = Agent("scripted:x.jsonl", tools=[jam_sekarang, (form("satu"), a), (form("dua"), a), berat, akhir])
"""


def _policies(out: str) -> dict[str, list[str]]:
    """The lines below each tool's name, without the description and the parameters."""
    tools: dict[str, list[str]] = {}
    for block in out.split("\n\n"):
        head, *lines = block.strip().split("\n")
        tools[head.split()[0]] = [line.strip() for line in lines if line.startswith(("  ·", "  !"))]
    return tools


def test_a_policy_is_shown_value_by_value_with_the_reason(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("")
    (tmp_path / "odd_tools.py").write_text(ODD)
    with pytest.warns(ToolWarning, match="looks like a clock"):
        tools = _policies(cli("tools", "odd_tools:agent", "--lang", "en").out)
    assert list(tools) == ["jam_sekarang", "satu", "dua", "berat", "akhir", "read_more"]
    assert tools["jam_sekarang"] == [
        "· effect = unknown: nothing was declared; runs alone, and is never repeated",
        "· approval = never: nothing was declared; nobody is asked",
        "· needs = None: nothing was declared; every caller may use it",
        "· timeout = None: nothing was declared; a call may take what is left of the turn",
        "· isolation = thread: nothing was declared; a plain function; a thread cannot be stopped when its time is up",
        "· parallel = 1: nothing was declared; what is not a read runs alone",
        "· repeatable = False: nothing was declared; an equal call in the same turn gets the earlier result",
        "· terminal = False: nothing was declared; the model goes on with the result",
        "· max_output = 40000: nothing was declared; characters the model gets at once; it reads on with read_more",
        "· cache = None: nothing was declared; results are not kept for later turns",
        "! it looks like a clock: say repeatable=True if every call must run, or repeatable=False",
    ]
    assert tools["satu"][-1] == "! the same function stands behind dua"
    assert tools["dua"][-1] == "! the same function stands behind satu"
    assert tools["berat"] == [
        "· effect = read: declared; runs beside other reads, and may be run again",
        "· approval = never: nothing was declared; nobody is asked",
        "· needs = None: nothing was declared; every caller may use it",
        "· timeout = 1.5: declared; seconds one call may take",
        "· isolation = process: declared; in a worker process, which is killed when its time is up",
        "· memory = 64: declared; megabytes a call may take in its process",
        "· parallel = 2: declared; calls of this tool at the same time, at most",
        "· repeatable = False: nothing was declared; an equal call in the same turn gets the earlier result",
        "· terminal = False: nothing was declared; the model goes on with the result",
        "· max_output = 500: declared; characters the model gets at once; it reads on with read_more",
        "· cache = 60: declared; seconds an equal call of a later turn gets the result, until something is written",
    ]
    assert "· isolation = async: nothing was declared; an async function, on the event loop" in tools["akhir"]
    whole = "· max_output = None: nothing was declared; the result is the answer, so nothing of it is left out"
    assert whole in tools["akhir"]
    assert tools["read_more"][-1] == "! built in: here because a tool declares max_output"


def test_every_sentence_about_policies_is_there_in_both_languages() -> None:
    english, indonesian = policies.TEXTS["en"], policies.TEXTS["id"]
    assert set(english) == set(indonesian)
    assert not [key for key in english if english[key] == indonesian[key]]


def test_looking_at_tools_creates_no_catalogue(cli: Cli, tmp_path: Path) -> None:
    cli("tools", "toko")
    assert not (tmp_path / "data").exists()


def test_doctor_names_the_model_and_never_a_key(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://user:{KEY}@localhost:1/v1")
    ran = cli("doctor")
    assert ran.code == 0
    assert "openai:gpt-4o-mini (OPENAI_API_KEY is set and OPENAI_MODEL is not" in ran.out
    assert KEY not in ran.out + ran.err
    assert ran.out.endswith("Ready.\n")


def test_doctor_shows_other_providers_where_they_are_set_up(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    ran = cli("doctor", "--model", "anthropic:claude-sonnet-4-5")
    assert ran.code == 0
    assert "✓ ANTHROPIC_API_KEY" in ran.out
    assert "GEMINI_API_KEY" not in ran.out
    assert KEY not in ran.out


def test_the_local_model_is_beside_the_point_when_another_was_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.setattr(doctor, "find_spec", lambda _: None)
    ran = cli("doctor", "--model", "gemini:gemini-2.5-flash")
    assert ran.code == 2
    assert "· extra local" in ran.out
    assert "✗ model chosen" in ran.out
    assert "set GEMINI_API_KEY" in ran.out


def test_doctor_says_what_the_tools_of_the_machine_lack(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def which(name: str) -> str | None:
        return None if name in ("bwrap", "import") else f"/usr/bin/{name}"

    monkeypatch.setattr("shutil.which", which)
    ran = cli("doctor")
    assert ran.code == 0  # they are the user's to want
    assert "no bwrap  → apt install bubblewrap, if you want to use --tool bash" in ran.out
    assert "no import  → apt install imagemagick, if you want to use --tool computer" in ran.out


def test_doctor_finds_a_dotenv(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"OPENAI_API_KEY={KEY}\n")
    (tmp_path / "below").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "tukang", "doctor"], capture_output=True, text=True, cwd=tmp_path / "below", check=False
    )
    assert f"found: {tmp_path / '.env'}" in done.stdout
    assert "set (not shown), from .env" in done.stdout
    assert KEY not in done.stdout
    assert done.returncode == 0


def test_doctor_says_what_the_local_model_lacks(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TUKANG_CACHE", str(tmp_path))
    monkeypatch.setattr(weights, "is_installed", lambda: False)
    monkeypatch.setattr(machine, "free_memory", lambda: 900_000_000)
    monkeypatch.setattr(doctor, "choose", lambda _: Choice(Scripted([], name="local"), "it was asked for by name"))
    ran = cli("doctor", "--model", "local")
    assert ran.code == 2
    assert '✗ local model\'s file  not installed  → pip install "tukang[local]"' in ran.out
    assert "0.9 GB free, 2.1 GB needed" in ran.out
    assert "Not ready" in ran.out


def test_a_short_memory_is_beside_the_point_for_another_model(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(machine, "free_memory", lambda: 900_000_000)
    ran = cli("doctor")
    assert ran.code == 0
    assert "· memory" in ran.out
