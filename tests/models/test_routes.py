"""A session of the user's own, a proxy and TLS settings are used by every adapter, and by nobody without being told."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
import trustme
from aiohttp import web
from yarl import URL

from tukang.conversation import user
from tukang.errors import ConfigurationError, ModelError
from tukang.models.anthropic import AnthropicMessages
from tukang.models.base import Fold, Model, ModelRequest
from tukang.models.bedrock_converse import BedrockConverse
from tukang.models.bedrock_invoke import BedrockInvoke
from tukang.models.gemini import Gemini
from tukang.models.http import Route
from tukang.models.ollama import Ollama
from tukang.models.openai_chat import OpenAIChat
from tukang.models.openai_responses import OpenAIResponses

ASK = ModelRequest("", (user("Halo?"),))
KEY = "a-very-secret-key"
CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
AWS: Mapping[str, Any] = {"region": "us-east-1", "token": KEY}

Make = Callable[..., Model]

ADAPTERS: Mapping[str, tuple[Make, Any]] = {
    "openai": (
        lambda url, **route: OpenAIChat("x", base_url=url, api_key=KEY, stream=False, **route),
        {"choices": [{"index": 0, "message": {"content": "ya"}, "finish_reason": "stop"}]},
    ),
    "responses": (
        lambda url, **route: OpenAIResponses("x", base_url=url, api_key=KEY, stream=False, **route),
        {
            "object": "response",
            "status": "completed",
            "output": [
                {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "ya"}]}
            ],
        },
    ),
    "anthropic": (
        lambda url, **route: AnthropicMessages("x", base_url=url, api_key=KEY, stream=False, **route),
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": "ya"}],
            "stop_reason": "end_turn",
        },
    ),
    "bedrock": (
        lambda url, **route: BedrockConverse(CLAUDE, base_url=url, stream=False, **AWS, **route),
        {"output": {"message": {"role": "assistant", "content": [{"text": "ya"}]}}, "stopReason": "end_turn"},
    ),
    "bedrock-invoke": (
        lambda url, **route: BedrockInvoke(CLAUDE, base_url=url, stream=False, **AWS, **route),
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": "ya"}],
            "stop_reason": "end_turn",
        },
    ),
    "ollama": (
        lambda url, **route: Ollama("x", host=url, api_key=KEY, stream=False, **route),
        {"model": "x", "message": {"role": "assistant", "content": "ya"}, "done": True, "done_reason": "stop"},
    ),
    "gemini": (
        lambda url, **route: Gemini("x", base_url=url, api_key=KEY, stream=False, **route),
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "ya"}]}, "finishReason": "STOP"}]},
    ),
}

every_adapter = pytest.mark.parametrize("name", list(ADAPTERS))


@asynccontextmanager
async def serving(reply: Any, tls: ssl.SSLContext | None = None) -> AsyncIterator[tuple[int, list[web.Request]]]:
    """A server that says the same to everything, whatever host it is asked for, as a proxy is; its port, and what it saw."""
    seen: list[web.Request] = []

    async def answer(request: web.Request) -> web.Response:
        await request.read()
        seen.append(request)
        return web.Response(body=json.dumps(reply).encode(), content_type="application/json")

    application = web.Application()
    application.router.add_route("POST", "/{path:.*}", answer)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
        yield runner.addresses[0][1], seen
    finally:
        await runner.cleanup()


async def said(model: Model) -> str:
    fold = Fold()
    async for event in model.stream(ASK):
        fold.add(event)
    return fold.reply().text


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def server_side(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    return context


@pytest.fixture(scope="module")
def trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


# ── a proxy ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@every_adapter
def test_a_proxy_with_a_name_and_a_password_is_asked_instead_of_the_server(name: str) -> None:
    make, reply = ADAPTERS[name]

    async def asked() -> None:
        async with serving(reply) as (port, seen):
            model = make("http://model.invalid", proxy=f"http://budi:rahasia-sekali@127.0.0.1:{port}")
            assert await said(model) == "ya"
            assert seen[0].raw_path.startswith("http://model.invalid/")
            assert (
                seen[0].headers["Proxy-Authorization"] == f"Basic {base64.b64encode(b'budi:rahasia-sekali').decode()}"
            )

    asyncio.run(asked())


@every_adapter
def test_the_proxy_of_a_session_of_ones_own_is_used_and_the_environments_is_not(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, reply = ADAPTERS[name]
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

    async def asked() -> None:
        async with serving(reply) as (port, seen):
            async with aiohttp.ClientSession(proxy=f"http://127.0.0.1:{port}") as session:
                assert await said(make("http://model.invalid", session=session)) == "ya"
            assert seen[0].raw_path.startswith("http://model.invalid/")

    asyncio.run(asked())


@every_adapter
def test_the_proxy_of_the_environment_is_used_where_nothing_else_is_said(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, reply = ADAPTERS[name]

    async def asked() -> None:
        async with serving(reply) as (port, seen):
            monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
            assert await said(make("http://model.invalid")) == "ya"
            assert seen[0].raw_path.startswith("http://model.invalid/")

    asyncio.run(asked())


def test_a_proxy_that_is_not_there_is_said_to_be_the_one_without_its_password() -> None:
    model = OpenAIChat("x", base_url="http://model.invalid/v1", proxy="http://budi:rahasia-sekali@127.0.0.1:9")
    with pytest.raises(ModelError) as caught:
        asyncio.run(said(model))
    assert caught.value.kind == "connection"
    assert "proxy" in caught.value.message
    assert "rahasia" not in str(caught.value)


@pytest.mark.parametrize("address", ["", "127.0.0.1:3128", "socks5://x:1", "http://[x"])
def test_the_address_of_a_proxy_must_be_one(address: str) -> None:
    with pytest.raises(ConfigurationError, match="proxy"):
        OpenAIChat("x", base_url="http://model.invalid", proxy=address)


def test_a_proxy_that_is_named_goes_before_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://environment:3128")
    there = URL("https://api.example/v1")

    async def routes() -> None:
        async with aiohttp.ClientSession() as session:
            assert Route().proxy_to(there) == URL("http://environment:3128")
            assert Route(session).proxy_to(there) is None
            assert Route(session, "http://named:1").proxy_to(there) == URL("http://named:1")

    asyncio.run(routes())


def test_a_server_with_tls_is_reached_through_a_proxy(server_side: ssl.SSLContext, trusting: ssl.SSLContext) -> None:
    make, reply = ADAPTERS["openai"]
    tunnels: list[str] = []

    async def asked() -> None:
        async with serving(reply, server_side) as (port, seen):

            async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                tunnels.append((await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[0])
                inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await asyncio.gather(pump(reader, inner_writer), pump(inner_reader, writer))

            proxy = await asyncio.start_server(tunnel, "127.0.0.1", 0)
            async with proxy:
                at = proxy.sockets[0].getsockname()[1]
                async with aiohttp.ClientSession() as session:
                    model = make("https://localhost:444", session=session, proxy=f"http://127.0.0.1:{at}", tls=trusting)
                    assert await said(model) == "ya"
            assert tunnels == ["CONNECT localhost:444 HTTP/1.1"]
            assert seen[0].headers["Authorization"] == f"Bearer {KEY}"

    asyncio.run(asked())


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on what comes until it ends."""
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


