"""Tools that come from elsewhere, and may change between turns."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest

from tukang import Agent
from tukang.errors import ToolDefinitionError
from tukang.models.scripted import Scripted, call
from tukang.tools.adopting import as_tool
from tukang.tools.finding import Menu
from tukang.tools.source import ToolSource
from tukang.tools.supply import Supply
from tukang.tools.tool import Tool, tool
from tukang.tools.toolbox import Toolbox


def satu() -> str:
    """One."""
    return "1"


def dua() -> str:
    """Two."""
    return "2"


class Changing(ToolSource):
    """Has the tools it is told to have, and counts how often it is asked for them."""

    def __init__(self, *functions: object) -> None:
        self._functions = functions
        self.edition = 0
        self.asked: list[frozenset[str]] = []

    def change(self, *functions: object) -> None:
        self._functions, self.edition = functions, self.edition + 1

    def tools(self, taken: Collection[str] = ()) -> Sequence[Tool]:
        self.asked.append(frozenset(taken))
        return [as_tool(one) for one in self._functions]

    def look(self) -> int:
        return self.edition


def test_a_source_stands_for_its_tools_behind_our_own() -> None:
    source = Changing(dua)
    assert [one.name for one in Toolbox.of([source, satu])] == ["satu", "dua"]
    assert source.asked[0] >= {"satu", "read_more", "find_tools"}


def test_sources_hear_of_each_others_names() -> None:
    first, second = Changing(dua), Changing()
    Toolbox.of([first, second])
    assert "dua" not in first.asked[0]
    assert "dua" in second.asked[0]


def test_the_toolbox_is_made_again_only_when_there_are_others() -> None:
    source = Changing(dua)
    supply = Supply([satu, source], Menu())
    first = supply.toolbox
    assert supply.toolbox is first
    source.change(satu_lain)
    second, contracts = supply.now()
    assert [one.name for one in second] == ["satu", "satu_lain"]

    assert list(contracts) == ["satu", "satu_lain"]
    assert len(source.asked) == 2


def test_a_name_stays_with_the_source_that_had_it_first() -> None:
    """Somebody may have permitted it: it must not come to mean a tool of the source before, when that one changes."""
    first, second = Changing(satu), Changing(dua)
    supply = Supply([first, second], Menu())
    first.change(satu, satu_lain)
    assert [one.name for one in supply.toolbox] == ["satu", "satu_lain", "dua"]
    assert "dua" in first.asked[-1]
    assert "dua" not in second.asked[-1]


def satu_lain() -> str:
    """Another one."""
    return "1b"


def test_a_turn_keeps_the_menu_it_began_with() -> None:
    source = Changing(dua)

    @tool(name="ganti")
    def change() -> str:
        """Changes the list."""
        source.change(satu)
        return "changed"

    model = Scripted([call("ganti"), call("dua"), "a", call("satu"), call("dua"), "b"])
    agent = Agent(model, tools=[change, source])
    assert [step.result for step in agent.run("go").steps] == ["changed", "2"]
    second = agent.run("go")
    assert [step.fault.kind if step.fault else step.result for step in second.steps] == ["1", "unknown_tool"]
    menus = [[one.name for one in request.tools] for request in model.requests]
    assert menus == [["ganti", "dua"]] * 3 + [["ganti", "satu"]] * 3


def test_an_agent_with_more_tools_is_another_agent() -> None:
    agent = Agent(Scripted([call("dua"), "x"]), tools=[satu], name="a")
    more = agent.with_tools(dua)
    assert [one.name for one in agent.toolbox] == ["satu"]
    assert [one.name for one in more.toolbox] == ["satu", "dua"]
    assert (more.name, more.why_model) == (agent.name, agent.why_model)
    assert more.run("go").steps[0].result == "2"
    with pytest.raises(ToolDefinitionError, match="two tools have the name 'satu'"):
        agent.with_tools(tool(dua, name="satu"))
