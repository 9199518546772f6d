"""What the provider runs, on the command line: in `tukang tools`, and as steps of a trace."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Script
from tukang.models.scripted import Says, ScriptedCall, ScriptedServed

GUDANG = """
from tukang import Agent, hosted, tool

@tool(effect="read")
def cek_stok(kode: str) -> dict:
    "Cek stok."
    return {"kode": kode, "stok": 7}

server = hosted.mcp("zip1", url="https://zip1.id/mcp", token="rahasia", needs="links")
agent = Agent("scripted:replies.jsonl", tools=[cek_stok, hosted.web_search(near={"country": "ID"}), server])
"""


@pytest.fixture(autouse=True)
def _gudang(tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    search = ScriptedServed("web_search", {"query": "BRG001"}, "Harga — https://contoh.id")
    first = Says(served=(search,), calls=(ScriptedCall("cek_stok", {"kode": "BRG001"}),))
    last = Says("Ada 7.", served=(ScriptedServed("web_search", {"query": "lagi"}, "unavailable", fault=True),))
    script(first, last)
    (tmp_path / "gudang_hosted.py").write_text(GUDANG)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "gudang_hosted", raising=False)  # its script begins anew


def test_the_trace_says_who_ran_it(cli: Cli) -> None:
    ran = cli("run", "gudang_hosted:agent", "?", "--lang", "en")
    assert ran.out == "Ada 7.\n"
    lines = ran.err.splitlines()
    assert '  web_search(query="BRG001")  [run by the provider]' in lines
    assert "    → Harga — https://contoh.id" in lines
    assert lines.index('  web_search(query="BRG001")  [run by the provider]') < lines.index("round 1")
    assert '  web_search(query="lagi")  [run by the provider]' in lines
    assert "calls: 3" in ran.err


def test_as_data_each_step_says_it(cli: Cli) -> None:
    shown = json.loads(cli("run", "gudang_hosted:agent", "?", "--json").out)
    assert [(step["tool"], step["served"]) for step in shown["steps"]] == [
        ("web_search", True),
        ("cek_stok", False),
        ("web_search", True),
    ]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", ("run by the model's provider, never here", "the provider asks before each call", "needs = links")),
        (
            "id",
            (
                "dijalankan penyedia model, tidak pernah di sini",
                "penyedia bertanya sebelum setiap panggilan",
                "izin ini",
            ),
        ),
    ],
)
def test_it_stands_among_the_tools(cli: Cli, language: str, said: tuple[str, ...]) -> None:
    out = cli("tools", "gudang_hosted:agent", "--lang", language).out
    assert all(text in out for text in said)
    assert 'near: {"country":"ID"}' in out
    assert "rahasia" not in out


def test_it_stands_among_the_tools_as_data(cli: Cli) -> None:
    ran = cli("tools", "gudang_hosted:agent", "--json")
    own, search, server = json.loads(ran.out)
    assert "run_by" not in own
    assert (search["name"], search["kind"], search["run_by"]) == ("web_search", "web_search", "provider")
    assert server["policy"]["approval"]["value"] == "ask"
    assert "rahasia" not in ran.out