# ── TLS ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@every_adapter
def test_a_private_authority_is_trusted_where_that_is_said_and_only_there(
    name: str, server_side: ssl.SSLContext, trusting: ssl.SSLContext
) -> None:
    make, reply = ADAPTERS[name]

    async def asked() -> None:
        async with serving(reply, server_side) as (port, seen):
            assert await said(make(f"https://localhost:{port}", tls=trusting)) == "ya"
            with pytest.raises(ModelError) as caught:
                await said(make(f"https://localhost:{port}"))
            assert len(seen) == 1
        error = caught.value
        assert (error.kind, error.retryable) == ("connection", False)
        assert "certificate" in error.message
        assert "tls=" in str(error.hint)
        assert KEY not in str(error)

    asyncio.run(asked())


@every_adapter
def test_a_session_of_ones_own_brings_its_tls_settings_and_headers_and_stays_open(
    name: str, server_side: ssl.SSLContext, trusting: ssl.SSLContext
) -> None:
    make, reply = ADAPTERS[name]

    async def asked() -> None:
        async with serving(reply, server_side) as (port, seen):
            connector = aiohttp.TCPConnector(ssl=trusting)
            async with aiohttp.ClientSession(connector=connector, headers={"X-Own": "1"}) as session:
                assert await said(make(f"https://localhost:{port}", session=session)) == "ya"
                assert not session.closed
            assert seen[0].headers["X-Own"] == "1"

    asyncio.run(asked())
