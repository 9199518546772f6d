"""The function at the other end of the official MCP client: a small server makes events of requests, as API Gateway does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx2
import mcp_types as types
import pytest
from aiohttp import web
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.hosting.aws import COGNITO, JWT, context, http1, http2
from tukang import tool
from tukang.hosting import LambdaHandler, toolbox


async def _served(handler: LambdaHandler, event: Callable[..., Any], authorizer: Any) -> tuple[web.AppRunner, str]:
    async def answer(request: web.Request) -> web.Response:
        made = event(await request.text(), authorizer, method=request.method)
        made["headers"] = dict(request.headers)
        given = await asyncio.to_thread(handler, made, context())
        return web.Response(status=given["statusCode"], text=given["body"], headers=given["headers"])

    app = web.Application()
    app.router.add_route("*", "/mcp", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    return runner, f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"


@pytest.mark.parametrize(("event", "authorizer"), [(http2, JWT), (http1, COGNITO)])
@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_the_official_client(era: str, event: Callable[..., Any], authorizer: Any) -> None:
    """A client that would speak the newest version goes on with one that the function speaks."""

    @tool(effect="read")
    def stok(kode: str) -> dict[str, Any]:
        """Cek stok."""
        return {"kode": kode, "stok": 7}

    @tool(effect="write", approval="never", needs="gudang:kirim")
    def kirim(kode: str) -> str:
        """Kirim."""
        return f"{kode} terkirim"

    handler = LambdaHandler(lambda: toolbox([stok, kirim], name="gudang"))

    async def go() -> None:
        runner, url = await _served(handler, event, authorizer)
        try:
            async with (
                httpx2.AsyncClient(trust_env=False) as http,
                Client(streamable_http_client(url, http_client=http), mode=era) as connected,
            ):
                assert {tool.name for tool in (await connected.list_tools()).tools} == {"stok", "kirim"}
                result = await connected.call_tool("stok", {"kode": "A"})
                assert result.structured_content == {"kode": "A", "stok": 7}
                sent = (await connected.call_tool("kirim", {"kode": "A"})).content[0]
                assert isinstance(sent, types.TextContent)
                assert sent.text == "A terkirim"
                assert (await connected.call_tool("stok", {})).is_error
        finally:
            await runner.cleanup()

    try:
        asyncio.run(go())
    finally:
        handler.close()
