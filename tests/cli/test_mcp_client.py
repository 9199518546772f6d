"""`--mcp FILE`: the tools of other servers, from the command line."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, Script, calls

PLAIN = Path(__file__).parents[1] / "mcp/servers/plain.py"


@pytest.fixture
def described(tmp_path: Path) -> str:
    """A file with one server."""
    return written(tmp_path, {})


def written(folder: Path, own: dict[str, Any], name: str = "mcp.json", **more: Any) -> str:
    path, heard = folder / name, str(folder / "heard.jsonl")
    own = {"trust": "hints", "without": ["bad schema!"], **own}
    server = {
        "command": sys.executable,
        "args": ["-I", "-S", str(PLAIN)],
        "env": {"HEARD": heard},
        "tukang": own,
        **more,
    }
    path.write_text(json.dumps({"mcpServers": {"plain": server}}))
    return str(path)


def test_tools_lists_them_with_and_without_an_assistant(cli: Cli, described: str) -> None:
    alone = cli("tools", "--mcp", described, "--json", "--lang", "en")
    assert (alone.code, "plain: 22 tools" in alone.err) == (0, True)
    listed = {tool["name"]: tool["policy"]["effect"]["value"] for tool in json.loads(alone.out)}
    assert listed["plain_say"] == "read"
    assert listed["plain_destroy"] == "write"
    both = cli("tools", "toko", "--mcp", described)
    assert "cek_harga_produk  [read]" in both.out
    assert "plain_say  [read]" in both.out
    assert "  Says it again" in both.out


def test_run_uses_them(cli: Cli, script: Script, described: str) -> None:
    model = script(calls(("plain_say", {"text": "hai"})), "selesai")
    ran = cli("run", "obrolan", "halo", "--model", model, "--mcp", described)
    assert (ran.code, ran.out) == (0, "selesai\n")
    assert 'plain_say(text="hai")' in ran.err
    assert "→ hai" in ran.err


def test_a_write_runs_only_when_it_is_permitted(cli: Cli, script: Script, described: str, tmp_path: Path) -> None:
    refused = cli("run", "obrolan", "halo", "--model", script(calls(("plain_write", {})), "x"), "--mcp", described)
    assert refused.code == 0
    assert '"write"' not in (tmp_path / "heard.jsonl").read_text()
    model = script(calls(("plain_write", {})), "x")
    permitted = cli("run", "obrolan", "halo", "--model", model, "--mcp", described, "--approve", "plain_write")
    assert "→ done" in permitted.err
    assert (tmp_path / "heard.jsonl").read_text().count('"write"') == 1


def test_chat_uses_them_turn_after_turn(cli: Cli, script: Script, described: str, tmp_path: Path) -> None:
    model = script(calls(("plain_say", {"text": "satu"})), "a", calls(("plain_say", {"text": "dua"})), "b")
    ran = cli("chat", "obrolan", "--model", model, "--mcp", described, stdin="x\ny\n")
    assert ran.out.split() == ["a", "b"]
    assert (tmp_path / "heard.jsonl").read_text().count('"initialize"') == 1


def test_a_session_goes_on_with_them(cli: Cli, script: Script, described: str, tmp_path: Path) -> None:
    model = script(calls(("plain_write", {})))
    chatted = cli(
        "chat",
        "obrolan",
        "--session",
        "s",
        "--store",
        "sqlite:///s.db",
        "--model",
        model,
        "--mcp",
        described,
        stdin="x\n",
    )
    assert "plain_write" in chatted.err
    resume = ("sessions", "resume", "s", "--store", "sqlite:///s.db", "--model", script("selesai"))
    without = cli(*resume, "--approve", "plain_write")
    assert (without.code, "plain_write" in without.err) == (2, True)
    assert '"write"' not in (tmp_path / "heard.jsonl").read_text()
    gone_on = cli(*resume, "--approve", "plain_write", "--mcp", described)
    assert (gone_on.code, gone_on.out) == (0, "selesai\n")
    assert (tmp_path / "heard.jsonl").read_text().count('"write"') == 1


def test_a_server_that_may_be_missing_is_missed_in_words(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    server = {"command": sys.executable, "args": ["-c", "exit(3)"], "tukang": {"optional": True}}
    path.write_text(json.dumps({"mcpServers": {"plain": server}}))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        ran = cli("tools", "toko", "--mcp", str(path), "--lang", "en")
    assert "going on without its tools" in ran.err
    assert "plain: not there" in ran.err
    assert "ToolWarning" not in ran.err


def test_what_is_wrong_is_said(cli: Cli, tmp_path: Path, described: str) -> None:
    assert cli("tools").code == 2
    assert "name an assistant or module:name, or say --mcp FILE" in cli("tools", "--lang", "en").err
    missing = cli("tools", "--mcp", "none.json")
    assert (missing.code, "none.json cannot be read" in missing.err) == (2, True)
    gone = cli("tools", "--mcp", written(tmp_path, {}, command="no-such-program"))
    assert (gone.code, "'no-such-program' is not found" in gone.err) == (2, True)
    assert cli("tools", "why", "toko", "cek_harga_produk", "--mcp", described).code == 2


def test_help_is_in_both_languages(cli: Cli) -> None:
    assert "server MCP lain" in cli("run", "--help", "--lang", "id").out.replace("\n", " ").replace("  ", "")
    assert "--mcp" in cli("chat", "--help").out
