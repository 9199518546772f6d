"""`tukang approvals`: deciding from another process, and the turn that goes on with it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.cli.conftest import Cli, Script, calls
from tukang.assistants.katalog import Katalog

CHECK = ("cek_harga_produk", {"product_id": "PRD002"})
ORDER = ("buat_pesanan", {"product_id": "PRD002", "quantity": 2, "user_id": "USR042"})


def ordered() -> list[int]:
    return [one.quantity for one in Katalog().orders()]


@pytest.fixture
def waiting(cli: Cli, script: Script) -> tuple[str, str]:
    """A chat whose turn waits for permission: the model, and what it waits under."""
    model = script(calls(CHECK), calls(ORDER), "Jadi.")
    ran = cli("chat", "toko", "--user", "USR042", "--session", "budi", "--model", model, stdin="Pesan 2 SSD\n")
    assert ran.code == 1
    assert "waiting for a decision" in ran.err
    (one,) = json.loads(cli("approvals", "list", "--json").out)
    return script("Jadi."), one["key"]


def listed(cli: Cli, *more: str) -> list[Any]:
    return json.loads(cli("approvals", "list", "--json", *more).out)


def test_what_waits_is_listed_and_shown(cli: Cli, waiting: tuple[str, str]) -> None:
    _, key = waiting
    (one,) = listed(cli)
    assert (one["session"], one["question"]["tool"], one["question"]["effect"], one["open"]) == (
        "budi",
        "buat_pesanan",
        "write",
        True,
    )
    assert one["question"]["arguments"] == ORDER[1]
    line = cli("approvals", "list").out
    assert key in line
    assert 'buat_pesanan(product_id="PRD002", quantity=2, user_id="USR042")' in line
    shown = cli("approvals", "show", key[:6], "--lang", "id").out
    assert "buat_pesanan  [write: mengubah sesuatu, tidak diulang]" in shown
    assert "total Rp 2.400.000" in shown
    assert "quantity = 2" in shown
    assert listed(cli, "--session", "siti") == []
    assert key in cli("sessions", "show", "budi").out or "buat_pesanan(" in cli("sessions", "show", "budi").out


def test_approved_elsewhere_it_goes_on_where_it_is_resumed(cli: Cli, waiting: tuple[str, str]) -> None:
    model, key = waiting
    ran = cli("sessions", "resume", "budi", "--model", model)
    assert (ran.code, ordered()) == (1, []), "nobody has decided"
    ran = cli("approvals", "approve", key, "--reason", "ok", "--by", "ibu")
    assert (ran.code, ordered()) == (0, [])
    assert "tukang sessions resume budi" in ran.err
    ran = cli("approvals", "refuse", key)
    assert ran.code == 1
    assert "answered before, by ibu" in ran.err
    ran = cli("sessions", "resume", "--model", model)
    assert (ran.code, ran.out, ordered()) == (0, "Jadi.\n", [2])
    assert "✓ approved (ibu): ok" in ran.err
    assert listed(cli) == []
    (one,) = listed(cli, "--all")
    assert (one["answer"]["decision"], one["by"], one["used"] is not None) == ("approve", "ibu", True)
    assert "approved (ibu), used" in cli("approvals", "list", "--all").out


def test_refused_elsewhere_the_model_reads_the_reason(cli: Cli, waiting: tuple[str, str]) -> None:
    model, key = waiting
    assert cli("approvals", "refuse", key, "--reason", "stok untuk toko lain", "--by", "ibu").code == 0
    ran = cli("sessions", "resume", "budi", "--model", model)
    assert (ran.code, ordered()) == (0, [])
    assert "stok untuk toko lain" in ran.err


def test_edited_elsewhere_it_runs_with_exactly_that(cli: Cli, waiting: tuple[str, str]) -> None:
    model, key = waiting
    assert cli("approvals", "edit", key).code == 2
    assert "has to be name=value" in cli("approvals", "edit", key, "--set", "quantity").err
    wrong = cli("approvals", "edit", key, "--set", "quantty=1").err
    assert "no such argument (quantity?)" in wrong
    assert cli("approvals", "edit", key, "--set", "quantity=1", "--by", "ibu").code == 0
    ran = cli("sessions", "resume", "budi", "--model", model)
    assert (ran.code, ordered()) == (0, [1])
    assert "✎ edited (ibu)" in ran.err


def test_an_edit_that_does_not_fit_runs_nothing(cli: Cli, waiting: tuple[str, str]) -> None:
    model, key = waiting
    assert cli("approvals", "edit", key, "--set", "quantity=0").code == 0
    ran = cli("sessions", "resume", "budi", "--model", model)
    assert ordered() == []
    assert "invalid_arguments" in ran.err


def test_a_secret_in_an_edit_is_not_written_down(cli: Cli, waiting: tuple[str, str]) -> None:
    _, key = waiting
    ran = cli("approvals", "edit", key, "--set", "product_id=sk-abcdefghijklmnop1234")
    assert ran.code == 2
    assert "looks like a secret" in ran.err
    assert len(listed(cli)) == 1


def test_what_is_not_there_cannot_be_decided_about(cli: Cli, waiting: tuple[str, str]) -> None:
    ran = cli("approvals", "approve", "t-9-9")
    assert ran.code == 2
    assert "nothing waits for a decision under 't-9-9'" in ran.err
    assert cli("approvals", "show", "").code == 2
    assert ordered() == []
    assert waiting


def test_a_chat_goes_on_by_itself_with_what_was_decided_meanwhile(cli: Cli, waiting: tuple[str, str]) -> None:
    model, key = waiting
    cli("approvals", "approve", key)
    ran = cli("chat", "toko", "--session", "budi", "--user", "USR042", "--model", model, stdin="")
    assert (ran.out, ordered()) == ("Jadi.\n", [2])


def test_resume_may_stay_until_somebody_has_decided(cli: Cli, waiting: tuple[str, str]) -> None:
    model, key = waiting
    command = [sys.executable, "-m", "tukang", "sessions", "resume", "budi", "--wait", "--model", model]
    staying = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert cli("approvals", "approve", key).code == 0
    out, _ = staying.communicate(timeout=60)
    assert (out, staying.returncode, ordered()) == ("Jadi.\n", 0, [2])
