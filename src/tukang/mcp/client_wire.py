"""How a server is reached: a process that is started here, or an address. The official SDK speaks; this watches it.

What is watched: whether a request has left (so that a call that never did may be made again, and one that did may not),
whether the other side is gone, and what a started server says on its standard error. Over HTTP, one request that fails costs
that request and not the whole connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import shutil
import sys
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

import httpx2
from mcp import StdioServerParameters, stdio_client
from mcp.client.auth import OAuthFlowError
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import MCP_SESSION_ID, streamable_http_client
from mcp.types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCRequest

from tukang.errors import ConfigurationError
from tukang.mcp.client_config import McpServer
from tukang.mcp.client_oauth import FileTokens, oauth
from tukang.secrets import Remover
from tukang.tools.failure import words

LARGEST = 64_000_000
"""Bytes of one answer over HTTP that are read."""

_LAST = 20
_LOG = logging.getLogger("tukang.mcp")
_LOG.addHandler(logging.NullHandler())
for _theirs in (
    "mcp",
    "client",
):  # what the SDK logs of a server's mistakes is for whoever listens, not for the terminal
    logging.getLogger(_theirs).addHandler(logging.NullHandler())


class Sending:
    """What became of one request on its way. `sent`: it may have reached the server; `broken`: no answer to it can be had;
    `session_lost`: the server does not know us any more, and did nothing."""

    __slots__ = ("broken", "sent", "session_lost")

    def __init__(self) -> None:
        self.sent = self.broken = self.session_lost = False


SENDING: ContextVar[Sending | None] = ContextVar("tukang_mcp_sending", default=None)
"""The request that is being sent: the SDK writes in the context of whoever asked."""


# ── a process ────────────────────────────────────────────────────────────────────────────────────────────────────────


class LastWords(asyncio.Protocol):
    """What a server says on its standard error: to the log of `tukang.mcp`, and the last of it kept for a message."""

    def __init__(self, server: McpServer) -> None:
        self._name = server.name
        self._remover = Remover(server.secrets, in_errors=True)
        self._rest = b""
        self._lines: deque[str] = deque(maxlen=_LAST)

    def data_received(self, data: bytes) -> None:
        """A piece of it."""
        *lines, self._rest = (self._rest[-4000:] + data).split(b"\n")
        for line in lines:
            text = self._remover.text(line.decode(errors="replace").rstrip()[:1000])
            if text:
                self._lines.append(text)
                _LOG.info("%s: %s", self._name, text)

    @property
    def text(self) -> str:
        """The last lines, in one; "" when it said nothing."""
        return " / ".join([*self._lines][-3:])[-600:]


@contextlib.asynccontextmanager
async def process(server: McpServer, last_words: LastWords, gone: Callable[[], None]) -> AsyncGenerator[Any]:
    """A server that is started here, as a transport of the SDK's; `gone` is called when it has closed its output.

    Raises:
        ConfigurationError: there is no such command, or no such folder.
    """
    assert server.command is not None
    program, *args = _command(server)
    if sys.platform == "linux":
        launch = str(Path(__file__).with_name("client_launch.py"))
        program, args = sys.executable, ["-I", "-S", launch, str(os.getpid()), program, *args]
    parameters = StdioServerParameters(
        command=program, args=args, env=dict(server.env), cwd=server.cwd, encoding_error_handler="replace"
    )
    reading, writing = os.pipe()
    loop = asyncio.get_running_loop()
    pipe, _ = await loop.connect_read_pipe(lambda: last_words, os.fdopen(reading, "rb"))
    errors: IO[str] = os.fdopen(writing, "w")
    try:
        async with stdio_client(parameters, errlog=errors) as (read, write):
            errors.close()
            yield _Watched(read, gone), _Marking(write)
    finally:
        errors.close()
        pipe.close()
        await asyncio.sleep(0)  # the pipe closes in the next round of the loop


def _command(server: McpServer) -> list[str]:
    """The command with its program found, so that what is wrong with it is said here and now."""
    assert server.command is not None
    label = f"MCP server {server.name!r}"
    if server.cwd is not None and not Path(server.cwd).is_dir():
        raise ConfigurationError(f"{label}: there is no folder {server.cwd!r} to start it in")
    if os.sep in server.command:
        found = Path(server.cwd or "", server.command).expanduser()
        if not found.exists():
            raise ConfigurationError(f"{label}: there is no program {server.command!r}")
        return [str(found.absolute()), *server.args]
    path = {**get_default_environment(), **server.env}.get("PATH")
    program = shutil.which(server.command, path=path)
    if program is None:
        raise ConfigurationError(f"{label}: the program {server.command!r} is not found; install it, or give its path")
    return [program, *server.args]


class _Watched:
    """A stream that is read, and says when it has ended."""

    def __init__(self, inner: Any, gone: Callable[[], None]) -> None:
        self._inner = inner
        self._gone = gone

    def __aiter__(self) -> _Watched:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._inner.__anext__()
        except asyncio.CancelledError:
            raise
        except BaseException:
            self._gone()
            raise

    async def receive(self) -> Any:
        return await self._inner.receive()

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> _Watched:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> Any:
        return await self._inner.__aexit__(*raised)


class _Marking:
    """A stream that is written to, and marks a request as sent: before it has left, so that none is missed."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def send(self, item: Any, /) -> None:
        sending = SENDING.get()
        if sending is not None and isinstance(item.message, JSONRPCRequest):
            sending.sent = True
        await self._inner.send(item)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> _Marking:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> Any:
        return await self._inner.__aexit__(*raised)


