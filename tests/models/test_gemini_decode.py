"""What Gemini says, however it is cut; how a reply may end; and what Google's errors are called.

No traffic was recorded of this protocol: the replies are made after Google's documentation, and its SDK's types, which refuse
unknown fields, take each of them.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from google.genai import types

from tests.wire import gemini as wire
from tukang.conversation import Citation, Image, Opaque, ServerCall, ServerResult, Text, Thinking, ToolCall, Usage
from tukang.errors import ModelError
from tukang.models.base import Fold, ModelEvent, Reply, TextDelta
from tukang.models.gemini_decode import FINISH, GeminiDecoder
from tukang.models.gemini_errors import read_error, reported_error
from tukang.models.gemini_parts import PROVIDER, seal

SEAL = base64.b64encode(b"a thought, sealed").decode()
USAGE = {
    "promptTokenCount": 100,
    "candidatesTokenCount": 20,
    "thoughtsTokenCount": 30,
    "cachedContentTokenCount": 64,
    "toolUsePromptTokenCount": 5,
    "totalTokenCount": 155,
}


def chunk(*parts: dict[str, Any], finish: str | None = None, **fields: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    candidate |= fields.pop("candidate", {})
    made = {"candidates": [candidate], "modelVersion": "gemini-3-flash", "responseId": "r1", **fields}
    types.GenerateContentResponse.model_validate(made)  # the SDK reads it too
    return made


def event(body: Any) -> bytes:
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\r\n\r\n"


def function(name: str, args: Any = None, sealed: str | None = None, **fields: Any) -> dict[str, Any]:
    part: dict[str, Any] = {"functionCall": {"name": name, **fields}}
    if args is not None:
        part["functionCall"]["args"] = args
    return part | ({"thoughtSignature": sealed} if sealed else {})


def read(*chunks: bytes) -> tuple[Reply, ModelError | None]:
    decoder = GeminiDecoder("gemini-3-flash")
    fold = Fold()
    events: list[ModelEvent] = []
    for one in chunks:
        events += decoder.feed(one)
    events += decoder.end()
    for one in events:
        fold.add(one)
    assert fold.ended is (decoder.error is None)
    return fold.reply(), decoder.error


def whole(*parts: dict[str, Any], finish: str | None = "STOP", **fields: Any) -> Reply:
    reply, error = read(json.dumps(chunk(*parts, finish=finish, **fields)).encode())
    assert error is None
    return reply


STREAM = (
    event(chunk({"text": "hm ", "thought": True}))
    + event(chunk({"text": "é", "thought": True}))
    + event(chunk({"text": "Sebentar, "}))
    + event(chunk({"text": "saya cek 🏠."}))
    + event(
        chunk(
            function("harga", {"id": "PRD002"}, SEAL, id="c1"), function("stok"), usageMetadata={"promptTokenCount": 1}
        )
    )
    + event(chunk({"text": "", "thoughtSignature": SEAL}, finish="STOP", usageMetadata=USAGE))
)
PARTS = (
    Thinking("hm é"),
    Text("Sebentar, saya cek 🏠."),
    ToolCall("", "harga", '{"id":"PRD002"}', "c1"),
    seal(SEAL, "functionCall"),
    ToolCall("", "stok", ""),
    seal(SEAL, "text"),
)


def test_a_stream_is_read_the_same_wherever_it_is_cut() -> None:
    reply, error = read(STREAM)
    assert error is None
    assert reply.parts == PARTS
    assert (reply.finish, reply.raw_finish, reply.model) == ("calls", "STOP", "gemini-3-flash")
    assert reply.usage == Usage(input=105, output=50, reasoning=30, cache_read=64, requests=1)
    for place in range(1, len(STREAM), 7):
        assert read(STREAM[:place], STREAM[place:]) == (reply, None)
    assert read(*(STREAM[place : place + 1] for place in range(len(STREAM)))) == (reply, None)


def test_whole_replies_and_lists_of_chunks_are_read_like_streams() -> None:
    chunks = [json.loads(line[6:]) for line in STREAM.decode().split("\r\n") if line]
    reply, error = read(json.dumps(chunks, indent=1).encode())
    assert error is None
    assert reply.parts == PARTS
    same = whole({"text": "hm é", "thought": True}, {"text": "ya"}, usageMetadata=USAGE)
    assert (same.thinking, same.text, same.finish) == ("hm é", "ya", "stop")


def test_a_word_is_passed_on_before_the_reply_is_whole() -> None:
    assert GeminiDecoder().feed(event(chunk({"text": "Halo"}))) == [TextDelta("Halo")]


def test_the_same_rows_as_of_recorded_protocols_can_be_compared() -> None:
    row: dict[str, Any] = {
        "expect": {
            "text": "Sebentar, saya cek 🏠.",
            "thinking": "hm é",
            "tool_calls": [
                {"id": "c1", "name": "harga", "input": {"id": "PRD002"}},
                {"id": None, "name": "stok", "input": {}},
            ],
            "finish": "STOP",
            "usage": USAGE,
            "error": None,
        }
    }
    assert wire.expected(row).differences(wire.decode(200, {}, [STREAM])) == []
    row["expect"]["text"] = "tidak"
    assert wire.expected(row).differences(wire.decode(200, {}, [STREAM])) != []


# ── parts ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_sealed_thought_is_whole_and_keeps_its_seal() -> None:
    reply = whole(
        {"text": "satu ", "thought": True},
        {"text": "dua", "thought": True, "thoughtSignature": SEAL},
        {"text": "tiga", "thought": True},
        {"text": "ya"},
    )
    assert reply.parts == (Thinking("satu dua", SEAL, PROVIDER), Thinking("tiga"), Text("ya"))


def test_a_seal_alone_is_that_of_the_text_before_it() -> None:
    assert whole({"text": "ya"}, {"thoughtSignature": SEAL}).parts == (Text("ya"), seal(SEAL, "text"))


def test_what_the_server_ran_itself_is_kept_verbatim() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "print(1)"}, "thoughtSignature": SEAL}
    outcome = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}}
    search = {"toolCall": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"q": "a"}}}
    found = {"toolResponse": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "response": {"b": 1}}}
    assert whole(code, outcome, search, found).parts == (
        ServerCall("", "code_execution", '{"code":"print(1)"}', PROVIDER, code, tool="code"),
        ServerResult("", PROVIDER, outcome, "1"),
        ServerCall("t1", "GOOGLE_SEARCH_WEB", '{"q":"a"}', PROVIDER, search, tool="web_search"),
        ServerResult("t1", PROVIDER, found, '{"b":1}'),
    )


def test_pictures_are_pictures_and_what_is_new_is_kept() -> None:
    coded = base64.urlsafe_b64encode(b"\xfb\xff\xfe").decode()
    picture = {"inlineData": {"mimeType": "image/png", "data": coded}, "thoughtSignature": SEAL}
    assert whole(picture).parts == (Image("image/png", b"\xfb\xff\xfe"), seal(SEAL, "inlineData"))
    body = chunk()
    body["candidates"][0]["content"]["parts"] = [{"somethingNew": {"a": 1}}]
    body["candidates"][0]["finishReason"] = "STOP"
    reply, _ = read(json.dumps(body).encode())
    assert reply.parts == (Opaque(PROVIDER, {"somethingNew": {"a": 1}}),)


def test_sources_come_once_at_the_end() -> None:
    page = {"web": {"uri": "https://x", "title": "X"}}
    grounding = {
        "groundingChunks": [page],
        "groundingSupports": [{"segment": {"text": "Rp 1"}, "groundingChunkIndices": [0]}],
    }
    cited = {"citationSources": [{"uri": "https://y", "startIndex": 1}]}
    first = event(chunk({"text": "Rp "}, candidate={"groundingMetadata": grounding}))
    body = chunk({"text": "1"}, finish="STOP", candidate={"groundingMetadata": grounding})
    body["candidates"][0]["citationMetadata"] = cited
    reply, _ = read(first, event(body))
    assert reply.parts == (
        Text("Rp 1"),
        Citation("X", "https://x", "Rp 1", PROVIDER, page),
        Citation(None, "https://y", None, PROVIDER, cited["citationSources"][0]),
    )


def test_odd_values_lose_nothing_else() -> None:
    reply = whole({"text": "ya"})
    body: Any = {
        "candidates": [{"content": {"parts": [{"functionCall": {"args": None}}, {"text": 1}, {"text": "ya"}]}}]
    }
    odd, error = read(json.dumps(body).encode())
    assert error is None
    assert (odd.text, odd.finish) == (reply.text, "calls")
    assert odd.calls == (ToolCall("", "", ""),)


# ── how a reply ends ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("reason", [one.value for one in types.FinishReason])
def test_every_end_that_google_names_is_one_here(reason: str) -> None:
    reply, error = read(event(chunk({"text": "Hal"}, finish=reason)))
    assert reply.text == "Hal"
    if reason in FINISH or reason in ("OTHER", "FINISH_REASON_UNSPECIFIED", "IMAGE_OTHER", "NO_IMAGE"):
        assert error is None
        assert (reply.finish, reply.raw_finish) == (FINISH.get(reason, "unknown"), reason)
    else:
        assert error is not None
        assert reason in error.message


@pytest.mark.parametrize(
    ("reason", "kind", "again"),
    [
        ("MALFORMED_FUNCTION_CALL", "bad_response", True),
        ("UNEXPECTED_TOOL_CALL", "bad_response", True),
        ("MALFORMED_RESPONSE", "bad_response", True),
        ("TOO_MANY_TOOL_CALLS", "bad_response", False),
        ("MISSING_THOUGHT_SIGNATURE", "bad_request", False),
        ("PUP_LIMITED_DISABLED", "authentication", False),
    ],
)
def test_ends_that_are_no_reply_say_why(reason: str, kind: str, again: bool) -> None:
    body = chunk(finish=reason, candidate={"finishMessage": "print(harga("})
    _, error = read(json.dumps(body).encode())
    assert error is not None
    assert (error.kind, error.retryable) == (kind, again)
    assert "print(harga(" in error.message


def test_a_filter_that_stops_a_reply_keeps_what_came() -> None:
    reply, error = read(event(chunk({"text": "Car"})), event({"candidates": [{"finishReason": "SAFETY", "index": 0}]}))
    assert error is None
    assert (reply.text, reply.finish) == ("Car", "filtered")


def test_a_prompt_that_was_blocked_is_never_a_silent_empty_answer() -> None:
    body = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 9}}
    types.GenerateContentResponse.model_validate(body)
    reply, error = read(event(body))
    assert error is not None
    assert (error.kind, error.retryable) == ("filtered", False)
    assert "SAFETY" in error.message
    assert "safetySettings" in str(error)
    assert reply.usage == Usage(9, requests=1), "what it cost is known all the same"


def test_calls_decide_where_the_reason_does_not() -> None:
    assert whole(function("harga"), finish="OTHER").finish == "calls"
    assert whole(function("harga"), finish="MAX_TOKENS").finish == "length"
    body: Any = {"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "SOMETHING_NEW"}]}
    assert read(json.dumps(body).encode())[0].finish == "unknown"


# ── what goes wrong ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_stream_that_breaks_off_is_no_reply() -> None:
    for end in (b"", b'data: {"candidates": [{"con'):
        reply, error = read(event(chunk({"text": "Hal"})) + end)
        assert reply.text == "Hal"
        assert error is not None
        assert (error.kind, error.retryable) == ("bad_response", True)


@pytest.mark.parametrize("body", [{"candidates": []}, {"usageMetadata": USAGE}, {"modelVersion": "m"}])
def test_a_reply_without_candidates_may_be_asked_for_again(body: dict[str, Any]) -> None:
    _, error = read(json.dumps({"modelVersion": "m"} | body).encode())
    assert error is not None
    assert (error.kind, error.retryable) == ("bad_response", True)


@pytest.mark.parametrize("body", [b"", b"<html>hello</html>", b'{"choices": []}', b"[]", b"[1]", b"data: [DONE]\n\n"])
def test_what_is_not_the_protocol_is_never_a_reply(body: bytes) -> None:
    _, error = read(body)
    assert error is not None
    assert error.kind == "bad_response"


def failed(code: int, status: str, *details: dict[str, Any], message: str = "pecah") -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


def test_an_error_in_a_stream_comes_after_what_was_said_before_it() -> None:
    reply, error = read(event(chunk({"text": "Hal"})) + event(failed(503, "UNAVAILABLE", message="overloaded")))
    assert reply.text == "Hal"
    assert error is not None
    assert (error.kind, error.retryable, error.status) == ("overloaded", True, 503)


RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.07s"}
WRONG_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
DAILY = {
    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
    "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
}
MINUTE = {"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]}


@pytest.mark.parametrize(
    ("status", "error", "kind", "again", "wait", "hint"),
    [
        (429, failed(429, "RESOURCE_EXHAUSTED", MINUTE, RETRY), "rate_limited", True, 34.07, None),
        (429, failed(429, "RESOURCE_EXHAUSTED", DAILY, RETRY), "rate_limited", False, None, "quota of the day"),
        (429, failed(429, "RESOURCE_EXHAUSTED"), "rate_limited", True, 2.0, None),
        (400, failed(400, "INVALID_ARGUMENT", WRONG_KEY), "authentication", False, None, "GEMINI_API_KEY"),
        (400, failed(400, "INVALID_ARGUMENT"), "bad_request", False, None, None),
        (403, failed(403, "PERMISSION_DENIED"), "authentication", False, None, "GOOGLE_API_KEY"),
        (404, failed(404, "NOT_FOUND"), "not_found", False, None, "gemini-9"),
        (500, failed(500, "INTERNAL"), "overloaded", True, 2.0, None),
        (503, failed(503, "UNAVAILABLE"), "overloaded", True, 2.0, None),
        (504, failed(504, "DEADLINE_EXCEEDED"), "overloaded", True, 2.0, None),
        (400, failed(400, "FAILED_PRECONDITION"), "bad_request", False, None, None),
    ],
)
def test_what_an_error_is_called(
    status: int, error: Any, kind: str, again: bool, wait: float | None, hint: str | None
) -> None:
    for body in (error, [error]):
        found = reported_error(read_error(json.dumps(body).encode()), status=status, model="gemini-9", retry_after=2.0)
        assert (found.kind, found.retryable, found.status, found.retry_after) == (kind, again, status, wait)
        assert found.message == "pecah"
        assert (hint or "") in (found.hint or "")


@pytest.mark.parametrize(
    ("body", "message"), [(b"<html>Bad\nGateway", "<html>Bad Gateway"), (b"", "The server gave no reason.")]
)
def test_an_error_that_is_not_googles(body: bytes, message: str) -> None:
    error = reported_error(read_error(body), status=502)
    assert (error.kind, error.message, error.retryable) == ("overloaded", message, True)
