"""Permission to use a server in somebody's name (OAuth 2.1), through the SDK: where tokens are kept, how a person is asked.

The person signs in in a browser, which then comes back to a small listener on this machine. It answers once, on the loopback
address only, and only to whoever brings the `state` that the browser was sent away with. Tokens are secrets: they are written
to a file that only its owner may read, and nowhere else.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import msgspec
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, OAuthFlowError, TokenStorage
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tukang.tools import advice
from tukang.tools.aside import aside

PERSON = 300.0
"""Seconds that a person has to sign in."""

PORT = 8973
"""Where the browser comes back to. It is the same each time, because it is part of what is registered with the server."""

_DONE = "You may close this page. / Halaman ini boleh ditutup."
_HEAD = "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: {size}\r\n\r\n"


class FileTokens:
    """Keeps what was granted for one server in a file. An implementation of the SDK's `TokenStorage`.

    Args:
        path: the file; its folder is made. Only its owner may read it.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path).expanduser()

    async def get_tokens(self) -> OAuthToken | None:
        """The tokens, if there are any."""
        found = self._read().get("tokens")
        return None if found is None else OAuthToken.model_validate(found)

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep the tokens."""
        self._write(tokens=tokens.model_dump(mode="json", exclude_none=True))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """How we are registered with the server, if we are."""
        found = self._read().get("client")
        return None if found is None else OAuthClientInformationFull.model_validate(found)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep how we are registered."""
        self._write(client=client_info.model_dump(mode="json", exclude_none=True))

    def _read(self) -> dict[str, Any]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, Any])
        except (OSError, msgspec.DecodeError):  # as good as none: then the person is asked again
            return {}

    def _write(self, **more: Any) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        beside = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.json.encode(self._read() | more))
        beside.replace(self._path)


def oauth(
    url: str,
    tokens: TokenStorage,
    *,
    visit: Callable[[str], Any] | None = None,
    port: int | None = None,
    scope: str | None = None,
    name: str = "tukang",
) -> httpx2.Auth:
    """What to give to `McpServer(auth=…)` for a server that wants a person to sign in.

    Args:
        url: the server's address.
        tokens: where tokens are kept: `FileTokens`, or your own.
        visit: is given the address where the person signs in, and shows it to them; it may be async. None opens the browser.
        port: where the browser comes back to, on this machine; `PORT` by default.
        scope: what is asked for; None for what the server says.
        name: what the person reads that wants to be let in.
    """
    waiting = _Browser(port or PORT, visit or _opened)
    metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(waiting.address)], client_name=name, scope=scope)
    return OAuthClientProvider(url, metadata, tokens, waiting.sent, waiting.back)


def _opened(url: str) -> None:
    if not webbrowser.open(url):
        advice.warn(f"no browser could be opened; open this address in one, on this machine, to sign in: {url}")


class _Browser:
    """Sends a person away to sign in, and waits for them to come back."""

    def __init__(self, port: int, visit: Callable[[str], Any]) -> None:
        self.address = f"http://127.0.0.1:{port}/callback"
        self._port = port
        self._visit = visit
        self._state: str | None = None
        self._came: asyncio.Future[AuthorizationCodeResult] | None = None
        self._server: asyncio.Server | None = None

    async def sent(self, url: str) -> None:
        """The listener is there before the browser is."""
        self._state = parse_qs(urlsplit(url).query).get("state", [None])[0]
        self._came = asyncio.get_running_loop().create_future()
        try:
            self._server = await asyncio.start_server(self._answer, "127.0.0.1", self._port)
        except OSError as error:
            raise OAuthFlowError(f"the browser could not come back to port {self._port}: {error.strerror}") from error
        try:
            await aside(self._visit, url)
        except BaseException:
            await self._stop()
            raise

    async def back(self) -> AuthorizationCodeResult:
        """What the browser brought."""
        assert self._came is not None, "it was sent away before"
        try:
            async with asyncio.timeout(PERSON):
                return await self._came
        except TimeoutError:
            raise OAuthFlowError(f"nobody signed in within {PERSON:g} seconds") from None
        finally:
            await self._stop()

    async def _stop(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ValueError, TimeoutError, asyncio.IncompleteReadError):
            async with asyncio.timeout(10):
                line = (await reader.readline()).decode("latin-1").split()
            accepted = len(line) > 1 and line[0] == "GET" and self._heard(line[1])
            body = (_DONE if accepted else "?").encode()
            writer.write(_HEAD.format(status="200 OK" if accepted else "404 Not Found", size=len(body)).encode() + body)
            await writer.drain()
        writer.close()

    def _heard(self, target: str) -> bool:
        parts = urlsplit(target)
        said = {key: values[0] for key, values in parse_qs(parts.query).items()}
        if parts.path != "/callback" or self._came is None or self._came.done() or said.get("state") != self._state:
            return False
        if "code" in said:
            self._came.set_result(AuthorizationCodeResult(code=said["code"], state=said["state"], iss=said.get("iss")))
        else:
            why = said.get("error_description") or said.get("error") or "no code came back"
            self._came.set_exception(OAuthFlowError(f"the server did not let us in: {why[:300]}"))
        return True