# ── an address ───────────────────────────────────────────────────────────────────────────────────────────────────────


@contextlib.asynccontextmanager
async def address(server: McpServer) -> AsyncGenerator[Any]:
    """A server at an address, as a transport of the SDK's."""
    assert server.url is not None
    timeout = httpx2.Timeout(min(30.0, server.patience), read=max(300.0, server.timeout + 5.0))
    auth = oauth(server.url, FileTokens(server.oauth)) if server.oauth else server.auth
    async with (
        _Client(headers=dict(server.headers), timeout=timeout, auth=auth) as client,
        streamable_http_client(server.url, http_client=client) as streams,
    ):
        yield streams


_NO_SESSION = re.compile(
    rb"session[- _]?(?:id|not found|expired|terminated)|(?:invalid|unknown|no such) session", re.IGNORECASE
)
"""What servers that answer with 400 say of a session that they do not know; not any error that is about some session."""

_NEVER_LEFT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError, OAuthFlowError)


class _Client(httpx2.AsyncClient):
    """Answers a request that failed with the JSON-RPC error that it is, instead of failing the connection it belongs to."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """See `httpx2.AsyncClient.send`."""
        if request.method != "POST":
            return await super().send(request, **options)
        sending = SENDING.get() or Sending()
        sending.sent = True
        try:
            return await _honest(await super().send(request, **options), request, sending)
        except Exception as error:  # also what an auth flow raises
            sending.sent = not isinstance(error, _NEVER_LEFT)
            sending.broken = True
            return _answer(request, 503, words(error))


async def _honest(response: httpx2.Response, request: httpx2.Request, sending: Sending) -> httpx2.Response:
    """The response, if it is one; what the server says otherwise, read here, where a broken connection costs one request."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    failed = response.status_code >= 400
    if response.is_redirect or not (failed or kind == "application/json"):
        return response
    try:
        body = await _read(response)
    finally:
        await response.aclose()
    if not failed:
        kept = {name: response.headers[name] for name in ("content-type", MCP_SESSION_ID) if name in response.headers}
        return httpx2.Response(response.status_code, headers=kept, content=body, request=request)
    in_session = MCP_SESSION_ID in request.headers
    if in_session and (response.status_code == 404 or (response.status_code == 400 and _NO_SESSION.search(body))):
        sending.session_lost = True
    sending.sent = (
        response.status_code >= 500 or response.status_code == 408
    )  # a gateway may have handed it on before that
    sending.broken = sending.sent
    said = _said(body)
    if said is not None and not sending.session_lost and not sending.broken:
        return _json(request, response.status_code, said)
    return _answer(request, response.status_code, f"HTTP {response.status_code} {response.reason_phrase}".strip())


async def _read(response: httpx2.Response) -> bytes:
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > LARGEST:
            raise httpx2.ReadError(f"its answer has more than {LARGEST:,} bytes")
    return bytes(body)


def _said(body: bytes) -> ErrorData | None:
    """The JSON-RPC error in a body, if it is one."""
    with contextlib.suppress(ValueError):
        return JSONRPCError.model_validate_json(body).error
    return None


def _answer(request: httpx2.Request, status: int, message: str) -> httpx2.Response:
    return _json(request, status, ErrorData(code=INTERNAL_ERROR, message=message))


def _json(request: httpx2.Request, status: int, error: ErrorData) -> httpx2.Response:
    body: Mapping[str, Any] = {"jsonrpc": "2.0", "id": None, "error": error.model_dump(exclude_none=True)}
    return httpx2.Response(status, json=body, request=request)
