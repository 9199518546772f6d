"""`tukang tools why`: what becomes of a call, for whom, by which rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli

_AGENT = """
from tukang import Agent, Rule, Where, tool
from tukang.models.scripted import Scripted

@tool(effect="write", needs="uang:kirim")
def kirim(jumlah: int, untuk: str) -> str:
    '''Kirim.'''
    return "terkirim"

@tool(effect="read")
def lihat() -> str:
    '''Lihat.'''
    return "saldo"

RULES = [
    Rule("deny", tool="kirim", where={"jumlah": Where(above=1000)}, why="terlalu banyak"),
    Rule("ask", effect="write", after_untrusted=True),
    Rule("allow", tool="kirim", principal="ani"),
]
agent = Agent(Scripted([]), tools=[kirim, lihat], rules=RULES)
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path) -> str:
    name = f"bank_{tmp_path.name.lower().replace('-', '_')}"
    Path(f"{name}.py").write_text(_AGENT)
    return f"{name}:agent"


def why(cli: Cli, module: str, *more: str) -> list[str]:
    ran = cli("tools", "why", module, *more)
    assert ran.code == 0, ran.err
    return ran.out.splitlines()


def test_who_was_not_granted_what_it_needs(cli: Cli, module: str) -> None:
    assert why(cli, module, "kirim") == [
        "kirim  [write]  as nobody (nothing granted)",
        "  needs uang:kirim, which was not granted: it is not offered, and refused when it is named anyway",
    ]
    assert len(why(cli, module, "kirim", "--as", "budi", "--scope", "uang:lihat")) == 2


def test_rules_are_gone_through_in_their_order(cli: Cli, module: str) -> None:
    assert why(cli, module, "kirim", "--as", "budi", "--scope", "uang:kirim") == [
        "kirim  [write]  as budi (uang:kirim)",
        "  needs uang:kirim: granted",
        "  1. Rule('deny', tool='kirim', jumlah > 1000): if that is so: it is refused",
        "  2. Rule('ask', effect='write', after_untrusted): if that is so: somebody is asked",
        "  3. Rule('allow', tool='kirim', principal='ani'): is not about this",
        "  no rule decides: approval = ask (nothing was declared; its effect is write): somebody is asked",
    ]
    ani = why(cli, module, "kirim", "--as", "ani", "--scope", "uang:kirim", "--with", "jumlah=5")
    assert ani[2].endswith("is not about this")
    assert ani[-1] == "  3. Rule('allow', tool='kirim', principal='ani'): it runs, nobody is asked"
    much = why(cli, module, "kirim", "--as", "ani", "--scope", "uang:kirim", "--with", "jumlah=5000", "--lang", "id")
    assert much[-1] == "  1. Rule('deny', tool='kirim', jumlah > 1000): ditolak (terlalu banyak)"
    after = why(cli, module, "kirim", "--as", "ani", "--scope", "uang:kirim", "--after-untrusted", "--with", "jumlah=5")
    assert after[-1] == "  2. Rule('ask', effect='write', after_untrusted): somebody is asked"
    assert why(cli, module, "lihat")[-1].startswith("  no rule decides: approval = never")


def test_a_shipped_tool_is_found_by_its_name_alone(cli: Cli) -> None:
    ran = cli("tools", "why", "buat_pesanan", "--as", "budi")
    assert "there are no rules: approval = function (declared)" in ran.out
    ran = cli("tools", "why", "buat_pesnan")
    assert ran.code == 2
    assert "(buat_pesanan?)" in ran.err


def test_what_cannot_be_explained_is_refused(cli: Cli, module: str) -> None:
    for words in (
        ("toko", "x"),
        ("toko", "--as", "budi"),
        ("why", module, "kirim", "--scope", "x"),
        ("why", "a", "b", "c"),
    ):
        assert cli("tools", *words).code == 2
    assert "kirim takes jumlah, untuk" in cli("tools", "why", module, "kirim", "--with", "jumla=1").err
