"""What may be named on the command line, and what is said when it cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Script

AGENTS = """
from tukang import Agent
from tukang.models.scripted import Scripted

agent = Agent(Scripted(["own model"]))

def plain():
    return Agent(Scripted(["from a function"]))

def modelled(model=None):
    return Agent(model or Scripted(["no model given"]), name="modelled")

def needs_model(model):
    return Agent(model)

def wants(shop):
    return Agent(shop)

def broken():
    return 42

async def later():
    return agent

number = 7
"""


@pytest.fixture
def module(request: pytest.FixtureRequest) -> str:
    name = "agents_" + "".join(letter if letter.isalnum() else "_" for letter in request.node.name)
    Path(f"{name}.py").write_text(AGENTS)
    return name


@pytest.mark.parametrize(
    ("attribute", "said"), [("agent", "own model"), ("plain", "from a function"), ("modelled", "no model given")]
)
def test_an_agent_or_a_function_that_makes_one(cli: Cli, module: str, attribute: str, said: str) -> None:
    assert cli("run", f"{module}:{attribute}", "hai", "-q").out == f"{said}\n"


@pytest.mark.parametrize("attribute", ["agent", "plain", "modelled"])
def test_a_model_asked_for_wins(cli: Cli, script: Script, module: str, attribute: str) -> None:
    ran = cli("run", f"{module}:{attribute}", "hai", "--model", script("asked for"))
    assert ran.out == "asked for\n"
    assert "model scripted:replies.jsonl" in ran.err


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        ("agen", "Did you mean"),
        ("broken", "is a int: expected a tukang.Agent"),
        ("number", "is a int"),
        ("later", "is a coroutine"),
        ("wants", "wants shop: expected a tukang.Agent"),
    ],
)
def test_what_is_no_agent_is_refused(cli: Cli, module: str, attribute: str, said: str) -> None:
    ran = cli("run", f"{module}:{attribute}", "hai")
    assert ran.code == 2
    assert ran.out == ""
    assert said in ran.err
    assert len(ran.err.splitlines()) <= 2


@pytest.mark.parametrize("name", [":", ":agent", ".gudang:agent", "../gudang:agent", "a..b:agent"])
def test_what_is_no_name_of_a_module_is_refused(cli: Cli, name: str) -> None:
    ran = cli("run", name, "hai")
    assert ran.code == 2
    assert "is not module:name" in ran.err


def test_a_function_that_needs_a_model_gets_the_one_that_would_be_chosen(cli: Cli, module: str, script: Script) -> None:
    assert cli("run", f"{module}:needs_model", "hai", "-q", "--model", script("asked for")).out == "asked for\n"


def test_a_module_that_is_not_there(cli: Cli) -> None:
    ran = cli("run", "nowhere_at_all:agent", "hai")
    assert ran.code == 2
    assert "there is no module 'nowhere_at_all'" in ran.err


def test_a_module_that_needs_something_else(cli: Cli) -> None:
    Path("needy.py").write_text("import nothing_of_that_name\n")
    ran = cli("run", "needy:agent", "hai")
    assert ran.code == 2
    assert "it needs nothing_of_that_name" in ran.err


def test_a_module_that_fails_is_said_in_one_line_and_shown_on_request(cli: Cli) -> None:
    Path("failing.py").write_text("raise RuntimeError('no luck, password=hunter2')\n")
    ran = cli("run", "failing:agent", "hai")
    assert "RuntimeError: no luck" in ran.err
    assert "hunter2" not in ran.err
    assert "Traceback" not in ran.err
    again = cli("run", "failing:agent", "hai", "--debug")
    assert "Traceback" in again.err


def test_users_are_only_for_those_who_ask(cli: Cli, module: str) -> None:
    for target in ("hitung", f"{module}:agent"):
        ran = cli("run", target, "hai", "--user", "USR042")
        assert ran.code == 2
        assert "no caller" in ran.err
    assert cli("run", "toko", "hai", "--user", "USR 042").code == 2


def test_a_name_without_a_module_says_how_to_name_ones_own(cli: Cli) -> None:
    ran = cli("tools", "gudang")
    assert ran.code == 2
    assert "There are: toko" in ran.err
    assert "an agent of your own is named module:name" in ran.err
