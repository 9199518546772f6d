"""What each provider takes and refuses: one conversation it takes, and for each rule one change it does not.

The rules are those of the providers' documents and of recorded refusals; the sources stand at the top of the files tested.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tukang.mock.protocols import find
from tukang.mock.seals import seal
from tukang.mock.values import Asked, Refused

Body = dict[str, Any]
SCHEMA: Body = {
    "type": "object",
    "properties": {"id": {"type": "string"}},
    "required": ["id"],
    "additionalProperties": False,
}
OPEN: Body = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}

CHAT: Body = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Kamu asisten."},
        {"role": "user", "content": "Berapa?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "cek", "arguments": "{}"}},
                {"id": "c2", "type": "function", "function": {"name": "cek", "arguments": ""}},
            ],
        },
        {"role": "tool", "tool_call_id": "c2", "content": "dua"},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "satu"}]},
    ],
    "tools": [{"type": "function", "function": {"name": "cek", "parameters": SCHEMA, "strict": True}}],
}
RESPONSES: Body = {
    "model": "m",
    "store": False,
    "include": ["reasoning.encrypted_content"],
    "input": [
        {"role": "user", "content": "Berapa?"},
        {"type": "reasoning", "id": "rs_000001r", "summary": [], "encrypted_content": seal("rs_000001r")},
        {"type": "function_call", "id": "fc_000001r_0", "call_id": "c1", "name": "cek", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "satu"},
    ],
    "tools": [{"type": "function", "name": "cek", "parameters": SCHEMA, "strict": True}],
}
MESSAGES: Body = {
    "model": "m",
    "max_tokens": 2000,
    "thinking": {"type": "enabled", "budget_tokens": 1024},
    "messages": [
        {"role": "user", "content": "Berapa?"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": seal("Hm.")},
                {"type": "tool_use", "id": "t1", "name": "cek", "input": {}},
                {"type": "tool_use", "id": "t2", "name": "cek", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "satu"},
                {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "dua"}]},
                {"type": "text", "text": "Jawab sekarang."},
            ],
        },
    ],
    "tools": [{"name": "cek", "input_schema": OPEN}],
}
CONVERSE: Body = {
    "messages": [
        {"role": "user", "content": [{"text": "Berapa?"}]},
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": seal("Hm.")}}},
                {"toolUse": {"toolUseId": "t1", "name": "cek", "input": {}}},
                {"toolUse": {"toolUseId": "t2", "name": "cek", "input": {}}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "t1", "content": [{"text": "satu"}]}},
                {"toolResult": {"toolUseId": "t2", "content": [{"json": {"a": 1}}], "status": "error"}},
            ],
        },
    ],
    "toolConfig": {
        "tools": [{"toolSpec": {"name": "cek", "inputSchema": {"json": OPEN}}}, {"cachePoint": {"type": "default"}}]
    },
}
OLLAMA: Body = {
    "model": "m",
    "messages": [
        {"role": "user", "content": "Berapa?", "images": ["QUJD"]},
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "cek", "arguments": {"id": "1"}}}]},
        {"role": "tool", "tool_name": "cek", "content": "satu"},
    ],
    "tools": [{"type": "function", "function": {"name": "cek", "parameters": OPEN}}],
}
GEMINI: Body = {
    "contents": [
        {"role": "user", "parts": [{"text": "Berapa?"}]},
        {
            "role": "model",
            "parts": [
                {"functionCall": {"id": "a", "name": "cek", "args": {}}, "thoughtSignature": seal("cek")},
                {"functionCall": {"id": "b", "name": "cek", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "a", "name": "cek", "response": {"result": "satu"}}},
                {"functionResponse": {"id": "b", "name": "cek", "response": {"result": "dua"}}},
            ],
        },
    ],
    "tools": [{"functionDeclarations": [{"name": "cek", "parameters": OPEN}]}],
}
INVOKE: Body = {**{k: v for k, v in MESSAGES.items() if k != "model"}, "anthropic_version": "bedrock-2023-05-31"}

GOOD: dict[str, tuple[str, Body, tuple[str, ...]]] = {
    "openai": ("/v1/chat/completions", CHAT, ("dua", "satu")),
    "responses": ("/v1/responses", RESPONSES, ("satu",)),
    "anthropic": ("/v1/messages", MESSAGES, ("satu", "dua")),
    "bedrock": ("/model/anthropic.x/converse", CONVERSE, ("satu", '{"a":1}')),
    "bedrock-invoke": ("/model/anthropic.x/invoke", INVOKE, ("satu", "dua")),
    "ollama": ("/api/chat", OLLAMA, ("satu",)),
    "gemini": ("/v1beta/models/gemini-3-pro:generateContent", GEMINI, ('{"result":"satu"}', '{"result":"dua"}')),
}
HEADERS = {"anthropic-version": "2023-06-01", "authorization": "Bearer any"}


def read(protocol: str, body: Body, headers: dict[str, str] = HEADERS) -> Asked:
    found = find(GOOD[protocol][0], {}, headers)
    assert found is not None
    assert found.protocol.name == protocol
    return found.protocol.read(body, found.address)


@pytest.mark.parametrize("protocol", GOOD)
def test_a_right_conversation_is_taken(protocol: str) -> None:
    asked = read(protocol, copy.deepcopy(GOOD[protocol][1]))
    assert [tool.name for tool in asked.tools] == ["cek"]
    assert asked.results == GOOD[protocol][2]
    assert asked.choice == "auto"


@pytest.mark.parametrize(
    ("protocol", "where"), [("openai", "messages"), ("responses", "input"), ("ollama", "messages")]
)
def test_a_note_after_results_does_not_hide_them(protocol: str, where: str) -> None:
    body = copy.deepcopy(GOOD[protocol][1])
    body[where].append({"role": "user", "content": "Jawab sekarang."})
    asked = read(protocol, body)
    assert (asked.text, asked.results) == ("Jawab sekarang.", GOOD[protocol][2])
    body[where] += [{"role": "assistant", "content": "Baik."}, {"role": "user", "content": "Terima kasih."}]
    assert read(protocol, body).results == ()


def put(*path: Any) -> Callable[[Body], None]:
    """Puts the last of these where the others lead; `...` takes the place out."""
    *way, last, value = path

    def change(body: Body) -> None:
        place: Any = body
        for step in way:
            place = place[step]
        if value is ...:
            del place[last]
        else:
            place[last] = value

    return change


def add(*path: Any) -> Callable[[Body], None]:
    """Appends the last of these to the list where the others lead."""
    *way, value = path

    def change(body: Body) -> None:
        place: Any = body
        for step in way:
            place = place[step]
        place.append(value)

    return change


HELLO = {"role": "user", "content": "Halo"}
WRONG: list[tuple[str, str, Callable[[Body], None]]] = [
    # ── OpenAI Chat Completions
    ("openai", "must provide a model", put("model", "")),
    ("openai", "Missing required parameter: 'messages'", put("messages", None)),
    ("openai", "empty array", put("messages", [])),
    ("openai", "Invalid value: 'human'", put("messages", 1, "role", "human")),
    ("openai", "expected a string, got null", put("messages", 1, "content", None)),
    ("openai", "did not have response messages: c1", put("messages", 4, ...)),
    ("openai", "did not have response messages: c1, c2", put("messages", 3, HELLO)),
    ("openai", "'tool_call_id' of 'c9' not found", put("messages", 3, "tool_call_id", "c9")),
    ("openai", "must be a response to a preceeding message", put("messages", 2, {"role": "assistant", "content": "x"})),
    ("openai", "string too long", put("messages", 2, "tool_calls", 0, "id", "x" * 41)),
    ("openai", "expected a string", put("messages", 2, "tool_calls", 0, "function", "arguments", {})),
    ("openai", "does not match pattern", put("messages", 2, "tool_calls", 0, "function", "name", "a b")),
    ("openai", "does not match pattern", put("tools", 0, "function", "name", "x" * 65)),
    ("openai", "only allowed when 'tools'", lambda body: body.update(tools=[], tool_choice="auto")),
    ("openai", "Supported values are", put("tool_choice", "any")),
    ("openai", "not found in 'tools'", put("tool_choice", {"type": "function", "function": {"name": "lain"}})),
    ("openai", "only allowed when 'stream'", put("stream_options", {"include_usage": True})),
    ("openai", "'additionalProperties' is required", put("tools", 0, "function", "parameters", OPEN)),
    ("openai", "Missing ['id']", put("tools", 0, "function", "parameters", "required", [])),
    ("openai", 'type: "object"', put("tools", 0, "function", "parameters", {"type": "array"})),
    # ── OpenAI Responses
    ("responses", "Missing required parameter: 'input'", put("input", None)),
    ("responses", "No tool output found for function call c1", put("input", 3, ...)),
    ("responses", "No tool call found", put("input", 3, "call_id", "c9")),
    ("responses", "without its required 'reasoning' item: 'rs_000001r'", put("input", 1, ...)),
    ("responses", "without its required following item", lambda body: body.update(input=body["input"][:2])),
    ("responses", "could not be verified", put("input", 1, "encrypted_content", "gAAAA")),
    ("responses", "not persisted when `store`", put("input", 1, "encrypted_content", ...)),
    ("responses", "begins with 'fc'", put("input", 2, "id", "call_1")),
    ("responses", "string too long", lambda body: [body["input"][i].update(call_id="x" * 65) for i in (2, 3)] and None),
    ("responses", "'output_text'", put("input", 0, "content", [{"type": "output_text", "text": "x"}])),
    ("responses", "must be specified with 'tools'", lambda body: body.update(tools=[], tool_choice="required")),
    # ── Anthropic Messages
    ("anthropic", "max_tokens: Field required", put("max_tokens", ...)),
    ("anthropic", "at least one message", put("messages", [])),
    ("anthropic", "Input should be 'user' or 'assistant'", put("messages", 2, "role", "tool")),
    ("anthropic", 'Unexpected role "system"', put("messages", 0, "role", "system")),
    ("anthropic", "must have non-empty content", put("messages", 0, "content", "")),
    ("anthropic", "must be non-empty", put("messages", 2, "content", 2, "text", "")),
    ("anthropic", "non-whitespace", put("messages", 2, "content", 2, "text", " \n")),
    ("anthropic", "without `tool_result` blocks immediately after: t2", put("messages", 2, "content", 1, ...)),
    ("anthropic", "immediately after: t1, t2", put("messages", 2, HELLO)),
    ("anthropic", "unexpected `tool_use_id`", put("messages", 2, "content", 0, "tool_use_id", "t9")),
    ("anthropic", "immediately after: t1, t2", lambda body: body["messages"][2]["content"].reverse()),
    (
        "anthropic",
        "must have a single result",
        add("messages", 2, "content", {"type": "tool_result", "tool_use_id": "t1"}),
    ),
    ("anthropic", "ids must be unique", put("messages", 1, "content", 2, "id", "t1")),
    ("anthropic", "should match pattern", put("messages", 1, "content", 1, "id", "t.1")),
    ("anthropic", "valid dictionary", put("messages", 1, "content", 1, "input", "{}")),
    ("anthropic", "Invalid `signature`", put("messages", 1, "content", 0, "thinking", "Hm!")),
    ("anthropic", "signature: Field required", put("messages", 1, "content", 0, "signature", "")),
    (
        "anthropic",
        "Expected `thinking` or `redacted_thinking`, but found `tool_use`",
        put("messages", 1, "content", 0, ...),
    ),
    ("anthropic", "when tool_choice forces", put("tool_choice", {"type": "any"})),
    ("anthropic", "greater than or equal to 1024", put("thinking", "budget_tokens", 1000)),
    ("anthropic", "must be greater than `thinking", put("max_tokens", 1024)),
    ("anthropic", "may only be set to 1", put("temperature", 0.1)),
    ("anthropic", "not found in provided tools", put("tool_choice", {"type": "tool", "name": "lain"})),
    ("anthropic", "must define tools", put("tools", [])),
    ("anthropic", "names must be unique", add("tools", {"name": "cek", "input_schema": OPEN})),
    ("anthropic", "name: String should match", put("tools", 0, "name", "cek harga")),
    ("anthropic", "Input should be 'object'", put("tools", 0, "input_schema", {"type": "string"})),
    ("anthropic", "anyOf at the top level", put("tools", 0, "input_schema", {"type": "object", "anyOf": []})),
    (
        "anthropic",
        "Found 5",
        put("system", [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}] * 5),
    ),
    # ── Bedrock
    ("bedrock", "exceeds the number of toolUse", put("messages", 1, "content", 2, ...)),
    (
        "bedrock",
        "Expected toolResult blocks at messages.2.content for the following Ids: t2",
        put("messages", 2, "content", 1, ...),
    ),
    (
        "bedrock",
        "Expected toolResult blocks at messages.4",
        lambda body: body["messages"].extend(body["messages"][1:2]),
    ),
    ("bedrock", "following Ids: t9", put("messages", 2, "content", 0, "toolResult", "toolUseId", "t9")),
    ("bedrock", "is blank", put("messages", 0, "content", 0, "text", "")),
    ("bedrock", "is empty", put("messages", 0, "content", [])),
    ("bedrock", "exactly one member", put("messages", 0, "content", 0, {"text": "a", "image": {}})),
    ("bedrock", "toolConfig field must be defined", put("toolConfig", ...)),
    (
        "bedrock",
        "Invalid `signature`",
        put("messages", 1, "content", 0, "reasoningContent", "reasoningText", "text", "Hm!"),
    ),
    ("bedrock", "toolSpec.name", put("toolConfig", "tools", 0, "toolSpec", "name", "a.b")),
    ("bedrock", "Member must have length", put("toolConfig", "tools", 0, "toolSpec", "description", "")),
    ("bedrock", "not defined in toolConfig.tools", put("toolConfig", "toolChoice", {"tool": {"name": "lain"}})),
    ("bedrock", "must start with a user message", put("messages", [])),
    ("bedrock-invoke", "extraneous key [model]", put("model", "x")),
    ("bedrock-invoke", "extraneous key [stream]", put("stream", True)),
    ("bedrock-invoke", "anthropic_version", put("anthropic_version", ...)),
    ("bedrock-invoke", "immediately after: t2", put("messages", 2, "content", 1, ...)),
    # ── Ollama
    ("ollama", "model is required", put("model", "")),
    ("ollama", "invalid role", put("messages", 0, "role", "developer")),
    ("ollama", "cannot unmarshal array", put("messages", 0, "content", [{"type": "text", "text": "x"}])),
    ("ollama", "cannot unmarshal string", put("messages", 1, "tool_calls", 0, "function", "arguments", "{}")),
    ("ollama", "illegal base64", put("messages", 0, "images", ["data:image/png;base64,QUJD"])),
    # ── Gemini
    ("gemini", "contents is not specified", put("contents", [])),
    ("gemini", "valid role", put("contents", 1, "role", "assistant")),
    ("gemini", "number of function response parts", put("contents", 2, "parts", 1, ...)),
    ("gemini", "number of function response parts", put("contents", 2, ...)),
    ("gemini", "immediately after a function call turn", put("contents", 1, "parts", [{"text": "x"}])),
    ("gemini", "immediately after a user turn", put("contents", 0, ...)),
    ("gemini", "does not match the function call", put("contents", 2, "parts", 0, "functionResponse", "id", "z")),
    ("gemini", "missing a thought_signature", put("contents", 1, "parts", 0, "thoughtSignature", ...)),
    ("gemini", "Corrupted thought signature", put("contents", 1, "parts", 0, "thoughtSignature", "QUJD")),
    ("gemini", "Struct", put("contents", 2, "parts", 0, "functionResponse", "response", "satu")),
    ("gemini", "required oneof field", put("contents", 0, "parts", [{}])),
    ("gemini", 'Unknown name "additionalProperties"', put("tools", 0, "functionDeclarations", 0, "parameters", SCHEMA)),
    ("gemini", "Invalid function name", put("tools", 0, "functionDeclarations", 0, "name", "1cek")),
    (
        "gemini",
        "not declared: lain",
        put("toolConfig", {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["lain"]}}),
    ),
]


@pytest.mark.parametrize(("protocol", "message", "change"), WRONG, ids=[f"{p}: {m}" for p, m, _ in WRONG])
def test_what_a_provider_refuses(protocol: str, message: str, change: Callable[[Body], None]) -> None:
    body = copy.deepcopy(GOOD[protocol][1])
    change(body)
    with pytest.raises(Refused) as caught:
        read(protocol, body)
    assert message in str(caught.value)


CHOICES: list[tuple[str, Body, str]] = [
    ("openai", {"tool_choice": "required"}, "required"),
    ("openai", {"tool_choice": {"type": "function", "function": {"name": "cek"}}}, "cek"),
    ("responses", {"tool_choice": {"type": "function", "name": "cek"}}, "cek"),
    ("responses", {"tool_choice": "none"}, "none"),
    ("anthropic", {"tool_choice": {"type": "any"}, "thinking": {"type": "disabled"}}, "required"),
    ("anthropic", {"tool_choice": {"type": "none"}}, "none"),
    ("anthropic", {"tool_choice": {"type": "tool", "name": "cek"}, "thinking": None}, "cek"),
    ("bedrock", {"toolConfig": {**CONVERSE["toolConfig"], "toolChoice": {"any": {}}}}, "required"),
    ("bedrock", {"toolConfig": {**CONVERSE["toolConfig"], "toolChoice": {"tool": {"name": "cek"}}}}, "cek"),
    ("gemini", {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}, "required"),
    ("gemini", {"tool_config": {"function_calling_config": {"mode": "NONE"}}}, "none"),
]


@pytest.mark.parametrize(("protocol", "fields", "choice"), CHOICES, ids=[f"{p}: {c}" for p, _, c in CHOICES])
def test_a_tool_choice_in_neutral_words(protocol: str, fields: Body, choice: str) -> None:
    assert read(protocol, {**copy.deepcopy(GOOD[protocol][1]), **fields}).choice == choice


def test_what_a_header_has_to_say() -> None:
    with pytest.raises(Refused, match="anthropic-version: header is required"):
        read("anthropic", MESSAGES, {})
    for protocol in ("bedrock", "bedrock-invoke"):
        with pytest.raises(Refused, match="Missing Authentication Token") as caught:
            read(protocol, GOOD[protocol][1], {})
        assert caught.value.fault.status == 403


def test_what_is_taken_although_it_looks_strange() -> None:
    conversation = copy.deepcopy(MESSAGES)  # ids may come again in another reply, instructions may come later
    conversation["messages"] += [*conversation["messages"][1:], {"role": "system", "content": "Singkat saja."}]
    assert read("anthropic", conversation).results == ("satu", "dua")
    assert read("anthropic", {"model": "m", "max_tokens": 1, "messages": [HELLO, HELLO]}).text == "Halo"
    assert read("responses", {"model": "m", "input": "Halo"}).text == "Halo"
    stored = {"model": "m", "previous_response_id": "resp_1", "input": RESPONSES["input"][3:]}
    assert read("responses", stored).results == ("satu",)
    elsewhere = copy.deepcopy(GEMINI)
    elsewhere["contents"][1]["parts"][0]["thoughtSignature"] = "skip_thought_signature_validator"
    assert read("gemini", elsewhere).results == GOOD["gemini"][2]
