"""The events that a Lambda function is invoked with, read into one form, and answers written back. Shapes only.

| who calls | the event | source |
|---|---|---|
| Bedrock's server-side tools (Responses API, `connector_id`: the function's ARN) | the JSON-RPC request itself | https://docs.aws.amazon.com/bedrock/latest/userguide/tool-use-server-side.html |
| AgentCore Gateway, a Lambda target | the tool's arguments; its name in the client context | https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-add-target-lambda.html |
| a function URL, an HTTP API (payload 2.0) | an HTTP request, `version` 2.0 | https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html |
| a REST API, an HTTP API (payload 1.0) | an HTTP request, `httpMethod` | https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html |
"""  # noqa: E501

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Literal, cast

import msgspec

DELIMITER = "___"
"""What AgentCore Gateway puts between a target's name and a tool's, in the name it calls the tool by."""

_TOOL = "bedrockagentcoretoolname"
_SESSION = "bedrockagentcoresessionid"
_KEY = "tukang/idempotency_key"

Kind = Literal["rpc", "gateway", "http2", "http1"]

Event = Mapping[str, Any]


class UnreadableEventError(Exception):
    """The event has none of the shapes above."""


class UnreadableBodyError(UnreadableEventError):
    """It is an HTTP request, whose body is not what the event says."""


class Invocation(msgspec.Struct, frozen=True):
    """What a function was invoked with.

    Args:
        kind: by whom: see the table.
        event: as it came.
        custom: the client context's own part, names in small letters: what AgentCore Gateway says beside the event.
        headers: of the HTTP request, names in small letters; empty where there is none.
        method: of the HTTP request.
        body: of the HTTP request.
    """

    kind: Kind
    event: Event
    custom: Mapping[str, Any] = {}
    headers: Mapping[str, str] = {}
    method: str = ""
    body: bytes = b""

    @property
    def tool(self) -> str:
        """The tool that AgentCore Gateway calls, without the target's name before it."""
        name = str(self.custom.get(_TOOL, ""))
        return name.partition(DELIMITER)[2] if DELIMITER in name else name

    @property
    def session(self) -> str | None:
        """The session as the caller names it, if they do."""
        named = self.headers.get("mcp-session-id") or self.custom.get(_SESSION)
        return named if isinstance(named, str) and named else None

    @property
    def key(self) -> str | None:
        """The idempotency key, if the caller says one: in a header (`Idempotency-Key`, as in the IETF's draft of that name),
        or in the client context, as `tukang.hosting.lambda_tool` does."""
        named = self.headers.get("idempotency-key") or self.custom.get(_KEY)
        return named if isinstance(named, str) and named else None


def read(event: object, client_context: object) -> Invocation:
    """An event in its one form.

    Args:
        event: as the function got it.
        client_context: the `client_context` of Lambda's context object; None where there is none.

    Raises:
        UnreadableEventError: it is none of those that are known; or its body cannot be read (`UnreadableBodyError`).
    """
    if not isinstance(event, Mapping):
        raise UnreadableEventError(f"the event is {type(event).__name__}, not an object")
    whole = cast("Event", event)
    custom = _custom(client_context)
    if custom.get(_TOOL):
        return Invocation("gateway", whole, custom)
    if "jsonrpc" in whole:
        return Invocation("rpc", whole, custom)
    context: Any = whole.get("requestContext")
    if isinstance(context, Mapping):
        http: Any = cast("Event", context).get("http")
        if isinstance(http, Mapping):
            method = str(cast("Event", http).get("method", ""))
            return Invocation("http2", whole, custom, _headers(whole), method, _body(whole))
        if "httpMethod" in whole:
            return Invocation("http1", whole, custom, _headers(whole), str(whole["httpMethod"]), _body(whole))
    raise UnreadableEventError(
        "the event is neither an MCP request (`jsonrpc`), nor an HTTP request (`requestContext`), nor a call from AgentCore "
        "Gateway (`bedrockAgentCoreToolName` in the client context)"
    )


def names_tool(client_context: object) -> bool:
    """Whether it is that of a call by AgentCore Gateway, or by a `LambdaTool`."""
    return bool(_custom(client_context).get(_TOOL))


def http_answer(status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """An HTTP answer, in the form that a function URL and all kinds of API Gateway take."""
    return {
        "statusCode": status,
        "headers": {**({"Content-Type": "application/json"} if body else {}), **(headers or {})},
        "body": body.decode(),
        "isBase64Encoded": False,
    }


def _custom(client_context: object) -> Mapping[str, Any]:
    custom: Any = getattr(client_context, "custom", None)
    if not isinstance(custom, Mapping):
        return {}
    return {str(name).lower(): value for name, value in cast("Event", custom).items()}


def _headers(event: Event) -> Mapping[str, str]:
    headers: Any = event.get("headers")
    if not isinstance(headers, Mapping):
        return {}
    return {str(name).lower(): str(value) for name, value in cast("Event", headers).items() if value is not None}


def _body(event: Event) -> bytes:
    body: Any = event.get("body")
    if not isinstance(body, str):
        return b""
    if not event.get("isBase64Encoded"):
        return body.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(body, validate=True)
    except ValueError as error:
        raise UnreadableBodyError("the body says that it is Base64, and is not") from error
