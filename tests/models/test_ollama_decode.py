"""What Ollama says, however it is cut; what a forced call looks like; and what its errors are called."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import pytest

from tukang.conversation import Usage
from tukang.errors import ModelError
from tukang.models.base import Fold, ModelEvent, Reply, TextDelta
from tukang.models.ollama_decode import OllamaDecoder, read_error
from tukang.models.ollama_errors import reported_error

END = {"done": True, "done_reason": "stop", "prompt_eval_count": 26, "eval_count": 8}


def line(message: dict[str, Any] | None = None, **fields: Any) -> bytes:
    said = {} if message is None else {"message": {"role": "assistant", "content": "", **message}}
    return json.dumps({"model": "qwen3", **said, "done": False, **fields}, ensure_ascii=False).encode() + b"\n"


def call(name: str, arguments: Any, **fields: Any) -> dict[str, Any]:
    return {**fields, "function": {"name": name, "arguments": arguments}}


def read(*chunks: bytes, forced: Collection[str] = ()) -> tuple[Reply, ModelError | None]:
    decoder = OllamaDecoder("qwen3", forced)
    fold = Fold()
    events: list[ModelEvent] = []
    for chunk in chunks:
        events += decoder.feed(chunk)
    events += decoder.end()
    for event in events:
        fold.add(event)
    assert fold.ended is (decoder.error is None)
    return fold.reply(), decoder.error


def calls(reply: Reply) -> list[tuple[str, str, str | None]]:
    return [(one.name, one.arguments, one.wire_id) for one in reply.calls]


STREAM = (
    line({"thinking": "hm "})
    + line({"thinking": "é"})
    + line({"content": "Sebentar, "})
    + line({"content": "saya cek 🏠."})
    + line({"tool_calls": [call("harga", {"id": "PRD002"}), call("stok", {}, id="call_2")]})
    + line({"tool_calls": [call("harga", {"id": "PRD002"})]})
    + line({}, **END)
)


def test_a_stream_is_read_the_same_wherever_it_is_cut() -> None:
    reply, error = read(STREAM)
    assert error is None
    assert (reply.thinking, reply.text) == ("hm é", "Sebentar, saya cek 🏠.")
    assert calls(reply) == [
        ("harga", '{"id": "PRD002"}', None),
        ("stok", "{}", "call_2"),
        ("harga", '{"id": "PRD002"}', None),
    ]
    assert (reply.finish, reply.raw_finish, reply.model) == ("calls", "stop", "qwen3")
    assert reply.usage == Usage(26, 8, requests=1)
    for place in range(1, len(STREAM)):
        assert read(STREAM[:place], STREAM[place:]) == (reply, None)
    assert read(*(STREAM[place : place + 1] for place in range(len(STREAM)))) == (reply, None)


def test_a_whole_reply_on_one_line_or_on_many_is_one() -> None:
    body = {"model": "qwen3", "message": {"role": "assistant", "content": "ya", "thinking": "hm"}, **END}
    for text in (json.dumps(body), json.dumps(body, indent=2), "\n" + json.dumps(body) + "\n\n"):
        reply, error = read(text.encode())
        assert error is None
        assert (reply.text, reply.thinking, reply.finish) == ("ya", "hm", "stop")


def test_a_word_is_passed_on_before_the_reply_is_whole() -> None:
    assert OllamaDecoder().feed(line({"content": "Halo"})) == [TextDelta("Halo")]


@pytest.mark.parametrize(
    ("reason", "finish"),
    [(None, "stop"), ("stop", "stop"), ("length", "length"), ("load", "unknown"), ("x", "unknown")],
)
def test_why_a_reply_ended(reason: str | None, finish: str) -> None:
    reply, _ = read(line({"content": "a"}, done=True, done_reason=reason))
    assert (reply.finish, reply.raw_finish) == (finish, reason)


def test_a_reply_cut_at_the_token_limit_is_that_although_it_has_calls() -> None:
    reply, _ = read(line({"tool_calls": [call("harga", {})]}, done=True, done_reason="length"))
    assert (reply.finish, len(reply.calls)) == ("length", 1)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [({"id": 1}, '{"id": 1}'), (None, ""), ('{"id": 1}', '{"id": 1}'), ("", ""), ([1], "[1]"), ({}, "{}")],
)
def test_arguments_are_kept_as_they_came(arguments: Any, text: str) -> None:
    reply, _ = read(line({"tool_calls": [call("harga", arguments)]}), line({}, **END))
    assert calls(reply) == [("harga", text, None)]


def test_a_call_without_a_name_or_a_function_is_a_call() -> None:
    reply, error = read(line({"tool_calls": [{"function": {"arguments": {}}}, {}]}), line({}, **END))
    assert error is None
    assert calls(reply) == [("", "{}", None), ("", "", None)]


def test_counts_that_did_not_come_are_no_counts() -> None:
    reply, _ = read(line({"content": "a"}, done=True))
    assert reply.usage == Usage()
    reply, _ = read(line({"content": "a"}, done=True, eval_count=8))
    assert reply.usage == Usage(0, 8, requests=1)


# ── a call that was forced ───────────────────────────────────────────────────────────────────────────────────────────


def test_json_that_was_demanded_is_the_call_and_no_word_of_it_is_shown() -> None:
    decoder = OllamaDecoder(forced={"harga"})
    pieces = ['{"name": "har', 'ga", "arguments": {"id"', ': "PRD002"}}']
    assert [event for piece in pieces for event in decoder.feed(line({"content": piece}))] == []
    reply, error = read(*(line({"content": piece}) for piece in pieces), line({}, **END), forced={"harga"})
    assert error is None
    assert (reply.text, reply.finish) == ("", "calls")
    assert calls(reply) == [("harga", '{"id":"PRD002"}', None)]


def test_a_forced_call_that_comes_the_usual_way_counts_once() -> None:
    reply, _ = read(line({"content": "Baik.", "tool_calls": [call("harga", {})]}), line({}, **END), forced={"harga"})
    assert (reply.text, calls(reply)) == ("Baik.", [("harga", "{}", None)])


@pytest.mark.parametrize("text", ["Halo.", '{"name": "stok", "arguments": {}}', '{"name": "harga"}', "[1]", '{"a'])
def test_anything_else_is_what_it_is(text: str) -> None:
    reply, _ = read(line({"content": text}), line({}, **END), forced={"harga"})
    assert (reply.text, reply.calls, reply.finish) == (text, (), "stop")


def test_json_that_nobody_demanded_is_text() -> None:
    text = '{"name": "harga", "arguments": {}}'
    assert read(line({"content": text}), line({}, **END))[0].text == text


# ── what goes wrong ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_error_in_a_stream_comes_after_what_was_said_before_it() -> None:
    reply, error = read(line({"content": "Hal"}), b'{"error":"an error was encountered while running the model"}\n')
    assert reply.text == "Hal"
    assert error is not None
    assert (error.kind, error.retryable, error.status) == ("overloaded", True, None)
    assert error.message == "an error was encountered while running the model"


@pytest.mark.parametrize("end", [b"", b'{"model":"qwen3","mess'])
def test_a_stream_that_breaks_off_is_no_reply(end: bytes) -> None:
    reply, error = read(line({"content": "Hal"}) + end)
    assert reply.text == "Hal"
    assert error is not None
    assert (error.kind, error.retryable) == ("bad_response", True)


@pytest.mark.parametrize(
    "body", [b"", b"<html>\n<body>hello</body></html>", b"{}", b'{"done": 1}', b"data: {}\n\n", b"[]"]
)
def test_what_is_not_the_protocol_says_where_to_look(body: bytes) -> None:
    _, error = read(body)
    assert error is not None
    assert error.kind == "bad_response"
    assert "OLLAMA_HOST" in str(error)


@pytest.mark.parametrize(
    ("status", "body", "kind", "again", "hint"),
    [
        (404, b'{"error":"model \'qwen3\' not found"}', "not_found", False, "ollama pull qwen3"),
        (400, b'{"error":"\\"qwen3\\" does not support thinking"}', "bad_request", False, "think"),
        (400, b'{"error":"x does not support tools"}', "bad_request", False, "capability"),
        (401, b'{"error":"unauthorized","signin_url":"https://x"}', "authentication", False, "OLLAMA_API_KEY"),
        (403, b'{"error":"forbidden"}', "authentication", False, "OLLAMA_API_KEY"),
        (429, b'{"error":"too many requests"}', "rate_limited", True, ""),
        (503, b'{"error":"server busy, please try again.  maximum pending requests exceeded"}', "overloaded", True, ""),
        (
            500,
            b'{"error":"model requires more system memory (9 GiB) than is there"}',
            "configuration",
            False,
            "num_ctx",
        ),
        (500, b'{"error":"error parsing tool call: raw=\'{\', err=x"}', "bad_response", True, ""),
        (500, b'{"error":"llama runner process has terminated"}', "overloaded", True, ""),
        (502, b"<html>Bad Gateway</html>", "overloaded", True, ""),
        (500, b"", "overloaded", True, ""),
    ],
)
def test_what_an_error_is_called(status: int, body: bytes, kind: str, again: bool, hint: str) -> None:
    error = reported_error(read_error(body), status=status, model="qwen3", retry_after=2)
    assert (error.kind, error.retryable, error.status, error.retry_after) == (kind, again, status, 2)
    assert hint in (error.hint or "")
    assert error.message
