"""A server on the official SDK, over streamable HTTP, in a thread: it speaks the protocol of 2026, and may want a sign-in.

with ModernServer() as server:
    McpServer(name="modern", url=server.url)
"""

from __future__ import annotations

import secrets
import socket
import threading
import time
from types import TracebackType
from typing import Any

import uvicorn
from mcp import types
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    ProviderTokenVerifier,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl


class ModernServer:
    """Serves on a free port of this machine. `calls` are the names of called tools."""

    def __init__(self, *, signs_in: bool = False) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._base = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.url = f"{self._base}/mcp"
        self.calls: list[str] = []
        self.door = Door() if signs_in else None
        self._names = ["grow", "ask", "header"]
        self._bus = InMemorySubscriptionBus()
        server = Server(
            "modern",
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_subscriptions_listen=ListenHandler(self._bus),
        )
        auth = None
        if signs_in:
            auth = AuthSettings(
                issuer_url=AnyHttpUrl(self._base),
                resource_server_url=AnyHttpUrl(self.url),
                client_registration_options=ClientRegistrationOptions(enabled=True),
                validate_token_resource=False,
            )
        verifier = ProviderTokenVerifier(self.door) if self.door else None
        app = server.streamable_http_app(auth=auth, auth_server_provider=self.door, token_verifier=verifier)
        config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1, lifespan="on", ws="none")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=lambda: self._server.run([self._socket]), daemon=True)

    def __enter__(self) -> ModernServer:
        self._thread.start()
        until = time.monotonic() + 20
        while not self._server.started:
            assert time.monotonic() < until
            time.sleep(0.01)
        return self

    def __exit__(self, *raised: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._server.should_exit = True
        self._thread.join()

    async def _list(self, context: Any, params: Any) -> types.ListToolsResult:  # noqa: ARG002
        schema = {"type": "object", "properties": {}}
        return types.ListToolsResult(tools=[types.Tool(name=name, input_schema=schema) for name in self._names])

    async def _call(
        self,
        context: Any,  # noqa: ARG002
        params: types.CallToolRequestParams,
    ) -> types.CallToolResult | types.InputRequiredResult:
        self.calls.append(params.name)
        if params.name == "grow":
            self._names.append("grown")
            await self._bus.publish(ToolsListChanged())
        if params.name == "ask":
            if params.input_responses is None:
                form = types.ElicitRequestFormParams(
                    message="Which?", requested_schema={"type": "object", "properties": {"colour": {"type": "string"}}}
                )
                asked = {"colour": types.ElicitRequest(params=form)}
                return types.InputRequiredResult(input_requests=asked, request_state="here")
            assert params.request_state == "here"
            said = params.input_responses["colour"]
            assert isinstance(said, types.ElicitResult)
            return _text(f"{said.action} {said.content}")
        return _text(f"{params.name} was done")


def _text(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)])


class Door(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Lets in everybody who comes to it with a browser."""

    def __init__(self) -> None:
        self.signed_in = 0
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self._codes: dict[str, AuthorizationCode] = {}
        self._access: dict[str, AccessToken] = {}
        self._refresh: dict[str, RefreshToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        assert client_info.client_id is not None
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        code = AuthorizationCode(
            code=secrets.token_hex(20),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=str(client.client_id),
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self._codes[code.code] = code
        self.signed_in += 1
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(
        self,
        client: OAuthClientInformationFull,  # noqa: ARG002
        authorization_code: str,
    ) -> AuthorizationCode | None:
        return self._codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self._codes[authorization_code.code]
        return self._granted(str(client.client_id))

    async def load_refresh_token(
        self,
        client: OAuthClientInformationFull,  # noqa: ARG002
        refresh_token: str,
    ) -> RefreshToken | None:
        return self._refresh.get(refresh_token)

    async def exchange_refresh_token(
        self,
        client: OAuthClientInformationFull,
        refresh_token: RefreshToken,
        scopes: list[str],  # noqa: ARG002
    ) -> OAuthToken:
        del self._refresh[refresh_token.token]
        return self._granted(str(client.client_id))

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self._access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self._access.pop(token.token, None)
        self._refresh.pop(token.token, None)

    def _granted(self, client: str) -> OAuthToken:
        access, refresh = f"access-{secrets.token_hex(16)}", f"refresh-{secrets.token_hex(16)}"
        self._access[access] = AccessToken(token=access, client_id=client, scopes=[])
        self._refresh[refresh] = RefreshToken(token=refresh, client_id=client, scopes=[])
        return OAuthToken(access_token=access, refresh_token=refresh, expires_in=3600)
