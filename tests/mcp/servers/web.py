"""A server over streamable HTTP, by hand, that misbehaves as it is told. It shares nothing with the SDK.

    with WebServer() as server:
        McpServer(name="web", url=server.url)

It speaks the protocol of 2025: sessions, and answers in JSON. What is wrong with a tool is in the tool's name.
"""

from __future__ import annotations

import asyncio
import threading
import uuid
from types import TracebackType
from typing import Any

from aiohttp import web

_READS = {"readOnlyHint": True}
_TOOLS = ("say", "drop", "drop_half", "busy", "forget", "wait", "deny", "stream_cut", "strange", "redirect")


class WebServer:
    """Serves on a free port of this machine, in a thread. `heard` is every message."""

    def __init__(self, *, token: str | None = None) -> None:
        self.heard: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.sessions: set[str] = set()
        self._token = token
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._runner: web.AppRunner | None = None
        self._waiting: dict[Any, asyncio.Event] = {}
        self.url = ""
        self.port = 0

    def __enter__(self) -> WebServer:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self.start(), self._loop).result()
        return self

    def __exit__(self, *raised: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def start(self) -> None:
        app = web.Application()
        app.router.add_route("*", "/mcp", self._serve)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True)
        await site.start()
        self.port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{self.port}/mcp"

    def stop(self) -> None:
        """Go away."""
        runner, self._runner = self._runner, None
        if runner is not None:
            asyncio.run_coroutine_threadsafe(runner.cleanup(), self._loop).result()

    def again(self) -> None:
        """Come back at the same address, and know nobody."""
        self.sessions.clear()
        asyncio.run_coroutine_threadsafe(self.start(), self._loop).result()

    def calls(self, tool: str) -> int:
        """How often a tool was called."""
        return sum(one.get("method") == "tools/call" and one["params"]["name"] == tool for one in self.heard)

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        if self._token is not None and request.headers.get("Authorization") != f"Bearer {self._token}":
            return web.Response(status=401, text="who are you?")
        if request.method != "POST":
            return web.Response(status=405)
        message = await request.json()
        self.heard.append(message)
        self.headers.append(dict(request.headers))
        method, id = message["method"], message.get("id")
        if method == "initialize":
            session = uuid.uuid4().hex
            self.sessions.add(session)
            version = message["params"]["protocolVersion"]
            info = {"name": "web", "version": "1"}
            result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
            return self._result(id, result, {"Mcp-Session-Id": session})
        if method == "server/discover":
            return web.json_response(
                {"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}, status=400
            )
        if request.headers.get("Mcp-Session-Id") not in self.sessions:
            return web.Response(status=404, text="no such session")
        if id is None:
            if method == "notifications/cancelled" and (waiting := self._waiting.get(message["params"]["requestId"])):
                waiting.set()
            return web.Response(status=202)
        if method == "tools/list":
            tools = [{"name": name, "inputSchema": {"type": "object"}} for name in _TOOLS]
            tools += [
                {"name": f"{name}_reading", "inputSchema": {"type": "object"}, "annotations": _READS} for name in _TOOLS
            ]
            return self._result(id, {"tools": tools})
        return await self._call(request, id, message["params"]["name"].removesuffix("_reading"))

    async def _call(self, request: web.Request, id: Any, name: str) -> web.StreamResponse:
        match name:
            case "drop":
                assert request.transport is not None
                request.transport.close()
            case "drop_half":
                response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "1000"})
                await response.prepare(request)
                await response.write(b'{"jsonrpc": "2.0", ')
                assert request.transport is not None
                request.transport.close()
                return response
            case "busy":
                return web.Response(status=503, text="later")
            case "deny":
                return web.Response(status=403, text="not you")
            case "redirect":
                return web.Response(status=307, headers={"Location": "http://elsewhere.invalid/mcp"})
            case "forget":
                if self.calls("forget") + self.calls("forget_reading") == 1:
                    self.sessions.clear()
                    return web.Response(status=404, text="no such session")
            case "wait":
                self._waiting[id] = asyncio.Event()
                await self._waiting[id].wait()
            case "stream_cut":
                response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
                await response.prepare(request)
                await response.write(b": hello\n\n")
                assert request.transport is not None
                request.transport.close()
                return response
            case "strange":
                return web.Response(text="<html>hello</html>", content_type="text/html")
            case _:
                pass
        return self._result(id, {"content": [{"type": "text", "text": f"{name} was done"}]})

    def _result(self, id: Any, result: dict[str, Any], headers: dict[str, str] | None = None) -> web.Response:
        return web.json_response({"jsonrpc": "2.0", "id": id, "result": result}, headers=headers)
