"""The Responses decoder on what servers send, and the adapter against a real server on this machine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.servers import ChatServer, Raw, event
from tukang.conversation import Citation, Image, Message, Opaque, ServerCall, Text, Thinking, ToolCall, Usage, user
from tukang.errors import ConfigurationError, ModelError
from tukang.models.base import Fold, Model, ModelEvent, ModelRequest, Reply, Settings
from tukang.models.openai_responses import OpenAIResponses
from tukang.models.openai_responses_decode import ResponsesDecoder
from tukang.models.openai_responses_dialect import Dialect
from tukang.tools.contract import Contract

ASK = ModelRequest("Singkat.", (user("Berapa harganya?"),))
KEY = "sk-very-secret-key"
SSE = {"Content-Type": "text/event-stream"}
USAGE = {
    "input_tokens": 10,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 5},
    "total_tokens": 17,
}
REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "hm"}],
    "encrypted_content": "s",
}
NOTE = {"type": "url_citation", "title": "A", "url": "https://a", "start_index": 0, "end_index": 1}
MESSAGE = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "phase": "commentary",
    "content": [{"type": "output_text", "text": "Saya cek.", "annotations": [NOTE]}],
}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "harga", "arguments": '{"id":1}'}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "x"}}
DRAWING = {"type": "image_generation_call", "id": "ig_1", "output_format": "png", "result": "iVBORw0KGgo="}
FUTURE = {"type": "some_future_type", "id": "x_1", "content": "?"}
OUTPUT: list[dict[str, Any]] = [REASONING, SEARCH, MESSAGE, CALL, DRAWING, FUTURE]


def whole(output: Sequence[Any] = OUTPUT, status: str = "completed", **fields: Any) -> bytes:
    made = {"object": "response", "model": "gpt-test-1", "status": status, "output": output, "usage": USAGE, **fields}
    return json.dumps(made).encode()


def ended(output: Sequence[Any] = OUTPUT, kind: str = "completed", **fields: Any) -> bytes:
    return event({"type": f"response.{kind}", "response": json.loads(whole(output, kind, **fields))})


def piece(kind: str, place: int | None, text: str, item_id: str | None = None) -> bytes:
    return event({"type": f"response.{kind}.delta", "output_index": place, "item_id": item_id, "delta": text})


def item(kind: str, place: int | None, fields: Any) -> bytes:
    return event({"type": f"response.output_item.{kind}", "output_index": place, "item": fields})


def opened(fields: Any) -> Any:
    return {**fields, "content": [], "summary": [], "arguments": ""}


def streamed() -> bytes:
    out = event({"type": "response.created", "response": {"model": "gpt-test"}})
    pieces = {0: ("reasoning_summary_text", ["h", "m"]), 2: ("output_text", ["Saya ", "cek."])}
    pieces[3] = ("function_call_arguments", ['{"id"', ":1}"])
    for place, fields in enumerate(OUTPUT):
        out += item("added", place, opened(fields))
        kind, texts = pieces.get(place, ("", []))
        for text in texts:
            out += piece(kind, place, text, fields["id"])
        out += item("done", place, fields)
    return out + event({"type": "response.some_future_event", "delta": {}}) + ended()


def read(*pieces: bytes) -> tuple[Reply, ModelError | None]:
    decoder = ResponsesDecoder()
    events: list[ModelEvent] = []
    for one in pieces:
        events += decoder.feed(one)
    events += decoder.end()
    fold = Fold()
    for one in events:
        fold.add(one)
    return fold.reply(), decoder.error


def reply(*pieces: bytes) -> Reply:
    made, error = read(*pieces)
    assert error is None
    return made


def failure(*pieces: bytes) -> ModelError:
    error = read(*pieces)[1]
    assert error is not None
    return error


# ── what a response says ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_response_reads_the_same_whole_and_streamed() -> None:
    made = reply(whole())
    assert made.parts == (
        Thinking("hm", made.parts[0].signature, "responses"),  # type: ignore[union-attr]
        ServerCall(
            "ws_1",
            "web_search_call",
            '{"query":"x","type":"search"}',
            "responses",
            SEARCH,
            tool="web_search",
            result="",
        ),
        Opaque("responses", {"type": "message", "id": "msg_1", "phase": "commentary"}),
        Text("Saya cek."),
        Citation("A", "https://a", None, "responses", NOTE),
        Opaque("responses", {"type": "function_call", "id": "fc_1", "call_id": "call_1"}),
        ToolCall("", "harga", '{"id":1}', "call_1"),
        ServerCall(
            "ig_1", "image_generation_call", "{}", "responses", DRAWING, tool="image_generation", result="a picture"
        ),
        Image("image/png", b"\x89PNG\r\n\x1a\n"),
        Opaque("responses", FUTURE),
    )
    assert json.loads(made.parts[0].signature or "") == REASONING  # type: ignore[union-attr]
    assert (made.finish, made.raw_finish, made.model) == ("calls", "completed", "gpt-test-1")
    assert made.usage == Usage(10, 7, 5, 4, 0, 1)
    assert reply(streamed()) == made


def test_a_stream_may_be_cut_anywhere() -> None:
    stream = streamed()
    expected = reply(stream)
    for place in range(0, len(stream), 7):
        assert reply(stream[:place], stream[place:]) == expected
    assert reply(*[stream[place : place + 1] for place in range(len(stream))]) == expected


@pytest.mark.parametrize(
    "stream",
    [
        ended(),  # nothing but the end
        b"".join(item("done", None, one) for one in OUTPUT) + ended([]),  # no pieces, no places, no list in the end
        b"".join(item("added", 0, opened(one)) + item("done", 0, one) for one in OUTPUT) + ended(),  # one place for all
        b"".join(item("added", n, opened({**one, "id": f"a{n}"})) for n, one in enumerate(OUTPUT[:2])) + ended(),
        b"".join(item("done", 0, one) * 2 for one in OUTPUT) + ended(),  # everything twice
    ],
)
def test_no_item_is_lost_or_said_twice(stream: bytes) -> None:
    kinds = [type(part) for part in reply(stream).parts]
    assert kinds == [type(part) for part in reply(whole()).parts]


def test_ids_that_change_with_every_event_merge_and_lose_nothing() -> None:
    stream = b""
    for place, one in enumerate([MESSAGE, CALL, {**CALL, "call_id": "call_2"}]):
        stream += item("added", place, opened({**one, "id": f"a{place}"}))
        kind = "output_text" if place == 0 else "function_call_arguments"
        stream += piece(kind, place, "Saya cek." if place == 0 else '{"id":1}', f"b{place}")
        stream += item("done", place, {**one, "id": f"c{place}"})
    made = reply(stream + ended([{**MESSAGE, "id": "d0"}, {**CALL, "id": "d1"}]))
    assert made.text == "Saya cek."
    assert [(one.wire_id, one.arguments) for one in made.calls] == [("call_1", '{"id":1}'), ("call_2", '{"id":1}')]


def test_a_call_whose_name_comes_late_keeps_its_arguments() -> None:
    stream = item("added", 0, {"type": "function_call", "id": "fc_1"}) + piece(
        "function_call_arguments", 0, '{"id"', "fc_1"
    )
    made = reply(stream + item("done", 0, CALL) + ended([CALL]))
    assert [(one.name, one.arguments, one.wire_id) for one in made.calls] == [("harga", '{"id":1}', "call_1")]


def test_reasoning_that_is_not_sealed_takes_the_ids_with_it() -> None:
    made = reply(whole([{**REASONING, "encrypted_content": None}, CALL]))
    assert made.parts[0] == Thinking("hm")
    assert [part for part in made.parts if isinstance(part, Opaque)] == []


def test_a_custom_tools_call() -> None:
    custom = {"type": "custom_tool_call", "call_id": "a", "name": "sql", "input": "SELECT 1"}
    made = reply(whole([custom]))
    assert made.parts == (
        Opaque("responses", {"type": "custom_tool_call", "call_id": "a"}),
        ToolCall("", "sql", "SELECT 1", "a"),
    )


@pytest.mark.parametrize(
    ("status", "fields", "finish"),
    [
        ("completed", {}, "stop"),
        ("incomplete", {"incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ("incomplete", {"incomplete_details": {"reason": "content_filter"}}, "filtered"),
        ("incomplete", {}, "length"),
        ("queued", {}, "unknown"),
    ],
)
def test_why_a_response_ended(status: str, fields: Any, finish: str) -> None:
    made = reply(whole([MESSAGE], status, **fields))
    assert (made.finish, made.raw_finish) == (finish, status)


def test_a_refusal_is_not_an_answer() -> None:
    refused = {**MESSAGE, "content": [{"type": "refusal", "refusal": "Maaf."}]}
    made = reply(whole([refused]))
    assert (made.finish, made.refusal, made.text) == ("refused", "Maaf.", "")
    stream = item("added", 0, opened(MESSAGE)) + piece("refusal", 0, "Maaf.") + ended([])
    assert reply(stream).refusal == "Maaf."


# ── what is no response ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("sent", "kind", "retryable", "words"),
    [
        (whole([], "failed", error={"code": "server_error", "message": "pecah"}), "overloaded", True, "pecah"),
        (ended([], "failed", error={"code": "rate_limit_exceeded", "message": "pelan"}), "rate_limited", True, "pelan"),
        (ended([], "failed", error={"code": "invalid_prompt", "message": "?"}), "bad_request", False, "?"),
        (event({"type": "error", "code": "server_error", "message": "pecah"}), "overloaded", True, "pecah"),
        (b'{"error": {"message": "habis", "code": "insufficient_quota"}}', "rate_limited", False, "habis"),
        (b'{"object": "chat.completion", "choices": []}', "bad_response", False, "openai:"),
        (event({"object": "chat.completion.chunk", "choices": []}), "bad_response", False, "openai:"),
        (item("added", 0, opened(MESSAGE)) + piece("output_text", 0, "Har"), "bad_response", True, "broke off"),
        (b"<html>salah</html>", "bad_response", False, "neither JSON nor"),
        (b"{ini bukan JSON", "bad_response", True, "cannot be read"),
        (b"data: {broken\n\n", "bad_response", True, "cannot be read"),
        (b"", "bad_response", True, "empty"),
        (b'{"foo": 1}', "bad_response", False, "no `output`"),
    ],
)
def test_an_error_is_an_error_wherever_it_stands(sent: bytes, kind: str, retryable: bool, words: str) -> None:
    error = failure(sent)
    assert (error.kind, error.retryable) == (kind, retryable)
    assert words in str(error)


def test_the_failed_response_says_it_better_than_the_error_before_it() -> None:
    first = event({"type": "error", "error": {"code": "unknown", "message": "?"}})
    error = failure(first, ended([], "failed", error={"code": "rate_limit_exceeded", "message": "pelan"}))
    assert (error.kind, error.message) == ("rate_limited", "pelan")


def test_half_a_character_and_nan_do_no_harm() -> None:
    sent = whole([{**MESSAGE, "content": [{"type": "output_text", "text": "a@b", "logprobs": "?"}]}])
    made = reply(sent.replace(b"@", b"\\ud83d").replace(b'"?"', b"NaN"))
    assert made.text == "a\ufffdb"


# ── the adapter ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "AZURE_OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


async def fold(model: OpenAIResponses, request: ModelRequest = ASK) -> Reply:
    folded = Fold()
    async for one in model.stream(request):
        folded.add(one)
    assert folded.ended
    return folded.reply()


@pytest.mark.parametrize("stream", [True, False])
def test_a_round_with_a_call_and_the_next_one(stream: bool) -> None:
    steps = [Raw([streamed()], headers=SSE), Raw([whole([MESSAGE])])]

    async def two(model: OpenAIResponses) -> Reply:
        first = await fold(model)
        return await fold(model, ModelRequest("", (*ASK.messages, Message("assistant", first.parts))))

    with ChatServer(steps) as server:
        own = Dialect(sealed=True)
        model = OpenAIResponses("gpt-5", base_url=server.base_url, api_key=KEY, stream=stream, dialect=own)
        assert asyncio.run(two(model)).text == "Saya cek."
    first, second = server.requests
    assert first.path == "/v1/responses"
    assert first.headers["Authorization"] == f"Bearer {KEY}"
    assert first.body.get("stream", False) is stream
    assert first.body["include"] == ["reasoning.encrypted_content"]
    assert second.body["input"][1] == REASONING
    sent_again = [(one.get("type"), one.get("id")) for one in second.body["input"][2:7]]
    assert sent_again == [(one["type"], one["id"]) for one in OUTPUT[1:]]
    assert second.body["input"][7]["type"] == "function_call_output"


def test_a_server_that_cannot_open_the_seal_gets_none_from_then_on() -> None:
    refused = Raw([b'{"error": {"code": "invalid_encrypted_content", "message": "?"}}'], status=400)
    sealed = Thinking("hm", json.dumps(REASONING), "responses")
    asked = ModelRequest("", (user("?"), Message("assistant", (sealed, Text("ya"))), user("lalu?")))

    async def twice(model: OpenAIResponses) -> tuple[ModelError, Reply]:
        with pytest.raises(ModelError) as caught:
            await fold(model, asked)
        return caught.value, await fold(model, asked)

    with ChatServer([refused, Raw([whole([MESSAGE])])]) as server:
        model = OpenAIResponses("gpt-5", base_url=server.base_url, dialect=Dialect())
        error, _ = asyncio.run(twice(model))
    assert error.retryable
    assert server.requests[0].body["input"][1] == REASONING
    assert [one.get("role") for one in server.requests[1].body["input"]] == ["user", "assistant", "user"]


def test_a_refusal_names_the_variable_and_not_the_key() -> None:
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}).encode()
    with ChatServer([Raw([body], status=401)]) as server, pytest.raises(ModelError) as caught:
        asyncio.run(fold(OpenAIResponses("x", base_url=server.base_url, api_key=KEY)))
    assert (caught.value.kind, caught.value.retryable) == ("authentication", False)
    assert "OPENAI_API_KEY" in str(caught.value)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("base", "address", "header"),
    [
        (None, "https://api.openai.com/v1/responses", "Authorization"),
        ("https://openrouter.ai/api/v1/", "https://openrouter.ai/api/v1/responses", "Authorization"),
        ("http://localhost:8000/v1/chat/completions", "http://localhost:8000/v1/responses", "Authorization"),
        ("https://r.openai.azure.com", "https://r.openai.azure.com/openai/v1/responses", "api-key"),
        ("https://r.openai.azure.com/openai/v1/", "https://r.openai.azure.com/openai/v1/responses", "api-key"),
        (
            "https://r.openai.azure.com/openai/deployments/x?api-version=2025-04-01-preview",
            "https://r.openai.azure.com/openai/responses?api-version=2025-04-01-preview",
            "api-key",
        ),
    ],
)
def test_where_a_base_url_leads(base: str | None, address: str, header: str) -> None:
    model = OpenAIResponses("x", base_url=base, api_key=KEY)
    where = model._address  # pyright: ignore[reportPrivateUsage]
    assert str(where.url) == address
    assert KEY in where.headers[header]
    assert KEY not in repr(model)


def test_configuration_is_checked_when_the_model_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        OpenAIResponses("gpt-5")
    with pytest.raises(ConfigurationError, match="OPENAI_MODEL"):
        OpenAIResponses(api_key=KEY)
    with pytest.raises(ConfigurationError, match="OPENAI_BASE_URL"):
        OpenAIResponses("x", base_url="localhost:1")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://r.openai.azure.com")
    model = OpenAIResponses("x")
    assert (model.name, model.provider) == ("responses:x", "responses@r.openai.azure.com")
    assert isinstance(model, Model)
    with pytest.raises(ConfigurationError, match="stop"):
        asyncio.run(model.prepare(ModelRequest("", (), settings=Settings(stop=("x",)))))


def test_what_strict_mode_forced_is_undone() -> None:
    harga = Contract(
        "harga", "", {"type": "object", "properties": {"id": {"type": "integer"}, "n": {"type": "integer"}}}
    )
    written = {**CALL, "arguments": '{"id": 1, "n": null}'}

    async def asked(base_url: str, strict: bool | None) -> str:
        fold = Fold()
        model = OpenAIResponses("gpt-test", base_url=base_url, strict=strict, stream=False)
        async for one in model.stream(ModelRequest("", ASK.messages, (harga,))):
            fold.add(one)
        return fold.reply().calls[0].arguments

    with ChatServer([Raw([whole([written])])] * 2) as server:
        assert asyncio.run(asked(server.base_url, None)) == '{"id":1}'
        assert asyncio.run(asked(server.base_url, False)) == '{"id": 1, "n": null}'
        assert [received.body["tools"][0]["strict"] for received in server.requests] == [True, False]
