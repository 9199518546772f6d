"""The adapter against a real server on this machine: where it asks, what it sends, and what a failure is called."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.servers import ChatServer, Raw, Received
from tukang.conversation import ToolCall, Usage, user
from tukang.errors import ConfigurationError, ModelError
from tukang.models.base import Fold, Model, ModelRequest, Reply, Settings
from tukang.models.gemini import Gemini
from tukang.models.gemini_parts import seal
from tukang.models.names import choose

ASK = ModelRequest("Singkat.", (user("Berapa harganya?"),))
KEY = "AIza-very-secret-key"
SSE = {"Content-Type": "text/event-stream"}
ENVIRONMENT = ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL")


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)


def reply(*parts: dict[str, Any], finish: str | None = "STOP") -> bytes:
    body: dict[str, Any] = {"candidates": [{"content": {"role": "model", "parts": list(parts)}}]}
    if finish:
        body["candidates"][0]["finishReason"] = finish
        body["usageMetadata"] = {"promptTokenCount": 9, "candidatesTokenCount": 2}
    return json.dumps(body).encode()


def streamed(*bodies: bytes, **options: Any) -> Raw:
    return Raw([b"data: " + body + b"\r\n\r\n" for body in bodies], headers=SSE, **options)


async def fold(model: Gemini, request: ModelRequest = ASK) -> Reply:
    folded = Fold()
    async for one in model.stream(request):
        folded.add(one)
    assert folded.ended
    return folded.reply()


def ask(script: Sequence[Raw], model: str = "gemini-3-flash", path: str = "", **options: Any) -> tuple[Reply, Received]:
    with ChatServer(script) as server:
        base_url = server.base_url.removesuffix("/v1") + path
        adapter = Gemini(model, base_url=base_url, api_key=options.pop("api_key", KEY), **options)
        return asyncio.run(fold(adapter)), server.requests[0]


def failure(step: Raw, **options: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask([step], **options)
    return caught.value


def test_a_streamed_reply_and_the_request_that_brought_it() -> None:
    call = {"functionCall": {"name": "harga", "args": {"id": 1}}, "thoughtSignature": "c2VhbA=="}
    found, received = ask([streamed(reply({"text": "Satu "}, finish=None), reply({"text": "juta."}, call))])
    assert (found.text, found.finish, found.usage) == ("Satu juta.", "calls", Usage(9, 2, requests=1))
    assert found.parts[1:] == (ToolCall("", "harga", '{"id":1}'), seal("c2VhbA==", "functionCall"))
    assert received.path == "/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse"
    assert received.headers["x-goog-api-key"] == KEY
    assert received.body == {
        "systemInstruction": {"parts": [{"text": "Singkat."}]},
        "contents": [{"role": "user", "parts": [{"text": "Berapa harganya?"}]}],
    }


def test_a_whole_reply() -> None:
    found, received = ask([Raw([reply({"text": "ya"})])], stream=False)
    assert found.text == "ya"
    assert received.path == "/v1beta/models/gemini-3-flash:generateContent"


def test_a_server_that_answers_whole_although_a_stream_was_asked_for_and_the_reverse() -> None:
    assert ask([Raw([reply({"text": "ya"})])], stream=True)[0].text == "ya"
    assert ask([streamed(reply({"text": "ya"}))], stream=False)[0].text == "ya"


@pytest.mark.parametrize(
    ("model", "path", "asked"),
    [
        ("tunedModels/toko-1", "", "/v1beta/tunedModels/toko-1:generateContent"),
        ("models/gemini-2.5-pro", "/v1beta", "/v1beta/models/gemini-2.5-pro:generateContent"),
        ("gemini-2.5-pro", "/behind/", "/behind/v1beta/models/gemini-2.5-pro:generateContent"),
    ],
)
def test_where_it_asks(model: str, path: str, asked: str) -> None:
    assert ask([Raw([reply({"text": "ya"})])], model, path, stream=False)[1].path == asked


def test_a_key_is_never_shown() -> None:
    body = {"error": {"code": 400, "message": f"API key not valid: {KEY}.", "status": "INVALID_ARGUMENT"}}
    error = failure(Raw([json.dumps(body).encode()], status=400))
    assert (error.kind, error.status) == ("authentication", 400)
    assert KEY not in str(error)
    assert "GEMINI_API_KEY" in str(error)
    assert KEY not in repr(Gemini("gemini-3-flash", api_key=KEY))


def test_a_refusal_with_a_delay_and_a_redirect() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}]
    body = {"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED", "details": details}}
    error = failure(Raw([json.dumps([body]).encode()], status=429))
    assert (error.kind, error.retryable, error.retry_after) == ("rate_limited", True, 7.0)
    error = failure(Raw(status=302, headers={"Location": "http://127.0.0.1:9/elsewhere"}))
    assert (error.kind, error.retryable) == ("not_found", False)


def test_a_connection_that_breaks_before_the_end_and_one_that_breaks_after_it() -> None:
    error = failure(streamed(reply({"text": "Hal"}, finish=None), cut=True))
    assert (error.kind, error.retryable) == ("connection", True)
    assert error.__cause__ is None
    assert error.__context__ is None
    assert ask([streamed(reply({"text": "ya"}), cut=True)])[0].text == "ya"


def test_what_can_never_be_sent_is_said_before_the_turn() -> None:
    request = ModelRequest("", ASK.messages, settings=Settings(stop=("a",) * 6))
    with pytest.raises(ConfigurationError, match="at most 5"):
        asyncio.run(Gemini("gemini-3-flash", api_key=KEY).prepare(request))


# ── configuration ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_key_comes_from_googles_variables_in_the_sdks_order(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="set GEMINI_API_KEY"):
        choose("gemini:gemini-3-flash")
    monkeypatch.setenv("GEMINI_API_KEY", "gemini-key-of-ones-own")
    model = choose("gemini:gemini-3-flash").model
    assert isinstance(model, Gemini)
    assert isinstance(model, Model)
    assert (model.name, model.provider) == ("gemini:gemini-3-flash", "gemini")
    assert repr(model) == "Gemini('gemini-3-flash', base_url='https://generativelanguage.googleapis.com')"
    monkeypatch.setenv("GOOGLE_API_KEY", "google-key-that-goes-first")
    with ChatServer([Raw([reply({"text": "ya"})])]) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url.removesuffix("/v1"))
        asyncio.run(fold(Gemini("gemini-3-flash")))
        assert server.requests[0].headers["x-goog-api-key"] == "google-key-that-goes-first"


def test_a_header_of_ones_own_stands_for_the_key() -> None:
    assert Gemini("gemini-3-flash", headers={"Authorization": "Bearer x"}).name == "gemini:gemini-3-flash"


@pytest.mark.parametrize("model", ["", "../x", "gemini 3", "gemini:x", "a?b", "models/"])
def test_what_is_no_model_is_said_so(model: str) -> None:
    with pytest.raises(ConfigurationError, match="Gemini has no model"):
        Gemini(model, api_key=KEY)


@pytest.mark.parametrize("address", ["generativelanguage.googleapis.com", "ftp://x", "https://"])
def test_what_is_no_address_is_said_with_the_name_of_the_variable(address: str) -> None:
    with pytest.raises(ConfigurationError, match="GOOGLE_GEMINI_BASE_URL"):
        Gemini("gemini-3-flash", api_key=KEY, base_url=address)
