"""Calls of a server that is started here: what becomes of each, when it goes well and when it does not."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

import pytest

from tests.mcp.conftest import Plain, permit, run
from tukang import Agent, Limits, Rule
from tukang.conversation import File, Image, Text, ToolResult
from tukang.loop.events import CallFinished
from tukang.mcp import Elicitation, McpServers, Sampling
from tukang.models.scripted import Scripted, call
from tukang.runtime.signals import Progress, Signal

SECRET = "s3cret-abcdef"


def fault(answer: Any) -> tuple[str, str]:
    (step,) = answer.steps
    assert step.fault is not None, step
    return step.fault.kind, step.fault.message


# ── results ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_call_goes_there_and_back(plain: Plain) -> None:
    answer = run(plain.servers(), call("plain_say", text="hai"))
    assert [(step.tool, step.result, step.fault) for step in answer.steps] == [("plain_say", "hai", None)]
    assert answer.text == "done"
    asked = [one["params"] for one in plain.heard() if one["method"] == "tools/call"]
    assert [(one["name"], one["arguments"]) for one in asked] == [("say", {"text": "hai"})]


def test_two_servers_with_the_same_tools_are_both_used(plain: Plain) -> None:
    servers = plain.servers(plain.server("one"), plain.server("two"))
    answer = run(servers, [call("one_who"), call("two_who")])
    assert [step.result for step in answer.steps] == ["one", "two"]
    assert (plain.calls("who", "one"), plain.calls("who", "two")) == (1, 1)


def test_arguments_are_checked_here_before_they_leave(plain: Plain) -> None:
    answer = run(plain.servers(), call("plain_say", text=[1]))
    assert fault(answer)[0] == "invalid_arguments"
    assert plain.calls("say") == 0


def test_every_kind_of_content_has_its_part(plain: Plain) -> None:
    agent = Agent(Scripted([call("plain_parts"), "done"]), tools=[plain.servers()], approve=permit)
    answer = agent.run("go")
    result = next(part for message in answer.messages for part in message.parts if isinstance(part, ToolResult))
    kinds = [type(part) for part in result.content if not (isinstance(part, Text) and "MCP server" in part.text)]
    assert kinds == [Text, Image, File, Text, File, Text, Text]
    image, audio, pdf = (part for part in result.content if isinstance(part, (Image, File)))
    assert isinstance(image, Image)
    assert isinstance(image.data, bytes)
    assert image.data.startswith(b"\x89PNG")
    assert (audio.media_type, audio.data) == ("audio/wav", b"RIFF")
    assert isinstance(pdf, File)
    assert (pdf.media_type, pdf.name, pdf.data) == ("application/pdf", "a.pdf", b"%PDF")
    assert "a note" in result.text
    assert '"uri":"file:///log"' in result.text
    assert "Left out: image/png, 6,000,000 bytes" in result.text


def test_what_is_said_twice_is_given_once(plain: Plain) -> None:
    assert run(plain.servers(), call("plain_twice")).steps[0].result == '{"a":1,"b":2}'


def test_a_result_that_breaks_its_promise_is_given_with_a_word_about_it(plain: Plain) -> None:
    (step,) = run(plain.servers(), call("plain_lie")).steps
    assert step.fault is None  # it was done: the model must not take it for undone
    assert "did not keep to the schema" in step.result
    assert "lied" in step.result
    assert '{"n":"many"}' in step.result
    assert sum(one["method"] == "tools/list" for one in plain.heard()) == 2  # two pages, and not again for this


def test_a_long_result_is_cut_and_can_be_read_on(plain: Plain) -> None:
    servers = plain.servers(plain.server(trust="hints"))
    agent = Agent(Scripted([call("plain_big"), "done"]), tools=[servers])
    answer = agent.run("go")
    assert agent.toolbox.get("read_more") is not None
    assert 30_000 < len(answer.steps[0].result) < 50_000
    assert answer.steps[0].fault is None


def test_results_come_from_outside_and_are_marked(plain: Plain) -> None:
    servers = plain.servers(plain.server(trust="all"))
    rules = [Rule("deny", "plain_write", after_untrusted=True, why="something from outside was read")]
    agent = Agent(Scripted([call("plain_say", text="hai"), call("plain_write"), "done"]), tools=[servers], rules=rules)
    answer = agent.run("go")
    told = [event.outcome for event in answer.events if isinstance(event, CallFinished)]
    assert told[0].origin == "the MCP server 'plain'"
    assert [step.fault.kind if step.fault else None for step in answer.steps] == [None, "refused"]
    assert plain.calls("write") == 0


def test_progress_is_a_signal(plain: Plain) -> None:
    servers = plain.servers(plain.server(trust="hints"))

    async def follow() -> list[Any]:
        agent = Agent(Scripted([call("plain_progress"), "done"]), tools=[servers])
        return [event async for event in agent.stream("go")]

    told = [one.delta for one in asyncio.run(follow()) if isinstance(one, Signal) and isinstance(one.delta, Progress)]
    assert [(one.tool, one.percent, one.message) for one in told] == [
        ("plain_progress", 50.0, "step 1"),
        ("plain_progress", 100.0, "step 2"),
    ]


# ── faults ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_failure_the_server_reports_is_data(plain: Plain) -> None:
    kind, message = fault(run(plain.servers(), call("plain_fail")))
    assert kind == "tool_failed"
    assert "there is no such order" in message


def test_an_error_of_the_protocol_is_data_without_secrets(plain: Plain) -> None:
    kind, message = fault(run(plain.servers(plain.server(env={"TOKEN": SECRET})), call("plain_refuse")))
    assert kind == "tool_failed"
    assert message.endswith("no: [secret]")


def test_an_answer_that_is_none_is_a_fault_of_that_call(plain: Plain) -> None:
    answer = run(plain.servers(), [call("plain_malformed"), call("plain_say", text="hai")])
    assert [step.fault.kind if step.fault else None for step in answer.steps] == ["tool_failed", None]
    assert "not what MCP says it should be" in answer.steps[0].result


def test_a_server_that_never_answers_costs_its_call_and_no_more(plain: Plain) -> None:
    servers = plain.servers(plain.server(timeout=0.3, trust="hints"))
    answer = run(servers, call("plain_wait_reading"), call("plain_wait"), call("plain_say", text="hai"))
    assert [step.fault.kind if step.fault else None for step in answer.steps] == ["timed_out", "outcome_unknown", None]


def test_a_server_that_never_answers_does_not_hold_a_turn_past_its_deadline(plain: Plain) -> None:
    servers = plain.servers(plain.server(trust="hints")).connect()
    began = time.monotonic()
    answer = run(servers, call("plain_wait"), limits=Limits(seconds=1))
    assert time.monotonic() - began < 5
    assert answer.steps[0].fault is not None
    assert answer.steps[0].fault.kind == "outcome_unknown"


def told_of_cancelling(plain: Plain) -> list[tuple[Any, Any]]:
    """(the call's id, the cancelled id), once it was told: a moment after the turn is over."""
    plain.wait_for(lambda one: one["method"] == "notifications/cancelled")
    heard = plain.heard()
    cancelled = [one["params"]["requestId"] for one in heard if one["method"] == "notifications/cancelled"]
    return list(zip([one["id"] for one in heard if one["method"] == "tools/call"], cancelled, strict=True))


def test_a_call_whose_time_is_up_is_cancelled_at_the_server(plain: Plain) -> None:
    run(plain.servers(plain.server(timeout=0.2)), call("plain_wait"))
    ((called, cancelled),) = told_of_cancelling(plain)
    assert called == cancelled


def test_cancelling_a_turn_cancels_its_call_at_the_server(plain: Plain) -> None:
    servers = plain.servers().connect()

    async def cancelled() -> None:
        agent = Agent(Scripted([call("plain_wait"), "done"]), tools=[servers], approve=permit)
        turn = asyncio.create_task(agent.arun("go"))
        await asyncio.to_thread(plain.wait_for_call, "wait")
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn

    asyncio.run(cancelled())
    ((called, stopped),) = told_of_cancelling(plain)
    assert called == stopped


def test_a_server_killed_in_mid_call_leaves_the_outcome_unknown_and_the_call_is_not_made_again(plain: Plain) -> None:
    servers = plain.servers(plain.server(trust="hints"))
    answer = run(servers, call("plain_die"), call("plain_say", text="again"))
    assert [step.fault.kind if step.fault else None for step in answer.steps] == ["outcome_unknown", None]
    assert "lost while it ran" in answer.steps[0].result
    assert plain.calls("die") == 1
    assert answer.steps[1].result == "again"  # over a new connection


def test_a_hint_of_a_server_that_is_not_trusted_does_not_make_a_call_repeatable(plain: Plain) -> None:
    answer = run(plain.servers(), call("plain_die_once_reading"))
    assert fault(answer)[0] == "outcome_unknown"
    assert plain.calls("die_once_reading") == 1


def test_a_read_that_was_lost_is_made_once_more(plain: Plain) -> None:
    servers = plain.servers(plain.server(trust="hints"))
    answer = run(servers, call("plain_die_once_reading"))
    assert [step.result for step in answer.steps] == ["the second time"]
    assert plain.calls("die_once_reading") == 2


def test_a_read_that_is_lost_again_is_a_fault(plain: Plain) -> None:
    answer = run(plain.servers(plain.server(trust="hints")), call("plain_die_reading"))
    kind, message = fault(answer)
    assert (kind, plain.calls("die_reading")) == ("tool_failed", 2)
    assert "lost, twice" in message


def test_a_call_to_a_server_that_is_gone_for_good_did_nothing(plain: Plain) -> None:
    server = plain.server(trust="hints", patience=5.0, env={"HEARD": str(plain.folder / "gone" / "plain.jsonl")})
    (plain.folder / "gone").mkdir()
    servers = plain.servers(server).connect()
    agent = Agent(Scripted([call("plain_die"), call("plain_write"), "done"]), tools=[servers], approve=permit)
    (plain.folder / "gone" / "plain.jsonl").unlink()
    (plain.folder / "gone").rmdir()  # it can write nowhere what it hears, and ends
    answer = agent.run("go")
    kinds = [step.fault.kind if step.fault else None for step in answer.steps]
    assert kinds == ["outcome_unknown", "nothing_done"]
    assert "MCP server 'plain'" in answer.steps[1].result
    assert "cannot be reached: it ended before it answered; its last words:" in answer.steps[1].result


# ── what a server asks ───────────────────────────────────────────────────────────────────────────────────────────────


def test_what_a_server_asks_for_is_refused(plain: Plain) -> None:
    answer = run(plain.servers(), call("plain_ask"), call("plain_sample"))
    for step, what in zip(answer.steps, ("Elicitation", "Sampling"), strict=True):
        assert json.loads(step.result)["error"]["message"] == f"{what} not supported"
    begun = next(one for one in plain.heard() if one["method"] == "initialize")
    assert begun["params"]["capabilities"] == {}  # nor is it offered


def test_a_handler_answers_for_the_user(plain: Plain) -> None:
    asked: list[Elicitation] = []

    def elicit(one: Elicitation) -> Mapping[str, Any] | None:
        asked.append(one)
        return {"colour": "red"} if len(asked) == 1 else None

    servers = plain.servers(elicitation=elicit)
    answer = run(servers, call("plain_ask"), call("plain_write"), call("plain_ask", again=True))
    assert (asked[0].server, asked[0].message, asked[0].url) == ("plain", "Which?", None)
    assert json.loads(answer.steps[0].result) == {"action": "accept", "content": {"colour": "red"}}
    assert json.loads(answer.steps[2].result) == {"action": "decline"}


def test_a_handler_answers_for_a_model(plain: Plain) -> None:
    asked: list[Sampling] = []

    async def sample(one: Sampling) -> str:
        asked.append(one)
        return "Hello!"

    answer = run(plain.servers(sampling=sample), call("plain_sample"))
    assert json.loads(answer.steps[0].result)["content"]["text"] == "Hello!"
    assert (asked[0].instructions, asked[0].max_tokens, asked[0].messages[0].text) == ("Be brief.", 10, "Hello?")


def test_a_handler_that_fails_costs_no_connection(plain: Plain) -> None:
    def elicit(_: Elicitation) -> None:
        raise ValueError("no terminal")

    answer = run(plain.servers(elicitation=elicit), call("plain_ask"), call("plain_say", text="hai"))
    assert "no terminal" in json.loads(answer.steps[0].result)["error"]["message"]
    assert answer.steps[1].result == "hai"


# ── a list that changes ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_new_tool_is_there_in_the_next_turn_and_not_in_this_one(plain: Plain) -> None:
    servers = plain.servers()
    model = Scripted([call("plain_grow"), call("plain_grown"), "no", call("plain_grown"), "yes"])
    agent = Agent(model, tools=[servers], approve=permit)
    first = agent.run("go")
    assert [step.fault.kind if step.fault else None for step in first.steps] == [None, "unknown_tool"]
    second = agent.run("go")
    assert [step.result for step in second.steps] == ["I am new"]
    menus = [{tool.name for tool in request.tools} for request in model.requests]
    assert menus[0] == menus[1] == menus[2]
    assert menus[3] - menus[0] == {"plain_grown"}


# ── resources and prompts ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_server_that_always_says_that_its_list_has_changed_is_asked_ever_more_seldom(plain: Plain) -> None:
    servers = plain.servers(plain.server(fault="restless", trust="hints")).connect()
    began = time.monotonic()
    plain.wait_for(
        lambda _: sum(one.get("method") == "tools/list" for one in plain.heard()) >= 16
    )  # eight times two pages
    assert time.monotonic() - began > 0.5
    assert [step.result for step in run(servers, call("plain_say", text="hai")).steps] == ["hai"]


def test_resources_and_prompts_are_asked_for(plain: Plain) -> None:
    servers = plain.servers(plain.server("one"), plain.server("two"))
    assert [(one["server"], one["uri"]) for one in servers.resources()] == [("one", "note://1"), ("two", "note://1")]
    assert servers.read("note://1", "two") == (Text("what the note says"),)
    (prompt,) = servers.prompts("one")
    assert (prompt.server, prompt.name, prompt.description, prompt.arguments) == (
        "one",
        "plan",
        "Plans",
        {"city": True},
    )
    (message,) = servers.prompt("plan", "one", city="Bandung")
    assert (message.role, message.text) == ("user", "Plan Bandung")


def test_a_model_reads_resources_where_that_is_wanted(plain: Plain) -> None:
    servers = plain.servers(plain.server(trust="hints", resources=True))
    answer = run(servers, call("plain_list_resources"), call("plain_read_resource", uri="note://1"))
    assert '"uri":"note://1"' in answer.steps[0].result
    assert answer.steps[1].result == "what the note says"
    bad = run(servers, call("plain_read_resource", uri="note://2"))
    assert fault(bad)[0] == "tool_failed"


def test_a_server_gets_no_more_of_our_environment_than_it_is_given(
    plain: Plain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    servers = plain.servers(plain.server(trust="hints", env={"TOKEN": "t"}))
    assert json.loads(run(servers, call("plain_environment")).steps[0].result)["OPENAI_API_KEY"] is None


def test_a_secret_that_a_server_was_given_does_not_come_back(plain: Plain) -> None:
    servers = plain.servers(plain.server(trust="hints", env={"TOKEN": SECRET}))
    (step,) = run(servers, call("plain_environment")).steps
    assert json.loads(step.result)["TOKEN"] == "[secret]"
    assert SECRET not in repr(step)


def test_servers_may_be_used_by_name_only(plain: Plain) -> None:
    assert repr(McpServers(plain.server("a"), plain.server("b"))) == "McpServers(a, b)"
