"""What a caller may have done: scopes, and the host's rules."""

from __future__ import annotations

from typing import Any

import pytest

from tukang import Agent, Answer, ConfigurationError, Principal, Rule, Where, tool
from tukang.loop import events
from tukang.loop.events import TurnStarted
from tukang.loop.permissions import Case, fits, judged
from tukang.memory.stores.encoding import event_of, row_of
from tukang.models.scripted import Scripted, call

BUDI = Principal("budi", ["orders:write", "orders:read"])
NOBODY: Any = None


@tool(effect="read")
def lihat(x: int) -> str:
    """Lihat."""
    return f"lihat {x}"


@tool(effect="write", needs="orders:write")
def pesan(x: int, untuk: str = "") -> str:
    """Pesan."""
    return f"pesan {x} {untuk}"


def agent(*script: Any, **options: Any) -> tuple[Agent, Scripted]:
    model = Scripted([*script, "Selesai."])
    return Agent(model, tools=[lihat, pesan], approve=lambda _: True, **options), model


def faults(answer: Answer[Any]) -> list[str | None]:
    return [step.fault.kind if step.fault else None for step in answer.steps]


# ── scopes ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("principal", "may"),
    [(BUDI, True), (Principal("ani", ["orders:read"]), False), (Principal("ani"), False), (None, False)],
)
def test_a_tool_whose_needs_are_not_granted_is_not_offered_and_refused_when_named(principal: Any, may: bool) -> None:
    asking, model = agent(call("pesan", x=1))
    answer = asking.run("go", principal=principal)
    assert [one.name for one in model.requests[0].tools] == (["lihat", "pesan"] if may else ["lihat"])
    assert faults(answer) == [None if may else "refused"]
    if not may:
        assert "it needs orders:write" in answer.steps[0].result


def test_what_is_not_offered_is_not_hinted_at() -> None:
    asking, _ = agent(call("pesn", x=1), call("xyz"))
    answer = asking.run("go")
    assert faults(answer) == ["unknown_tool", "unknown_tool"]
    assert not any("pesan" in step.result for step in answer.steps)


def test_the_choice_of_a_tool_is_held_against_what_the_caller_may_use() -> None:
    asking, model = agent(tool_choice="pesan")
    with pytest.raises(ConfigurationError, match="this agent has lihat"):
        asking.run("go", tool_choice="pesan")
    asking.run("go")
    assert model.requests[0].tool_choice == "auto", "the agent's own wish is followed where it can be"
    asking, model = agent(call("pesan", x=1), tool_choice="pesan")
    asking.run("go", principal=BUDI)
    assert model.requests[0].tool_choice == "pesan"


def test_who_it_is_for_stands_in_the_journal() -> None:
    asking, _ = agent(rules=[Rule("ask", tool="pesan", where={"x": Where(above=3)}, why="banyak")])
    started = asking.run("go", principal=BUDI).events[0]
    assert isinstance(started, TurnStarted)
    assert started.principal == Principal("budi", ["orders:read", "orders:write"])
    assert event_of(row_of(started)) == started


@pytest.mark.parametrize("wrong", [lambda: Principal(""), lambda: Principal("a", "orders"), lambda: Where()])
def test_what_says_nothing_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"Principal|Where"):
        wrong()


def test_a_where_that_is_only_a_value_is_said_when_the_rule_is_written() -> None:
    only_a_value: Any = {"command": "view"}
    with pytest.raises(ValueError, match=r"where\['command'\] is a Where, such as Where\(one_of=\('view',\)\)"):
        Rule("allow", where=only_a_value)


