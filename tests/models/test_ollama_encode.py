"""What is sent to Ollama is what its server and its own SDK take, whatever the conversation has been through."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from ollama._types import ChatRequest
from ollama._types import Message as SDKMessage
from ollama._types import Tool as SDKTool

from tests.sizes import examples
from tests.wire.conversations import RETURNS, TOOLS, requests
from tests.wire.recordings import mcp_contracts
from tukang.conversation import (
    Citation,
    File,
    Image,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    assistant,
    user,
)
from tukang.errors import ConfigurationError
from tukang.models import ollama_encode
from tukang.models.base import ModelRequest, Settings
from tukang.models.ollama_encode import encode_load, encode_request, offered

PRICE, NOW, ORDER = TOOLS
PNG = b"\x89PNG"


def body(messages: Sequence[Message] = (), stream: bool = False, **asked: Any) -> dict[str, Any]:
    request = ModelRequest(asked.pop("instructions", ""), tuple(messages), **asked)
    return json.loads(encode_request("qwen3", request, stream))


def sent(messages: Sequence[Message], **asked: Any) -> list[dict[str, Any]]:
    return body(messages, **asked)["messages"]


def call(id: str, arguments: str = "{}", name: str = "harga", wire_id: str | None = None) -> ToolCall:
    return ToolCall(id, name, arguments, wire_id)


def results(*given: tuple[str, str | Part]) -> Message:
    parts = [ToolResult(id, "harga", (Text(one) if isinstance(one, str) else one,)) for id, one in given]  # type: ignore[arg-type]
    return Message("tool", tuple(parts))


# ── the whole request ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_plain_request_has_nothing_in_it_that_was_not_said() -> None:
    assert body([user("Halo")], instructions="Singkat.") == {
        "model": "qwen3",
        "stream": False,
        "messages": [{"role": "system", "content": "Singkat."}, {"role": "user", "content": "Halo"}],
    }


def test_streaming_is_asked_for_or_refused_in_so_many_words() -> None:
    # The server streams unless it is told not to.
    assert body(stream=True)["stream"] is True
    assert body(stream=False)["stream"] is False


def test_settings_are_options_and_options_of_ones_own_are_merged() -> None:
    settings = Settings(
        temperature=0.1,
        max_tokens=64,
        top_p=0.9,
        stop=("\n",),
        seed=7,
        think="low",
        extra={"options": {"num_ctx": 8192, "top_p": 0.5}, "keep_alive": "30m"},
    )
    made = body([user("?")], settings=settings)
    assert made["options"] == {
        "temperature": 0.1,
        "num_predict": 64,
        "top_p": 0.5,
        "stop": ["\n"],
        "seed": 7,
        "num_ctx": 8192,
    }
    assert (made["think"], made["keep_alive"]) == ("low", "30m")


@pytest.mark.parametrize("think", [True, False, "low", "medium", "high"])
def test_thinking_in_its_own_words(think: Any) -> None:
    assert body(settings=Settings(think=think))["think"] == think
    assert "think" not in body()


def test_a_model_is_loaded_with_the_options_it_will_be_asked_with() -> None:
    settings = Settings(seed=1, think=True, extra={"options": {"num_ctx": 8192}, "keep_alive": "30m", "other": 1})
    assert json.loads(encode_load("qwen3", settings)) == {
        "model": "qwen3",
        "stream": False,
        "options": {"seed": 1, "num_ctx": 8192},
        "keep_alive": "30m",
    }


# ── tool_choice, structured output, one call at a time ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("choice", "off"), [("none", False), ("auto", True), ("required", True), ("harga", True)])
def test_where_no_call_may_come_no_tools_are_listed(choice: str, off: bool) -> None:
    made = body([user("?")], tools=TOOLS, tool_choice=choice, tools_off=off)
    assert "tools" not in made
    assert "format" not in made


def test_auto_lists_the_tools_and_says_no_more() -> None:
    made = body([user("?")], tools=TOOLS)
    assert [tool["function"]["name"] for tool in made["tools"]] == ["harga", "sekarang", "pesan-2"]
    assert set(made) == {"model", "stream", "messages", "tools"}


def test_a_named_tool_is_forced_by_a_grammar_and_asked_for_in_words() -> None:
    made = body([user("?")], tools=TOOLS, tool_choice="harga", note="Cepat.")
    assert len(made["tools"]) == 3
    assert made["format"]["properties"]["name"] == {"type": "string", "enum": ["harga"]}
    assert made["format"]["properties"]["arguments"] == made["tools"][0]["function"]["parameters"]
    assert made["format"]["required"] == ["name", "arguments"]
    last = made["messages"][-1]
    assert last["role"] == "user"
    assert last["content"].startswith("?\n\nCepat.\n\nCall a tool now: harga.")


def test_any_tool_is_forced_by_a_choice_of_them() -> None:
    made = body([user("?")], tools=TOOLS, tool_choice="required", returns=RETURNS)
    assert [one["properties"]["name"]["enum"] for one in made["format"]["anyOf"]] == [
        ["harga"],
        ["sekarang"],
        ["pesan-2"],
    ]


def test_a_tool_that_is_not_there_cannot_be_forced() -> None:
    with pytest.raises(ConfigurationError, match=r"'stok' names no tool on offer; there are: harga, sekarang, pesan-2"):
        body(tools=TOOLS, tool_choice="stok")


def test_structured_output_is_a_grammar_where_no_call_may_come_and_words_where_one_may() -> None:
    assert body([user("?")], returns=RETURNS)["format"] == RETURNS
    assert body([user("?")], tools=TOOLS, tools_off=True, returns=RETURNS)["format"] == RETURNS
    beside = body([user("?")], tools=TOOLS, returns=RETURNS, instructions="Singkat.")
    assert "format" not in beside
    assert beside["messages"][0]["content"].startswith("Singkat.\n\nWhen you answer, answer with JSON alone")
    assert json.dumps(RETURNS, separators=(",", ":")) in beside["messages"][0]["content"]


def test_one_call_at_a_time_is_asked_for_in_words_where_there_are_tools() -> None:
    one = Settings(parallel_calls=False)
    assert "at most one tool" in sent([user("?")], tools=TOOLS, settings=one)[0]["content"]
    assert sent([user("?")], settings=one) == sent([user("?")], tools=TOOLS, settings=Settings(parallel_calls=True))


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_round_with_calls_is_written_as_the_documentation_has_it() -> None:
    conversation = [
        user("Berapa?"),
        assistant(Thinking("hm"), "Sebentar.", call("1", '{"id":"é"}', wire_id="call_a"), call("2", "", "sekarang")),
        results(("1", "100"), ("2", "3")),
        assistant("Seratus."),
    ]
    assert sent(conversation) == [
        {"role": "user", "content": "Berapa?"},
        {
            "role": "assistant",
            "content": "Sebentar.",
            "thinking": "hm",
            "tool_calls": [
                {"id": "call_a", "function": {"name": "harga", "arguments": {"id": "é"}}},
                {"function": {"name": "sekarang", "arguments": {}}},
            ],
        },
        {"role": "tool", "content": "100", "tool_name": "harga", "tool_call_id": "call_a"},
        {"role": "tool", "content": "3", "tool_name": "sekarang"},
        {"role": "assistant", "content": "Seratus."},
    ]


def test_an_id_that_two_calls_share_goes_back_with_neither() -> None:
    conversation = [assistant(call("1", wire_id="a"), call("2", wire_id="a")), results(("1", "x"), ("2", "y"))]
    written = sent(conversation)
    assert not any("id" in one for one in written[0]["tool_calls"])
    assert not any("tool_call_id" in one for one in written)


@pytest.mark.parametrize("arguments", ["{broken", '"text"', "[1]", "7"])
def test_arguments_that_are_no_object_go_back_readable(arguments: str) -> None:
    (written, _) = sent([assistant(call("1", arguments)), results(("1", "x"))])
    assert written["tool_calls"][0]["function"]["arguments"] == {"unreadable": arguments}


def test_only_thinking_that_is_words_and_no_other_providers_goes_back() -> None:
    parts = [
        Thinking("a"),
        Thinking("b", provider="ollama"),
        Thinking("c", provider="deepseek"),
        Thinking("d", "seal", "anthropic"),
        Thinking("e", redacted=True),
    ]
    conversation = [user("?"), assistant(*parts, call("1")), results(("1", "x")), assistant(*parts, "ya")]
    assert [one.get("thinking") for one in sent(conversation)] == [None, "ab", None, None]


def test_results_are_mended_to_one_for_each_call_in_order() -> None:
    conversation = [
        user("?"),
        assistant(call("1"), call("2"), call("3")),
        results(("3", "c"), ("9", "x"), ("1", "a"), ("1", "b")),
        user("lagi"),
        results(("1", "z")),
    ]
    written = sent(conversation)
    assert [one["role"] for one in written] == ["user", "assistant", "tool", "tool", "tool", "user"]
    assert written[2]["content"] == "a"
    assert json.loads(written[3]["content"])["error"]["kind"] == "outcome_unknown"
    assert written[4]["content"] == "c"


def test_a_turn_that_broke_off_among_its_calls_is_answered() -> None:
    assert [one["role"] for one in sent([user("?"), assistant(call("1"))])] == ["user", "assistant", "tool"]


def test_pictures_go_beside_a_users_text_and_those_of_results_after_the_last_one() -> None:
    coded = base64.b64encode(PNG).decode()
    assert sent([user("Apa ini?", Image("image/png", PNG))]) == [
        {"role": "user", "content": "Apa ini?", "images": [coded]}
    ]
    conversation = [assistant(call("1"), call("2")), results(("1", Image("image/png", PNG)), ("2", "dua"))]
    assert sent(conversation)[1:] == [
        {"role": "tool", "content": "(see the picture below)", "tool_name": "harga"},
        {"role": "tool", "content": "dua", "tool_name": "harga"},
        {"role": "user", "content": "Attached by harga:", "images": [coded]},
    ]


def test_what_the_server_cannot_read_is_named_and_text_files_are_read_out() -> None:
    parts: list[Part] = [
        Image("image/png", url="https://x/y.png"),
        File("application/pdf", "nota.pdf", b"%PDF"),
        File("text/plain", "a.txt", "isi é".encode()),
    ]
    (written,) = sent([user(*parts)])
    assert "https://x/y.png" in written["content"]
    assert "nota.pdf" in written["content"]
    assert "a.txt:\nisi é" in written["content"]
    assert "images" not in written


def test_what_says_nothing_and_what_is_others_stays_here() -> None:
    conversation = [
        user("a"),
        assistant(Thinking("hm")),
        Message("assistant", ()),
        Message("user", ()),
        assistant("ya", Citation("X"), Opaque("gemini", {"a": 1})),
    ]
    assert sent(conversation) == [{"role": "user", "content": "a"}, {"role": "assistant", "content": "ya"}]


def test_the_note_joins_a_users_message_and_follows_any_other() -> None:
    assert sent([user("?")], note="Jawab.") == [{"role": "user", "content": "?\n\nJawab."}]
    after = sent([user("?"), assistant(call("1")), results(("1", "x"))], note="Jawab.")
    assert after[-1] == {"role": "user", "content": "Jawab."}
    assert sent([user("?"), assistant("Harga")], note="Lanjut.")[-1] == {"role": "user", "content": "Lanjut."}


def test_the_server_is_never_sent_an_empty_conversation_which_would_only_load_the_model() -> None:
    assert sent([]) == [{"role": "user", "content": ""}]


def test_nothing_is_encoded_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = [user("a"), assistant(call("1")), results(("1", "x")), user("b")]
    first = sent(conversation, instructions="S")
    encoded: list[Any] = []

    def counting(value: Any) -> bytes:
        encoded.append(value)
        return msgspec.json.encode(value)

    monkeypatch.setattr(ollama_encode, "_encode", counting)
    assert sent(conversation, instructions="S") == first
    assert len(encoded) == 2, "the instructions and the body"


# ── the judges ───────────────────────────────────────────────────────────────────────────────────────────────────────


def judge(made: dict[str, Any]) -> None:
    """Ollama's own SDK takes the request, and reads in it what was meant."""
    read = ChatRequest.model_validate(made | {"messages": [typed(one) for one in made["messages"]]})
    again = [SDKMessage.model_validate(typed(one)).model_dump(exclude_none=True) for one in made["messages"]]
    for message, seen in zip(made["messages"], again, strict=True):
        # Newer than the SDK: ids of calls. Everything else must come through unchanged.
        calls = [{"function": one["function"]} for one in message.get("tool_calls", ())]
        known = {name: value for name, value in message.items() if name != "tool_call_id"}
        assert seen == known | ({"tool_calls": calls} if calls else {})
    for tool in made.get("tools", ()):
        SDKTool.model_validate(tool)
    assert read.model == "qwen3"
    assert read.messages


