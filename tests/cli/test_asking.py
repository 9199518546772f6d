"""Asking for permission: at a terminal, where there is none, and where the command line has said it beforehand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Script, calls
from tests.cli.terminal import Terminal
from tukang.assistants.katalog import Katalog, Pesanan

CHECK = ("cek_harga_produk", {"product_id": "PRD002"})


def order(quantity: int) -> tuple[str, dict[str, object]]:
    return ("buat_pesanan", {"product_id": "PRD002", "quantity": quantity, "user_id": "USR042"})


def ordered() -> list[int]:
    orders: list[Pesanan] = Katalog().orders()
    return [one.quantity for one in orders]


# ── without a terminal ───────────────────────────────────────────────────────────────────────────────────────────────


def test_run_without_a_terminal_refuses_and_says_how_to_approve(cli: Cli, script: Script) -> None:
    model = script(calls(CHECK), calls(order(1)), "Maaf, belum bisa.")
    ran = cli("run", "toko", "Pesan", "--user", "USR042", "--model", model, "--lang", "id")
    assert ran.code == 0
    assert ordered() == []
    assert "✗ ditolak: Tidak ada yang bisa ditanya di sini." in ran.err
    assert "--approve buat_pesanan" in ran.err
    assert "ditolak: refused" in ran.err


def test_approve_on_the_command_line_is_for_the_tools_it_names(cli: Cli, script: Script) -> None:
    model = script(calls(CHECK), calls(order(2)), "Jadi.")
    ran = cli("run", "toko", "Pesan", "--user", "USR042", "--model", model, "--approve", "buat_pesanan")
    assert ordered() == [2]
    assert "✓ approved (--approve)" in ran.err
    ran = cli("run", "toko", "Pesan", "--model", model, "--approve", "buat_pesnan")
    assert (ran.code, ran.out) == (2, "")
    assert "--approve buat_pesnan: toko has no such tool (buat_pesanan?)" in ran.err
    ran = cli("chat", "toko", "--model", model, "--approve", "x", stdin="halo\n")
    assert (ran.code, ran.out) == (2, "")


def test_a_chat_from_a_pipe_refuses_too(cli: Cli, script: Script) -> None:
    ran = cli(
        "chat", "toko", "--user", "USR042", "--model", script(calls(CHECK), calls(order(1)), "Maaf."), stdin="Pesan\n"
    )
    assert ran.out == "Maaf.\n"
    assert ordered() == []


# ── at a terminal ────────────────────────────────────────────────────────────────────────────────────────────────────


def talk(script: Script, *replies: object, more: tuple[str, ...] = ()) -> Terminal:
    arguments = ("--user", "USR042", "--model", script(*replies), "--lang", "id", *more)
    terminal = Terminal("chat", "toko", *arguments)
    terminal.expect("› ")
    terminal.type("Pesan SSD\n")
    return terminal


def test_toko_shows_product_quantity_and_total_before_it_orders(script: Script, terminals: list[Terminal]) -> None:
    terminals.append(terminal := talk(script, calls(CHECK), calls(order(2)), "Jadi."))
    shown = terminal.expect("[s] selalu")
    assert "buat_pesanan minta izin  [write: mengubah sesuatu, tidak diulang]" in shown
    assert re.search(r"2 × SSD.*\(PRD002\), total Rp 2\.400\.000", shown)
    assert "quantity = 2" in shown
    assert "[n] nanti" not in terminal.expect("› ")
    assert ordered() == []
    terminal.type("mungkin\n")
    terminal.expect("Pilih salah satu")
    terminal.expect("› ")
    terminal.type("y\n")
    terminal.expect("✓ disetujui")
    terminal.expect("Jadi.")
    assert ordered() == [2]


def test_a_refusal_is_asked_for_its_reason(script: Script, terminals: list[Terminal]) -> None:
    terminals.append(terminal := talk(script, calls(CHECK), calls(order(2)), "Baik."))
    terminal.expect("batas")
    terminal.expect("› ")
    terminal.type("t\n")
    terminal.expect("Alasan (boleh kosong) › ")
    terminal.type("terlalu mahal\n")
    assert "terlalu mahal" in terminal.expect("Baik.")
    assert ordered() == []


def test_an_edit_is_shown_before_it_runs(script: Script, terminals: list[Terminal]) -> None:
    terminals.append(terminal := talk(script, calls(CHECK), calls(order(9)), "Jadi."))
    terminal.expect("batas › ")
    terminal.type("u\n")
    for name, value in (("product_id", ""), ("quantity", "3"), ("user_id", "")):
        terminal.expect(f"{name} [")
        terminal.expect("› ")
        terminal.type(f"{value}\n")
    assert "quantity = 3" in terminal.expect("[y/t] › ")
    assert ordered() == []
    terminal.type("y\n")
    assert "argumen diubah orang" in terminal.expect("Jadi.")
    assert ordered() == [3]


def test_always_holds_within_its_bounds_in_this_session(script: Script, terminals: list[Terminal]) -> None:
    replies = (calls(CHECK), calls(order(1)), calls(order(2)), calls(order(5)), "Jadi.")
    terminals.append(terminal := talk(script, *replies))
    terminal.expect("batas › ")
    terminal.type("s\n")
    for name, value in (("product_id", ""), ("quantity", "<= 3"), ("user_id", "")):
        terminal.expect(f"{name} [")
        terminal.expect("› ")
        terminal.type(f"{value}\n")
    assert "quantity ≤ 3" in terminal.expect("✓ disetujui")
    shown = terminal.expect("batas › ")
    assert "quantity = 5" in shown, "beyond the bound it is asked about"
    assert ordered() == [1, 2]
    terminal.type("t\n")
    terminal.expect("› ")
    terminal.type("\n")
    terminal.expect("Jadi.")
    assert ordered() == [1, 2]


def test_ctrl_c_at_the_question_ends_the_turn_and_runs_nothing(script: Script, terminals: list[Terminal]) -> None:
    terminals.append(terminal := talk(script, calls(CHECK), calls(order(1)), "Halo juga."))
    terminal.expect("batas › ")
    terminal.type("\x03")
    terminal.expect("dibatalkan")
    terminal.expect("› ")
    terminal.type("halo\n")
    terminal.expect("Halo juga.")
    assert ordered() == []


@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_call_that_is_left_for_later_is_decided_from_another_process(
    cli: Cli, script: Script, terminals: list[Terminal], elsewhere: bool
) -> None:
    more = ("--session", "budi")
    terminals.append(terminal := talk(script, calls(CHECK), calls(order(2)), "Jadi.", more=more))
    terminal.expect("[n] nanti › ")
    (waiting,) = json.loads(cli("approvals", "list", "--json").out)
    if elsewhere:  # while it is asked here
        ran = cli("approvals", "approve", waiting["key"], "--reason", "boleh", "--by", "ibu")
        assert ran.code == 0
        assert "✓ disetujui (ibu): boleh" in terminal.expect("Jadi.")
    else:
        terminal.type("n\n")
        terminal.expect("menunggu keputusan")
        terminal.expect("› ")
        terminal.type("/lanjut\n")
        terminal.expect("[n] nanti › ")
        terminal.type("y\n")
        terminal.expect("Jadi.")
    assert ordered() == [2]
    assert Path("data").exists()
