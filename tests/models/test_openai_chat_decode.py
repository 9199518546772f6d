"""What servers really send is read right: calls told apart, errors found, oddities harmless."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.models.chat_reading import DONE, piece, read, streamed, whole
from tests.servers import delta, event
from tukang.conversation import Citation, Text, Thinking, ToolCall, Usage
from tukang.models.base import ArgumentsDelta, TextDelta, UsageReported
from tukang.models.openai_chat_decode import ChatDecoder, read_error
from tukang.models.openai_chat_errors import reported_error
from tukang.models.openai_chat_usage import read_usage

# ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_thinking_in_either_field_comes_before_the_text() -> None:
    for field in ("reasoning_content", "reasoning"):
        assert streamed({field: "hm"}, {field: "m", "content": None}, {"content": "ya"}, finish="stop").parts == (
            Thinking("hmm"),
            Text("ya"),
        )
    assert whole({"reasoning": "hm", "reasoning_content": "hm", "content": "ya"}).parts == (Thinking("hm"), Text("ya"))


def test_content_as_parts_with_thinking_among_them() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "dua"}, {"type": "text", "text": " kali"}]},
        {"type": "thinking", "thinking": " dua"},
        {"type": "reference", "reference_ids": [1]},
        {"type": "text", "text": "em"},
        "pat",
        None,
    ]
    assert whole({"content": parts}).parts == (Thinking("dua kali dua"), Text("empat"))
    assert streamed({"content": parts[:1]}, {"content": parts[3:]}, finish="stop").parts == (
        Thinking("dua kali"),
        Text("empat"),
    )


def test_a_refusal_is_kept_apart_from_the_text() -> None:
    reply = whole({"content": None, "refusal": "Maaf."})
    assert (reply.text, reply.refusal, reply.finish) == ("", "Maaf.", "refused")
    assert streamed({"refusal": "Ma"}, {"refusal": "af."}, finish="stop").refusal == "Maaf."
    assert whole({"content": "ya", "refusal": ""}).refusal is None


def test_a_citation_is_a_part() -> None:
    source = {"type": "url_citation", "url_citation": {"url": "https://x", "title": "X", "start_index": 0}}
    reply = whole({"content": "ya", "annotations": [source, {"type": "other"}]})
    assert reply.parts == (Text("ya"), Citation("X", "https://x", None, "openai", source))


@pytest.mark.parametrize(
    ("raw", "finish"),
    [
        ("stop", "stop"),
        ("eos", "stop"),
        ("", "stop"),
        (None, "stop"),
        ("length", "length"),
        ("content_filter", "filtered"),
        ("tool_calls", "stop"),
        ("STOP", "stop"),
        ("error", "unknown"),
        (7, "stop"),
    ],
)
def test_finish_reasons_of_a_reply_without_calls(raw: Any, finish: str) -> None:
    reply = whole({"content": "ya"}, raw)
    assert reply.finish == finish
    assert reply.raw_finish == (raw if isinstance(raw, str) else None)


@pytest.mark.parametrize(("raw", "finish"), [("stop", "calls"), ("", "calls"), (None, "calls"), ("length", "length")])
def test_a_reply_with_calls_says_so_unless_it_was_cut(raw: str | None, finish: str) -> None:
    assert streamed({"tool_calls": [piece(0, "a", "harga", "{}")]}, finish=raw).finish == finish


def test_only_the_first_of_several_choices_is_the_reply() -> None:
    choices = [
        {"index": index, "message": {"content": text}, "finish_reason": "stop"} for index, text in enumerate("ab")
    ]
    assert read(json.dumps({"choices": choices}).encode())[0].text == "a"
    chunks = [
        {"choices": [{"index": index, "delta": {"content": text}}]} for index, text in ((0, "a"), (1, "b"), (0, "c"))
    ]
    assert read(*map(event, chunks), DONE)[0].text == "ac"


def test_the_model_that_answered_is_told() -> None:
    assert whole({"content": "ya"}, model="gpt-4o-mini-2024").model == "gpt-4o-mini-2024"


def test_pieces_that_came_at_once_are_one_delta_and_calls_stay_apart() -> None:
    decoder = ChatDecoder()
    body = [event(delta(content=text)) for text in ("a", "b", "c")]
    body += [event(delta(tool_calls=[piece(index, f"c{index}", "f", "{}")])) for index in (0, 1)]
    body += [event(delta(tool_calls=[piece(index, arguments=" ")])) for index in (0, 1, 1)]
    events = decoder.feed(b"".join(body))
    assert [one.text for one in events if isinstance(one, TextDelta)] == ["abc"]
    assert [one for one in events if isinstance(one, ArgumentsDelta)] == [
        ArgumentsDelta(0, "{}"),
        ArgumentsDelta(1, "{}"),
        ArgumentsDelta(0, " "),
        ArgumentsDelta(1, "  "),
    ]


# ── usage ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_token_counts_in_neutral_words() -> None:
    counts = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 5},
        "completion_tokens_details": {"reasoning_tokens": 8},
    }
    assert read_usage(counts) == Usage(100, 20, 8, 60, 5, 1)
    assert read_usage({"prompt_tokens": None, "prompt_tokens_details": None}) == Usage(requests=1)
    assert read_usage({"prompt_tokens": 9, "prompt_cache_hit_tokens": 4}) == Usage(9, 0, 0, 4, 0, 1)


@pytest.mark.parametrize(
    ("odd", "count"),
    [(None, 0), ("7", 0), (-7, 0), (7.9, 7), (7.0, 7), (True, 1), ([7], 0), ({"a": 7}, 0), (2**70, 2**70), (1e999, 0)],
)
def test_a_count_that_is_odd_costs_the_others_nothing(odd: object, count: int) -> None:
    assert read_usage({"prompt_tokens": odd, "completion_tokens": 5}) == Usage(count, 5, 0, 0, 0, 1)
    details = {"prompt_tokens_details": {"cached_tokens": odd}, "completion_tokens_details": odd}
    assert read_usage({"prompt_tokens": 9, **details}) == Usage(9, 0, 0, count, 0, 1)


def test_reasoning_that_is_only_in_the_total_is_output_too() -> None:
    counts = {"prompt_tokens": 12, "completion_tokens": 2, "total_tokens": 334}
    assert read_usage(counts).output == 322


def test_the_last_report_counts_and_the_same_report_is_not_repeated() -> None:
    decoder = ChatDecoder()
    chunks = [{**delta(content="a"), "usage": {"prompt_tokens": 5, "completion_tokens": n}} for n in (1, 1, 2)]
    events = decoder.feed(b"".join(map(event, chunks)))
    assert [one.usage.output for one in events if isinstance(one, UsageReported)] == [1, 2]


# ── errors ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_error_inside_a_response_that_began_well() -> None:
    reply, error = read(b'{"error": {"message": "Slow down", "type": "rate_limit_error", "code": 429}}')
    assert reply.parts == ()
    assert error is not None
    assert (error.kind, error.status, error.retryable) == ("rate_limited", 429, True)


def test_an_error_inside_a_stream_keeps_what_had_come() -> None:
    failed = {"error": {"message": "Token limit reached", "code": 400}, "usage": {"prompt_tokens": 43}, **delta()}
    reply, error = read(
        event(delta(content="Hal")) + event(delta(content="o")) + event(failed) + event(delta(content="x"))
    )
    assert reply.text == "Halo"
    assert reply.usage.input == 43
    assert error is not None
    assert (error.kind, error.retryable, error.message) == ("bad_request", False, "Token limit reached")


@pytest.mark.parametrize(
    "body",
    [
        b'event: error\ndata: {"error": {"message": "pecah"}}\n\n',
        b'event: error\ndata: {"message": "pecah"}\n\n',
        b'data: {"error": "pecah"}\n\n',
        b'data: {"detail": "pecah"}\n\n',
        b'{"object": "error", "message": "pecah"}',
        b'[{"error": {"code": 503, "message": "pecah"}}]',
    ],
)
def test_errors_in_every_form(body: bytes) -> None:
    _, error = read(body)
    assert error is not None
    assert error.message == "pecah"
    assert (error.kind, error.retryable) == ("overloaded", True)


@pytest.mark.parametrize("body", [event(delta(content="Hal")), event(delta(content="Hal"))[:-5], event(delta())])
def test_a_stream_that_breaks_off_is_no_reply(body: bytes) -> None:
    _, error = read(body)
    assert error is not None
    assert (error.kind, error.retryable) == ("bad_response", True)


def test_a_stream_without_done_but_with_a_finish_is_a_reply_and_so_is_the_reverse() -> None:
    assert read(event(delta(content="ya")), event(delta("stop")))[1] is None
    reply, error = read(event(delta(content="ya")), DONE)
    assert error is None
    assert (reply.text, reply.finish) == ("ya", "stop")


@pytest.mark.parametrize("body", [b"", b"\n", b'{"choices": []}', DONE, event({"choices": []}) + DONE])
def test_a_reply_without_choices_may_be_asked_for_again(body: bytes) -> None:
    _, error = read(body)
    assert error is not None
    assert (error.kind, error.retryable) == ("bad_response", True)


@pytest.mark.parametrize("body", [b"<html>Not here</html>", b'{"pages": []}', b"not found"])
def test_a_server_of_another_kind_is_told_by_its_words(body: bytes) -> None:
    _, error = read(body)
    assert error is not None
    assert (error.kind, error.retryable) == ("bad_response", False)
    assert "base URL" in str(error)


@pytest.mark.parametrize(
    "body", [b'{"choices": [', b"data: {]\n\n", b'{"choices": {}}', b'data: {"choices": 1}\n\n', b"[]"]
)
def test_what_is_not_json_or_not_a_completion_is_a_bad_response(body: bytes) -> None:
    _, error = read(body)
    assert error is not None
    assert error.kind == "bad_response"


def test_servers_that_are_a_little_off_are_understood() -> None:
    nan = b'{"choices":[{"index":0,"message":{"content":"ya"},"finish_reason":"stop","logprobs":{"x":NaN}}]}'
    half = b'{"choices":[{"index":0,"message":{"content":"ya \\ud83d"},"finish_reason":"stop"}]}'
    pair = b'{"choices":[{"index":0,"message":{"content":"\\ud83d\\ude00 NaN"},"x":NaN,"finish_reason":"stop"}]}'
    assert read(nan)[0].text == "ya"
    assert read(half)[0].text == "ya \ufffd"
    assert read(pair)[0].text == "\U0001f600 NaN"
    no_blank_line = event(delta(content="ya"))[:-1] + event(delta("stop"))[:-1] + DONE
    assert read(no_blank_line)[0].text == "ya"
    repeated = {"choices": [{"index": 0, "message": {"content": "ya"}, "finish_reason": "stop"}]}
    assert read(event(delta(content="ya")), event(repeated), DONE)[0].text == "ya"
    assert read(event(repeated), DONE)[0].text == "ya"


@pytest.mark.parametrize(
    ("status", "body", "kind", "retryable"),
    [
        (
            401,
            b'{"error": {"message": "x", "type": "invalid_request_error", "code": "invalid_api_key"}}',
            "authentication",
            False,
        ),
        (
            404,
            b'{"error": {"message": "x", "type": "invalid_request_error", "code": "model_not_found"}}',
            "not_found",
            False,
        ),
        (404, b'{"error": {"message": "x", "type": "invalid_request_error", "code": "other"}}', "not_found", False),
        (429, b'{"error": {"message": "x", "type": "insufficient_quota"}}', "rate_limited", False),
        (429, b"", "rate_limited", True),
        (400, b'{"error": {"message": "x", "code": "content_filter"}}', "filtered", False),
        (400, b'{"error": {"message": "x", "code": "tool_use_failed"}}', "bad_response", True),
        (502, b"<html>Bad gateway</html>", "overloaded", True),
        (422, b'{"detail": [{"loc": ["body"], "msg": "x"}]}', "bad_request", False),
    ],
)
def test_errors_with_a_status(status: int, body: bytes, kind: str, retryable: bool) -> None:
    error = reported_error(read_error(body), status=status)
    assert (error.kind, error.status, error.retryable) == (kind, status, retryable)


def test_hints_say_what_to_do() -> None:
    assert "OPENAI_API_KEY" in str(reported_error("x", status=401))
    assert "Unknown model: 'gpt-9'" in str(reported_error("x", status=404, model="gpt-9"))
    _, error = read(b'{"error": {"message": "x", "code": "model_not_found"}}')
    assert error is not None
    assert "'gpt-test'" in str(error)


def test_a_long_error_is_cut() -> None:
    assert len(reported_error({"message": "x" * 5000}, status=400).message) <= 600


# ── cuts ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

_BODY = (
    b": hello\r\n\r\n"
    + event(delta(role="assistant", content=""))
    + event(delta(reasoning_content="h\u00e9m \u2713"))
    + event(delta(content="Harganya Rp 1.200.000 \U0001f600"))
    + event(delta(tool_calls=[piece(0, "a", "harga", '{"id')]))
    + event(delta(tool_calls=[piece(0, arguments='":"\u00e9"}')])).replace(b"\n", b"\r\n")
    + event(delta("tool_calls"))
    + event({"choices": [], "usage": {"prompt_tokens": 3}})
    + DONE
)


def test_every_cut_in_two_reads_the_same() -> None:
    expected, error = read(_BODY)
    assert error is None
    assert expected.calls == (ToolCall("", "harga", '{"id":"\u00e9"}', "a"),)
    for place in range(len(_BODY)):
        assert read(_BODY[:place], _BODY[place:]) == (expected, None)
    assert read(*[_BODY[place : place + 1] for place in range(len(_BODY))]) == (expected, None)