def typed(message: dict[str, Any]) -> dict[str, Any]:
    """A message as the SDK's type is made: it writes a picture as its data alone."""
    return message | ({"images": [{"value": data} for data in message["images"]]} if "images" in message else {})


@given(requests())
@hypothesis_settings(max_examples=examples(60), deadline=None)
def test_any_conversation_becomes_a_request_that_the_sdk_takes(request: ModelRequest) -> None:
    """Switches between all providers, crashes, cancels, duplicates: see `tests.wire.conversations`."""
    made = json.loads(encode_request("qwen3", request, stream=True))
    judge(made)
    waiting: list[str] = []
    for message in made["messages"]:
        if message["role"] == "tool":
            assert message["tool_name"] == waiting.pop(0)
        else:
            assert not waiting
            waiting = [one["function"]["name"] for one in message.get("tool_calls", ())]
    assert not waiting
    assert ("tools" in made) == bool(offered(request))


def nodes(schema: Any) -> list[dict[str, Any]]:
    """All schemas in a schema."""
    inside = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    inside += [schema["items"]] if "items" in schema else []
    return [schema, *(one for part in inside for one in nodes(part))]


def test_every_known_tool_is_sent_in_what_the_server_reads() -> None:
    made = body([user("?")], tools=tuple(mcp_contracts()))
    judge(made)
    for tool in made["tools"]:
        parameters = tool["function"]["parameters"]
        assert isinstance(parameters["properties"], dict)
        for node in nodes(parameters):
            assert set(node) <= {"type", "properties", "required", "items", "enum", "anyOf", "description"}
            assert isinstance(node.get("type", ""), str | list)
            assert set(node.get("required", ())) <= set(node.get("properties", {}))
