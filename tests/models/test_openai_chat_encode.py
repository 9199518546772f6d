"""What is sent is what the protocol takes, whatever the conversation has been through; and it is encoded once."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from tests.models.chat_sending import PRICE, STOCK, body, call, results, sent
from tukang.conversation import (
    Citation,
    File,
    Image,
    Message,
    Opaque,
    Thinking,
    assistant,
    user,
)
from tukang.errors import ConfigurationError
from tukang.models import openai_chat_encode
from tukang.models.base import Settings
from tukang.models.openai_chat_dialect import Dialect, dialect_for
from tukang.tools.contract import Contract

# ── the whole request ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_plain_request_has_nothing_in_it_that_was_not_said() -> None:
    assert body([user("Halo")], instructions="Singkat.") == {
        "model": "gpt-test",
        "messages": [{"role": "system", "content": "Singkat."}, {"role": "user", "content": "Halo"}],
    }


def test_a_stream_is_asked_for_with_its_token_counts_where_the_server_takes_the_question() -> None:
    assert body(stream=True)["stream_options"] == {"include_usage": True}
    without = body(dialect=Dialect(usage_in_stream=False), stream=True)
    assert without["stream"] is True
    assert "stream_options" not in without
    assert "stream" not in body(stream=False)


def test_tools_as_they_were_declared() -> None:
    assert body(tools=(PRICE,))["tools"] == [
        {
            "type": "function",
            "function": {"name": "harga", "description": PRICE.description, "parameters": PRICE.parameters},
        }
    ]


def test_tools_are_strict_where_the_server_has_it_and_their_schema_allows_it() -> None:
    loose = Contract("cari", "", {"type": "object", "properties": {"q": {}}, "required": ["q"]})
    openai = dialect_for("api.openai.com", "gpt-4o")
    made = [tool["function"] for tool in body(tools=(STOCK, loose), dialect=openai)["tools"]]
    assert made[0]["strict"] is True
    assert made[0]["parameters"] == {**STOCK.parameters, "required": [], "additionalProperties": False}
    assert made[1] == {"name": "cari", "description": "", "parameters": loose.parameters}
    for host in ("openrouter.ai", "localhost", "api.groq.com"):
        assert "strict" not in json.dumps(body(tools=(STOCK,), dialect=dialect_for(host, "gpt-4o")))
    assert (
        body(tools=(STOCK,), dialect=dialect_for("r.openai.azure.com", "x"))["tools"]
        == body(tools=(STOCK,), dialect=openai)["tools"]
    )


def test_more_tools_than_openai_takes_are_refused_by_name() -> None:
    tools = tuple(Contract(f"alat_{place}", "", {"type": "object", "properties": {}}) for place in range(129))
    with pytest.raises(ConfigurationError, match=r"129 tools .* 'alat_128' is the first too many"):
        body(tools=tools, dialect=dialect_for("api.openai.com", "gpt-4o"))
    assert len(body(tools=tools)["tools"]) == 129


@pytest.mark.parametrize(
    ("choice", "off", "wire"),
    [
        ("auto", False, None),
        ("required", False, "required"),
        ("none", False, "none"),
        ("stok", False, {"type": "function", "function": {"name": "stok"}}),
        ("auto", True, "none"),
        ("required", True, "none"),
        ("stok", True, "none"),
    ],
)
def test_every_tool_choice_and_no_tools_now(choice: str, off: bool, wire: Any) -> None:
    made = body(tools=(PRICE, STOCK), tool_choice=choice, tools_off=off)
    assert made.get("tool_choice") == wire
    assert len(made["tools"]) == 2


def test_without_tools_nothing_is_said_of_them() -> None:
    made = body(tools_off=True)
    assert "tools" not in made
    assert "tool_choice" not in made


def test_settings_in_the_words_of_the_protocol() -> None:
    settings = Settings(
        temperature=0.1,
        max_tokens=64,
        top_p=0.9,
        stop=("\n",),
        seed=7,
        think="low",
        extra={"top_p": 0.5, "user": "budi"},
    )
    made = body(settings=settings)
    del made["model"], made["messages"]
    assert made == {
        "temperature": 0.1,
        "max_tokens": 64,
        "top_p": 0.5,
        "stop": ["\n"],
        "seed": 7,
        "reasoning_effort": "low",
        "user": "budi",
    }


@pytest.mark.parametrize(("think", "effort"), [(True, "medium"), (False, "none"), ("high", "high")])
def test_thinking_on_off_and_how_much(think: Any, effort: str) -> None:
    assert body(settings=Settings(think=think))["reasoning_effort"] == effort


@pytest.mark.parametrize(
    ("model", "field"),
    [
        ("gpt-4o-mini", "max_tokens"),
        ("gpt-oss-120b", "max_tokens"),
        ("openai/gpt-oss-20b", "max_tokens"),
        ("olmo-2", "max_tokens"),
        ("o1", "max_completion_tokens"),
        ("o4-mini", "max_completion_tokens"),
        ("gpt-5", "max_completion_tokens"),
        ("gpt-5.2-pro", "max_completion_tokens"),
        ("openai/gpt-5-nano", "max_completion_tokens"),
    ],
)
def test_the_name_of_the_token_limit_goes_by_the_model(model: str, field: str) -> None:
    dialect = dialect_for("openrouter.ai", model)
    assert body(dialect=dialect, settings=Settings(max_tokens=9))[field] == 9


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_round_with_calls_is_written_as_the_protocol_has_it() -> None:
    conversation = [
        user("Berapa?"),
        assistant(Thinking("hm"), "Sebentar.", call("1", '{"id":"é"}', wire_id="call_a"), call("2", "", "stok")),
        results(("1", "100"), ("2", "3")),
        assistant("Seratus."),
    ]
    assert sent(conversation) == [
        {"role": "user", "content": "Berapa?"},
        {
            "role": "assistant",
            "content": "Sebentar.",
            "tool_calls": [
                {"id": "call_a", "type": "function", "function": {"name": "harga", "arguments": '{"id":"é"}'}},
                {"id": "2", "type": "function", "function": {"name": "stok", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_a", "content": "100"},
        {"role": "tool", "tool_call_id": "2", "content": "3"},
        {"role": "assistant", "content": "Seratus."},
    ]


def test_an_assistant_message_that_only_asks_has_null_or_empty_content() -> None:
    conversation = [user("?"), assistant(call("1")), results(("1", "x"))]
    assert sent(conversation)[1]["content"] is None
    assert sent(conversation, Dialect(no_text="empty"))[1]["content"] == ""


def test_a_message_with_nothing_in_it_is_left_out() -> None:
    conversation = [user("a"), assistant(Thinking("hm")), Message("assistant", ()), Message("user", ()), user("b")]
    assert [one["content"] for one in sent(conversation)] == ["a", "b"]


def test_thinking_goes_back_only_where_a_server_needs_it_and_beside_calls() -> None:
    conversation = [user("?"), assistant(Thinking("hm"), call("1")), results(("1", "x")), assistant(Thinking("m"), "y")]
    assert not any("reasoning_content" in one for one in sent(conversation))
    deepseek = sent(conversation, dialect_for("api.deepseek.com", "deepseek-chat"))
    assert [one.get("reasoning_content") for one in deepseek] == [None, "hm", None, None]


def test_parts_of_other_providers_and_citations_stay_here() -> None:
    conversation = [user("?"), assistant("ya", Citation("X", "https://x"), Opaque("anthropic", {"a": 1}))]
    assert sent(conversation)[1] == {"role": "assistant", "content": "ya"}


def test_pictures_and_documents() -> None:
    content = sent(
        [
            user(
                "Apa ini?",
                Image("image/png", data=b"\x01\x02"),
                Image("image/png", url="https://x/y.png"),
                File("application/pdf", "a.pdf", data=b"\x03"),
                File("application/pdf", "b.pdf", url="https://x/b.pdf"),
            )
        ]
    )[0]["content"]
    assert content == [
        {"type": "text", "text": "Apa ini?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AQI="}},
        {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,Aw=="}},
        {"type": "text", "text": "(document b.pdf: https://x/b.pdf)"},
    ]


def test_a_picture_in_a_result_follows_when_all_calls_are_answered() -> None:
    conversation = [
        user("?"),
        assistant(call("1", wire_id="a"), call("2", wire_id="b")),
        results(("1", Image("image/png", data=b"\x01")), ("2", "x")),
    ]
    roles = [(one["role"], one["content"]) for one in sent(conversation)[2:]]
    assert roles[0] == ("tool", "(see the attachment below)")
    assert roles[1] == ("tool", "x")
    assert roles[2][0] == "user"
    assert roles[2][1][0] == {"type": "text", "text": "Attached by harga, call a:"}
    assert roles[2][1][1]["type"] == "image_url"


@pytest.mark.parametrize("blank", ["", "  \n", "null", " null "])
def test_no_arguments_are_an_empty_object(blank: str) -> None:
    assert sent([assistant(call("1", blank))])[0]["tool_calls"][0]["function"]["arguments"] == "{}"


@pytest.mark.parametrize("broken", ['{"id": "PRD', "[1]", '"x"', "print(1)", '{"a":1}{"b":2}'])
def test_arguments_that_are_no_object_go_back_as_one(broken: str) -> None:
    arguments = sent([assistant(call("1", broken))])[0]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == {"unreadable": broken}


def test_half_a_character_does_not_make_a_conversation_unsendable() -> None:
    conversation = [user("a\ud83d"), assistant("b\ude00", call("1", '{"x": "\ud83d"}')), results(("1", "c\ud83d"))]
    assert [one["content"] for one in sent(conversation)] == ["a?", "b?", "c?"]


@pytest.mark.parametrize(
    ("name", "wire"), [("cek.harga!", "cek_harga_"), ("x" * 70, "x" * 64), ("", "unnamed"), ("harga", "harga")]
)
def test_an_invented_name_cannot_poison_the_history(name: str, wire: str) -> None:
    assert sent([assistant(call("1", name=name))])[0]["tool_calls"][0]["function"]["name"] == wire


def test_the_note_comes_last_and_once() -> None:
    after_results = [user("?"), assistant(call("1")), results(("1", "x"))]
    assert sent(after_results, note="Jawab sekarang.")[-1] == {"role": "user", "content": "Jawab sekarang."}
    assert sent([user("?")], note="Jawab sekarang.") == [{"role": "user", "content": "?\n\nJawab sekarang."}]
    assert sent([user("?")]) == [{"role": "user", "content": "?"}]
    assert len(sent(after_results)) == 3
    assert sent([], note="Mulai.") == [{"role": "user", "content": "Mulai."}]
    assert sent([user("?"), assistant("ya")], note="Lagi.")[-1] == {"role": "user", "content": "Lagi."}


def test_a_note_after_a_users_message_without_content_is_still_sent() -> None:
    messages = sent([user("a"), assistant("b"), Message("user", ())], note="c")
    assert [one["content"] for one in messages] == ["a", "b", "c"]


def test_no_user_speaks_right_after_a_result_where_the_server_refuses_that() -> None:
    mistral = dialect_for("api.mistral.ai", "mistral-small")
    asked = [user("?"), assistant(call("1")), results(("1", Image("image/png", b"x")))]
    assert [one["role"] for one in sent(asked, mistral)] == ["user", "assistant", "tool", "assistant", "user"]
    assert sent(asked, mistral)[3]["content"] == "OK"
    for more in ([results(("1", "x")), user("Halo?")], [results(("1", "x"))], []):
        conversation = [user("?"), assistant(call("1")), *more]
        messages = sent(conversation, mistral, note="Jawab.")
        roles = [one["role"] for one in messages]
        assert ("tool", "user") not in pairwise(roles)
        assert sent(conversation, mistral, note="Jawab.") == messages
    assert [one["role"] for one in sent(asked)] == ["user", "assistant", "tool", "user"]


# ── encoded once ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_history_is_not_encoded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = [user("?"), assistant(call("1")), results(("1", "x"))]
    first = sent(conversation, tools=(PRICE,))
    encoded: list[Any] = []

    def watched(value: Any) -> bytes:
        encoded.append(value)
        return json.dumps(value, default=lambda raw: json.loads(bytes(raw))).encode()

    monkeypatch.setattr(openai_chat_encode, "json_bytes", watched)
    conversation.append(assistant("ya"))
    assert sent(conversation, tools=(PRICE,))[:3] == first
    assert len(encoded) == 2  # the new message, and the body around all of them


def test_one_result_message_after_another_question_is_paired_anew() -> None:
    answer = results(("1", "x"))
    assert sent([assistant(call("1", wire_id="a")), answer])[1]["tool_call_id"] == "a"
    assert sent([assistant(call("1", wire_id="b")), answer])[1]["tool_call_id"] == "b"
    assert sent([assistant(call("1", wire_id="a")), answer], dialect_for("mistral.ai", "x"))[1]["tool_call_id"] != "a"


# ── structured output, several calls, the cache ──────────────────────────────────────────────────────────────────────


def test_structured_output_is_strict_where_that_changes_nothing() -> None:
    closed = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}
    assert body(returns=closed)["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": closed | {"additionalProperties": False}, "strict": True},
    }
    optional = {"type": "object", "properties": {"total": {"type": "integer"}}}
    loose = body(returns=optional)["response_format"]["json_schema"]
    assert (loose["schema"], loose["strict"]) == (optional, False)
    with pytest.raises(ConfigurationError, match="returns"):
        body(returns={"type": "array"})


def test_whether_one_reply_may_ask_for_several_calls_is_said_only_beside_tools() -> None:
    assert body(tools=(PRICE,), settings=Settings(parallel_calls=False))["parallel_tool_calls"] is False
    assert "parallel_tool_calls" not in body(tools=(PRICE,))
    assert "parallel_tool_calls" not in body(settings=Settings(parallel_calls=False))


def test_only_openai_itself_gets_a_cache_key() -> None:
    def sent_key(host: str, **asked: Any) -> str | None:
        return body(dialect=dialect_for(host, "gpt-4o"), conversation="budi/1", **asked).get("prompt_cache_key")

    assert sent_key("api.openai.com") == "budi/1"
    assert sent_key("api.openai.com", settings=Settings(cache=False)) is None
    assert sent_key("r.openai.azure.com") is None
    assert sent_key("localhost") is None
