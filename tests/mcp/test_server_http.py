"""Our tools over streamable HTTP: the official client, and who is not let in."""

from __future__ import annotations

import asyncio
import contextlib
import io
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

import aiohttp
import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.mcp.shop import BUDI, ERAS, Asks, Shop, agent
from tukang.errors import ConfigurationError
from tukang.loop.permissions import Principal
from tukang.mcp.server_http import MOST_BODY, http_app, is_here, must_be_guarded, serving_http
from tukang.mcp.serving import Caller, Service

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@contextlib.asynccontextmanager
async def _client(url: str, era: str, token: str | None = None, asks: Asks | None = None) -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(headers=headers, trust_env=False) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=era, elicitation_callback=(asks or Asks(None)).callback) as connected:
            yield connected


@pytest.mark.parametrize("era", ERAS)
def test_the_official_client(era: str) -> None:
    shop, asks = Shop(), Asks("yes")
    seen: list[str | None] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001
        seen.append(message)

    async def go() -> None:
        app = http_app(Service(agent(shop), ask=False), caller=BUDI)
        async with serving_http(app) as url, _client(url, era, asks=asks) as connected:
            assert "send" in {tool.name for tool in (await connected.list_tools()).tools}
            assert (await connected.call_tool("order", {"code": "A", "amount": 2})).structured_content == {"number": 1}
            await connected.call_tool("steps", {}, progress_callback=told)

    asyncio.run(go())
    assert shop.did == ["A 2"]
    assert len(asks.asked) == 1
    assert seen == ["step 0", "step 1", "step 2"]


@pytest.mark.parametrize("era", ERAS)
def test_each_token_is_somebody(era: str) -> None:
    async def go() -> None:
        tokens = {"t-budi": BUDI, "t-eve": Caller(Principal("eve"))}
        app = http_app(Service(agent(Shop()), ask=False), tokens=tokens)
        async with serving_http(app) as url:
            for token, sees in (("t-budi", True), ("t-eve", False)):
                async with _client(url, era, token) as connected:
                    names = {tool.name for tool in (await connected.list_tools()).tools}
                    assert ("send" in names) is sees

    asyncio.run(go())


def test_a_session_is_of_whoever_began_it() -> None:
    """Also where the tokens say nothing of who has them."""
    hello = {
        **PING,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }

    async def go() -> None:
        app = http_app(Service(agent(Shop()), ask=False), tokens={"t-one": Caller(), "t-other": Caller()})
        async with serving_http(app) as url, aiohttp.ClientSession() as session:

            async def posted(token: str, message: Any, **more: str) -> tuple[int, str]:
                headers = {**HEADERS, "Authorization": f"Bearer {token}", **more}
                async with session.post(url, json=message, headers=headers) as response:
                    return response.status, response.headers.get("mcp-session-id", "")

            status, begun = await posted("t-one", hello)
            assert (status, bool(begun)) == (200, True)
            asked = {**PING, "method": "tools/list"}
            assert (await posted("t-one", asked, **{"Mcp-Session-Id": begun}))[0] == 200
            assert (await posted("t-other", asked, **{"Mcp-Session-Id": begun}))[0] == 404

    asyncio.run(go())


def _posted(tokens: Mapping[str, Caller] | None, *posts: Callable[[aiohttp.ClientSession, str], Any]) -> list[int]:
    """The status of each answer."""

    async def go() -> list[int]:
        app = http_app(Service(agent(Shop()), ask=False), tokens=tokens)
        statuses: list[int] = []
        async with serving_http(app) as url, aiohttp.ClientSession() as session:
            for post in posts:
                async with post(session, url) as response:
                    statuses.append(response.status)
        return statuses

    return asyncio.run(go())


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content-Type": "text/plain"}, 400),
    ],
)
def test_no_page_of_somebody_else_s_gets_through(header: Mapping[str, str], status: int) -> None:
    assert _posted(None, lambda session, url: session.post(url, json=PING, headers={**HEADERS, **header})) == [status]


def test_who_has_no_token_is_not_let_in() -> None:
    def with_header(value: str | None) -> Any:
        headers = HEADERS if value is None else {**HEADERS, "Authorization": value}
        return lambda session, url: session.post(url, json=PING, headers=headers)

    wrong = [None, "Bearer", "Bearer ", "Bearer t-budi2", "Bearer t-bud", "Basic t-budi", "t-budi"]
    assert _posted({"t-budi": BUDI}, *[with_header(value) for value in wrong]) == [401] * len(wrong)


def test_a_body_has_a_bound() -> None:
    whole = b'{"x":"' + b"a" * MOST_BODY + b'"}'

    async def pieces() -> Any:
        for _ in range(20):
            yield b"a" * (MOST_BODY // 10)

    statuses = _posted(
        None,
        lambda session, url: session.post(url, data=io.BytesIO(whole), headers=HEADERS),
        lambda session, url: session.post(url, data=pieces(), headers=HEADERS),
    )
    assert statuses == [413, 413]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "127.8.9.1"])
def test_this_machine_alone_needs_no_token(host: str) -> None:
    assert is_here(host)
    must_be_guarded(host, None)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com", ""])
def test_beyond_it_nobody_is_let_in_without_one(host: str) -> None:
    with pytest.raises(ConfigurationError, match="token"):
        must_be_guarded(host, None)
    must_be_guarded(host, {"t": BUDI})
    with pytest.raises(ConfigurationError, match="empty"):
        must_be_guarded(host, {" ": BUDI})


def test_a_port_that_is_taken_is_said() -> None:
    async def go() -> None:
        app = http_app(Service(agent(Shop()), ask=False))
        async with serving_http(app) as url:
            port = int(url.rpartition(":")[2].partition("/")[0])
            with pytest.raises(ConfigurationError, match="cannot listen"):
                async with serving_http(http_app(Service(agent(Shop()), ask=False)), port=port):
                    pass

    asyncio.run(go())
