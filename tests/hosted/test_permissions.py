"""A remote MCP server that asks before each call: who decides, and how the decision goes back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.hosted.turns import RESPONSES, Wire, asks, ran, says, wire
from tests.models import responses_judge
from tukang import Agent, Approval, CallContext, Rule, Where, hosted
from tukang.approvals.elsewhere import approve, pending
from tukang.memory.stores.addresses import store_at
from tukang.models.scripted import Fails, Says

URL = "https://zip1.id/mcp"
ASKED = says(asks("zip1.create", url="https://contoh.id"))
DONE = says(ran("zip1.create", "https://zip1.id/a", url="https://contoh.id"), text="https://zip1.id/a")
NOT = says(text="Tidak jadi.")


def yes_to_all(asked: Approval) -> bool:  # noqa: ARG001
    return True


def decisions(sent: Wire, place: int = -1) -> list[dict[str, Any]]:
    """What the request says of the server's questions; the request is one that OpenAI's SDK and the mock take."""
    assert sent.refused == []
    responses_judge.judge(sent.received[place].body)
    return [item for item in sent.inputs(place) if item.get("type") == "mcp_approval_response"]


def test_a_permission_goes_back_once_and_the_call_is_a_step() -> None:
    seen: list[Approval] = []

    def yes(asked: Approval) -> bool:
        seen.append(asked)
        return True

    with wire(ASKED, DONE, says(text="lagi")) as sent:
        chat = Agent(RESPONSES, tools=[hosted.mcp("zip1", url=URL, token="rahasia")], approve=yes).session()
        answer = chat.run("Pendekkan.")
        tool = sent.received[0].body["tools"][0]
        assert (tool["require_approval"], tool["authorization"]) == ("always", "rahasia")
        assert [one["approve"] for one in decisions(sent, 1)] == [True]
        chat.run("!")
        assert [one["approve"] for one in decisions(sent, 2)] == [True]  # it was used: the call stands behind it
    assert [(one.tool, one.arguments) for one in seen] == [
        ("zip1", {"tool": "create", "arguments": {"url": "https://contoh.id"}})
    ]
    assert [(step.tool, step.served, step.result) for step in answer.steps] == [
        ("zip1", False, "permitted"),
        ("zip1.create", True, "https://zip1.id/a"),
    ]
    assert "rahasia" not in repr(answer)


def big(arguments: Mapping[str, Any], context: CallContext) -> bool:  # noqa: ARG001
    return arguments["tool"] == "create"


def free(arguments: Mapping[str, Any], context: CallContext) -> bool:  # noqa: ARG001
    return False


def broken(arguments: Mapping[str, Any], context: CallContext) -> bool:  # noqa: ARG001
    raise KeyError("oops")


@pytest.mark.parametrize(
    ("options", "permitted"),
    [
        ({}, False),  # nobody is there to ask
        ({"approval": big}, False),
        ({"approval": broken}, False),
        ({"approval": free}, True),
    ],
)
def test_it_fails_closed(options: dict[str, Any], permitted: bool) -> None:
    with wire(ASKED, DONE if permitted else NOT) as sent:
        answer = Agent(RESPONSES, tools=[hosted.mcp("zip1", url=URL, **options)]).run("?")
        [said] = decisions(sent)
    assert said["approve"] is permitted
    assert bool(said.get("reason")) is not permitted
    assert answer.stopped == "answer"


def test_nobody_can_edit_what_the_provider_will_call() -> None:
    def edits(asked: Approval) -> Any:
        return asked.edit(tool="delete")

    with wire(ASKED, NOT) as sent:
        answer = Agent(RESPONSES, tools=[hosted.mcp("zip1", url=URL)], approve=edits).run("?")
        assert [one["approve"] for one in decisions(sent)] == [False]
    assert answer.steps[0].fault is not None
    assert "cannot be edited" in answer.steps[0].fault.message


def test_rules_decide_about_each_tool_of_a_server_also_where_its_policy_asks_nobody() -> None:
    rules = [Rule("deny", tool="zip1", where={"tool": Where(like="create*")}, why="read only")]
    both = says(asks("zip1.stats", id=1), asks("zip1.create", url="x"))
    with wire(both, says(ran("zip1.stats", "3", id=1), text="3")) as sent:
        Agent(RESPONSES, tools=[hosted.mcp("zip1", url=URL, approval="never")], rules=rules).run("?")
        assert sent.received[0].body["tools"][0]["require_approval"] == "always"
        assert [one["approve"] for one in decisions(sent)] == [True, False]


def test_a_question_about_a_server_that_is_not_on_offer_is_answered_with_no() -> None:
    with wire() as sent:
        agent = Agent(RESPONSES, tools=[hosted.mcp("zip1", url=URL, effect="read", needs="links")])
        assert agent.run("?").stopped == "model_error"
    assert "tools" not in sent.received[0].body


def test_each_permission_is_for_one_call() -> None:
    count: list[str] = []

    def once(asked: Approval) -> bool:
        count.append(asked.call_id)
        return asked.call_id.endswith("-0")

    twice = says(asks("zip1.create", url="x"), asks("zip1.create", url="x"))
    with wire(twice, says(ran("zip1.create", "a", url="x"), text="a")) as sent:
        Agent(RESPONSES, tools=[hosted.mcp("zip1", url=URL)], approve=once).run("?")
        assert [one["approve"] for one in decisions(sent)] == [True, False]
    assert len(count) == 2


@pytest.mark.anyio
async def test_a_permission_may_come_from_another_process(tmp_path: Path) -> None:
    store = store_at(f"sqlite:///{tmp_path}/a.db")
    with wire(ASKED, DONE) as sent:
        agent = Agent(RESPONSES, tools=[hosted.mcp("zip1", url=URL)])
        answer = await agent.session("budi", store=store).arun("?")
        assert (answer.stopped, [one.tool for one in answer.waiting]) == ("waiting", ["zip1"])
        [asked] = await pending(store)
        await approve(store, asked, by="ani")
        answer = await agent.session("budi", store=store).aresume()
        assert [one["approve"] for one in decisions(sent)] == [True]
    assert answer is not None
    assert answer.text == "https://zip1.id/a"


def test_a_permission_that_may_have_been_used_is_not_given_again() -> None:
    with wire(ASKED, Says(fails=Fails("connection")), NOT) as sent:
        chat = Agent(RESPONSES, tools=[hosted.mcp("zip1", url=URL)], approve=yes_to_all).session()
        answer = chat.run("?")
        assert (answer.stopped, len(sent.received)) == ("model_error", 2)
        assert [one["approve"] for one in decisions(sent)] == [True]
        chat.run("Lanjut.")
        [said] = decisions(sent)
    assert said["approve"] is False
    assert "not known" in said["reason"]
