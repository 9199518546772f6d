"""What Converse's replies are read as: whole, in frames, cut anywhere, and not as they should be."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any

import pytest

from tests.models.bedrock_server import delta, end, frame, start, stop
from tukang.conversation import Citation, Image, Opaque, ServerCall, ServerResult, Text, Thinking, ToolCall, Usage
from tukang.errors import ModelError
from tukang.models.base import Fold, Reply, TextDelta, ThinkingDelta
from tukang.models.bedrock_converse_decode import ConverseDecoder

SEAL = base64.b64encode(b"seal").decode()
STREAM = (
    frame("messageStart", {"role": "assistant"})
    + delta(0, reasoningContent={"text": "hm"})
    + delta(0, reasoningContent={"signature": "c2Vh"})
    + stop(0)
    + delta(1, text="Ha")
    + delta(1, text="lo 🏠")
    + stop(1)
    + start(2, toolUse={"toolUseId": "tooluse_1", "name": "harga"})
    + delta(2, toolUse={"input": '{"id": '})
    + delta(2, toolUse={"input": '"P1"}'})
    + stop(2)
    + end("tool_use")
)
WHOLE: dict[str, Any] = {
    "output": {
        "message": {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2Vh"}}},
                {"text": "Halo 🏠"},
                {"toolUse": {"toolUseId": "tooluse_1", "name": "harga", "input": {"id": "P1"}}},
            ],
        }
    },
    "stopReason": "tool_use",
    "usage": {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15},
}


def read(pieces: Iterable[bytes]) -> tuple[Reply, ModelError | None]:
    decoder, fold = ConverseDecoder("bedrock:anthropic", "m"), Fold()
    for piece in pieces:
        for event in decoder.feed(piece):
            fold.add(event)
    for event in decoder.end():
        fold.add(event)
    assert fold.ended == (decoder.error is None)
    return fold.reply(), decoder.error


def good(*pieces: bytes) -> Reply:
    reply, error = read(pieces)
    assert error is None
    return reply


def whole(*content: Any, reason: str = "end_turn", **usage: int) -> Reply:
    body = {"output": {"message": {"content": list(content)}}, "stopReason": reason, "usage": usage}
    return good(json.dumps(body).encode())


def test_a_stream_and_a_whole_reply_say_the_same() -> None:
    streamed, complete = good(STREAM), good(json.dumps(WHOLE, ensure_ascii=False).encode())
    assert streamed.parts[:2] == (Thinking("hm", "c2Vh", "bedrock:anthropic"), Text("Halo 🏠"))
    assert streamed.parts[2] == ToolCall("", "harga", '{"id": "P1"}', "tooluse_1")
    assert complete == streamed
    assert (streamed.finish, streamed.raw_finish, streamed.usage) == ("calls", "tool_use", Usage(10, 5, requests=1))


def test_a_stream_may_be_cut_at_every_byte() -> None:
    expected = good(STREAM)
    for place in range(1, len(STREAM)):
        assert good(STREAM[:place], STREAM[place:]) == expected
    assert good(*(STREAM[place : place + 1] for place in range(len(STREAM)))) == expected


def test_deltas_are_given_on_as_they_come() -> None:
    decoder = ConverseDecoder()
    assert decoder.feed(delta(0, reasoningContent={"text": "hm"})) == [ThinkingDelta("hm")]
    assert decoder.feed(delta(1, text="Ha")) == [TextDelta("Ha")]


def test_numbers_keep_the_spelling_the_model_gave_them() -> None:
    body = json.dumps(WHOLE).replace('"P1"', "7006652.0").encode()
    assert good(body).calls[0].arguments == '{"id": 7006652.0}'


def test_calls_without_arguments_and_ids() -> None:
    reply = good(start(0, toolUse={"name": "jam"}), stop(0), start(0, toolUse={"name": "jam"}), stop(0), end())
    assert reply.calls == (ToolCall("", "jam", ""), ToolCall("", "jam", ""))
    assert reply.finish == "calls", "the calls themselves count, whatever the reason says"


def test_redacted_reasoning_stands_beside_the_other() -> None:
    reply = good(
        delta(0, reasoningContent={"text": "hm"}),
        stop(0),
        delta(1, reasoningContent={"redactedContent": base64.b64encode(b"se").decode()}),
        delta(1, reasoningContent={"redactedContent": base64.b64encode(b"al").decode()}),
        stop(1),
        end(),
    )
    sealed = Thinking("", SEAL, "bedrock:anthropic", redacted=True)
    assert reply.parts == (Thinking("hm", None, "bedrock:anthropic"), sealed)
    assert whole({"reasoningContent": {"redactedContent": SEAL}}).parts == (sealed,)


def test_a_provider_s_own_tool_is_no_call_of_ours() -> None:
    use = {"toolUseId": "s1", "name": "nova_code", "type": "server_tool_use"}
    result = {"toolUseId": "s1", "status": "success", "type": "nova_code_result"}
    streamed = good(
        start(0, toolUse=use),
        delta(0, toolUse={"input": '{"a":1}'}),
        stop(0),
        start(1, toolResult=result),
        delta(1, toolResult=[{"json": {"ok": True}}]),
        stop(1),
        end("tool_use"),
    )
    block = {"toolUse": {**use, "input": {"a": 1}}}
    assert streamed.parts == (
        ServerCall("s1", "nova_code", '{"a":1}', "bedrock:anthropic", block),
        ServerResult(
            "s1", "bedrock:anthropic", {"toolResult": {**result, "content": [{"json": {"ok": True}}]}}, '{"ok":true}'
        ),
    )
    assert (streamed.finish, streamed.calls) == ("stop", ())
    [call] = whole(block).parts
    assert isinstance(call, ServerCall)
    assert call.data == block


def test_citations_pictures_and_unknown_blocks() -> None:
    cited = {"title": "UU 1", "source": "https://a", "sourceContent": [{"text": "pasal 1"}], "location": {}}
    picture = {"image": {"format": "png", "source": {"bytes": base64.b64encode(b"x").decode()}}}
    reply = whole(
        {"citationsContent": {"content": [{"text": "Ya."}], "citations": [cited]}}, picture, {"hologram": {"a": 1}}
    )
    assert reply.parts == (
        Text("Ya."),
        Citation("UU 1", "https://a", "pasal 1", "bedrock:anthropic", cited),
        Image("image/png", b"x"),
        Opaque("bedrock:anthropic", {"hologram": {"a": 1}}),
    )
    assert good(delta(0, text="Ya."), delta(0, citation=cited), end()).parts == reply.parts[:2]


def test_what_a_cache_was_asked_for_is_part_of_the_input() -> None:
    usage = whole(
        {"text": "a"}, inputTokens=3, outputTokens=2, cacheReadInputTokens=100, cacheWriteInputTokens=20
    ).usage
    assert usage == Usage(123, 2, cache_read=100, cache_write=20, requests=1)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("guardrail_intervened", "filtered"),
        ("content_filtered", "filtered"),
        ("malformed_model_output", "unknown"),
        ("tomorrow", "unknown"),
    ],
)
def test_why_a_reply_ended(reason: str, finish: str) -> None:
    assert whole({"text": "a"}, reason=reason).finish == finish


def test_the_counts_may_come_before_the_reason() -> None:
    ended = end()
    first = ended[: int.from_bytes(ended[:4])]
    decoder = ConverseDecoder()
    decoder.feed(delta(0, text="a") + ended[len(first) :])
    assert not decoder.done
    decoder.feed(first)
    assert decoder.done


# ── not as it should be ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("kind", "means", "again"),
    [
        ("throttlingException", "rate_limited", True),
        ("internalServerException", "overloaded", True),
        ("serviceUnavailableException", "overloaded", True),
        ("modelStreamErrorException", "bad_response", True),
        ("validationException", "bad_request", False),
        ("whoKnowsException", "overloaded", True),
    ],
)
def test_a_failure_inside_a_stream(kind: str, means: str, again: bool) -> None:
    reply, error = read([delta(0, text="Ha"), frame(kind, {"message": "Too  many\n requests"}, "exception"), end()])
    assert reply.text == "Ha", "what came before is not lost"
    assert error is not None
    assert (error.kind, error.retryable, error.message) == (means, again, "Too many requests")


def test_an_error_frame_without_a_body() -> None:
    _, error = read([frame("InternalError", b"", "error")])
    assert error is not None
    assert (error.kind, error.message) == ("overloaded", "InternalError")


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ([], "empty"),
        ([delta(0, text="Ha")], "broke off"),
        ([STREAM[:-200]], "broke off"),
        ([STREAM[:100] + b"!" + STREAM[101:]], "broken"),
        ([frame("contentBlockDelta", b"not json")], "not one"),
        ([end("malformed_tool_use")], "malformed_tool_use"),
        ([b'{"output": {"message": {"content": []}}}'], "empty"),
        ([b"<html>"], "<html>"),
        ([b'{"Output":{"__type":"com.amazon.coral.service#UnknownOperationException","message":"nope"}}'], "nope"),
    ],
)
def test_what_is_no_reply_is_an_error(pieces: list[bytes], words: str) -> None:
    _, error = read(pieces)
    assert error is not None
    assert words in error.message


def test_half_a_character_does_not_cost_the_reply() -> None:
    payload = b'{"contentBlockIndex": 0, "delta": {"text": "a\\ud83d"}}'
    assert good(frame("contentBlockDelta", payload), end()).text == "a\ufffd"
