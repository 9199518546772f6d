"""Events and contexts as AWS sends them. The shapes are those of its documentation; the values are made up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

SHA = "arn:aws:sts::123456789012:assumed-role/Gudang/budi"


def context(seconds: float = 30.0, **custom: Any) -> Any:
    """Lambda's context object; with `custom`, as AgentCore Gateway fills it in."""
    return SimpleNamespace(
        aws_request_id="8f7c6d5e",
        client_context=SimpleNamespace(custom=custom, env=None, client=None) if custom else None,
        get_remaining_time_in_millis=lambda: int(seconds * 1000),
    )


def from_gateway(tool: str, target: str = "gudang", session: str | None = "s-1") -> Any:
    """The context of a call by AgentCore Gateway."""
    said = {
        "bedrockAgentCoreGatewayId": "gw-1",
        "bedrockAgentCoreTargetId": "T1",
        "bedrockAgentCoreMessageVersion": "1.0",
        "bedrockAgentCoreToolName": f"{target}___{tool}",
        "bedrockAgentCoreSessionId": session,
    }
    return context(**{name: value for name, value in said.items() if value is not None})


def rpc(method: str, params: Mapping[str, Any] | None = None, id: Any = 1) -> dict[str, Any]:
    """What Bedrock sends for its server-side tools, and what stands in the body of an HTTP request."""
    return {"jsonrpc": "2.0", "id": id, "method": method} | ({} if params is None else {"params": dict(params)})


def call(tool: str, arguments: Any = None, **meta: Any) -> dict[str, Any]:
    params: dict[str, Any] = {"name": tool, "arguments": arguments or {}}
    return rpc("tools/call", {**params, "_meta": meta} if meta else params)


def http2(body: Any, authorizer: Any = None, headers: Mapping[str, str] | None = None, method: str = "POST") -> Any:
    """A function URL's, or an HTTP API's with payload 2.0."""
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": "/mcp",
        "rawQueryString": "",
        "headers": {"content-type": "application/json", "accept": "application/json", **(headers or {})},
        "requestContext": {
            "accountId": "123456789012" if authorizer else "anonymous",
            "apiId": "r3pmxmplak",
            "http": {"method": method, "path": "/mcp", "protocol": "HTTP/1.1", "sourceIp": "203.0.113.1"},
            "requestId": "e1506fd5",
            "stage": "$default",
        }
        | ({"authorizer": authorizer} if authorizer else {}),
        "body": body if isinstance(body, str) or body is None else json.dumps(body),
        "isBase64Encoded": False,
    }


def http1(body: Any, authorizer: Any = None, identity: Any = None, method: str = "POST") -> Any:
    """A REST API's."""
    return {
        "resource": "/mcp",
        "path": "/mcp",
        "httpMethod": method,
        "headers": {"Content-Type": "application/json", "Accept": "application/json"},
        "multiValueHeaders": {"Content-Type": ["application/json"]},
        "queryStringParameters": None,
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "70ixmpl4fl",
            "httpMethod": method,
            "identity": identity or {"sourceIp": "203.0.113.1", "userArn": None},
            "requestId": "e1506fd5",
            "stage": "prod",
        }
        | ({"authorizer": authorizer} if authorizer else {}),
        "body": body if isinstance(body, str) or body is None else json.dumps(body),
        "isBase64Encoded": False,
    }


JWT = {"jwt": {"claims": {"sub": "budi", "scope": "gudang:lihat gudang:kirim"}, "scopes": None}}
IAM = {
    "iam": {
        "accessKey": "AKIAEXAMPLE",
        "accountId": "123456789012",
        "callerId": "AROAEXAMPLE:budi",
        "userArn": SHA,
        "userId": "AROAEXAMPLE:budi",
    }
}
COGNITO = {"claims": {"sub": "budi", "scope": "gudang:kirim", "cognito:username": "budi"}}
CUSTOM = {"principalId": "budi", "scope": "gudang:kirim", "integrationLatency": 5}
