"""Random neutral conversations and requests, for showing that what an adapter sends is what its protocol takes.

They hold what a long life leaves in a conversation:

* **Switches of provider.** Each reply is one provider's, with the parts its adapter leaves (`LEFT_BEHIND`): sealed thinking,
  reasoning items, signatures, server-side calls and their results, citations, opaque parts. The provider that is asked is one
  of them.
* **Crashes.** A reply that broke off (half a text, thinking without its seal, no calls); calls without results, or with some
  of them; results without calls, or in two messages; the `outcome_unknown` that the loop writes afterwards.
* **Cancels and limits.** Results that say `cancelled`, `not_run`, `timed_out`; an assistant's words after them, or none.
* **Duplicates.** Twins in one reply; a call that was asked before, with its result reused; one provider id for two calls.
* What models do: malformed arguments, invented names, missing and impossible ids, empty texts, half a surrogate pair,
  pictures and documents anywhere, an assistant that speaks first, last, or twice.

Strategies only; no adapter is imported.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

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
)
from tukang.models.base import ModelRequest, Settings
from tukang.tools.contract import Contract
from tukang.tools.outcome import failed

NOBODY = "another-provider"
"""A provider whose own parts mean nothing to anyone else."""

TOOLS = (
    Contract("harga", "Harga sebuah produk.", {"type": "object", "properties": {"id": {"type": "string"}}}),
    Contract("sekarang", "", {"type": "object", "properties": {}}),
    Contract(
        "pesan-2",
        "Buat pesanan.",
        {
            "type": "object",
            "properties": {
                "baris": {"type": "array", "items": {"$ref": "#/$defs/Baris"}, "minItems": 1},
                "catatan": {"type": ["string", "null"], "default": None},
            },
            "required": ["baris"],
            "additionalProperties": False,
            "$defs": {
                "Baris": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string", "pattern": "^P"},
                        "jumlah": {"type": "integer", "minimum": 1},
                    },
                    "required": ["id", "jumlah"],
                }
            },
        },
    ),
)

RETURNS = {
    "type": "object",
    "properties": {"total": {"type": "integer"}, "mata_uang": {"type": "string"}},
    "required": ["total", "mata_uang"],
    "additionalProperties": False,
}

words = st.sampled_from(
    ["", " ", "Halo", "Berapa harganya?", "héllo\nдом 家 🏠", '{"a": 1}', "x" * 300, "setengah \ud83d"]
) | st.text(max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)
names = st.sampled_from(
    ["harga", "sekarang", "pesan-2", "", "toko.harga v2", "9hidup", "ключ", "n" * 90, "\ud83d"]
) | st.text(max_size=6)
_json_texts = st.sampled_from(
    [
        *("", " ", "null", "{}", '{"id": "PRD002"}', "{broken", '"text"', "[1]", '{"n": 12345678901234567890}'),
        *('{"id": "\ud83d"}', '{"id": "PRD'),
    ]
)
_ids = st.none() | st.sampled_from(["call_1", "toolu_01", "a", "x" * 70, "tidak sah !", "fc|rs", "\ud83d"])
_bytes = st.sampled_from([b"", b"\x89PNG\r\n", b"%PDF-1.7", b"teks biasa"])
_addresses = st.none() | st.just("https://example.com/gambar.png")

texts = st.builds(Text, words)
images = st.builds(Image, st.sampled_from(["image/png", "image/jpeg", "image/gif"]), st.none() | _bytes, _addresses)
files = st.builds(
    File,
    st.sampled_from(["application/pdf", "text/plain", "application/zip"]),
    st.none() | st.sampled_from(["nota.pdf", "catatan (1).txt"]),
    st.none() | _bytes,
    _addresses,
)


# ── what each provider leaves in a conversation ──────────────────────────────────────────────────────────────────────

SEAL = "c2VhbGVk"


def _thoughts(provider: str | None) -> st.SearchStrategy[Part]:
    """Thinking: sealed, redacted, without words, without a seal."""
    return st.one_of(
        st.builds(Thinking, words, st.just(SEAL), st.just(provider)),
        st.builds(Thinking, st.just(""), st.just(SEAL), st.just(provider), st.just(True)),
        st.builds(Thinking, words, st.none(), st.just(provider)),
    )


def _verbatim(provider: str, *blocks: Any) -> st.SearchStrategy[Part]:
    return st.sampled_from([Opaque(provider, block) for block in blocks])


def _served(provider: str, call: Any, result: Any) -> st.SearchStrategy[Part]:
    """A call that the provider ran itself, and its result: each may be left without the other."""
    return st.sampled_from(
        [ServerCall("srv_1", "web_search", "{}", provider, call), ServerResult("srv_1", provider, result)]
    )


def _reasoning(provider: str) -> st.SearchStrategy[Part]:
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": SEAL}
    return st.builds(Thinking, words, st.sampled_from([json.dumps(item), "not even JSON"]), st.just(provider))


_ANTHROPIC_CALL = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}
_ANTHROPIC_RESULT = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}
_ANTHROPIC_CITED = {
    "type": "web_search_result_location",
    **{"url": "u", "title": "t", "encrypted_index": "e", "cited_text": "c"},
}
_RESPONSES_CALL = {
    **{"type": "shell_call", "id": "sh_1", "call_id": "srv_1", "status": "completed"},
    "action": {"commands": ["ls"]},
}
_RESPONSES_SEARCH = {
    **{"type": "web_search_call", "id": "ws_1", "status": "completed"},
    "action": {"type": "search", "query": "harga"},
}
_RESPONSES_RESULT = {"type": "shell_call_output", "call_id": "srv_1", "output": []}
_RESPONSES_CITED = {"type": "file_citation", "file_id": "f", "filename": "A", "index": 0}
_BEDROCK_CALL = {"toolUse": {"toolUseId": "srv_1", "name": "nova_code", "type": "server_tool_use", "input": {}}}
_BEDROCK_RESULT = {"toolResult": {"toolUseId": "srv_1", "content": [{"json": {"ok": True}}], "status": "success"}}
_DETAILS = [
    {"type": "reasoning.text", "text": "hm", "signature": SEAL, "format": "anthropic-claude-v1", "index": 0},
    {"type": "reasoning.encrypted", "data": SEAL, "id": "rs_1", "format": "openai-responses-v1", "index": 1},
]


def bedrock_parts(provider: str) -> st.SearchStrategy[Part]:
    """What Converse leaves of a model of some maker."""
    cited = {"citationsContent": {"content": [{"text": "kutipan"}], "citations": []}}
    return st.one_of(_thoughts(provider), _served(provider, _BEDROCK_CALL, _BEDROCK_RESULT), _verbatim(provider, cited))


def responses_parts(provider: str) -> st.SearchStrategy[Part]:
    """What a server of the Responses protocol leaves."""
    return st.one_of(
        _reasoning(provider),
        _served(provider, _RESPONSES_CALL, _RESPONSES_RESULT),
        st.just(ServerCall("ws_1", "web_search_call", "{}", provider, _RESPONSES_SEARCH)),
        st.just(Citation("A", None, None, provider, _RESPONSES_CITED)),
        _verbatim(
            provider,
            {"type": "message", "id": "msg_1", "phase": "final_answer"},
            {"type": "function_call", "id": "fc_1", "call_id": "call_1"},
            {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1"},
            {"type": "compaction", "encrypted_content": "x"},
            None,
        ),
    )


LEFT_BEHIND: Mapping[str, st.SearchStrategy[Part]] = {
    "anthropic": st.one_of(
        _thoughts("anthropic"),
        _served("anthropic", _ANTHROPIC_CALL, _ANTHROPIC_RESULT),
        st.just(Citation("t", "u", "c", "anthropic", _ANTHROPIC_CITED)),
        _verbatim("anthropic", {"type": "compaction", "content": "ringkasan"}, {"container": "container_1"}),
    ),
    "bedrock:anthropic": bedrock_parts("bedrock:anthropic"),
    "bedrock:amazon": bedrock_parts("bedrock:amazon"),
    "responses": responses_parts("responses"),
    "responses@example.com": responses_parts("responses@example.com"),
    "gemini": st.one_of(
        _thoughts("gemini"),
        _served(
            "gemini",
            {"executableCode": {"language": "PYTHON", "code": "1"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        ),
        _verbatim(
            "gemini",
            *({"thoughtSignature": SEAL, "of": kind} for kind in ("text", "functionCall", "inlineData")),
            {"partMetadata": {"a": "b"}, "text": "x"},
        ),
    ),
    "openai": st.one_of(
        _thoughts(None),
        st.just(Citation("A", "https://a", "q", "openai", {"type": "url_citation", "url_citation": {}})),
    ),
    "openai@openrouter.ai": st.one_of(
        _thoughts(None), _verbatim("openai@openrouter.ai", {"reasoning_details": _DETAILS}, {"reasoning_details": []})
    ),
    "openai@generativelanguage.googleapis.com": _verbatim(
        "openai@generativelanguage.googleapis.com",
        {"calls": {"0": {"name": "harga", "extra_content": {"google": {"thought_signature": SEAL}}}}},
    ),
    "ollama": st.builds(Thinking, words),
    NOBODY: st.one_of(
        _thoughts(NOBODY),
        st.builds(ServerCall, st.just("srv_1"), st.just("web_search"), st.just("{}"), st.just(NOBODY), json_values),
        st.builds(ServerResult, st.just("srv_1"), st.just(NOBODY), json_values),
        st.builds(Citation, st.none() | words, _addresses, st.none() | words, st.just(NOBODY), json_values),
        st.builds(Opaque, st.just(NOBODY), json_values),
    ),
}
"""By the provider: parts that its adapter leaves, in its own shapes. `NOBODY` is one that nobody here knows."""


# ── conversations ────────────────────────────────────────────────────────────────────────────────────────────────────

_FAULTS = [
    failed("outcome_unknown", "harga had started when the turn had to stop", "find out"),
    failed("cancelled", "harga was stopped because the turn was cancelled"),
    failed("not_run", "not run: the turn was cancelled before this call started"),
    failed("timed_out", "harga did not finish before the time for tools was up"),
    failed("invalid_arguments", "id: missing"),
]


@st.composite
def conversations(draw: st.DrawFn, own: st.SearchStrategy[Part] | None = None, longest: int = 6) -> tuple[Message, ...]:
    """A conversation.

    Args:
        own: more parts of the provider that is asked, where its name depends on the model.
        longest: contributions at most; an assistant's calls and their results are one.
    """
    speakers = [*LEFT_BEHIND.values(), *([own, own, own] if own is not None else [])]
    shown = st.lists(st.one_of(texts, texts, images, files), max_size=3)
    messages: list[Message] = []
    before: list[ToolCall] = []
    for _ in range(draw(st.integers(0, longest))):
        what = draw(st.sampled_from(["user", "user", "reply", "reply", "reply", "broken"]))
        if what == "user":
            messages.append(Message("user", tuple(draw(shown))))
            continue
        left = draw(st.sampled_from(speakers))
        if what == "broken":
            messages.append(Message("assistant", tuple(draw(st.lists(st.one_of(texts, _thoughts(None)), max_size=2)))))
            continue
        parts = draw(st.lists(st.one_of(texts, texts, left, left, images, files), max_size=4))
        asked = draw(_calls(before))
        before += asked
        for call in asked:
            parts.insert(draw(st.integers(0, len(parts))), call)
        messages.append(Message("assistant", tuple(parts)))
        if asked or draw(st.integers(0, 9)) == 0:
            messages += draw(_results([part for part in parts if isinstance(part, ToolCall)]))
    return tuple(messages)


@st.composite
def _calls(draw: st.DrawFn, before: Sequence[ToolCall]) -> list[ToolCall]:
    """What one reply asks for: new calls, twins of one another, and what was asked before."""
    asked: list[ToolCall] = []
    for _ in range(draw(st.integers(0, 3))):
        known = [*before, *asked]
        name, arguments = draw(names), draw(_json_texts)
        if known and draw(st.integers(0, 2)) == 0:
            again = draw(st.sampled_from(known))
            name, arguments = again.name, again.arguments
        asked.append(ToolCall(f"t1.{len(before) + len(asked)}", name, arguments, draw(_ids)))
    return asked


@st.composite
def _results(draw: st.DrawFn, asked: Sequence[ToolCall]) -> list[Message]:
    """What followed the calls: mostly a result for each, sometimes too few, too many, twice, or none at all."""
    contents = st.lists(st.one_of(texts, texts, images, files), max_size=3).map(tuple)
    fate = draw(st.sampled_from(["whole", "whole", "whole", "reused", "stopped", "lost", "some", "split", "stray"]))
    given: list[ToolResult] = []
    for call in asked:
        if fate == "lost" or (fate == "some" and draw(st.booleans())):
            continue
        if fate == "stopped" and draw(st.booleans()):
            given.append(ToolResult(call.id, call.name, draw(st.sampled_from(_FAULTS)).content, True))
        elif fate == "reused" and given:
            given.append(ToolResult(call.id, call.name, (*given[0].content, Text("(the result of an earlier call)"))))
        else:
            given.append(ToolResult(call.id, call.name, draw(contents), draw(st.booleans())))
    if fate == "stray":
        given += [ToolResult("t0.99", "harga", (Text("basi"),)), *given[:1]]
    if fate == "split" and len(given) > 1:
        return [Message("tool", tuple(given[:1])), Message("tool", tuple(given[1:]))]
    return [Message("tool", tuple(given))] if given else []


settings = st.builds(
    Settings,
    temperature=st.none() | st.just(0.1),
    max_tokens=st.none() | st.just(2000),
    top_p=st.none() | st.just(0.9),
    stop=st.sampled_from([(), ("STOP",)]),
    think=st.sampled_from([None, None, True, False, "low", "medium", "high"]),
    seed=st.none() | st.just(7),
    parallel_calls=st.none() | st.booleans(),
    cache=st.booleans(),
)


@st.composite
def requests(draw: st.DrawFn, own: st.SearchStrategy[Part] | None = None) -> ModelRequest:
    """A whole request; `own` as in `conversations`."""
    tools: tuple[Contract, ...] = draw(st.sampled_from([(), TOOLS, TOOLS[:1]]))
    choices = ["auto", "auto", "none", "required", *(tool.name for tool in tools)] if tools else ["auto"]
    returns: Any = draw(st.sampled_from([None, None, RETURNS]))
    return ModelRequest(
        draw(st.sampled_from(["", "Kamu asisten belanja."])),
        draw(conversations(own)),
        tools,
        draw(st.sampled_from(choices)),
        tools_off=draw(st.booleans()),
        note=draw(st.none() | st.just("Jawab sekarang.")),
        settings=draw(settings),
        conversation=draw(st.none() | st.just("budi/1")),
        returns=returns,
    )
