"""What Converse is sent, rule by rule; whether it is legal is for the judge to say (`test_bedrock_converse_judge`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.models.bedrock_judge import complaints
from tukang.conversation import (
    File,
    Image,
    Message,
    ServerCall,
    ServerResult,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    assistant,
    user,
)
from tukang.errors import ConfigurationError
from tukang.models.base import ModelRequest, Settings
from tukang.models.bedrock_converse_encode import encode_request
from tukang.models.bedrock_dialect import Dialect, dialect_for
from tukang.tools.contract import Contract

CLAUDE = dialect_for("us.anthropic.claude-sonnet-4-5-20250929-v1:0")
OLD_CLAUDE = dialect_for("us.anthropic.claude-3-7-sonnet-20250219-v1:0")
NOVA = dialect_for("us.amazon.nova-2-lite-v1:0")
LLAMA = dialect_for("us.meta.llama4-maverick-17b-instruct-v1:0")
MISTRAL = dialect_for("mistral.mistral-large-2402-v1:0")

CLOSED: Mapping[str, Any] = {
    "type": "object",
    "properties": {"id": {"type": "string"}},
    "required": ["id"],
    "additionalProperties": False,
}
HARGA = Contract("harga", "Harga sebuah produk.", CLOSED)
POLA = Contract("pola", "", {"type": "object", "properties": {"id": {"type": "string", "pattern": "^P"}}})
POINT = {"cachePoint": {"type": "default"}}
PNG = Image("image/png", b"\x89PNG")
PDF = File("application/pdf", "nota: 7.pdf", b"%PDF")
CALLED = Message("assistant", (ToolCall("t1.0", "harga", '{"id": "P1"}', "tooluse_1"),))
RESULT = Message("tool", (ToolResult("t1.0", "harga", (Text("Rp 5"),)),))
PLAIN = Settings(cache=False)


def sent(*messages: Message, dialect: Dialect = CLAUDE, **fields: Any) -> dict[str, Any]:
    fields.setdefault("settings", PLAIN)
    body = encode_request(ModelRequest(fields.pop("instructions", ""), messages, **fields), dialect)
    assert complaints(body) == []
    return json.loads(body)


def said(*messages: Message, **fields: Any) -> list[Any]:
    return [(message["role"], message["content"]) for message in sent(*messages, **fields)["messages"]]


def test_a_round_with_a_tool() -> None:
    body = sent(user("Harga P1?"), CALLED, RESULT, instructions="Singkat.", tools=(HARGA,))
    assert body == {
        "system": [{"text": "Singkat."}],
        "messages": [
            {"role": "user", "content": [{"text": "Harga P1?"}]},
            {
                "role": "assistant",
                "content": [{"toolUse": {"toolUseId": "tooluse_1", "name": "harga", "input": {"id": "P1"}}}],
            },
            {
                "role": "user",
                "content": [
                    {"toolResult": {"toolUseId": "tooluse_1", "content": [{"text": "Rp 5"}], "status": "success"}}
                ],
            },
        ],
        "toolConfig": {
            "tools": [
                {
                    "toolSpec": {
                        "name": "harga",
                        "description": "Harga sebuah produk.",
                        "inputSchema": {"json": dict(CLOSED)},
                        "strict": True,
                    }
                }
            ]
        },
    }


# ── order and pairs ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_messages_of_one_role_are_joined_and_blank_text_is_left_out() -> None:
    assert said(user("a"), user(" "), user("b", ""), assistant("\n"), user("c")) == [
        ("user", [{"text": "a"}, {"text": "b"}, {"text": "c"}])
    ]


def test_an_assistant_neither_begins_nor_ends_a_conversation() -> None:
    roles = [(role, content[0]["text"]) for role, content in said(assistant("Halo"))]
    assert roles == [
        ("user", "(The conversation begins with your own message.)"),
        ("assistant", "Halo"),
        ("user", "Go on."),
    ]


def test_a_note_follows_a_reply_that_is_to_be_gone_on_with() -> None:
    assert said(user("a"), assistant("b"), note="Lanjutkan.")[-1] == ("user", [{"text": "Lanjutkan."}])


def test_lost_results_are_made_up_and_stray_ones_dropped() -> None:
    two = Message("assistant", (ToolCall("t1.0", "harga", "{}"), ToolCall("t1.1", "harga", "{}")))
    stray = Message("tool", (ToolResult("t9.9", "harga", (Text("basi"),)), ToolResult("t1.1", "harga", (), True)))
    [_, _, (_, results)] = said(user("a"), two, stray, tools=(HARGA,))
    assert [one["toolResult"]["toolUseId"] for one in results] == ["t1.0", "t1.1"]
    assert "outcome_unknown" in results[0]["toolResult"]["content"][0]["text"]
    assert [one["toolResult"]["status"] for one in results] == ["error", "error"]
    assert results[1]["toolResult"]["content"] == [{"text": "(no content)"}]


def test_odd_ids_names_and_arguments_do_not_poison_the_history() -> None:
    odd = Message(
        "assistant", (ToolCall("t 1", "toko.harga ®", "{broken", "tidak sah !"), ToolCall("t1.1", "", "", "a"))
    )
    [_, (_, calls), _] = said(user("a"), odd)
    first, second = (one["toolUse"] for one in calls)
    assert first["name"] == "toko_harga__"
    assert first["input"] == {"unreadable": "{broken"}
    assert first["toolUseId"].startswith("call_")
    assert (second["name"], second["input"], second["toolUseId"]) == ("unnamed", {}, "a")


# ── media ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_documents_get_legal_names_used_once_and_a_word_beside_them() -> None:
    content = [one for _, blocks in said(user(PDF), assistant("ya"), user(PDF, "lagi")) for one in blocks]
    assert [one["document"]["name"] for one in content if "document" in one] == ["nota- 7", "nota- 7 (2)"]
    assert content[0] == {"text": "(a document)"}


def test_what_has_no_place_is_put_into_words() -> None:
    parts = (Image("image/tiff", b"x"), Image("image/png", url="https://a/b.png"), File("application/json", "d", b"{}"))
    [(_, content)] = said(user(*parts))
    assert [one["text"] for one in content] == [
        "(image: of type image/tiff, which cannot be shown here)",
        "(image: https://a/b.png)",
        "d:\n{}",
    ]


def test_an_address_of_s3_goes_to_nova_as_it_is() -> None:
    [(_, content)] = said(user(Image("image/png", url="s3://bucket/a.png")), dialect=NOVA)
    assert content == [{"image": {"format": "png", "source": {"s3Location": {"uri": "s3://bucket/a.png"}}}}]


def test_media_of_a_result_stand_where_the_model_takes_them() -> None:
    result = Message("tool", (ToolResult("t1.0", "harga", (Text("ini"), PNG, PDF)),))
    (_, claude), (_, nova) = (said(user("a"), CALLED, result, dialect=one)[-1] for one in (CLAUDE, NOVA))
    assert [next(iter(one)) for one in claude[0]["toolResult"]["content"]] == ["text", "image", "document"]
    assert [next(iter(one)) for one in nova[0]["toolResult"]["content"]] == ["text", "image"]
    assert [next(iter(one)) for one in nova[1:]] == ["text", "document"]


def test_models_that_want_results_alone_get_them_alone() -> None:
    written = said(user("a"), CALLED, RESULT, user("lalu?"), dialect=LLAMA)
    assert [role for role, _ in written] == ["user", "assistant", "user", "assistant", "user"]
    assert written[-1][1] == [{"text": "lalu?"}]
    body = sent(user("a"), CALLED, RESULT, dialect=LLAMA, instructions="Singkat.", note="Jawab.")
    assert body["system"] == [{"text": "Singkat."}, {"text": "Jawab."}]


# ── reasoning and parts of the provider's own ────────────────────────────────────────────────────────────────────────


def thought(provider: str) -> Message:
    sealed = Thinking("hm", "c2VhbA==", provider)
    return Message("assistant", (sealed, Thinking("", "cmVk", provider, redacted=True), Text("ya"), *CALLED.parts))


def test_claude_gets_its_reasoning_back_first_and_nobody_else_does() -> None:
    blocks = said(user("a"), thought("bedrock:anthropic"), RESULT)[1][1]
    assert blocks[0] == {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2VhbA=="}}}
    assert blocks[1] == {"reasoningContent": {"redactedContent": "cmVk"}}
    assert [next(iter(one)) for one in blocks[2:]] == ["text", "toolUse"]
    for messages, dialect in ((thought("anthropic"), CLAUDE), (thought("bedrock:amazon"), NOVA)):
        assert [next(iter(one)) for one in said(user("a"), messages, RESULT, dialect=dialect)[1][1]] == [
            "text",
            "toolUse",
        ]


def test_a_message_does_not_end_in_reasoning() -> None:
    sealed = Thinking("hm", "c2VhbA==", "bedrock:anthropic")
    assert said(user("a"), Message("assistant", (Text("b"), sealed)), user("c"))[1] == ("assistant", [{"text": "b"}])
    assert said(user("a"), Message("assistant", (sealed,)), user("c")) == [("user", [{"text": "a"}, {"text": "c"}])]


def test_a_provider_s_own_tool_goes_back_verbatim_with_its_result() -> None:
    block = {"toolUse": {"toolUseId": "s1", "name": "nova_code", "type": "server_tool_use", "input": {}}}
    answer = {"toolResult": {"toolUseId": "s1", "content": [{"json": {"ok": 1}}], "status": "success"}}
    call = ServerCall("s1", "nova_code", "{}", "bedrock:amazon", block)
    result = ServerResult("s1", "bedrock:amazon", answer)
    assert said(user("a"), assistant(call, result, "42"), user("b"), dialect=NOVA)[1][1] == [
        block,
        answer,
        {"text": "42"},
    ]
    assert said(user("a"), assistant(call, "42"), user("b"), dialect=NOVA)[1][1] == [{"text": "42"}]
    assert said(user("a"), assistant(call, result, "42"), user("b"))[1][1] == [{"text": "42"}]


def test_thinking_stays_off_where_the_last_calls_have_none_before_them() -> None:
    settings = Settings(think="low", cache=False)
    on = sent(user("a"), thought("bedrock:anthropic"), RESULT, dialect=OLD_CLAUDE, settings=settings)
    assert on["additionalModelRequestFields"]["thinking"] == {"type": "enabled", "budget_tokens": 1024}
    off = sent(user("a"), CALLED, RESULT, dialect=OLD_CLAUDE, settings=settings)
    assert "thinking" not in off.get("additionalModelRequestFields", {})
    over = sent(user("a"), CALLED, RESULT, assistant("b"), user("c"), dialect=OLD_CLAUDE, settings=settings)
    assert "thinking" in over["additionalModelRequestFields"]


# ── tool_choice ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("choice", "dialect", "native", "words"),
    [
        ("auto", CLAUDE, None, []),
        ("required", CLAUDE, {"any": {}}, []),
        ("harga", CLAUDE, {"tool": {"name": "harga"}}, []),
        ("harga", NOVA, {"tool": {"name": "harga"}}, []),
        ("required", MISTRAL, {"any": {}}, []),
        ("harga", MISTRAL, {"any": {}}, ["Call the tool harga now."]),
        ("required", LLAMA, None, ["Call a tool now."]),
        ("harga", LLAMA, None, ["Call the tool harga now."]),
    ],
)
def test_tool_choice(choice: str, dialect: Dialect, native: Any, words: list[str]) -> None:
    body = sent(user("a"), tools=(HARGA,), tool_choice=choice, dialect=dialect)
    assert body["toolConfig"].get("toolChoice") == native
    assert [one["text"] for one in body["messages"][-1]["content"]] == ["a", *words]


def test_no_tools_now() -> None:
    off = {"tools": (HARGA,), "tool_choice": "none", "tools_off": True}
    assert "toolConfig" not in sent(user("a"), **off)
    body = sent(user("a"), CALLED, RESULT, **off)
    assert [one["toolSpec"]["name"] for one in body["toolConfig"]["tools"]] == ["harga"]
    assert body["messages"][-1]["content"][-1] == {"text": "No tool can be used now: answer from what is known."}
    assert sent(user("a"), CALLED, RESULT, note="Cukup.", **off)["messages"][-1]["content"][-1] == {"text": "Cukup."}


def test_tools_of_the_past_are_listed_as_gone() -> None:
    [spec] = sent(user("a"), CALLED, RESULT)["toolConfig"]["tools"]
    assert spec["toolSpec"]["name"] == "harga"
    assert "No longer on offer" in spec["toolSpec"]["description"]


def test_forced_choice_beside_thinking_is_forced_and_does_not_think() -> None:
    forced = sent(user("a"), tools=(HARGA,), tool_choice="required", settings=Settings(think=True, cache=False))
    assert forced["toolConfig"]["toolChoice"] == {"any": {}}
    assert "thinking" not in forced.get("additionalModelRequestFields", {})


def test_strict_is_for_each_tool_alone() -> None:
    specs = [one["toolSpec"] for one in sent(user("a"), tools=(HARGA, POLA))["toolConfig"]["tools"]]
    assert [spec.get("strict") for spec in specs] == [True, None]
    assert "pattern" in json.dumps(specs[1])
    assert "strict" not in json.dumps(sent(user("a"), tools=(HARGA,), dialect=NOVA))


# ── settings ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_settings_of_sampling() -> None:
    settings = Settings(temperature=0.5, top_p=0.9, max_tokens=100, stop=("x", " "), seed=3, cache=False)
    common = {"temperature": 0.5, "topP": 0.9, "maxTokens": 100, "stopSequences": ["x"]}
    assert sent(user("a"), settings=settings, dialect=NOVA)["inferenceConfig"] == common
    # Claude from 4.1 on refuses the two together; at 3.7 it takes them.
    assert "topP" not in sent(user("a"), settings=settings)["inferenceConfig"]
    assert sent(user("a"), settings=settings, dialect=OLD_CLAUDE)["inferenceConfig"] == common


@pytest.mark.parametrize(
    ("model", "think", "fields"),
    [
        ("us.amazon.nova-2-lite-v1:0", True, {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "medium"}}),
        ("us.amazon.nova-2-lite-v1:0", False, {"reasoningConfig": {"type": "disabled"}}),
        ("openai.gpt-oss-120b-1:0", "high", {"reasoning_effort": "high"}),
        ("qwen.qwen3-32b-v1:0", "high", {"reasoning_config": "high"}),
        ("meta.llama3-3-70b-instruct-v1:0", False, None),
    ],
)
def test_thinking_is_switched_as_each_maker_does_it(model: str, think: Any, fields: Any) -> None:
    body = sent(user("a"), settings=Settings(think=think, cache=False), dialect=dialect_for(model))
    assert body.get("additionalModelRequestFields") == fields


def test_nova_s_highest_effort_takes_no_sampling_beside_it() -> None:
    settings = Settings(think="high", temperature=0.1, max_tokens=10, stop=("x",), cache=False)
    assert sent(user("a"), settings=settings, dialect=NOVA)["inferenceConfig"] == {"stopSequences": ["x"]}


@pytest.mark.parametrize(
    ("settings", "words"), [(Settings(temperature=1.5), "0 to 1"), (Settings(think=True), "think=True")]
)
def test_what_cannot_be_sent_is_refused_with_a_reason(settings: Settings, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        sent(user("a"), settings=settings, dialect=LLAMA)


def test_one_call_at_a_time_is_asked_for_in_words() -> None:
    body = sent(
        user("a"), tools=(HARGA,), settings=Settings(parallel_calls=False, cache=False), instructions="Singkat."
    )
    assert body["system"] == [{"text": "Singkat."}, {"text": "Ask for one tool at a time."}]


def test_extra_fields_are_joined_with_ours() -> None:
    extra = {
        "inferenceConfig": {"topP": 0.5},
        "toolConfig": {"tools": [{"systemTool": {"name": "nova_code_interpreter"}}]},
        "serviceTier": {"type": "flex"},
    }
    settings = Settings(temperature=0.1, extra=extra, cache=False)
    body = sent(user("a"), tools=(HARGA,), settings=settings, dialect=NOVA)
    assert body["inferenceConfig"] == {"temperature": 0.1, "topP": 0.5}
    assert [next(iter(one)) for one in body["toolConfig"]["tools"]] == ["toolSpec", "systemTool"]
    assert body["serviceTier"] == {"type": "flex"}


def test_structured_output_is_native_or_asked_for() -> None:
    native = sent(user("a"), returns=CLOSED)
    structure = native["outputConfig"]["textFormat"]["structure"]["jsonSchema"]
    assert json.loads(structure["schema"]) == CLOSED
    asked = sent(user("a"), returns=CLOSED, dialect=NOVA, instructions="Singkat.")
    assert "outputConfig" not in asked
    assert json.dumps(dict(CLOSED), separators=(",", ":")) in asked["system"][1]["text"]


# ── caching ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_each_round_reads_the_last_one_s_cache() -> None:
    first, second = (
        sent(*messages, tools=(HARGA,), instructions="Singkat.", note="Cepat.", settings=Settings())
        for messages in ((user("a"),), (user("a"), CALLED, RESULT))
    )
    assert first["system"] == second["system"] == [{"text": "Singkat."}, POINT]
    assert first["toolConfig"] == second["toolConfig"]
    assert first["toolConfig"]["tools"][-1] == POINT
    [opening] = first["messages"]
    assert opening["content"] == [{"text": "a"}, POINT, {"text": "Cepat."}]
    assert second["messages"][0]["content"] == opening["content"][:2], "what was cached is a prefix of the next request"
    assert [next(iter(one)) for one in second["messages"][2]["content"]] == ["toolResult", "cachePoint", "text"]


def test_cache_points_stand_only_where_the_model_takes_them() -> None:
    nova = sent(user("a"), tools=(HARGA,), instructions="b", settings=Settings(), dialect=NOVA)
    assert POINT not in nova["toolConfig"]["tools"]
    assert nova["messages"][0]["content"][-1] == POINT
    assert "cachePoint" not in json.dumps(sent(user("a"), tools=(HARGA,), settings=Settings(), dialect=LLAMA))
    csv = File("text/csv", "d.csv", b"a,b")
    assert "cachePoint" not in json.dumps(sent(user("a", csv), settings=Settings())), "refused after such a document"
    assert sent(user("a", PDF), settings=Settings())["messages"][0]["content"][-1] == POINT


def test_no_round_encodes_the_history_again() -> None:
    history = (user("a"), CALLED, RESULT)
    request = ModelRequest("", history, (HARGA,))
    before = encode_request(request, CLAUDE)
    kept = [vars(message)[CLAUDE.spelling] for message in history]
    assert encode_request(request, CLAUDE) == before
    assert all(vars(message)[CLAUDE.spelling] is one for message, one in zip(history, kept, strict=True))
