"""Structured output in place of a call that cannot be forced: to everybody else it is the call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from tukang.conversation import Message, Text, Thinking, ToolCall, ToolResult, Usage, assistant, user
from tukang.models.anthropic_dialect import Dialect, dialect_for
from tukang.models.anthropic_encode import encode_body
from tukang.models.anthropic_options import without_force
from tukang.models.base import (
    ArgumentsDelta,
    CallBegan,
    Fold,
    ModelEvent,
    ModelRequest,
    PartCompleted,
    Reply,
    ReplyEnded,
    Settings,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)
from tukang.models.structured import as_call, as_text, demanded
from tukang.tools.contract import Contract

ANSWER = Contract("answer", "Give it.", {"type": "object", "properties": {"total": {"type": "integer"}}})
PRICE = Contract("price", "A price.", {"type": "object", "properties": {}})
TREE = Contract("answer", "Give it.", {"type": "object", "properties": {"left": {"$ref": "#"}}})


def asks(**fields: Any) -> ModelRequest:
    defaults: dict[str, Any] = {"tools": (PRICE, ANSWER), "tool_choice": "answer", "answer": "answer"}
    return ModelRequest("", (user("Read this."),), **{**defaults, **fields})


def folded(*events: ModelEvent) -> tuple[Reply, list[ModelEvent]]:
    async def source() -> AsyncIterator[ModelEvent]:
        for event in events:
            yield event

    async def run() -> list[ModelEvent]:
        return [event async for event in as_call(source(), "answer")]

    passed = asyncio.run(run())
    fold = Fold()
    for event in passed:
        fold.add(event)
    return fold.reply(), passed


def test_the_answer_is_demanded_only_where_its_tool_is_the_one_that_must_be_called() -> None:
    assert demanded(asks()) is ANSWER
    assert demanded(asks(tool_choice="auto")) is None
    assert demanded(asks(tool_choice="price")) is None
    assert demanded(asks(answer=None)) is None
    assert demanded(asks(tools_off=True)) is None
    assert demanded(asks(tools=(PRICE,))) is None


def test_its_arguments_are_asked_for_as_text() -> None:
    request = as_text(asks(), ANSWER)
    assert (request.returns, request.tool_choice) == (ANSWER.parameters, "none")
    assert request.tools == (PRICE, ANSWER), "the tools stay listed, for the cache"


def test_the_text_that_comes_is_the_call() -> None:
    reply, events = folded(
        ThinkingDelta("Let me see."),
        TextDelta('{"total":'),
        TextDelta("3}"),
        UsageReported(Usage(input=7)),
        ReplyEnded("stop", model="m"),
    )
    assert reply.parts == (Thinking("Let me see."), ToolCall("", "answer", '{"total":3}'))
    assert (reply.finish, reply.model, reply.usage) == ("calls", "m", Usage(input=7))
    assert not any(isinstance(event, TextDelta) for event in events)


def test_what_was_cut_off_is_known_to_be() -> None:
    reply, _ = folded(TextDelta('{"tot'), ReplyEnded("length"))
    assert (reply.parts, reply.finish) == ((ToolCall("", "answer", '{"tot'),), "length")


def test_a_reply_without_text_is_no_call() -> None:
    reply, _ = folded(PartCompleted(Thinking("Hm.", "seal", "anthropic")), ReplyEnded("stop"))
    assert (reply.calls, reply.finish) == ((), "stop")


def test_a_call_that_comes_all_the_same_is_not_mixed_up_with_it() -> None:
    reply, _ = folded(
        CallBegan(0, "price"),
        ArgumentsDelta(0, "{}"),
        TextDelta('{"total":3}'),
        ArgumentsDelta(0, " "),
        ReplyEnded("calls"),
    )
    assert reply.calls == (ToolCall("", "price", "{} "), ToolCall("", "answer", '{"total":3}'))


@pytest.mark.parametrize(
    ("model", "think", "as_output"),
    [
        ("claude-sonnet-4-5", None, False),
        ("claude-sonnet-4-5", False, False),
        ("claude-sonnet-4-5", "low", True),
        ("claude-sonnet-4-0", "low", False),  # no structured output yet: it does without thinking
        ("claude-opus-4-6", "low", False),  # thinking and a forced choice go together
        ("claude-opus-5-5", None, True),  # takes no forced choice
    ],
)
def test_claude_is_asked_for_structured_output_where_force_costs_something(
    model: str, think: Any, as_output: bool
) -> None:
    request = asks(settings=Settings(think=think, max_tokens=4096))
    assert (without_force(request, dialect_for(model)) is not None) is as_output


def test_a_schema_that_structured_output_does_not_take_is_asked_for_as_a_call() -> None:
    dialect = Dialect(forced=False, structured=True)
    assert without_force(asks(), dialect) is not None
    assert without_force(asks(tools=(TREE,)), dialect) is None


def test_a_conversation_with_calls_lists_their_tools_where_there_are_none_any_more() -> None:
    """Anthropic refuses calls in a conversation for which no tools are listed."""
    messages = (
        user("Read this."),
        assistant(ToolCall("t-1-0", "answer", '{"total":3}')),
        Message("tool", (ToolResult("t-1-0", "answer", (Text('{"ok":true}'),)),)),
        assistant('{"total":3}'),
        user("Thank you."),
    )
    body = msgspec.json.decode(encode_body("claude-sonnet-4-5", ModelRequest("", messages)))
    assert [tool["name"] for tool in body["tools"]] == ["answer"]
    assert body["tool_choice"] == {"type": "none"}
    own = {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}
    body = msgspec.json.decode(
        encode_body("claude-sonnet-4-5", ModelRequest("", messages, settings=Settings(extra=own)))
    )
    assert [tool["name"] for tool in body["tools"]] == ["web_search"]
    assert "tool_choice" not in body
    assert "tools" not in msgspec.json.decode(encode_body("claude-sonnet-4-5", ModelRequest("", messages[:1])))
