"""Whole turns with the tools of the machine: over the scripted model, and over the protocols that the mock speaks."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.machine.calling import needs_bwrap
from tests.machine.test_bash import NAP, inside, soon
from tests.machine.test_computer import display as display
from tests.machine.test_computer import on_a_display
from tests.wire.loop_transport import Transport
from tests.wire.recordings import LOOPS, at_hand
from tukang import Agent, Answer, Approval, Limits
from tukang.loop.events import CallChecked
from tukang.machine import bash, computer, editor, memory
from tukang.mock import MockServer, Received, in_thread
from tukang.models.anthropic import AnthropicMessages
from tukang.models.openai_chat import OpenAIChat
from tukang.models.scripted import Says, Scripted, ScriptedCall, call

EDIT = "str_replace_based_edit_tool"
FILE = "harga.txt"


class Person:
    """Somebody who permits everything, or nothing, and remembers what they were asked."""

    def __init__(self, *, yes: bool = True) -> None:
        self.asked: list[tuple[str, str]] = []
        self._yes = yes

    def __call__(self, approval: Approval) -> bool:
        self.asked.append((str(approval.arguments.get("command") or approval.arguments.get("action")), approval.effect))
        return self._yes


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / FILE).write_text("PRD001 100\n")
    return tmp_path


def ran(tools: list[Any], *script: Any, person: Person | None = None, limits: Limits | None = None) -> Answer[Any]:
    return Agent(Scripted([*script, "Selesai."]), tools=tools, limits=limits).run("go", approve=person or Person())


VIEW = call(EDIT, command="view", path=FILE)
CHANGE = call(EDIT, command="str_replace", path=FILE, old_str="100", new_str="200")


def test_to_view_asks_nobody_and_to_write_asks(project: Path) -> None:
    person = Person()

    answer = ran([editor(project)], [VIEW, CHANGE, VIEW], person=person)

    assert person.asked == [("str_replace", "write")]
    assert [step.result.split()[-1] for step in answer.steps] == ["100", "200", "200"]
    assert not any(step.reused for step in answer.steps)
    assert [event.reads for event in answer.events if isinstance(event, CallChecked)] == [True, False, True]
    assert (project / FILE).read_text() == "PRD001 200\n"


def test_what_is_refused_is_not_written(project: Path) -> None:
    answer = ran([editor(project)], CHANGE, person=Person(yes=False))

    assert answer.steps[0].fault is not None
    assert answer.steps[0].fault.kind == "refused"
    assert (project / FILE).read_text() == "PRD001 100\n"


def test_an_equal_view_is_not_repeated_while_nothing_was_written(project: Path) -> None:
    answer = ran([editor(project)], VIEW, VIEW, CHANGE, VIEW)

    assert [step.reused for step in answer.steps] == [False, True, False, False]
    assert "200" in answer.steps[3].result


def test_an_author_may_have_every_call_asked_about_or_none(project: Path) -> None:
    every, none = Person(), Person()

    ran([editor(project, approval="ask")], VIEW, CHANGE, person=every)
    (project / FILE).write_text("PRD001 100\n")
    ran([editor(project, approval="never")], VIEW, CHANGE, person=none)

    assert every.asked == [("view", "read"), ("str_replace", "write")]
    assert none.asked == []


def test_an_attempt_to_get_out_is_answered_and_the_turn_goes_on(project: Path) -> None:
    answer = ran([editor(project)], call(EDIT, command="view", path="/etc/passwd"), VIEW)

    assert json.loads(answer.steps[0].result)["error"]["kind"] == "nothing_done"
    assert "PRD001" in answer.steps[1].result
    assert answer.text == "Selesai."


@needs_bwrap
def test_a_command_asks_runs_each_time_and_shares_the_editors_files(project: Path) -> None:
    person = Person()
    look = call("bash", command=f"cat /workspace/{FILE}")

    answer = ran([editor(project), bash(project)], look, CHANGE, look, call("bash", restart=True), person=person)

    assert [step.result for step in answer.steps if step.tool == "bash"] == [
        "PRD001 100",
        "PRD001 200",
        "The shell was restarted.",
    ]
    assert person.asked == [
        (f"cat /workspace/{FILE}", "write"),
        ("str_replace", "write"),
        (f"cat /workspace/{FILE}", "write"),
        ("None", "write"),
    ]


@needs_bwrap
def test_a_long_output_is_cut_and_can_be_read_on(project: Path) -> None:
    def script(request: Any) -> Any:
        match len([message for message in request.messages if message.role == "tool"]):
            case 0:
                return call("bash", command="seq 20000")
            case 1:
                handle = request.messages[-1].results[0].call_id
                return call("read_more", handle=handle, offset=100_000)
            case _:
                return "Selesai."

    answer: Answer[Any] = Agent(Scripted(script), tools=[bash(project, approval="never")]).run("go")

    assert len(answer.steps[0].result) < 32_000
    assert "read_more" in answer.steps[0].result
    assert "20000" in answer.steps[1].result


@needs_bwrap
def test_at_the_turns_deadline_the_command_is_over_and_nothing_is_left(project: Path) -> None:
    began = time.monotonic()

    answer = ran(
        [bash(project, approval="never")],
        call("bash", command=f"echo begun; sleep {NAP}71 & sleep {NAP}71"),
        limits=Limits(seconds=2),
    )

    assert time.monotonic() - began < 6
    assert "begun" in answer.steps[0].result
    assert soon(lambda: inside(f"sleep\x00{NAP}71") == [])


# ── over the wire ────────────────────────────────────────────────────────────────────────────────────────────────────


def served(script: list[Says]) -> Iterator[tuple[str, list[Received]]]:
    """A server for the body of one `for`, with what it is sent."""
    told: list[Received] = []
    with in_thread(MockServer(script, tell=told.append)) as server:
        yield server.url, told


def wanted(name: str, **arguments: Any) -> Says:
    return Says(calls=(ScriptedCall(name, arguments),))


FILES = [
    wanted(EDIT, command="view", path=f"/workspace/{FILE}"),
    wanted(EDIT, command="str_replace", path=f"/workspace/{FILE}", old_str="100", new_str="200"),
    wanted("memory", command="create", path="/memories/a.md", file_text="harga diubah\n"),
    Says("Selesai."),
]


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
def test_over_anthropics_protocol_they_are_what_claude_knows(project: Path, stream: bool) -> None:
    for url, told in served(FILES):
        person = Person()
        model = AnthropicMessages("claude-sonnet-4-5", base_url=url, api_key="any", stream=stream)
        tools = [editor(project), memory(project / "memories")]

        answer = Agent(model, tools=tools).run("Ubah harga.", approve=person)

        assert answer.text == "Selesai."
        assert [one.refused for one in told] == [None] * 4
        assert [tool.get("type") for tool in told[0].body["tools"]] == ["text_editor_20250728", "memory_20250818"]
        assert person.asked == [("str_replace", "write"), ("create", "write")]
    assert (project / FILE).read_text() == "PRD001 200\n"
    assert (project / "memories" / "a.md").read_text() == "harga diubah\n"


def test_over_another_protocol_they_are_tools_like_any_other(project: Path) -> None:
    for url, told in served(FILES):
        model = OpenAIChat("gpt-x", base_url=f"{url}/v1", api_key="any")

        answer = Agent(model, tools=[editor(project), memory(project / "memories")]).run("Ubah.", approve=Person())

        assert answer.text == "Selesai."
        assert [tool["function"]["name"] for tool in told[0].body["tools"]] == [EDIT, "memory"]
        properties = told[0].body["tools"][0]["function"]["parameters"]["properties"]
        assert {"command", "path", "old_str", "new_str", "insert_line"} <= properties.keys()
    assert (project / FILE).read_text() == "PRD001 200\n"


@on_a_display
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("model", ["claude-opus-4-8", "claude-opus-4-6"])
def test_a_screen_over_anthropics_protocol(display: str, model: str, stream: bool) -> None:
    script = [
        Says(
            calls=(
                ScriptedCall("computer", {"action": "left_click", "coordinate": [10, 20]}),
                ScriptedCall("computer", {"action": "screenshot"}),
            )
        ),
        Says("Selesai."),
    ]
    for url, told in served(script):
        person = Person()
        claude = AnthropicMessages(model, base_url=url, api_key="any", stream=stream)

        answer = Agent(claude, tools=[computer(display, longest=640)]).run("Klik.", approve=person)

        assert answer.text == "Selesai."
        assert person.asked == [("left_click", "write")]
        (tool,), back = told[0].body["tools"], told[1].body["messages"]
        calls = [block for block in back[1]["content"] if block["type"] == "tool_use"]
        clicked, shown = [block for block in back[2]["content"] if block["type"] == "tool_result"]
        assert _words(clicked).startswith("Clicked.")
        picture = next(part for part in shown["content"] if part["type"] == "image")
        assert base64.b64decode(picture["source"]["data"]).startswith(b"\x89PNG")
        if model == "claude-opus-4-8":
            assert tool["type"] == "computer_toolset_20260801"
            assert "anthropic-beta" not in told[0].headers
            assert [(one["name"], one["toolset_name"]) for one in calls] == [
                ("left_click", "computer"),
                ("screenshot", "computer"),
            ]
            assert calls[0]["input"] == {"coordinate": [10, 20]}
            assert clicked["toolset_name"] == shown["toolset_name"] == "computer"
        else:
            assert (tool["type"], tool["display_width_px"]) == ("computer_20251124", 640)
            assert told[0].headers["anthropic-beta"] == "computer-use-2025-11-24"
            assert [one["name"] for one in calls] == ["computer", "computer"]


def _words(block: dict[str, Any]) -> str:
    content = block["content"]
    return content if isinstance(content, str) else content[0]["text"]


# ── recorded ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_recorded_turn_with_a_memory_finds_what_stands_in_ours(tmp_path: Path) -> None:
    lines = (at_hand(LOOPS) / "anthropic.jsonl").read_text().splitlines()
    (steps,) = [loop["steps"] for loop in map(json.loads, lines) if "anthropic_memory_tool.yaml" in loop["id"]]
    (tmp_path / "tempat.md").write_text("The user lives in Mexico City.\n")
    transport = Transport([step["response"] for step in steps])
    model = AnthropicMessages("claude-sonnet-4-5", api_key="any", session=transport.session, stream=False)

    answer = Agent(model, tools=[memory(tmp_path)]).run("Where do I live?")

    assert "Mexico City" in answer.text
    first, second = transport.sent
    assert [one["type"] for one in first["tools"]] == [one["type"] for one in steps[0]["request"]["tools"]]
    assert second["messages"][1] == {
        "role": "assistant",
        "content": [
            {"type": "text", "text": steps[1]["request"]["messages"][1]["content"][0]["text"]},
            {key: steps[1]["request"]["messages"][1]["content"][1][key] for key in ("type", "id", "name", "input")},
        ],
    }
    assert "/memories/tempat.md" in _words(second["messages"][2]["content"][0])
