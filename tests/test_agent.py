"""An agent that is asked to ask another model."""

from __future__ import annotations

import pytest

from tukang import Agent, tool
from tukang.errors import ConfigurationError
from tukang.models.scripted import Scripted
from tukang.preamble import PREAMBLE


class ByRules(Scripted):
    """A model that decides and grounds its answers by rules of its own."""

    wants_preamble = False
    grounds_answers = True


@tool(effect="read")
def cari(kueri: str) -> str:
    """Cari."""
    return kueri


def test_what_depends_on_the_model_is_decided_again_for_another() -> None:
    by_rules = Agent(ByRules(["own"]), "Be brief.", tools=[cari], grounded=True)
    other = by_rules.with_model(Scripted(["other"]))

    assert by_rules.instructions() == "Be brief."
    assert other.instructions() == f"{PREAMBLE['en']}\n\nBe brief."
    assert other.with_model(ByRules([])).instructions() == "Be brief."
    asked = [event for event in other.run("go").events if hasattr(event, "grounding")]
    assert [event.grounding.correct for event in asked] == [True]


def test_an_agent_keeps_its_own_model_when_another_is_asked() -> None:
    agent = Agent(Scripted(["own"]), tools=[cari])

    assert agent.with_model(Scripted(["other"])).run("go").text == "other"
    assert agent.run("go").text == "own"


def test_a_developer_who_said_no_preamble_gets_none_with_another_model() -> None:
    agent = Agent(Scripted([]), "Be brief.", tools=[cari], preamble=False)

    assert agent.with_model(Scripted([])).instructions() == "Be brief."


def test_there_must_be_a_model() -> None:
    with pytest.raises(ConfigurationError, match="empty list of models"):
        Agent(Scripted([])).with_model([])