# ── rules ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("rules", "x", "came"),
    [
        ([], 1, "asked"),
        ([Rule("allow", tool="pesan")], 1, "ran"),
        ([Rule("deny", tool="pesan", why="tutup")], 1, "denied"),
        ([Rule("deny", effect="write")], 1, "denied"),
        ([Rule("deny", effect="read")], 1, "asked"),
        ([Rule("allow", tool="pes*", where={"x": Where(below=5)})], 4, "ran"),
        ([Rule("allow", tool="pes*", where={"x": Where(below=5)})], 5, "asked"),
        ([Rule("deny", where={"x": Where(above=9)}), Rule("allow")], 10, "denied"),
        ([Rule("deny", where={"x": Where(above=9)}), Rule("allow")], 9, "ran"),
        ([Rule("allow"), Rule("deny")], 1, "ran"),
        ([Rule("allow", principal="budi")], 1, "ran"),
        ([Rule("allow", principal="b*", scope="orders:write")], 1, "ran"),
        ([Rule("allow", principal="ani")], 1, "asked"),
        ([Rule("allow", scope="orders:all")], 1, "asked"),
        ([Rule("allow", tool="pesan", where={"untuk": Where(like="budi*")})], 1, "asked"),
        ([Rule("deny", tool="pesan", where={"untuk": Where(like="budi*")})], 1, "denied"),
    ],
)
def test_the_first_rule_that_fits_decides(rules: list[Rule], x: int, came: str) -> None:
    asking, _ = agent(call("pesan", x=x), rules=rules)
    answer = asking.run("go", principal=BUDI)
    (checked,) = [event for event in answer.events if isinstance(event, events.CallChecked)]
    assert ("denied" if checked.fault else "asked" if checked.needs_approval else "ran") == came
    assert faults(answer) == ["refused" if came == "denied" else None]
    if rules and rules[0].why:
        assert rules[0].why in answer.steps[0].result


def test_a_rule_may_ask_about_what_would_not_ask() -> None:
    asking, _ = agent(call("lihat", x=1), rules=[Rule("ask", tool="lihat", why="rahasia")])
    seen: list[str] = []
    answer = asking.run("go", approve=lambda asked: seen.append(asked.why) or asked.refuse())  # type: ignore[func-returns-value]
    assert (faults(answer), seen) == (["refused"], ["rahasia"])


@pytest.mark.parametrize(
    ("where", "within", "outside", "of_another_kind"),
    [
        (Where(above=1, below=3), [2, 1.5], [1, 3], ["2", None, True]),
        (Where(one_of=("a", 1)), ["a", 1], ["b", 2, "1", True, None], []),
        (Where(like="a*b"), ["ab", "a\nb", "axxb"], ["abc", "AB"], [1, None]),
        (Where(like="a.b"), ["a.b"], ["axb"], []),
    ],
)
def test_an_argument_of_another_kind_closes(where: Where, within: Any, outside: Any, of_another_kind: Any) -> None:
    def fit(do: Any, arguments: Any) -> bool:
        return fits(Rule(do, where={"x": where}), Case("t", "write", None, arguments))

    for value in within:
        assert fit("allow", {"x": value})
        assert fit("deny", {"x": value})
    for value in outside:
        assert not fit("allow", {"x": value})
        assert not fit("deny", {"x": value})
    for arguments in [{}, None, *({"x": value} for value in of_another_kind)]:
        assert not fit("allow", arguments)
        assert fit("ask", arguments)
        assert fit("deny", arguments)


def test_nobody_is_a_principal_only_for_rules_about_anybody() -> None:
    case = Case("t", "write")
    assert judged([Rule("allow", principal="budi"), Rule("deny", principal="b*")], case) is None
    assert judged([Rule("ask")], case) == Rule("ask")


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (Rule("deny", tool="pesn"), "about 'pesn', which is no tool of this agent; did you mean 'pesan'"),
        (Rule("deny", tool="pesan", where={"y": Where(above=1)}), "pesan's 'y', which it does not take"),
    ],
)
def test_a_rule_that_is_about_nothing_is_refused(rule: Rule, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        agent(rules=[rule])


def test_an_edit_is_held_against_the_rules_too() -> None:
    asking, _ = agent(call("pesan", x=1), rules=[Rule("deny", where={"x": Where(above=5)})])
    answer = asking.run("go", principal=BUDI, approve=lambda asked: asked.edit(x=6))
    assert faults(answer) == ["refused"]
