"""Serving over streamable HTTP, with uvicorn: who may connect, and under which name a page may ask for us.

The server listens on this machine only, unless it is told otherwise, and then only with tokens. Every request must name a
host it is known by, and come from no other web page: so a page in somebody's browser cannot reach it under a name of its own
that leads here (DNS rebinding). Bodies have a bound. The protocol itself is the SDK's.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import ipaddress
import socket
from collections.abc import AsyncGenerator, Collection, Generator, Mapping
from typing import Any

import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from tukang.errors import ConfigurationError
from tukang.mcp.server import build
from tukang.mcp.serving import Caller, Service

PATH = "/mcp"
"""Where it is found."""

MOST_BODY = 1024 * 1024
"""Bytes of one request."""

_CALLER = "tukang.caller"
_STOPPING = 2.0
"""Seconds that requests under way have to end when the server stops."""


def http_app(
    service: Service,
    *,
    caller: Caller | None = None,
    tokens: Mapping[str, Caller] | None = None,
    hosts: Collection[str] = ("127.0.0.1", "localhost", "[::1]"),
    most_body: int = MOST_BODY,
) -> Starlette:
    """The server as an ASGI application.

    Args:
        service: what is served.
        caller: who everybody is, where there are no tokens.
        tokens: bearer token → who has it. With tokens, a request without one of them is refused.
        hosts: the names it is known by, as they stand in `Host` before the port.
        most_body: bytes of one request.
    """
    everybody = caller or Caller()

    def who(request: Any) -> Caller:
        return request.scope.get(_CALLER, everybody) if request is not None else everybody

    known = [pattern for host in hosts for pattern in (host, f"{host}:*")]
    app = build(service, who).streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=most_body,
        transport_security=TransportSecuritySettings(
            allowed_hosts=known,
            allowed_origins=[f"{scheme}://{pattern}" for scheme in ("http", "https") for pattern in known],
        ),
    )
    if tokens is not None:
        app.add_middleware(_Tokens, tokens=tokens)
    return app


class _Tokens:
    """Lets in who has a token, and says who they are: a session belongs to who began it (the SDK sees to that)."""

    def __init__(self, app: ASGIApp, tokens: Mapping[str, Caller]) -> None:
        self._app = app
        self._tokens = {token.encode(): (caller, _owner(token, caller)) for token, caller in tokens.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        found = self._found(HTTPConnection(scope).headers.get("authorization", ""))
        if found is None:
            refusal = JSONResponse(
                {"error": "a bearer token is needed"}, status_code=401, headers={"WWW-Authenticate": "Bearer"}
            )
            await refusal(scope, receive, send)
            return
        caller, owner = found
        scopes = list(caller.principal.scopes) if caller.principal else []
        user = AuthenticatedUser(AccessToken(token="", client_id=owner, scopes=scopes))
        await self._app({**scope, _CALLER: caller, "user": user}, receive, send)

    def _found(self, header: str) -> tuple[Caller, str] | None:
        scheme, _, given = header.partition(" ")
        if scheme.lower() != "bearer":
            return None
        sent, found = given.strip().encode("utf-8", "surrogateescape"), None
        for token, whose in self._tokens.items():  # all of them, so that the time says nothing
            if hmac.compare_digest(token, sent):
                found = whose
        return found


def _owner(token: str, caller: Caller) -> str:
    """Whose a session is: who calls, or where nobody knows that, whoever has this token."""
    return f"caller {caller.id}" if caller.id else f"token {hashlib.sha256(token.encode()).hexdigest()}"


def must_be_guarded(host: str, tokens: Mapping[str, Caller] | None) -> None:
    """Hold where it is to listen against who may connect.

    Raises:
        ConfigurationError: others could reach it, and everybody would be let in; or a token is empty.
    """
    if tokens is not None and not all(token.strip() for token in tokens):
        raise ConfigurationError("a token is empty: everybody would have it")
    if tokens is None and not is_here(host):
        raise ConfigurationError(
            f"{host} can be reached from other machines, and everybody would be let in: give tokens, or listen on 127.0.0.1"
        )


def is_here(host: str) -> bool:
    """Whether only this machine can connect to an address."""
    if host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return False


class _Server(uvicorn.Server):
    """Without uvicorn's own handling of signals: they are the program's."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@contextlib.asynccontextmanager
async def serving_http(app: Starlette, host: str = "127.0.0.1", port: int = 0) -> AsyncGenerator[str]:
    """Serve in this event loop, for the length of the block; gives the address.

    Raises:
        ConfigurationError: it cannot listen there.
    """
    at = host.strip("[]")
    try:
        listening = socket.create_server((at, port), family=socket.AF_INET6 if ":" in at else socket.AF_INET)
    except OSError as error:
        raise ConfigurationError(
            f"cannot listen on {host}:{port}: {error.strerror}; choose another port (0: any)"
        ) from error
    config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=int(_STOPPING))
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        while not server.started and not task.done():  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
        bound = listening.getsockname()
        yield f"http://{f'[{bound[0]}]' if ':' in bound[0] else bound[0]}:{bound[1]}{PATH}"
    finally:
        server.should_exit = True
        await asyncio.wait([task], timeout=2 * _STOPPING)
        listening.close()
