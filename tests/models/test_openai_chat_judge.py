"""The `openai` SDK's own request types as the judge of what is sent, over random conversations and real tools' schemas."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from msgspec.structs import replace
from pydantic import ValidationError

from tests.models.chat_judge import in_order, judge
from tests.sizes import examples
from tests.wire.conversations import requests
from tests.wire.recordings import mcp_contracts
from tukang.conversation import Message, Text, ToolCall, ToolResult, assistant, user
from tukang.models.base import ModelRequest
from tukang.models.openai_chat_dialect import Dialect, dialect_for
from tukang.models.openai_chat_encode import encode_request

DIALECTS = {
    "openai": dialect_for("api.openai.com", "gpt-5"),
    "azure": dialect_for("r.openai.azure.com", "x"),
    "openrouter": dialect_for("openrouter.ai", "anthropic/claude-sonnet-4.5"),
    "google": dialect_for("generativelanguage.googleapis.com", "gemini-3-flash-preview"),
    "mistral": dialect_for("api.mistral.ai", "mistral-small"),
    "deepseek": dialect_for("api.deepseek.com", "deepseek-chat"),
    "any": Dialect(provider="openai@localhost", no_text="empty"),
}


@given(requests(), st.sampled_from(list(DIALECTS)), st.booleans())
@hypothesis_settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_the_conversation_has_been_through_the_sdk_takes_it(
    request: ModelRequest, server: str, stream: bool
) -> None:
    """Switches between all providers, crashes, cancels, duplicates: see `tests.wire.conversations`."""
    dialect = DIALECTS[server]
    before = list(request.messages)
    first = encode_request("gpt-test", request, dialect, stream)
    body = json.loads(first)
    judge(body, added=server not in ("openai", "azure"))
    in_order(body["messages"])
    roles = [message["role"] for message in body["messages"]]
    if server == "mistral":
        assert ("tool", "user") not in list(pairwise(roles))
    if server == "google":
        for message in body["messages"]:
            assert not message.get("tool_calls") or "extra_content" in message["tool_calls"][0]
    assert encode_request("gpt-test", request, dialect, stream) == first, "the second time from what was kept"
    assert list(request.messages) == before


@given(requests(), st.sampled_from(list(DIALECTS)), st.integers(0, 3))
@hypothesis_settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_kept_of_one_request_changes_nothing_in_another(request: ModelRequest, server: str, start: int) -> None:
    """A conversation that grows by a message, is shortened at its beginning, gets other instructions: what is sent of it is
    what is sent of one that nothing was kept of."""
    dialect = DIALECTS[server]

    def must_be_as_new(request: ModelRequest) -> None:
        new = replace(request, messages=[Message(one.role, one.parts) for one in request.messages])
        sent = encode_request("gpt-test", request, dialect, stream=False)
        assert sent == encode_request("gpt-test", new, dialect, stream=False)

    for end in range(1, len(request.messages) + 1):
        for begin in {0, min(start, end)}:
            must_be_as_new(replace(request, messages=list(request.messages[begin:end])))
        must_be_as_new(replace(request, messages=list(request.messages[:end]), instructions=f"Number {end % 2}."))


def test_what_was_sent_is_kept_once_in_a_conversation() -> None:
    """Else a long one would be kept as often as it has rounds."""
    messages = [user("?")]
    for number in range(1, 5):
        call = ToolCall(f"t-{number}-0", "cek", "{}")
        messages += [assistant(call), Message("tool", (ToolResult(call.id, "cek", (Text("ada"),)),))]
        encode_request("gpt-test", ModelRequest("", list(messages)), Dialect(), stream=False)
        kept = [message for message in messages if "openai_chat/sent" in vars(message)]
        assert kept == [messages[-1]]
    for spoken in (1, 2, 3):  # turns without a call in between
        messages += [assistant("Ada."), user("?")] * spoken
        for _ in range(2):
            encode_request("gpt-test", ModelRequest("", list(messages)), Dialect(), stream=False)
            messages += [assistant(ToolCall("u-1-0", "cek", "{}")), Message("tool", (ToolResult("u-1-0", "cek", ()),))]
        assert sum("openai_chat/sent" in vars(message) for message in messages) == 1


def test_the_judge_does_judge() -> None:
    good = json.loads(encode_request("x", ModelRequest("", (user("?"),)), Dialect(), stream=False))
    judge(good)
    for wrong in (
        {"role": "robot", "content": "?"},
        {"role": "user", "content": [{"type": "text"}]},
        {"role": "tool", "content": "x"},
        {"role": "assistant", "content": "x", "reasoning_details": []},
    ):
        with pytest.raises(ValidationError):
            judge({**good, "messages": [wrong]})


@pytest.mark.parametrize("server", ["openai", "openrouter"])
def test_every_real_tool_is_sent_in_a_legal_dialect(server: str) -> None:
    tools = mcp_contracts()
    dialect = replace(DIALECTS[server], most_tools=None)
    made: list[dict[str, Any]] = []
    for start in range(0, len(tools), 100):
        request = ModelRequest("", (user("?"),), tuple(tools[start : start + 100]))
        body = json.loads(encode_request("x", request, dialect, stream=True))
        judge(body)
        made += [tool["function"] for tool in body["tools"]]
    assert [function["name"] for function in made] == [tool.name for tool in tools]
    for function in made:
        schema = function["parameters"]
        jsonschema_rs.meta.validate({**schema, "$schema": "https://json-schema.org/draft/2020-12/schema"})
        assert schema["type"] == "object"
        assert isinstance(schema["properties"], dict)
        assert not {"anyOf", "oneOf", "allOf", "not", "enum"} & schema.keys()
    strict = sum(function.get("strict", False) for function in made)
    assert (strict > 500) if server == "openai" else (strict == 0)
