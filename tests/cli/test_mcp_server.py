"""`tukang mcp`: what the command takes and refuses, and that it can be stopped. What is served: tests/mcp."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.terminal import Terminal
from tukang.cli import mcp_server
from tukang.cli.mcp_server_texts import MCP_SERVER_TEXTS


@pytest.mark.parametrize("how", [[], ["--http", "--port", "0"]])
def test_ctrl_c_at_a_terminal_ends_it(how: list[str], terminals: list[Terminal]) -> None:
    terminal = Terminal("--lang", "en", "mcp", "hitung", "--no-ask", *how)
    terminals.append(terminal)
    terminal.expect("serving add, subtract, multiply, divide, power")
    if how:
        terminal.expect("http://127.0.0.1:")
    terminal.type("\x03")
    assert terminal.end() == (0 if how else 130)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["mcp", "tokoo"], "toko"),
        (["mcp", "toko", "--no-ask", "--tool", "buat_pesan"], "buat_pesanan"),
        (["mcp", "toko", "--no-ask", "--approve", "buat_pesan"], "buat_pesanan"),
        (["mcp", "toko", "--no-ask", "--scope", "x"], "--as"),
        (["mcp", "toko", "--no-ask", "--token-file", "x"], "--http"),
        (["mcp", "toko", "--no-ask", "--known-as", "x"], "--http"),
        (["mcp", "obrolan", "--no-ask"], "nothing is left to serve"),
        (["mcp", "toko", "--no-ask", "--http", "--host", "0.0.0.0"], "token"),
        (["mcp", "toko", "--no-ask", "--http", "--token-file", "absent"], "absent"),
        (["mcp", "toko", "--no-ask", "--http", "--token-file", "empty"], "empty"),
        (["mcp", "hitung", "--no-ask", "--user", "USR1"], "user"),
        (["mcp", "hitung", "--no-ask", "--keys", "absent/calls.db"], "absent/calls.db cannot be used"),
    ],
)
def test_what_cannot_be_is_said(words: list[str], said: str, cli: Cli) -> None:
    Path("empty").write_text("\n")
    ran = cli("--lang", "en", *words)
    assert ran.code == 2
    assert said in ran.err
    assert ran.out == ""


def test_without_the_sdk_it_says_what_to_install(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_server, "find_spec", lambda _: None)  # pyright: ignore[reportUnknownLambdaType]
    ran = cli("mcp", "toko")
    assert ran.code == 2
    assert "tukang[mcp]" in ran.err


@pytest.mark.parametrize("language", ["id", "en"])
def test_its_help_is_in_both_languages(language: str, cli: Cli) -> None:
    ran = cli("--lang", language, "mcp", "--help")
    said = MCP_SERVER_TEXTS[language]  # type: ignore[index]
    flat = " ".join(ran.out.split())
    assert said.about in flat
    assert said.opt_no_ask in flat
