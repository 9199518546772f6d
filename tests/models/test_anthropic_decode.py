"""What a response says, however it is cut and whatever stands in it; and what is read goes back as it came."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from tests.wire.recordings import WIRE, at_hand
from tukang.conversation import Citation, Message, Opaque, ServerCall, ServerResult, Text, Thinking, ToolCall, Usage
from tukang.models.anthropic_blocks import assistant_blocks
from tukang.models.anthropic_decode import AnthropicDecoder
from tukang.models.anthropic_errors import read_error, reported_error
from tukang.models.base import ArgumentsDelta, CallBegan, Fold, Reply, TextDelta, ThinkingDelta


def sse(*events: dict[str, Any]) -> bytes:
    return b"".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events)


def start(**fields: Any) -> dict[str, Any]:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 2, "output_tokens": 1}
    return {"type": "message_start", "message": {"model": "claude-test", "usage": usage, **fields}}


def block(index: int, opened: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": opened},
        *[{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas],
        {"type": "content_block_stop", "index": index},
    ]


def end(reason: str = "end_turn", **fields: Any) -> list[dict[str, Any]]:
    delta = {"stop_reason": reason, "stop_sequence": None, **fields}
    return [{"type": "message_delta", "delta": delta, "usage": {"output_tokens": 9}}, {"type": "message_stop"}]


def read(data: bytes, *, cut: int | None = None) -> tuple[Reply, AnthropicDecoder]:
    decoder, fold = AnthropicDecoder("claude-test"), Fold()
    pieces = [data] if cut is None else [data[:cut], data[cut:]]
    for piece in pieces:
        for event in decoder.feed(piece):
            fold.add(event)
    for event in decoder.end():
        fold.add(event)
    assert fold.ended is (decoder.error is None)
    return fold.reply(), decoder


THINKING = block(
    0,
    {"type": "thinking", "thinking": "", "signature": ""},
    {"type": "thinking_delta", "thinking": "Hé"},
    {"type": "thinking_delta", "thinking": "m"},
    {"type": "signature_delta", "signature": "c2Vh"},
    {"type": "signature_delta", "signature": "bA=="},
)
CALL = block(
    2,
    {"type": "tool_use", "id": "toolu_1", "name": "harga", "input": {}},
    {"type": "input_json_delta", "partial_json": ""},
    {"type": "input_json_delta", "partial_json": '{"id": '},
    {"type": "input_json_delta", "partial_json": '"é"}'},
)
REPLY = sse(
    start(),
    {"type": "ping"},
    *THINKING,
    *block(1, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Sebentar."}),
    *CALL,
    *block(3, {"type": "tool_use", "id": "toolu_2", "name": "stok", "input": {}}),
    *end("tool_use"),
)


def test_a_stream_and_its_whole_message_are_the_same_reply() -> None:
    reply, decoder = read(REPLY)
    assert reply.parts == (
        Thinking("Hém", "c2VhbA==", "anthropic"),
        Text("Sebentar."),
        ToolCall("", "harga", '{"id": "é"}', "toolu_1"),
        ToolCall("", "stok", "{}", "toolu_2"),
    )
    assert (reply.finish, reply.raw_finish, reply.model) == ("calls", "tool_use", "claude-test")
    assert reply.usage == Usage(input=17, output=9, cache_read=5, cache_write=2, requests=1)
    assert decoder.done
    usage = {"input_tokens": 10, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 2, "output_tokens": 9}
    content: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "Hém", "signature": "c2VhbA=="},
        {"type": "text", "text": "Sebentar."},
        {"type": "tool_use", "id": "toolu_1", "name": "harga", "input": {"id": "é"}},
        {"type": "tool_use", "id": "toolu_2", "name": "stok", "input": {}},
    ]
    message: dict[str, Any] = {
        "type": "message",
        "model": "claude-test",
        "content": content,
        "stop_reason": "tool_use",
        "usage": usage,
    }
    whole, _ = read(json.dumps(message).encode())
    compact = tuple(
        msgspec.structs.replace(part, arguments=part.arguments.replace(" ", "")) if isinstance(part, ToolCall) else part
        for part in reply.parts
    )
    assert msgspec.structs.replace(whole, parts=compact) == msgspec.structs.replace(reply, parts=compact)
    assert whole.parts == compact


def test_a_stream_may_be_cut_anywhere() -> None:
    expected, _ = read(REPLY)
    for place in range(len(REPLY)):
        reply, _ = read(REPLY, cut=place)
        assert reply == expected


def test_events_in_other_frames_say_the_same() -> None:
    decoder, fold = AnthropicDecoder(), Fold()
    for number, line in enumerate(REPLY.decode().splitlines()[1::3]):
        data = line.removeprefix("data: ")
        for event in decoder.feed_event(json.loads(data) if number % 2 else data.encode()):
            fold.add(event)
    for event in decoder.end():
        fold.add(event)
    assert fold.reply() == read(REPLY)[0]


def test_what_streams_is_shown_as_it_comes() -> None:
    decoder = AnthropicDecoder()
    shown = [
        event
        for event in decoder.feed(REPLY)
        if isinstance(event, TextDelta | ThinkingDelta | CallBegan | ArgumentsDelta)
    ]
    assert shown == [
        ThinkingDelta("Hé"),
        ThinkingDelta("m"),
        TextDelta("Sebentar."),
        CallBegan(0, "harga", "toolu_1"),
        ArgumentsDelta(0, '{"id": '),
        ArgumentsDelta(0, '"é"}'),
        CallBegan(1, "stok", "toolu_2"),
        ArgumentsDelta(1, "{}"),
    ]


def test_parts_of_the_providers_own_are_kept_with_what_they_belong_to() -> None:
    cited = {"type": "web_search_result_location", "url": "https://x", "title": "X", "cited_text": "q"}
    opened: dict[str, Any] = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    result: dict[str, Any] = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
    caller = {"type": "code_execution_20250825", "tool_id": "s1"}
    data = sse(
        start(),
        *block(0, {"type": "redacted_thinking", "data": "ZGF0YQ=="}),
        *block(1, opened, {"type": "input_json_delta", "partial_json": '{"query": "x"}'}),
        *block(2, result),
        *block(
            3,
            {"type": "text", "text": "", "citations": []},
            {"type": "text_delta", "text": "ya"},
            {"type": "citations_delta", "citation": cited},
        ),
        *block(4, {"type": "compaction", "content": ""}, {"type": "compaction_delta", "content": "ringkas"}),
        *block(5, {"type": "tool_use", "id": "t", "name": "harga", "input": {"a": 1}, "caller": caller}),
        *end("tool_use", container={"id": "c1", "expires_at": "2026-01-01T00:00:00Z"}),
    )
    reply, _ = read(data)
    assert reply.parts == (
        Thinking("", "ZGF0YQ==", "anthropic", redacted=True),
        ServerCall(
            "s1", "web_search", '{"query": "x"}', "anthropic", {**opened, "input": {"query": "x"}}, tool="web_search"
        ),
        ServerResult("s1", "anthropic", result),
        Text("ya"),
        Citation("X", "https://x", "q", "anthropic", cited),
        Opaque("anthropic", {"type": "compaction", "content": "ringkas"}),
        Opaque("anthropic", {"caller": caller}),
        ToolCall("", "harga", '{"a":1}', "t"),
        Opaque("anthropic", {"container": "c1"}),
    )


def test_thinking_that_is_not_shown_keeps_its_seal() -> None:
    opened = {"type": "thinking", "thinking": "", "signature": ""}
    data = sse(start(), *block(0, opened, {"type": "signature_delta", "signature": "s"}), *end())
    assert read(data)[0].parts == (Thinking("", "s", "anthropic"),)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("tool_use", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "paused"),
        ("refusal", "refused"),
        ("something_new", "unknown"),
    ],
)
def test_every_stop_reason(reason: str, finish: str) -> None:
    reply, _ = read(sse(start(), *block(0, {"type": "text", "text": "ya"}), *end(reason)))
    assert (reply.finish, reply.raw_finish, reply.text) == (finish, reason, "ya")


def test_a_refusal_says_why() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "Tidak boleh."}
    reply, _ = read(sse(start(), *end("refusal", stop_details=details)))
    assert (reply.finish, reply.refusal) == ("refused", "Tidak boleh.")


# ── what is not as it should be ──────────────────────────────────────────────────────────────────────────────────────


def test_an_error_inside_a_stream_keeps_what_came_before() -> None:
    failed = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    reply, decoder = read(sse(start(), *block(0, {"type": "text", "text": "ya"}), failed, *end()))
    assert reply.text == "ya"
    assert reply.usage.input == 17
    assert decoder.error is not None
    assert (decoder.error.kind, decoder.error.retryable, decoder.error.message) == ("overloaded", True, "Overloaded")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "it is empty"),
        (b"<html>nginx</html>", "nginx"),
        (b'{"choices": []}', "neither a message"),
        (b'{"type": "message", "model": "x"}', "no content"),
        (b'{"type": "message", "content": [', "cannot be read"),
        (sse(start(), *CALL[:-1]), "broke off"),
        (sse(start(), *block(0, {"type": "text", "text": "a"}), start(), *end()), "second message"),
        (b"event: ping\ndata: {}\n\n", "neither a message"),
    ],
)
def test_what_is_no_whole_reply_is_an_error(data: bytes, words: str) -> None:
    _, decoder = read(data)
    assert decoder.error is not None
    assert decoder.error.kind == "bad_response"
    assert words in decoder.error.message


def test_a_message_that_only_began_twice_is_one_message() -> None:
    reply, decoder = read(sse(start(), start(), *block(0, {"type": "text", "text": "ya"}), *end()))
    assert decoder.error is None
    assert reply.text == "ya"


def test_after_the_end_nothing_is_read() -> None:
    reply, _ = read(
        sse(
            start(), *block(0, {"type": "text", "text": "a"}), *end(), start(), *block(0, {"type": "text", "text": "b"})
        )
    )
    assert reply.text == "a"


def test_odd_servers_are_read() -> None:
    late = sse(start(), *block(0, {"type": "text", "text": "a"})[:1], *block(0, {"type": "text", "text": "b"})[:1])
    reply, decoder = read(late + sse(*end()[:1]) + b"data: [DONE]\n\n")
    assert decoder.error is None
    assert (reply.text, reply.finish) == ("ab", "stop")
    odd = {"type": "content_block_delta", "index": 7, "delta": {"type": "text_delta", "text": "?"}}
    reply, _ = read(sse(start(usage=None, model=3), odd, *block(0, {}), *end()))
    assert reply.parts == ()


@pytest.mark.parametrize(
    ("status", "type", "kind", "again"),
    [
        (400, "invalid_request_error", "bad_request", False),
        (401, "authentication_error", "authentication", False),
        (402, "billing_error", "rate_limited", False),
        (403, "permission_error", "authentication", False),
        (404, "not_found_error", "not_found", False),
        (408, "invalid_request_error", "overloaded", True),
        (413, "request_too_large", "bad_request", False),
        (429, "rate_limit_error", "rate_limited", True),
        (500, "api_error", "overloaded", True),
        (504, "timeout_error", "overloaded", True),
        (529, "overloaded_error", "overloaded", True),
        (529, "?", "overloaded", True),
        (None, "rate_limit_error", "rate_limited", True),
    ],
)
def test_every_error(status: int | None, type: str, kind: str, again: bool) -> None:
    error = reported_error({"type": type, "message": "m"}, status=status)
    assert (error.kind, error.retryable, error.message) == (kind, again, "m")


def test_errors_say_how_to_fix_them() -> None:
    assert "ANTHROPIC_API_KEY" in (reported_error("x", status=401).hint or "")
    assert "'claude-x'" in (reported_error("x", status=404, model="claude-x").hint or "")
    assert "credit" in (reported_error({"message": "Your credit balance is too low"}, status=400).hint or "")
    assert "window" in (reported_error({"message": "prompt is too long: 2 > 1"}, status=400).hint or "")
    assert read_error(b"<h1>Bad gateway</h1>") == "<h1>Bad gateway</h1>"
    assert read_error(b'{"error": {"message": "m"}}') == {"message": "m"}


# ── what was read goes back as it came ───────────────────────────────────────────────────────────────────────────────


def test_recorded_replies_go_back_as_they_came() -> None:
    path = at_hand(WIRE / "anthropic.jsonl")
    compared = 0
    for line in path.read_bytes().splitlines():
        recorded = json.loads(line)
        data = recorded["response"]["body"]
        content = json.loads(data).get("content") if data.startswith("{") else None
        if content is None:
            continue
        reply, _ = read(data.encode())
        kept = assistant_blocks(Message("assistant", numbered(reply)))
        back = [json.loads(one) for one in kept.blocks]
        assert back == as_sent(content), recorded["id"]
        compared += 1
    assert compared > 350


def numbered(reply: Reply) -> tuple[Any, ...]:
    return tuple(
        msgspec.structs.replace(part, id=f"c{place}") if isinstance(part, ToolCall) else part
        for place, part in enumerate(reply.parts)
    )


def as_sent(content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Recorded blocks with what is left out on purpose: blank texts, direct callers."""
    out: list[dict[str, Any]] = []
    for one in content:
        one = {
            key: value
            for key, value in one.items()
            if not (key == "caller" and value["type"] == "direct" and one["type"] == "tool_use")
        }
        if one["type"] == "text" and not one.get("citations"):
            one.pop("citations", None)
        out.append(one)
    return [one for one in out if one["type"] != "text" or one["text"].strip()]
