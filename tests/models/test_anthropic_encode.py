"""What is sent is what the protocol takes, whatever the conversation has been through; and it is encoded once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tukang.conversation import (
    Citation,
    File,
    Image,
    Message,
    Opaque,
    Part,
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
from tukang.models import anthropic_blocks, anthropic_encode
from tukang.models.anthropic_dialect import Dialect, dialect_for, learn
from tukang.models.anthropic_encode import encode_body
from tukang.models.anthropic_options import BINDING, INTERLEAVED, betas
from tukang.models.base import ModelRequest, Settings
from tukang.tools.contract import Contract

PRICE = Contract("harga", "Harga sebuah produk.", {"type": "object", "properties": {"id": {"type": "string"}}})
STOCK = Contract("stok", "Stok sebuah produk.", {"type": "object", "properties": {}})
BARE = Settings(cache=False)
MARK = {"type": "ephemeral"}
BOUND = "The block is bound to a different conversation."
SEALED = Thinking("hm", "c2VhbA==", "anthropic")
SEARCH = ServerCall(
    "s1", "web_search", "{}", "anthropic", {"type": "server_tool_use", "id": "s1", "name": "web_search"}
)
FOUND = ServerResult("s1", "anthropic", {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []})


def body(messages: Sequence[Message] = (), model: str | Dialect = "claude-sonnet-4-0", **asked: Any) -> dict[str, Any]:
    asked.setdefault("settings", BARE)
    request = ModelRequest(asked.pop("instructions", ""), tuple(messages), **asked)
    dialect = model if isinstance(model, Dialect) else dialect_for(model)
    return json.loads(encode_body("claude-test", request, dialect=dialect))


def sent(messages: Sequence[Message], model: str | Dialect = "claude-sonnet-4-0", **asked: Any) -> list[dict[str, Any]]:
    return body(messages, model, **asked)["messages"]


def call(id: str, arguments: str = "{}", name: str = "harga", wire_id: str | None = None) -> ToolCall:
    return ToolCall(id, name, arguments, wire_id)


def results(*given: tuple[str, str | Part], fault: bool = False) -> Message:
    parts = [
        ToolResult(id, "harga", (Text(one) if isinstance(one, str) else one,), fault)  # type: ignore[arg-type]
        for id, one in given
    ]
    return Message("tool", tuple(parts))


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


# ── the whole request ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_plain_request_has_nothing_in_it_that_was_not_said() -> None:
    assert body([user("Halo")], instructions="Singkat.") == {
        "model": "claude-test",
        "system": [text("Singkat.")],
        "messages": [{"role": "user", "content": [text("Halo")]}],
        "max_tokens": 8192,
    }


def test_the_body_for_another_platform() -> None:
    request = ModelRequest("", (user("Halo"),), settings=BARE)
    made = json.loads(encode_body(None, request, dialect=Dialect(), stream=True, fields={"anthropic_version": "x"}))
    assert "model" not in made
    assert (made["anthropic_version"], made["stream"]) == ("x", True)


def test_a_round_with_calls_is_written_as_the_protocol_has_it() -> None:
    conversation = [
        user("Berapa?"),
        assistant(SEALED, "Sebentar.", call("1", '{"id": "é"}', wire_id="toolu_a"), call("2", "", "stok")),
        results(("1", "100"), ("2", "3")),
        assistant("Seratus."),
        user("Terima kasih."),
    ]
    assert sent(conversation) == [
        {"role": "user", "content": [text("Berapa?")]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "c2VhbA=="},
                text("Sebentar."),
                {"type": "tool_use", "id": "toolu_a", "name": "harga", "input": {"id": "é"}},
                {"type": "tool_use", "id": "2", "name": "stok", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_a", "content": "100"},
                {"type": "tool_result", "tool_use_id": "2", "content": "3"},
            ],
        },
        {"role": "assistant", "content": [text("Seratus.")]},
        {"role": "user", "content": [text("Terima kasih.")]},
    ]


@pytest.mark.parametrize(
    ("choice", "off", "wire"),
    [
        ("auto", False, None),
        ("required", False, {"type": "any"}),
        ("none", False, {"type": "none"}),
        ("stok", False, {"type": "tool", "name": "stok"}),
        ("auto", True, {"type": "none"}),
        ("required", True, {"type": "none"}),
        ("stok", True, {"type": "none"}),
    ],
)
def test_every_tool_choice_and_no_tools_now(choice: str, off: bool, wire: Any) -> None:
    made = body(tools=(PRICE, STOCK), tool_choice=choice, tools_off=off)
    assert made.get("tool_choice") == wire
    assert [tool["name"] for tool in made["tools"]] == ["harga", "stok"]


def test_without_tools_nothing_is_said_of_them() -> None:
    made = body(tools_off=True, settings=Settings(parallel_calls=False))
    assert "tools" not in made
    assert "tool_choice" not in made


@pytest.mark.parametrize("choice", ["auto", "required", "stok"])
def test_one_call_at_a_time(choice: str) -> None:
    made = body(tools=(PRICE, STOCK), tool_choice=choice, settings=Settings(parallel_calls=False))
    assert made["tool_choice"]["disable_parallel_tool_use"] is True


@pytest.mark.parametrize(("choice", "words"), [("required", "Call a tool now."), ("stok", "Call the tool stok now.")])
def test_a_demand_is_made_in_words_where_the_model_takes_no_other(choice: str, words: str) -> None:
    made = body([user("?")], "claude-opus-5-5", tools=(PRICE, STOCK), tool_choice=choice, note="Jawab.")
    assert "tool_choice" not in made
    assert made["messages"][-1]["content"] == [text("?"), text(f"Jawab.\n{words}")]


# ── settings ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_settings_in_the_words_of_the_protocol() -> None:
    extra = {"top_k": 5, "betas": ["x"], "tools": [{"type": "web_search_20250305", "name": "web_search"}]}
    settings = Settings(temperature=1.5, max_tokens=64, stop=("\n", "STOP"), seed=7, cache=False, extra=extra)
    made = body([user("?")], tools=(STOCK,), settings=settings)
    assert made["temperature"] == 1.0
    assert made["max_tokens"] == 64
    assert made["stop_sequences"] == ["STOP"]
    assert made["top_k"] == 5
    assert [tool["name"] for tool in made["tools"]] == ["stok", "web_search"]
    assert not {"seed", "betas"} & made.keys()
    assert betas(ModelRequest("", (), settings=settings), Dialect()) == ("x",)


@pytest.mark.parametrize(
    ("model", "kept"),
    [
        ("claude-3-5-haiku-20241022", {"temperature", "top_p"}),
        ("claude-sonnet-4-5", {"temperature"}),
        ("claude-opus-4-7", set[str]()),
    ],
)
def test_temperature_and_top_p_go_where_the_model_takes_them(model: str, kept: set[str]) -> None:
    made = body([user("?")], model, settings=Settings(temperature=0.1, top_p=0.9))
    assert made.keys() & {"temperature", "top_p"} == kept


@pytest.mark.parametrize(
    ("model", "think", "thinking", "effort"),
    [
        ("claude-sonnet-4-5", None, None, None),
        ("claude-sonnet-4-5", False, None, None),
        ("claude-sonnet-4-5", "low", {"type": "enabled", "budget_tokens": 1024}, None),
        ("claude-sonnet-4-5", True, {"type": "enabled", "budget_tokens": 4096}, None),
        ("claude-opus-4-6", True, {"type": "adaptive", "display": "summarized"}, None),
        ("claude-opus-4-6", "high", {"type": "adaptive", "display": "summarized"}, "high"),
        ("claude-opus-4-7", False, None, None),
        ("claude-opus-5", False, {"type": "disabled"}, None),
        ("claude-sonnet-5-5", False, {"type": "between_tools"}, None),
        ("claude-opus-5-5", False, None, "low"),
        ("claude-mythos-preview", False, None, "low"),
        ("claude-haiku-3", False, None, None),
    ],
)
def test_thinking_is_asked_for_as_the_model_has_it(model: str, think: Any, thinking: Any, effort: str | None) -> None:
    made = body([user("?")], model, settings=Settings(think=think, temperature=0.1, cache=False))
    assert made.get("thinking") == thinking
    assert made.get("output_config", {}).get("effort") == effort
    assert "temperature" not in made or thinking in (None, {"type": "disabled"})


def test_a_budget_leaves_room_for_the_answer() -> None:
    made = body([user("?")], settings=Settings(think="high"))
    assert made["max_tokens"] == 8192 + 16384
    made = body([user("?")], settings=Settings(think="high", max_tokens=4000))
    assert (made["thinking"]["budget_tokens"], made["max_tokens"]) == (2000, 4000)
    with pytest.raises(ConfigurationError, match="max_tokens above 1024, not 1000"):
        body([user("?")], settings=Settings(think=True, max_tokens=1000))
    with pytest.raises(ConfigurationError, match="does not think"):
        body([user("?")], "claude-3-5-sonnet-20241022", settings=Settings(think=True))


def test_manual_thinking_is_left_out_where_the_provider_refuses_it() -> None:
    think = Settings(think=True, cache=False)
    begun = [user("?"), assistant(call("1")), results(("1", "x"))]
    assert "thinking" not in body(begun, settings=think)  # these calls came without thinking
    assert "thinking" in body([user("?"), assistant(SEALED, call("1")), results(("1", "x"))], settings=think)
    assert "thinking" in body([user("?"), assistant("ya"), user("?")], settings=think)
    assert "thinking" not in body([user("?")], tools=(STOCK,), tool_choice="required", settings=think)
    adaptive = body(begun, "claude-opus-4-6", tools=(STOCK,), tool_choice="required", settings=think)
    assert adaptive["thinking"]["type"] == "adaptive"
    assert adaptive["tool_choice"] == {"type": "any"}


def test_thinking_between_calls_needs_a_beta_only_with_a_budget() -> None:
    request = ModelRequest("", (), (STOCK,), settings=Settings(think=True))
    assert betas(request, dialect_for("claude-sonnet-4-5")) == (INTERLEAVED,)
    assert betas(request, dialect_for("claude-opus-4-6")) == ()
    with pytest.raises(ConfigurationError, match="list of names"):
        betas(ModelRequest("", (), settings=Settings(extra={"betas": "x"})), Dialect())


def test_a_format_of_the_reply() -> None:
    returns = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}
    made = body([user("?")], "claude-sonnet-4-5", returns=returns, instructions="Singkat.")
    schema = made["output_config"]["format"]["schema"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["n"] == {"type": "integer", "description": '{"minimum":1}'}
    older = body([user("?")], "claude-3-7-sonnet-latest", returns=returns, instructions="Singkat.")
    assert "output_config" not in older
    assert older["system"][0] == text("Singkat.")
    assert '"minimum":1' in older["system"][1]["text"]


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_roles_alternate_and_a_user_begins() -> None:
    conversation = [assistant("a"), assistant("b"), user("c"), Message("user", ()), user(" \n"), user("d")]
    assert sent(conversation) == [
        {"role": "user", "content": [text("…")]},
        {"role": "assistant", "content": [text("a"), text("b")]},
        {"role": "user", "content": [text("c"), text("d")]},
    ]
    assert sent([]) == [{"role": "user", "content": [text("…")]}]


def test_what_the_user_says_beside_results_follows_them() -> None:
    conversation = [user("?"), assistant(call("1")), results(("1", "x")), user("Cepat!")]
    kinds = [block["type"] for block in sent(conversation, note="Jawab.")[-1]["content"]]
    assert kinds == ["tool_result", "text", "text"]


def test_thinking_goes_back_only_sealed_by_the_provider_and_before_something() -> None:
    other = Thinking("x", "seal", "openai")
    redacted = Thinking("", "ZGF0YQ==", "anthropic", redacted=True)
    conversation = [user("?"), assistant(other, Thinking("draft"), SEALED, redacted, "ya", SEALED), user("!")]
    assert [block["type"] for block in sent(conversation)[1]["content"]] == ["thinking", "redacted_thinking", "text"]
    assert sent([user("?"), assistant(SEALED), user("!")]) == [{"role": "user", "content": [text("?"), text("!")]}]
    without = sent(conversation, Dialect(thinking_back=False))
    assert [block["type"] for block in without[1]["content"]] == ["text"]


def test_parts_of_the_provider_go_back_verbatim_and_those_of_others_stay_here() -> None:
    cited = {"type": "web_search_result_location", "url": "https://x", "title": "X", "encrypted_index": "e"}
    conversation = [
        user("?"),
        assistant(
            SEARCH,
            FOUND,
            ServerCall("o", "web_search", "{}", "openai", {"type": "web_search_call"}),
            "ya",
            Citation("X", "https://x", provider="anthropic", data=cited),
            Citation("Y", "https://y", provider="openai", data={"type": "url_citation"}),
            Opaque("anthropic", {"content": "ringkasan", "type": "compaction"}),
            Opaque("gemini", {"type": "x"}),
        ),
        user("!"),
    ]
    assert sent(conversation)[1]["content"] == [
        SEARCH.data,
        FOUND.data,
        text("ya", citations=[cited]),
        {"type": "compaction", "content": "ringkasan"},
    ]


def test_a_server_side_call_and_its_result_stay_together() -> None:
    assert sent([user("?"), assistant("a", SEARCH), user("!")])[1]["content"] == [text("a")]
    assert sent([user("?"), assistant(FOUND, "a"), user("!")])[1]["content"] == [text("a")]
    across = [user("?"), assistant(SEARCH, call("1")), results(("1", "x")), assistant(FOUND, "a"), user("!")]
    kinds = [[block["type"] for block in message["content"]] for message in sent(across)]
    assert kinds[1:4] == [["server_tool_use", "tool_use"], ["tool_result"], ["web_search_tool_result", "text"]]


def test_a_paused_reply_goes_back_as_it_is_and_the_note_stands_aside() -> None:
    conversation = [user("?"), assistant("Saya cari.", SEARCH)]
    made = body(conversation, instructions="Singkat.", note="Lanjutkan.")
    assert made["messages"][-1] == {"role": "assistant", "content": [text("Saya cari."), SEARCH.data]}
    assert made["system"] == [text("Singkat."), text("Lanjutkan.")]


def test_who_asked_for_a_call_and_the_container_of_the_turn_go_back() -> None:
    caller = {"type": "code_execution_20250825", "tool_id": "s1"}
    asked = assistant(
        SEARCH, Opaque("anthropic", {"caller": caller}), call("1"), call("2"), Opaque("anthropic", {"container": "c1"})
    )
    made = body([user("?"), asked, results(("1", "x"), ("2", "y"))])
    assert [block.get("caller") for block in made["messages"][1]["content"]] == [None, caller, None]
    assert made["container"] == "c1"
    assert "container" not in body([user("?"), asked, results(("1", "x"), ("2", "y")), assistant("ya"), user("!")])


def test_a_reply_that_broke_off_is_gone_on_with() -> None:
    conversation = [user("?"), assistant("Harganya \n")]
    assert sent(conversation)[-1] == {"role": "assistant", "content": [text("Harganya")]}
    assert sent(conversation, note="Lanjutkan.")[-1] == {"role": "user", "content": [text("Lanjutkan.")]}
    newer = sent(conversation, "claude-opus-4-6")
    assert newer[1]["content"] == [text("Harganya \n")]
    assert newer[-1]["role"] == "user"
    assert sent(conversation, settings=Settings(think=True))[-1]["role"] == "user"


def test_pictures_and_documents() -> None:
    shown = user(
        Image("image/png", data=b"\x01\x02"),
        Image("image/png", url="https://x/y.png"),
        Image("image/tiff", data=b"\x01"),
        File("application/pdf", "a.pdf", data=b"\x03"),
        File("application/pdf", url="https://x/b.pdf"),
        File("text/csv", "c.csv", data=b"a,b"),
        File("application/zip", "d.zip", data=b"\xff"),
    )
    assert sent([shown])[0]["content"] == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AQI="}},
        {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}},
        text("(a picture, image/tiff, which cannot be shown)"),
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "Aw=="},
            "title": "a.pdf",
        },
        {"type": "document", "source": {"type": "url", "url": "https://x/b.pdf"}},
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "a,b"},
            "title": "c.csv",
        },
        text("(document d.zip, application/zip: cannot be shown)"),
    ]


def test_results_of_every_kind() -> None:
    picture = Image("image/png", data=b"\x01")
    shown = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AQ=="}}
    asked = assistant(call("1", wire_id="a"), call("2", wire_id="b"), call("3", wire_id="c"))
    given = Message(
        "tool",
        (
            ToolResult("1", "harga", (Text("x"), picture)),
            ToolResult("2", "harga", (picture,), fault=True),
            ToolResult("3", "harga", (Text(" "),)),
        ),
    )
    assert sent([user("?"), asked, given])[-1]["content"] == [
        {"type": "tool_result", "tool_use_id": "a", "content": [text("x"), shown]},
        {"type": "tool_result", "tool_use_id": "b", "content": "(failed)", "is_error": True},
        {"type": "tool_result", "tool_use_id": "c"},
        text("Attached by harga, call b:"),
        shown,
    ]


@pytest.mark.parametrize(
    ("arguments", "wire"),
    [
        ("", {}),
        (" null ", {}),
        ('{"id": 1}', {"id": 1}),
        ('{"id": "PRD', {"unreadable": '{"id": "PRD'}),
        ("[1]", {"unreadable": "[1]"}),
    ],
)
def test_arguments_are_an_object(arguments: str, wire: Any) -> None:
    assert sent([user("?"), assistant(call("1", arguments))])[1]["content"][0]["input"] == wire


def test_an_invented_name_cannot_poison_the_history() -> None:
    names = [
        sent([user("?"), assistant(call("1", name=name))])[1]["content"][0]["name"] for name in ("a.b!", "", "x" * 90)
    ]
    assert names == ["a_b_", "unnamed", "x" * 64]


def test_ids_are_legal_and_each_occurs_once() -> None:
    conversation = [
        user("?"),
        assistant(call("t-1", wire_id="a"), call("t-2", wire_id="a"), call("t.3"), call("t-4", wire_id="b c")),
        results(("t-1", "w"), ("t-2", "x"), ("t.3", "y"), ("t-4", "z")),
        assistant(call("t-5", wire_id="t-1")),
        results(("t-5", "v")),
    ]
    for _ in range(2):
        blocks = [block for message in sent(conversation) for block in message["content"]]
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert asked == answered
        assert len(set(asked)) == 5
        assert asked[:2] == ["t-1", "t-2"]
        assert asked[2].startswith("toolu_")


def test_dangling_calls_are_answered_and_orphans_go_nowhere() -> None:
    conversation = [
        results(("0", "too early")),
        user("?"),
        assistant(call("1"), call("2")),
        results(("2", "b"), ("9", "whose?")),
        assistant("ya"),
        results(("1", "too late")),
        user("!"),
    ]
    blocks = sent(conversation)[2]["content"]
    assert [block["tool_use_id"] for block in blocks] == ["1", "2"]
    assert json.loads(blocks[0]["content"])["error"]["kind"] == "outcome_unknown"
    assert blocks[0]["is_error"] is True
    assert blocks[1]["content"] == "b"
    assert [message["role"] for message in sent(conversation)] == ["user", "assistant", "user", "assistant", "user"]


# ── cache ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_each_round_marks_where_the_one_before_ended() -> None:
    asked: dict[str, Any] = {"instructions": "Singkat.", "tools": (PRICE, STOCK), "settings": Settings()}
    first = [user("?")]
    second = [*first, assistant(call("1")), results(("1", "x"))]
    third = [*second, assistant(call("2")), results(("2", "x"), ("2", "y"))]

    def marked(messages: list[dict[str, Any]]) -> list[int]:
        return [place for place, one in enumerate(messages) if "cache_control" in one["content"][-1]]

    made = body(third, note="Jawab sekarang.", **asked)
    assert made["system"] == [text("Singkat.", cache_control=MARK)]
    assert [tool.get("cache_control") for tool in made["tools"]] == [None, MARK]
    assert made["messages"][-1]["content"][-1] == text("Jawab sekarang.")
    assert made["messages"][-1]["content"][-2]["cache_control"] == MARK
    assert json.dumps(made).count("cache_control") == 4
    assert marked(body(first, **asked)["messages"]) == [0]
    assert marked(body(second, **asked)["messages"]) == [0, 2]
    assert marked(body(third, **asked)["messages"]) == [2, 4]
    asked["settings"] = BARE
    without = body(third, **asked)
    assert "cache_control" not in json.dumps(without)


def test_history_is_not_encoded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = [user("?"), assistant(SEALED, call("1")), results(("1", "x"))]
    first = sent(conversation, tools=(PRICE,))
    encoded: list[Any] = []

    def watched(value: Any) -> bytes:
        encoded.append(value)
        return json.dumps(value, default=lambda raw: json.loads(bytes(raw))).encode()

    for place in (anthropic_blocks, anthropic_encode):
        monkeypatch.setattr(place, "encode", watched)
    conversation.append(user("!"))
    assert sent(conversation, tools=(PRICE,))[:2] == first[:2]
    assert len(encoded) == 2  # the new message, and the body around all of them


# ── models ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("model", "thinking", "forced", "structured"),
    [
        ("claude-2.1", "none", True, False),
        ("claude-instant-1.2", "none", True, False),
        ("claude-3-opus-20240229", "none", True, False),
        ("claude-3-5-sonnet-latest", "none", True, False),
        ("claude-3-7-sonnet-20250219", "manual", True, False),
        ("claude-sonnet-4-20250514", "manual", True, False),
        ("claude-4-opus-20250514", "manual", True, False),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "manual", True, True),
        ("claude-haiku-4-5@20251001", "manual", True, True),
        ("anthropic/claude-opus-4.6", "adaptive", True, True),
        ("claude-fable-5", "adaptive", True, True),
        ("claude-fable-5-1", "adaptive", False, True),
        ("claude-haiku-5-5", "adaptive", False, True),
        ("kimi-k2", "manual", True, False),
    ],
)
def test_models_are_known_by_family_and_version(model: str, thinking: str, forced: bool, structured: bool) -> None:
    dialect = dialect_for(model)
    assert (dialect.thinking, dialect.forced, dialect.structured) == (thinking, forced, structured)


@pytest.mark.parametrize(
    ("model", "complaint", "field", "value"),
    [
        ("x", '"thinking.type.enabled" is not supported. Use "thinking.type.adaptive"', "thinking", "adaptive"),
        ("claude-opus-6", "adaptive thinking is not supported on this model", "thinking", "manual"),
        ("claude-opus-5", '"thinking.type.disabled" is not supported for this model.', "off", "never"),
        ("claude-haiku-6", '"thinking.type.disabled" is not supported: send "between_tools"', "off", "between_tools"),
        ("claude-fable-5-1", f"Invalid `signature` in `thinking` block. {BOUND}", "drop_unbound", True),
        ("claude-sonnet-4-5", "messages.1.content.0: Invalid `signature` in `thinking` block", "thinking_back", False),
        ("claude-sonnet-4-5", "The compiled grammar is too large", "strict", False),
        ("claude-sonnet-4-5", "Schemas contains too many optional parameters (87)", "strict", False),
        ("claude-sonnet-4-0", "This model does not support assistant message prefill.", "prefill", False),
        ("claude-opus-5", "Thinking may not be enabled when tool_choice forces tool use.", "forced", False),
        ("claude-3-7-sonnet", "`temperature` and `top_p` cannot both be specified for this model", "sampling", "one"),
        ("claude-opus-4-6", "`temperature` is deprecated for this model.", "sampling", "none"),
    ],
)  # fmt: skip
def test_a_refusal_teaches_the_dialect(model: str, complaint: str, field: str, value: Any) -> None:
    dialect = dialect_for(model)
    assert getattr(dialect, field) != value
    assert getattr(learn(dialect, complaint), field) == value
    assert learn(dialect, "messages: at least one message is required") == dialect


def test_thinking_that_does_not_fit_any_more_may_be_dropped() -> None:
    dialect = learn(
        dialect_for("claude-fable-5-1"), "Invalid `signature` in `thinking`: bound to a different conversation"
    )
    assert body([user("?")], dialect)["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
    assert betas(ModelRequest("", ()), dialect) == (BINDING,)
    assert not learn(dialect, "Invalid `signature` in `thinking`: bound to a different conversation").thinking_back
