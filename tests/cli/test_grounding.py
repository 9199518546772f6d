"""What the command line shows of an answer that says what nobody said. The shop is held to it."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.cli.conftest import Cli, Script, calls
from tukang import Agent
from tukang.cli.screen import Screen
from tukang.cli.texts import TEXTS
from tukang.cli.view import View
from tukang.models.scripted import Scripted

CHECK = calls(("cek_harga_produk", {"product_id": "PRD002"}))
RIGHT, WRONG = "Harganya Rp 1.200.000, stok 15.", "Harganya Rp 1.300.000, stok 15."


def test_an_answer_that_was_mended_is_all_that_is_printed(cli: Cli, script: Script) -> None:
    ran = cli("run", "toko", "Harga PRD002?", "--model", script(CHECK, WRONG, RIGHT))
    assert (ran.code, ran.out) == (0, RIGHT + "\n")
    assert "withdrawn: Rp 1.300.000 is in no tool's result" in ran.err
    assert "Attention" not in ran.err


def test_what_stays_unsupported_is_said_also_when_quiet(cli: Cli, script: Script) -> None:
    model = script(CHECK, WRONG, WRONG)
    ran = cli("run", "toko", "Harga PRD002?", "-q", "--model", model)
    assert (ran.code, ran.out) == (0, WRONG + "\n")
    assert ran.err == "Attention: this answer says what is in no tool's result and was not said by you: Rp 1.300.000\n"
    ran = cli("run", "toko", "Harga PRD002?", "--lang", "id", "--model", model)
    assert "Perhatian: jawaban ini menyebut yang tidak ada di hasil alat dan tidak kamu sebut: Rp 1.300.000" in ran.err


def test_the_document_has_it(cli: Cli, script: Script) -> None:
    body = json.loads(cli("run", "toko", "Harga PRD002?", "--json", "--model", script(CHECK, WRONG, WRONG)).out)
    assert (body["answer"], body["unsupported"], body["unchecked"]) == (WRONG, ["Rp 1.300.000"], None)
    body = json.loads(cli("run", "hitung", "…", "--json", "--model", script("99")).out)
    assert (body["unsupported"], body["unchecked"]) == ([], None)


def test_single_shot_flags_and_asks_no_more(cli: Cli, script: Script) -> None:
    ran = cli("run", "toko", "Harga PRD002?", "--single-shot", "--json", "--model", script(CHECK, WRONG, "never said"))
    body = json.loads(ran.out)
    assert (ran.code, body["answer"], body["unsupported"]) == (0, WRONG, ["Rp 1.300.000"])


def test_chat_says_it_and_goes_on(cli: Cli, script: Script) -> None:
    model = script(CHECK, WRONG, WRONG, "Sama-sama.")
    ran = cli("chat", "toko", "--model", model, stdin="Harga PRD002?\nTerima kasih\n")
    assert "Attention" in ran.err
    assert ran.out.endswith("Sama-sama.\n")


def test_on_a_terminal_the_answer_that_was_streamed_is_withdrawn_and_the_next_one_follows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    agent = Agent(Scripted(["Pesanan ORD7781.", "Belum ada pesanan."]), grounded=True)
    screen = Screen()
    screen.streams = True
    view = View(screen, TEXTS["en"])

    async def run() -> None:
        stream = agent.stream("Nomor pesanan saya?")
        async for item in stream:
            view.see(item)
        view.finish(stream.answer)

    asyncio.run(run())
    shown = capsys.readouterr()
    assert shown.out == "Pesanan ORD7781.\nBelum ada pesanan.\n"
    assert "withdrawn: ORD7781" in shown.err
