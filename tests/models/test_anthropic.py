"""The adapter against a real server on this machine: what is sent, what comes back, and what a failure is called."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.models.test_anthropic_decode import REPLY, sse, start
from tests.servers import ChatServer, Raw
from tukang.conversation import user
from tukang.errors import ConfigurationError, ModelError
from tukang.models.anthropic import AnthropicMessages
from tukang.models.base import Fold, Model, ModelRequest, Reply, Settings
from tukang.models.names import choose
from tukang.tools.contract import Contract

ASK = ModelRequest("Singkat.", (user("Berapa harganya?"),))
TOOL = Contract("harga", "", {"type": "object", "properties": {}})
KEY = "sk-ant-very-secret-key"
STREAM = Raw([REPLY], headers={"Content-Type": "text/event-stream"})
WHOLE = Raw(
    [json.dumps({"type": "message", "content": [{"type": "text", "text": "ya"}], "stop_reason": "end_turn"}).encode()]
)


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    for name in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "MODEL"):
        monkeypatch.delenv(f"ANTHROPIC_{name}", raising=False)


def ask(*script: Raw, request: ModelRequest = ASK, **options: Any) -> tuple[list[Reply | ModelError], ChatServer]:
    """What becomes of the same request, sent once for each step, and the server with what it received."""

    async def once(model: AnthropicMessages) -> Reply | ModelError:
        folded = Fold()
        try:
            async for event in model.stream(request):
                folded.add(event)
        except ModelError as error:
            return error
        assert folded.ended
        return folded.reply()

    async def several(model: AnthropicMessages) -> list[Reply | ModelError]:
        return [await once(model) for _ in script]

    with ChatServer(script) as server:
        options = {"model": "claude-sonnet-4-5", "base_url": server.base_url, "api_key": KEY, **options}
        return asyncio.run(several(AnthropicMessages(**options))), server


def test_a_request_is_sent_as_the_provider_wants_it() -> None:
    (reply,), server = ask(STREAM)
    assert isinstance(reply, Reply)
    assert [call.name for call in reply.calls] == ["harga", "stok"]
    received = server.requests[0]
    headers = {name.lower(): value for name, value in received.headers.items()}
    assert received.path == "/v1/messages"
    assert (headers["x-api-key"], headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert "authorization" not in headers
    assert "anthropic-beta" not in headers
    assert (received.body["model"], received.body["stream"]) == ("claude-sonnet-4-5", True)


def test_a_server_that_does_not_stream() -> None:
    for stream in (True, False):
        (reply,), server = ask(WHOLE, stream=stream)
        assert isinstance(reply, Reply)
        assert (reply.text, reply.finish) == ("ya", "stop")
        assert server.requests[0].body.get("stream", False) is stream


def test_betas_go_into_the_header() -> None:
    settings = Settings(think=True, extra={"betas": ["context-1m-2025-08-07"]})
    request = ModelRequest("", ASK.messages, (TOOL,), settings=settings)
    _, server = ask(WHOLE, request=request, headers={"anthropic-beta": "mine"})
    value = next(value for name, value in server.requests[0].headers.items() if name.lower() == "anthropic-beta")
    assert value == "mine,interleaved-thinking-2025-05-14,context-1m-2025-08-07"


def test_what_a_refusal_teaches_is_used_from_then_on() -> None:
    words = "The compiled grammar is too large, which would cause performance issues."
    refused = Raw(
        [json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": words}}).encode()], 400
    )
    (first, second), server = ask(refused, WHOLE, request=ModelRequest("", ASK.messages, (TOOL,)))
    assert isinstance(first, ModelError)
    assert first.retryable
    assert isinstance(second, Reply)
    assert [received.body["tools"][0].get("strict") for received in server.requests] == [True, None]
    (first, second), _ = ask(*[Raw([b'{"error": {"message": "messages: too many"}}'], 400)] * 2)
    assert isinstance(second, ModelError)
    assert (second.kind, second.retryable) == ("bad_request", False)


def test_failures_say_what_happened_and_never_the_key() -> None:
    overloaded = b'{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}'
    quoted = json.dumps({"error": {"type": "authentication_error", "message": f"invalid x-api-key {KEY}"}}).encode()
    failed = sse(start(), {"type": "error", "error": {"type": "api_error", "message": "pecah"}})
    (busy, denied, broken, cut), _ = ask(
        Raw([overloaded], 529, {"retry-after": "7"}),
        Raw([quoted], 401),
        Raw([failed], headers=STREAM.headers),
        Raw([REPLY[:400]], headers=STREAM.headers),
    )
    assert isinstance(busy, ModelError)
    assert (busy.kind, busy.status, busy.retryable, busy.retry_after) == ("overloaded", 529, True, 7)
    assert isinstance(denied, ModelError)
    assert KEY not in str(denied)
    assert "ANTHROPIC_API_KEY" in (denied.hint or "")
    assert isinstance(broken, ModelError)
    assert (broken.kind, broken.message) == ("overloaded", "pecah")
    assert isinstance(cut, ModelError)
    assert (cut.kind, cut.retryable) == ("bad_response", True)


def test_what_the_provider_refuses_is_said_before_anything_is_sent() -> None:
    request = ModelRequest("", ASK.messages, settings=Settings(think=True, max_tokens=100))
    model = AnthropicMessages("claude-sonnet-4-5", api_key=KEY)
    with pytest.raises(ConfigurationError, match="max_tokens"):
        asyncio.run(model.prepare(request))
    (error,), server = ask(WHOLE, request=request)
    assert isinstance(error, ModelError)
    assert error.kind == "configuration"
    assert server.requests == []


def test_configuration_comes_from_the_vendors_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="ANTHROPIC_MODEL"):
        AnthropicMessages()
    with pytest.raises(ConfigurationError, match="ANTHROPIC_API_KEY"):
        AnthropicMessages("claude-x")
    with pytest.raises(ConfigurationError, match="https://host"):
        AnthropicMessages("claude-x", base_url="example.com")
    with pytest.raises(ConfigurationError, match="copy it again") as caught:
        AnthropicMessages("claude-x", api_key="kunci\nrahasia")
    assert "rahasia" not in str(caught.value)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-token")
    assert isinstance(AnthropicMessages("claude-x"), Model)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://localhost:1/anthropic")
    monkeypatch.setenv("ANTHROPIC_MODEL", "claude-y")
    model = AnthropicMessages()
    assert (model.name, model.provider) == ("anthropic:claude-y", "anthropic")
    assert "http://localhost:1/anthropic" in repr(model)
    assert choose("anthropic:").model.name == "anthropic:claude-y"
    assert choose("anthropic:claude-z").model.name == "anthropic:claude-z"


def test_a_token_is_sent_where_there_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-token")
    _, server = ask(WHOLE, api_key=None)
    headers = {name.lower(): value for name, value in server.requests[0].headers.items()}
    assert headers["authorization"] == "Bearer token-token"
    assert "x-api-key" not in headers
