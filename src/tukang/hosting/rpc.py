"""MCP's JSON-RPC for a server that keeps nothing between requests: what a function that is invoked once a request can speak.

It is written after the specification, without the SDK, whose import alone takes as long as all the rest of a cold start
(https://modelcontextprotocol.io/specification/2025-11-25). It cannot ask the caller anything, and tells no progress: there is
one answer to one request. A client that begins with a newer version of the protocol is told which ones are spoken here, and
goes on with one of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, cast

import msgspec

from tukang.mcp.serving import Asked, Caller, Service

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The versions of the protocol, the newest first."""

KEY, SESSION = "tukang/idempotency_key", "tukang/session"
"""In a request's `_meta`; as in `tukang.mcp.server`."""

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
UNSUPPORTED_VERSION = -32022


class Setting(msgspec.Struct, frozen=True):
    """What a request came with, besides itself.

    Args:
        caller: who it is by.
        session, key: as the transport said them; what stands in `_meta` goes before.
        seconds: how long it may take.
    """

    caller: Caller = Caller()
    session: str | None = None
    key: str | None = None
    seconds: float | None = None


class _Refused(Exception):
    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


async def answered(service: Service, message: object, setting: Setting) -> dict[str, Any] | None:
    """The answer to one message; None to a notification, which has none.

    Raises:
        Exception: whatever kept a call from being written down; the caller knows nothing of its outcome then.
    """
    if not isinstance(message, Mapping):
        return failed(None, INVALID_REQUEST, "one JSON-RPC request is expected: an object, and no batch")
    request = cast("Mapping[str, Any]", message)
    given = request.get("id")
    method, params = request.get("method"), request.get("params", {})
    if request.get("jsonrpc") != "2.0" or not isinstance(method, str) or isinstance(given, (dict, list, bool, float)):
        return failed(None, INVALID_REQUEST, "it is no JSON-RPC 2.0 request")
    if "id" not in request:
        return None
    try:
        if not isinstance(params, Mapping):
            raise _Refused(INVALID_PARAMS, "params must be an object")
        result = await _result(service, method, cast("Mapping[str, Any]", params), setting)
    except _Refused as refused:
        return failed(given, refused.code, refused.message, refused.data)
    return {"jsonrpc": "2.0", "id": given, "result": result}


def failed(id: Any, code: int, message: str, data: Any = None) -> dict[str, Any]:
    """An error, as JSON-RPC has it."""
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return {"jsonrpc": "2.0", "id": id, "error": error}


async def _result(service: Service, method: str, params: Mapping[str, Any], setting: Setting) -> dict[str, Any]:
    match method:
        case "initialize":
            wanted = params.get("protocolVersion")
            return {
                "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": f"tukang:{service.agent.name}", "version": version("tukang")},
            }
        case "ping":
            return {}
        case "tools/list":
            return {"tools": service.listed(setting.caller)}
        case "tools/call":
            return await service.call(_asked(params, setting))
        case "server/discover":  # a client that would speak a newer version first
            raise _Refused(UNSUPPORTED_VERSION, "that version is not spoken here", {"supported": list(VERSIONS)})
        case _:
            raise _Refused(METHOD_NOT_FOUND, "Method not found")


def _asked(params: Mapping[str, Any], setting: Setting) -> Asked:
    name, arguments, meta = params.get("name"), params.get("arguments"), params.get("_meta")
    if not isinstance(name, str):
        raise _Refused(INVALID_PARAMS, "params.name must be the name of a tool")
    if arguments is not None and not isinstance(arguments, Mapping):
        raise _Refused(INVALID_PARAMS, "params.arguments must be an object")
    said = cast("Mapping[str, Any]", meta if isinstance(meta, Mapping) else {})
    for one in (KEY, SESSION):
        if one in said and not (isinstance(said[one], str) and said[one].strip()):
            raise _Refused(INVALID_PARAMS, f"_meta[{one!r}] must be a text that is not blank")
    return Asked(
        tool=name,
        arguments=cast("Mapping[str, Any] | None", arguments),
        caller=setting.caller,
        conversation=said.get(SESSION) or setting.session or "lambda",
        key=said.get(KEY) or setting.key,
        seconds=setting.seconds,
    )
