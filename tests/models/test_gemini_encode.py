"""What is sent to Gemini is what the protocol takes, whatever the conversation has been through; and it is encoded once.

No traffic was recorded of this protocol: what is expected follows Google's documentation.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from tests.wire.conversations import RETURNS, TOOLS
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
from tukang.models import gemini_encode
from tukang.models.base import ModelRequest, Settings
from tukang.models.gemini_encode import UNSEALED, Dialect, dialect_for, encode_request
from tukang.models.gemini_parts import PROVIDER, seal

OLD = dialect_for("gemini-2.5-flash")
NEW = dialect_for("gemini-3-flash-preview")
PRICE, NOW, ORDER = TOOLS
PNG = b"\x89PNG"
CODED = base64.b64encode(PNG).decode()
SEAL = base64.b64encode(b"a thought, sealed").decode()
OPENING = {"role": "user", "parts": [{"text": "(Earlier messages are not shown.)"}]}


def body(messages: Sequence[Message] = (), dialect: Dialect = NEW, **asked: Any) -> dict[str, Any]:
    request = ModelRequest(asked.pop("instructions", ""), tuple(messages), **asked)
    return json.loads(encode_request(request, dialect))


def sent(messages: Sequence[Message], dialect: Dialect = NEW, **asked: Any) -> list[dict[str, Any]]:
    return body(messages, dialect, **asked)["contents"]


def call(id: str, arguments: str = "{}", name: str = "harga", wire_id: str | None = None) -> ToolCall:
    return ToolCall(id, name, arguments, wire_id)


def results(*given: tuple[str, str | Part], fault: bool = False) -> Message:
    parts = [ToolResult(id, "harga", (Text(one) if isinstance(one, str) else one,), fault) for id, one in given]  # type: ignore[arg-type]
    return Message("tool", tuple(parts))


# ── the whole request ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_plain_request_has_nothing_in_it_that_was_not_said() -> None:
    assert body([user("Halo")], instructions="Singkat.") == {
        "systemInstruction": {"parts": [{"text": "Singkat."}]},
        "contents": [{"role": "user", "parts": [{"text": "Halo"}]}],
    }


def test_settings_in_the_words_of_the_protocol_and_fields_of_ones_own() -> None:
    settings = Settings(
        temperature=0.1,
        max_tokens=64,
        top_p=0.9,
        stop=("\n",),
        seed=7,
        extra={
            "generationConfig": {"topK": 3, "topP": 0.5},
            "safetySettings": [],
            "tools": [{"googleSearch": {}}],
            "cachedContent": "cachedContents/x",
        },
    )
    made = body([user("?")], settings=settings, tools=(NOW,))
    assert made["generationConfig"] == {
        "temperature": 0.1,
        "topP": 0.5,
        "maxOutputTokens": 64,
        "stopSequences": ["\n"],
        "seed": 7,
        "topK": 3,
    }
    assert (made["safetySettings"], made["cachedContent"]) == ([], "cachedContents/x")
    declared = {"functionDeclarations": [{"name": "sekarang", "description": ""}]}
    assert made["tools"] == [declared, {"googleSearch": {}}]


@pytest.mark.parametrize(
    ("model", "think", "config"),
    [
        ("gemini-2.5-flash", True, {"includeThoughts": True, "thinkingBudget": -1}),
        ("gemini-2.5-flash", False, {"thinkingBudget": 0}),
        ("gemini-2.5-pro", False, {"thinkingBudget": 128}),
        ("gemini-2.5-pro", "low", {"includeThoughts": True, "thinkingBudget": 1024}),
        ("models/gemini-2.5-flash", "high", {"includeThoughts": True, "thinkingBudget": 24576}),
        ("gemini-3-pro-preview", True, {"includeThoughts": True}),
        ("gemini-3-pro-preview", False, {"thinkingLevel": "low"}),
        ("gemini-3.1-flash-lite", False, {"thinkingLevel": "minimal"}),
        ("gemini-flash-latest", "medium", {"includeThoughts": True, "thinkingLevel": "medium"}),
    ],
)
def test_thinking_goes_by_the_generation(model: str, think: Any, config: dict[str, Any]) -> None:
    made = body([user("?")], dialect_for(model), settings=Settings(think=think))
    assert made["generationConfig"] == {"thinkingConfig": config}
    assert "generationConfig" not in body([user("?")], dialect_for(model))


def test_more_stop_texts_than_gemini_takes_are_refused_by_name() -> None:
    assert body(settings=Settings(stop=("a",) * 5))["generationConfig"]["stopSequences"] == ["a"] * 5
    with pytest.raises(ConfigurationError, match=r"Settings\(stop=…\) has 6 texts; Gemini takes at most 5"):
        body(settings=Settings(stop=("a",) * 6))


# ── tools ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("choice", "off", "wire"),
    [
        ("auto", False, None),
        ("required", False, {"mode": "ANY"}),
        ("none", False, {"mode": "NONE"}),
        ("harga", False, {"mode": "ANY", "allowedFunctionNames": ["harga"]}),
        ("auto", True, {"mode": "NONE"}),
        ("required", True, {"mode": "NONE"}),
        ("harga", True, {"mode": "NONE"}),
    ],
)
def test_every_tool_choice_and_no_tools_now(choice: str, off: bool, wire: Any) -> None:
    made = body([user("?")], tools=TOOLS, tool_choice=choice, tools_off=off, settings=Settings(think="low"))
    assert made.get("toolConfig") == (None if wire is None else {"functionCallingConfig": wire})
    assert len(made["tools"][0]["functionDeclarations"]) == 3


def test_a_tool_that_is_not_there_cannot_be_forced() -> None:
    with pytest.raises(ConfigurationError, match=r"'stok' names no tool on offer; there are: harga"):
        body(tools=(PRICE,), tool_choice="stok")


def test_without_tools_nothing_is_said_of_them() -> None:
    assert set(body([user("?")], tools_off=True)) == {"contents"}


def test_a_tool_is_declared_in_the_dialect_that_gemini_takes() -> None:
    (declared,) = body([user("?")], tools=(ORDER,))["tools"][0]["functionDeclarations"]
    assert declared["parametersJsonSchema"] == {
        "type": "object",
        "properties": {
            "baris": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string", "description": '(pattern: "^P")'},
                        "jumlah": {"type": "integer", "minimum": 1},
                    },
                    "required": ["id", "jumlah"],
                },
                "minItems": 1,
            },
            "catatan": {"type": ["string", "null"], "description": "(default: null)"},
        },
        "required": ["baris"],
        "additionalProperties": False,
    }


def test_structured_output_is_native_and_in_words_beside_tools_before_gemini_3() -> None:
    native = {"responseMimeType": "application/json", "responseJsonSchema": RETURNS}
    assert body([user("?")], NEW, tools=TOOLS, returns=RETURNS)["generationConfig"] == native
    assert body([user("?")], OLD, returns=RETURNS)["generationConfig"] == native
    beside = body([user("?")], OLD, tools=TOOLS, returns=RETURNS)
    assert "generationConfig" not in beside
    assert '{"type":"object","properties":{"total"' in beside["systemInstruction"]["parts"][0]["text"]


def test_one_call_at_a_time_is_asked_for_in_words_where_there_are_tools() -> None:
    one = Settings(parallel_calls=False)
    made = body([user("?")], tools=TOOLS, settings=one)
    assert "at most one function" in made["systemInstruction"]["parts"][0]["text"]
    assert "systemInstruction" not in body([user("?")], settings=one)


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_round_with_calls_is_written_as_the_documentation_has_it() -> None:
    conversation = [
        user("Berapa?"),
        assistant(
            Thinking("hm"),
            "Sebentar.",
            call("1", '{"id":"é"}', wire_id="c1"),
            seal(SEAL, "functionCall"),
            call("2", "", "sekarang"),
        ),
        results(("1", "100"), ("2", '{"jam": 7}')),
        assistant("Seratus.", seal(SEAL, "text")),
        user("Terima kasih"),
    ]
    assert sent(conversation) == [
        {"role": "user", "parts": [{"text": "Berapa?"}]},
        {
            "role": "model",
            "parts": [
                {"text": "Sebentar."},
                {"functionCall": {"id": "c1", "name": "harga", "args": {"id": "é"}}, "thoughtSignature": SEAL},
                {"functionCall": {"name": "sekarang", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "c1", "name": "harga", "response": {"output": "100"}}},
                {"functionResponse": {"name": "sekarang", "response": {"jam": 7}}},
            ],
        },
        {"role": "model", "parts": [{"text": "Seratus.", "thoughtSignature": SEAL}]},
        {"role": "user", "parts": [{"text": "Terima kasih"}]},
    ]


def test_a_call_of_another_provider_gets_the_mark_for_that_and_only_the_first_and_only_from_gemini_3_on() -> None:
    conversation = [user("?"), assistant(call("1"), call("2")), results(("1", "a"), ("2", "b"))]
    assert [part.get("thoughtSignature") for part in sent(conversation, NEW)[1]["parts"]] == [UNSEALED, None]
    assert not any("thoughtSignature" in part for part in sent(conversation, OLD)[1]["parts"])


def test_a_seal_goes_back_on_its_own_part_or_nowhere() -> None:
    def model(*parts: Part | str) -> list[dict[str, Any]]:
        return sent([user("?"), assistant(*parts), user("!")], OLD)[1]["parts"]

    assert model("a", seal(SEAL, "text"), "b") == [{"text": "a", "thoughtSignature": SEAL}, {"text": "b"}]
    assert model("a", Text(""), seal(SEAL, "text")) == [{"text": "a", "thoughtSignature": SEAL}]
    assert model(seal(SEAL, "text")) == [{"text": "", "thoughtSignature": SEAL}]
    # Its call was dropped (the reply came when tools were off): the words must not wear it.
    assert model("a", seal(SEAL, "functionCall")) == [{"text": "a"}]
    assert model(Image("image/png", PNG), seal(SEAL, "inlineData")) == [
        {"inlineData": {"mimeType": "image/png", "data": CODED}, "thoughtSignature": SEAL}
    ]


def test_a_call_under_another_name_than_gemini_gave_it_goes_back_without_its_seal() -> None:
    def back(name: str) -> list[dict[str, Any]]:
        calls = [ToolCall("c0", name, "{}"), seal(SEAL, "functionCall"), ToolCall("c1", "b", "{}")]
        conversation = [user("x"), Message("assistant", (*calls, seal(SEAL, "functionCall")))]
        return sent(conversation, NEW)[1]["parts"]

    assert [part["thoughtSignature"] for part in back("a")] == [SEAL, SEAL]
    assert [part["functionCall"]["name"] for part in back("a tool!")] == ["a_tool_", "b"]
    assert [part["thoughtSignature"] for part in back("a tool!")] == [UNSEALED, SEAL]


def test_thinking_goes_back_sealed_and_to_gemini_only() -> None:
    parts = [
        Thinking("ringkasan"),
        Thinking("a", SEAL, "anthropic"),
        Thinking("b", provider=PROVIDER),
        Thinking("c", SEAL, PROVIDER),
        Opaque("openai", {"type": "reasoning"}),
        Citation("X"),
        "ya",
    ]
    assert sent([user("?"), assistant(*parts), user("!")])[1]["parts"] == [
        {"text": "c", "thought": True, "thoughtSignature": SEAL},
        {"text": "ya"},
    ]


def test_the_providers_own_parts_go_back_verbatim() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": SEAL}
    outcome = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}
    odd = {"partMetadata": {"a": 1}, "text": "x"}
    parts = [
        ServerCall("", "code_execution", "{}", PROVIDER, code),
        ServerResult("", PROVIDER, outcome),
        ServerCall("s", "web_search", "{}", "anthropic", {"type": "server_tool_use"}),
        Opaque(PROVIDER, odd),
    ]
    assert sent([user("?"), assistant(*parts), user("!")])[1]["parts"] == [code, outcome, odd]


def test_roles_take_turns_and_a_user_speaks_first_and_last() -> None:
    assert sent([]) == [OPENING]
    assert sent([assistant("Halo"), assistant("Apa kabar?")]) == [
        OPENING,
        {"role": "model", "parts": [{"text": "Halo"}, {"text": "Apa kabar?"}]},
        {"role": "user", "parts": [{"text": "Go on."}]},
    ]
    written = sent([user("a"), user("b"), assistant(call("1")), results(("1", "x")), user("c")], note="Jawab.")
    assert [one["role"] for one in written] == ["user", "model", "user"]
    assert [next(iter(part)) for part in written[2]["parts"]] == ["functionResponse", "text", "text"]
    assert sent([user("a"), assistant("Harga")], note="Lanjut.")[-1] == {"role": "user", "parts": [{"text": "Lanjut."}]}


def test_results_are_mended_to_one_for_each_call_in_order() -> None:
    conversation = [
        user("?"),
        assistant(call("1"), call("2"), call("3")),
        results(("3", "c"), ("9", "x"), ("1", "a"), ("1", "b")),
        user("lagi"),
        results(("1", "z")),
    ]
    responses = [part["functionResponse"]["response"] for part in sent(conversation)[2]["parts"][:3]]
    assert (responses[0], responses[2]) == ({"output": "a"}, {"output": "c"})
    assert responses[1]["error"]["kind"] == "outcome_unknown"
    assert sent(conversation)[2]["parts"][3:] == [{"text": "lagi"}]


@pytest.mark.parametrize(
    ("text", "response"),
    [
        ('{"harga": 100}', {"harga": 100}),
        ("{}", {"output": {}}),
        ("", {"output": ""}),
        ("teks", {"output": "teks"}),
        ("[1, 2]", {"output": [1, 2]}),
        ("7", {"output": "7"}),
        ('{"output": 1, "b": 2}', {"output": {"output": 1, "b": 2}}),
        ('{"error": 1}', {"output": {"error": 1}}),
        # Google reads numbers as floating: this one would become another order's.
        ('{"id": 9007199254740993}', {"output": '{"id": 9007199254740993}'}),
        ("[" * 40 + "]" * 40, {"output": "[" * 40 + "]" * 40}),
    ],
)
def test_what_a_function_returned_is_an_object(text: str, response: Any) -> None:
    assert sent([assistant(call("1")), results(("1", text))])[2]["parts"][0]["functionResponse"]["response"] == response


@pytest.mark.parametrize(
    ("text", "error"),
    [('{"error": {"kind": "tool_failed"}}', {"kind": "tool_failed"}), ("gagal", "gagal"), ('{"a": 1}', {"a": 1})],
)
def test_a_fault_is_an_error(text: str, error: Any) -> None:
    made = sent([assistant(call("1")), results(("1", text), fault=True)])
    assert made[2]["parts"][0]["functionResponse"]["response"] == {"error": error}


@pytest.mark.parametrize("arguments", ["{broken", '"text"', "[1]", '{"a":' * 30 + "1" + "}" * 30])
def test_arguments_that_gemini_would_not_read_go_back_readable(arguments: str) -> None:
    written = sent([user("?"), assistant(call("1", arguments)), results(("1", "x"))])
    assert written[1]["parts"][0]["functionCall"]["args"] == {"unreadable": arguments}


def test_invented_names_go_back_mended_in_the_call_and_in_its_response() -> None:
    written = sent([user("?"), assistant(call("1", name="9 harga.toko")), results(("1", "x"))])
    assert written[1]["parts"][0]["functionCall"]["name"] == "_9_harga_toko"
    assert written[2]["parts"][0]["functionResponse"]["name"] == "_9_harga_toko"


def test_pictures_of_a_result_are_inside_it_from_gemini_3_on_and_after_it_before() -> None:
    conversation = [user("?"), assistant(call("1")), results(("1", Image("image/png", PNG)))]
    inline = {"inlineData": {"mimeType": "image/png", "data": CODED}}
    (part,) = sent(conversation, NEW)[2]["parts"]
    assert part["functionResponse"]["parts"] == [inline]
    part, *after = sent(conversation, OLD)[2]["parts"]
    assert "parts" not in part["functionResponse"]
    assert after == [{"text": "Attached by harga:"}, inline]


def test_what_is_shown_and_what_can_only_be_named() -> None:
    parts: list[Part] = [
        Image("image/png", PNG),
        Image("image/gif", b"GIF"),
        Image("image/png", url="https://x/y.png"),
        Image("image/png"),
        File("application/pdf", "nota.pdf", b"%PDF"),
        File("text/csv", "a.csv", b"1,2"),
        File("application/zip", "b.zip", b"PK"),
    ]
    assert sent([user(*parts)])[0]["parts"] == [
        {"inlineData": {"mimeType": "image/png", "data": CODED}},
        {"text": "(a picture of type image/gif, which cannot be read here)"},
        {"fileData": {"mimeType": "image/png", "fileUri": "https://x/y.png"}},
        {"text": "(a picture: no longer here)"},
        {"inlineData": {"mimeType": "application/pdf", "data": base64.b64encode(b"%PDF").decode()}},
        {"text": "a.csv:\n1,2"},
        {"text": "(document b.zip of type application/zip, which cannot be read here)"},
    ]


def test_nothing_is_encoded_twice_and_each_spelling_is_kept_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = [user("a"), assistant(call("1")), results(("1", "x")), user("b")]
    first = {dialect: sent(conversation, dialect) for dialect in (OLD, NEW)}
    assert first[OLD] != first[NEW]
    encoded: list[Any] = []

    def counting(value: Any) -> bytes:
        encoded.append(value)
        return msgspec.json.encode(value)

    monkeypatch.setattr(gemini_encode, "_encode", counting)
    for dialect in (OLD, NEW):
        assert sent(conversation, dialect) == first[dialect]
    assert len(encoded) == 2, "the two bodies"
