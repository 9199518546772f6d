"""The adapter against a real server on this machine: what is sent, what comes back, and what a failure is called."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from typing import Any

import aiohttp
import pytest
from yarl import URL

from tests.servers import ChatServer, Raw, Say, delta, event
from tukang.conversation import Thinking, ToolCall, Usage, user
from tukang.errors import ConfigurationError, ModelError
from tukang.models.base import Fold, Model, ModelRequest, Reply, Settings, TextDelta
from tukang.models.openai_chat import OpenAIChat
from tukang.models.openai_chat_dialect import Dialect
from tukang.models.openai_settings import key_headers
from tukang.tools.contract import Contract

ASK = ModelRequest("Singkat.", (user("Berapa harganya?"),))
KEY = "sk-very-secret-key"
SSE = {"Content-Type": "text/event-stream"}


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)


async def fold(model: OpenAIChat, request: ModelRequest = ASK) -> Reply:
    folded = Fold()
    async for one in model.stream(request):
        folded.add(one)
    assert folded.ended
    return folded.reply()


def ask(
    script: Sequence[Say | Raw], times: int = 1, request: ModelRequest = ASK, **options: Any
) -> tuple[list[Reply], ChatServer]:
    """The replies to the same request sent so many times over, and the server with what it received."""

    async def several(model: OpenAIChat) -> list[Reply]:
        return [await fold(model, request) for _ in range(times)]

    with ChatServer(script) as server:
        model = OpenAIChat("gpt-test", base_url=server.base_url, api_key=options.pop("api_key", KEY), **options)
        return asyncio.run(several(model)), server


def failure(step: Raw, request: ModelRequest = ASK, **options: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask([step], request=request, **options)
    return caught.value


# ── replies ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("stream", [True, False])
def test_a_reply_reads_the_same_streamed_and_whole(stream: bool) -> None:
    say = Say("Sebentar, saya cek.", [("harga", {"id": "PRD002"}), ("stok", {})], thinking="hm é")
    (reply,), server = ask([say], stream=stream)
    assert server.requests[0].body.get("stream", False) is stream
    assert reply.text == say.text
    assert reply.thinking == "hm é"
    assert [(call.name, call.arguments, call.wire_id) for call in reply.calls] == [
        ("harga", '{"id": "PRD002"}', "call_harga_0"),
        ("stok", "{}", "call_stok_1"),
    ]
    assert reply.finish == "calls"
    assert reply.usage == Usage(100, 20, requests=1)


def test_a_server_that_answers_a_stream_with_a_whole_reply_and_the_reverse() -> None:
    whole = Raw([b'{"choices": [{"index": 0, "message": {"content": "ya"}, "finish_reason": "stop"}]}'])
    streamed = Raw([event(delta(content="ya")), event(delta("stop")), event("[DONE]")], headers=SSE)
    assert ask([whole], stream=True)[0][0].text == "ya"
    assert ask([streamed], stream=False)[0][0].text == "ya"


def test_requests_share_one_connection() -> None:
    replies, server = ask([Say("a"), Say("b"), Say(calls=[("f", {})])], times=3)
    assert [reply.text for reply in replies] == ["a", "b", ""]
    assert len({received.connection for received in server.requests}) == 1


def test_a_word_is_passed_on_before_the_reply_is_whole() -> None:
    async def first_word(base_url: str) -> str:
        model = OpenAIChat("gpt-test", base_url=base_url)
        stream = model.stream(ASK)
        async for one in stream:
            if isinstance(one, TextDelta):
                return one.text
        return ""

    with ChatServer([Raw([event(delta(content="Halo"))], headers=SSE, silent=True)]) as server:
        assert asyncio.run(first_word(server.base_url)) == "Halo"


def test_a_stream_that_stays_open_after_done_is_a_reply_all_the_same() -> None:
    step = Raw([event(delta(content="ya")), event(delta("stop")), event("[DONE]")], headers=SSE, silent=True)
    assert ask([step])[0][0].text == "ya"


def test_a_connection_that_breaks_after_the_finish_costs_nothing() -> None:
    step = Raw([event(delta(content="ya")), event(delta("stop"))], headers=SSE, cut=True)
    assert ask([step])[0][0].text == "ya"


# ── what is sent ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_request_on_the_wire() -> None:
    _, server = ask([Say("ya")], request=ModelRequest("S", ASK.messages, settings=Settings(temperature=0)))
    received = server.requests[0]
    assert received.path == "/v1/chat/completions"
    assert received.headers["Authorization"] == f"Bearer {KEY}"
    assert received.headers["Content-Type"] == "application/json"
    assert received.headers["User-Agent"] == "tukang"
    assert received.body == {
        "model": "gpt-test",
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "Berapa harganya?"}],
        "temperature": 0.0,
    }


def test_no_key_sends_none_and_headers_of_ones_own_win() -> None:
    _, server = ask([Say("ya")], api_key="")
    assert "Authorization" not in server.requests[0].headers
    _, server = ask([Say("ya")], headers={"authorization": "Basic x", "X-Title": "toko"})
    assert server.requests[0].headers["Authorization"] == "Basic x"
    assert server.requests[0].headers["X-Title"] == "toko"


def test_a_query_in_the_base_url_is_kept() -> None:
    async def asked(base_url: str) -> Reply:
        return await fold(OpenAIChat("gpt-test", base_url=base_url))

    with ChatServer([Say("ya")] * 3) as server:
        root = server.base_url.removesuffix("/v1")
        asyncio.run(asked(f"{root}/openai/deployments/x/?api-version=2024-06-01"))
        asyncio.run(asked(f"{root}/v1/chat/completions"))
        asyncio.run(asked(root))
        assert [received.path for received in server.requests] == [
            "/openai/deployments/x/chat/completions?api-version=2024-06-01",
            "/v1/chat/completions",
            "/chat/completions",
        ]


def test_a_session_of_ones_own_is_used_and_left_open() -> None:
    async def with_own(base_url: str) -> bool:
        async with aiohttp.ClientSession(headers={"X-Own": "1"}) as session:
            await fold(OpenAIChat("gpt-test", base_url=base_url, session=session))
            return session.closed

    with ChatServer([Say("ya")]) as server:
        assert asyncio.run(with_own(server.base_url)) is False
        assert server.requests[0].headers["X-Own"] == "1"


def test_a_question_the_server_refuses_is_not_asked_again() -> None:
    refused = Raw(
        [b'{"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]}'], status=422
    )

    async def twice(model: OpenAIChat) -> tuple[ModelError, Reply]:
        with pytest.raises(ModelError) as caught:
            await fold(model)
        return caught.value, await fold(model)

    with ChatServer([refused, Say("ya")]) as server:
        error, reply = asyncio.run(twice(OpenAIChat("gpt-test", base_url=server.base_url)))
    assert (error.kind, error.retryable, error.status) == ("bad_request", True, 422)
    assert reply.text == "ya"
    assert "stream_options" not in server.requests[1].body


def test_a_model_that_refuses_a_temperature_gets_none_from_then_on() -> None:
    said = b"Unsupported value: 'temperature' does not support 0.1 with this model. Only the default (1) value is supported."
    refused = Raw([b'{"error": {"message": "' + said + b'", "param": "temperature"}}'], status=400)
    request = ModelRequest("", (user("?"),), settings=Settings(temperature=0.1, top_p=0.5))

    async def twice(model: OpenAIChat) -> Reply:
        with pytest.raises(ModelError) as caught:
            await fold(model, request)
        assert caught.value.retryable
        return await fold(model, request)

    with ChatServer([refused, Say("ya")]) as server:
        assert asyncio.run(twice(OpenAIChat("gpt-5-mini", base_url=server.base_url))).text == "ya"
    assert (server.requests[0].body["temperature"], server.requests[0].body["top_p"]) == (0.1, 0.5)
    assert not {"temperature", "top_p"} & server.requests[1].body.keys()


def test_a_dialect_can_be_given() -> None:
    request = ModelRequest("", (user("?"),), settings=Settings(max_tokens=5))
    _, server = ask([Say("ya")], request=request, dialect=Dialect(limit_field="max_completion_tokens"))
    assert server.requests[0].body["max_completion_tokens"] == 5


@pytest.mark.parametrize("stream", [True, False])
def test_what_strict_mode_forced_is_undone_and_a_refused_schema_goes_without(stream: bool) -> None:
    harga = Contract(
        "harga", "", {"type": "object", "properties": {"id": {"type": "string"}, "n": {"type": "integer"}}}
    )
    request = ModelRequest("", (user("?"),), (harga,))
    say = Say(calls=[("harga", '{"id": "PRD002", "n": null}')])
    refused = Raw([b'{"error": {"message": "Invalid schema for function \'harga\': no"}}'], status=400)

    async def three(model: OpenAIChat) -> tuple[Reply, ModelError, Reply]:
        first = await fold(model, request)
        with pytest.raises(ModelError) as caught:
            await fold(model, request)
        return first, caught.value, await fold(model, request)

    with ChatServer([say, refused, say]) as server:
        model = OpenAIChat("x", base_url=server.base_url, strict=True, stream=stream)
        strict, error, plain = asyncio.run(three(model))
    assert [call.arguments for call in strict.calls] == ['{"id":"PRD002"}']
    assert error.retryable
    assert [call.arguments for call in plain.calls] == ['{"id": "PRD002", "n": null}'], "nobody forced that one"
    sent = [received.body["tools"][0]["function"].get("strict", False) for received in server.requests]
    assert sent == [True, True, False]


def test_azure_gets_its_own_header_and_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azures-own-key")
    url, header = URL("https://r.openai.azure.com/openai/v1"), {"api-key": "azures-own-key"}
    assert key_headers(url, None) == ("azures-own-key", header)
    assert key_headers(url, "given-key") == ("given-key", {"api-key": "given-key"})
    monkeypatch.delenv("AZURE_OPENAI_API_KEY")
    assert key_headers(url, None) == (KEY, {"api-key": KEY})
    assert key_headers(URL("https://x/v1"), None) == (KEY, {"Authorization": f"Bearer {KEY}"})
    for base in ("https://r.openai.azure.com", "https://r.openai.azure.com/openai/v1/"):
        assert "r.openai.azure.com/openai/v1'" in repr(OpenAIChat("x", base_url=base))


# ── failures ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_refusal_with_a_status() -> None:
    body = b'{"error": {"message": "Incorrect API key provided: ' + KEY.encode() + b'.", "code": "invalid_api_key"}}'
    error = failure(Raw([body], status=401))
    assert (error.kind, error.status, error.retryable) == ("authentication", 401, False)
    assert "OPENAI_API_KEY" in str(error)
    assert KEY not in str(error)


def test_a_server_that_asks_to_wait() -> None:
    error = failure(Raw([b'{"error": {"message": "Slow down"}}'], status=429, headers={"Retry-After": "3"}))
    assert (error.kind, error.retryable, error.retry_after) == ("rate_limited", True, 3.0)
    error = failure(Raw([b"busy"], status=503, headers={"x-should-retry": "false", "retry-after-ms": "1500"}))
    assert (error.kind, error.retryable, error.retry_after, error.message) == ("overloaded", False, 1.5, "busy")


def test_a_redirect_is_not_followed() -> None:
    error = failure(Raw(status=307, headers={"Location": "http://127.0.0.1:9/elsewhere"}))
    assert (error.kind, error.retryable) == ("not_found", False)
    assert "the address that the server itself has" in str(error)


def test_a_stream_that_breaks_keeps_what_came_and_says_so() -> None:
    async def broken(base_url: str) -> tuple[str, ModelError]:
        folded = Fold()

        async def follow() -> None:
            async for one in OpenAIChat("gpt-test", base_url=base_url).stream(ASK):
                folded.add(one)

        with pytest.raises(ModelError) as caught:
            await follow()
        return folded.reply().text, caught.value

    for cut, kind in ((True, "connection"), (False, "bad_response")):
        with ChatServer([Raw([event(delta(content="Harganya"))], headers=SSE, cut=cut)]) as server:
            text, error = asyncio.run(broken(server.base_url))
        assert text == "Harganya"
        assert (error.kind, error.retryable) == (kind, True)


def test_an_error_in_a_stream_comes_after_what_was_said_before_it() -> None:
    step = Raw([event(delta(content="Hal")) + event({"error": {"message": "pecah", "code": 502}})], headers=SSE)
    error = failure(step)
    assert (error.kind, error.status, error.message) == ("overloaded", 502, "pecah")


def test_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ModelError) as caught:
        asyncio.run(fold(OpenAIChat("gpt-test", base_url=f"http://127.0.0.1:{port}/v1", api_key=KEY)))
    error = caught.value
    assert (error.kind, error.retryable) == ("connection", True)
    assert f"127.0.0.1:{port}" in str(error)


def test_a_failure_carries_nothing_of_the_request() -> None:
    error = failure(Raw([b"x"], headers=SSE, cut=True))
    assert error.__cause__ is None
    assert error.__context__ is None
    assert KEY not in repr(error)


def test_silence_ends_when_the_request_has_no_seconds_left() -> None:
    error = failure(Raw(silent=True), request=ModelRequest("", ASK.messages, seconds=0.05))
    assert (error.kind, error.retryable) == ("timeout", True)


def test_a_cancelled_request_lets_go_of_its_connection() -> None:
    async def cancelled(base_url: str) -> int:
        async with aiohttp.ClientSession() as session:
            model = OpenAIChat("gpt-test", base_url=base_url, session=session)
            began = asyncio.Event()

            async def follow() -> None:
                async for _ in model.stream(ASK):
                    began.set()

            task = asyncio.create_task(follow())
            await began.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert session.connector is not None
            return len(session.connector._acquired)  # type: ignore[attr-defined]

    with ChatServer([Raw([event(delta(content="Halo"))], headers=SSE, silent=True)]) as server:
        assert asyncio.run(cancelled(server.base_url)) == 0


# ── configuration ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_official_server_needs_a_key() -> None:
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        OpenAIChat("gpt-4o-mini")
    assert OpenAIChat("gpt-4o-mini", api_key=KEY).name == "openai:gpt-4o-mini"


def test_the_environment_is_read_when_the_model_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    monkeypatch.setenv("OPENAI_MODEL", "gpt-env")
    with ChatServer([Say("ya")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        model = OpenAIChat()
        asyncio.run(fold(model))
    assert model.name == "openai:gpt-env"
    assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    assert server.requests[0].body["model"] == "gpt-env"


def test_a_model_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    with pytest.raises(ConfigurationError, match="OPENAI_MODEL"):
        OpenAIChat()


@pytest.mark.parametrize("address", ["localhost:8000/v1", "ftp://x/v1", "http://", "http://[x", "v1"])
def test_a_base_url_must_be_one(address: str) -> None:
    with pytest.raises(ConfigurationError, match="OPENAI_BASE_URL"):
        OpenAIChat("x", base_url=address)


def test_a_key_with_a_line_break_in_it_is_refused_without_showing_it() -> None:
    with pytest.raises(ConfigurationError) as caught:
        OpenAIChat("x", api_key="sk-abc\nX-Evil: 1")
    assert "Evil" not in str(caught.value)


def test_it_is_a_model_and_shows_no_secret() -> None:
    model = OpenAIChat("x", base_url="https://budi:rahasia@host/v1?key=rahasia", api_key=KEY, headers={"X-Key": KEY})
    assert isinstance(model, Model)
    assert model.provider == "openai@host"
    assert OpenAIChat("x", api_key=KEY).provider == "openai"
    assert repr(model) == "OpenAIChat('x', base_url='https://host/v1')"
    assert asyncio.run(model.prepare(ASK)) is None


def test_parts_of_a_reply_go_back_as_they_came() -> None:
    replies, server = ask([Say("ya", [("f", {"a": 1})], thinking="hm")])
    assert replies[0].parts[0] == Thinking("hm")
    assert isinstance(replies[0].parts[-1], ToolCall)
    assert server.requests[0].body["messages"][1]["content"] == "Berapa harganya?"
