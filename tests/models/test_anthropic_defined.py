"""Tools of the machine reach Claude in the form it was trained on, and everybody else as any tool does."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.models.anthropic_judge import materialised
from tests.wire.recordings import LOOPS, at_hand
from tukang.conversation import Image, Message, Opaque, Text, ToolCall, ToolResult, user
from tukang.models.anthropic_decode import AnthropicDecoder
from tukang.models.anthropic_defined import FORMS, MemberInput
from tukang.models.anthropic_dialect import Dialect, dialect_for, learn
from tukang.models.anthropic_encode import encode_body
from tukang.models.anthropic_options import betas
from tukang.models.base import Fold, ModelRequest, Reply, Settings
from tukang.models.bedrock_invoke import BedrockInvoke
from tukang.tools.contract import Contract, Defined

SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}}
BASH = Contract("bash", "Run commands.", SCHEMA, Defined("bash"))
EDITOR = Contract("str_replace_based_edit_tool", "Edit.", SCHEMA, Defined("editor"))
MEMORY = Contract("memory", "Remember.", SCHEMA, Defined("memory"))
SCREEN = Contract("computer", "Click.", SCHEMA, Defined("computer", {"width": 1280, "height": 800}))
ALL = (BASH, EDITOR, MEMORY, SCREEN)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


def request(messages: Sequence[Message] = (), tools: Sequence[Contract] = ALL, **asked: Any) -> ModelRequest:
    asked.setdefault("settings", Settings(cache=False))
    return ModelRequest("", tuple(messages) or (user("?"),), tuple(tools), **asked)


def body(model: str | Dialect, *args: Any, **asked: Any) -> dict[str, Any]:
    dialect = model if isinstance(model, Dialect) else dialect_for(model)
    return json.loads(encode_body("claude-test", request(*args, **asked), dialect=dialect))


def types(model: str | Dialect) -> list[str]:
    return [tool.get("type", "custom") for tool in body(model)["tools"]]


@pytest.mark.parametrize(
    ("model", "sent", "asked"),
    [
        (
            "claude-opus-5-5",
            ["bash_20250124", "text_editor_20250728", "memory_20250818", "computer_toolset_20260801"],
            (),
        ),
        (
            "claude-opus-4-8",
            ["bash_20250124", "text_editor_20250728", "memory_20250818", "computer_toolset_20260801"],
            (),
        ),
        (
            "claude-opus-4-5",
            ["bash_20250124", "text_editor_20250728", "memory_20250818", "computer_20251124"],
            ("computer-use-2025-11-24",),
        ),
        (
            "claude-sonnet-4-5",
            ["bash_20250124", "text_editor_20250728", "memory_20250818", "computer_20250124"],
            ("computer-use-2025-01-24",),
        ),
        (
            "claude-3-7-sonnet-20250219",
            ["bash_20250124", "custom", "custom", "computer_20250124"],
            ("computer-use-2025-01-24",),
        ),
        ("claude-3-5-haiku-20241022", ["custom"] * 4, ()),
        ("someone-elses", ["custom"] * 4, ()),
    ],
)
def test_each_model_gets_the_newest_form_it_takes(model: str, sent: list[str], asked: tuple[str, ...]) -> None:
    assert types(model) == sent
    assert betas(request(), dialect_for(model)) == asked


@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-opus-4-6", "claude-sonnet-4-5"])
def test_the_vendor_takes_the_entries(model: str) -> None:
    pytest.importorskip("anthropic")
    from anthropic.types.beta import BetaToolUnionParam
    from pydantic import TypeAdapter

    judge = TypeAdapter[Any](BetaToolUnionParam)
    for tool in body(model)["tools"]:
        assert materialised(judge.validate_python(tool)) == tool


def test_a_tool_under_another_name_is_any_tool() -> None:
    mine = Contract("shell", "Mine.", SCHEMA, Defined("bash"))

    (tool,) = body("claude-opus-5-5", tools=[mine])["tools"]

    assert (tool["name"], "input_schema" in tool) == ("shell", True)


def test_the_last_entry_takes_the_cache_mark() -> None:
    marked = body("claude-opus-5-5", settings=Settings())["tools"]

    assert marked[-1] == {"type": "computer_toolset_20260801", "cache_control": {"type": "ephemeral"}}


def test_a_form_that_is_refused_by_name_is_not_used_again() -> None:
    first = dialect_for("claude-opus-4-8")
    second = learn(first, "tools.3: Input tag 'computer_toolset_20260801' found using 'type' does not match")
    third = learn(second, "'claude-x' does not support tool types: computer_20251124. Did you mean computer_20250124?")

    assert types(second)[3] == "computer_20251124"
    assert types(third)[3] == "custom"  # both were named
    assert types(third)[:3] == types(first)[:3]
    assert types(learn(first, "invalid beta flag")) == ["custom"] * 4
    assert types(learn(first, "messages.1.content.0.tool_use.toolset_name: Extra inputs"))[3] == "computer_20251124"
    assert learn(third, "messages: at least one message is required") == third


def test_a_toolset_has_no_one_name_to_force() -> None:
    older = dialect_for("claude-opus-4-8")

    assert body(older, tool_choice="bash")["tool_choice"] == {"type": "tool", "name": "bash"}
    assert body(older, tool_choice="computer")["tool_choice"] == {"type": "any"}


# ── bedrock ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_bedrock_asks_for_its_features_in_the_body_and_has_no_toolset() -> None:
    pytest.importorskip("botocore")
    model = BedrockInvoke("anthropic.claude-opus-4-8", region="us-east-1", token="any")

    sent = json.loads(model.encode(request()))

    assert [tool["type"] for tool in sent["tools"]] == [
        "bash_20250124",
        "text_editor_20250728",
        "memory_20250818",
        "computer_20251124",
    ]
    assert sent["tools"][3]["display_width_px"] == 1280
    assert sent["anthropic_beta"] == [
        "computer-use-2025-01-24",
        "context-management-2025-06-27",
        "computer-use-2025-11-24",
    ]


# ── calls of a toolset, and pictures in results ──────────────────────────────────────────────────────────────────────


def read(*events: dict[str, Any]) -> Reply:
    decoder, fold = AnthropicDecoder("claude-test"), Fold()
    for event in (*(msg for one in events for msg in decoder.feed_event(one)), *decoder.end()):
        fold.add(event)
    assert decoder.error is None
    return fold.reply()


def member(name: str, given: str) -> list[dict[str, Any]]:
    block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}, "toolset_name": "computer"}
    return [
        {"type": "message_start", "message": {"model": "claude-test", "usage": {}}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *[
            {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}}
            for piece in ("", *given)
        ],
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]


@pytest.mark.parametrize(
    ("name", "given", "arguments"),
    [
        ("left_click", '{"coordinate": [10, 20]}', {"action": "left_click", "coordinate": [10, 20]}),
        ("screenshot", " { } ", {"action": "screenshot"}),
        ("screenshot", "", {"action": "screenshot"}),
    ],
)
def test_a_member_is_an_action_of_the_one_tool(name: str, given: str, arguments: dict[str, Any]) -> None:
    marker, call = read(*member(name, given)).parts

    assert marker == Opaque("anthropic", {"toolset_name": "computer"})
    assert isinstance(call, ToolCall)
    assert (call.name, json.loads(call.arguments)) == ("computer", arguments)


def test_what_is_no_object_is_seen_as_it_is() -> None:
    held = MemberInput("key")

    assert "".join(map(held.feed, ("[", "1", "]"))) == "[1]"


def conversation() -> list[Message]:
    marker = Opaque("anthropic", {"toolset_name": "computer"})
    clicked = ToolCall("t-1-0", "computer", '{"action":"left_click","coordinate":[1,2]}', "toolu_1")
    seen = ToolCall("t-1-1", "computer", '{"action":"screenshot"}', "toolu_2")
    listed = ToolCall("t-1-2", "bash", '{"command":"ls"}', "toolu_3")
    return [
        user("?"),
        Message("assistant", (marker, clicked, marker, seen, listed)),
        Message(
            "tool",
            (
                ToolResult("t-1-0", "computer", (Text("Clicked."),)),
                ToolResult("t-1-1", "computer", (Image("image/png", PNG),)),
                ToolResult("t-1-2", "bash", (Text("a.txt"),)),
            ),
        ),
    ]


def test_a_member_goes_back_as_it_came_with_its_picture() -> None:
    pytest.importorskip("anthropic")
    from tests.models.anthropic_judge import accepted, in_order

    sent = body("claude-opus-4-8", conversation())
    asked, answered = sent["messages"][1]["content"], sent["messages"][2]["content"]

    assert asked[0] == {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "left_click",
        "input": {"coordinate": [1, 2]},
        "toolset_name": "computer",
    }
    assert [block.get("toolset_name") for block in (*asked, *answered)] == ["computer", "computer", None] * 2
    picture = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PNG).decode()}
    assert answered[1]["content"] == [{"type": "image", "source": picture}]
    in_order(sent)
    accepted({**sent, "tools": []})


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "someone-elses"])
def test_to_a_model_without_toolsets_it_is_a_call_of_the_one_tool(model: str) -> None:
    messages = conversation()
    body("claude-opus-4-8", messages)  # what was kept of that must not be sent here
    sent = body(model, messages)["messages"]

    assert [block["name"] for block in sent[1]["content"]] == ["computer", "computer", "bash"]
    assert sent[1]["content"][0]["input"] == {"action": "left_click", "coordinate": [1, 2]}
    assert not any("toolset_name" in block for message in sent for block in message["content"])


# ── what was recorded ────────────────────────────────────────────────────────────────────────────────────────────────


def test_recorded_requests_with_such_tools_list_them_as_ours_do() -> None:
    """Whatever of these was recorded is in the form that is sent today."""
    known = {one.type: one.kind for one in FORMS}
    found: list[tuple[str, dict[str, Any]]] = []
    for line in (at_hand(LOOPS) / "anthropic.jsonl").read_text().splitlines():
        for step in json.loads(line)["steps"]:
            found += [
                (step["request"]["model"], tool)
                for tool in step["request"].get("tools") or ()
                if tool.get("type") in known
            ]
    assert found
    for model, tool in found:
        (contract,) = [one for one in ALL if one.defined and one.defined.kind == known[tool["type"]]]
        assert body(model, tools=[contract])["tools"] == [tool]
