"""A tool and the result of a call as MCP writes them: plain JSON objects, without the SDK.

Written after the specification, https://modelcontextprotocol.io/specification/2025-11-25/server/tools.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from tukang.answer import Answer, Step
from tukang.conversation import File, Image, Text, ToolResult
from tukang.mcp.returning import Returned
from tukang.tools.advice import warn
from tukang.tools.outcome import Fault
from tukang.tools.policy import Policy
from tukang.tools.tool import Tool

ASKS = "tukang/asks"
"""In a tool's `_meta`: somebody is asked before a call of it runs."""

CALL = "tukang/call"
"""In a result's `_meta`: the call's id, as it stands in the server's records."""


def described(tool: Tool, returns: Returned | None) -> dict[str, Any]:
    """A tool, as `tools/list` gives it."""
    form: dict[str, Any] = {
        "name": tool.name,
        "description": tool.contract.description,
        "inputSchema": dict(tool.contract.parameters),
        "annotations": _hints(tool.policy),
    }
    if returns is not None:
        form["outputSchema"] = dict(returns.schema)
    if tool.policy.approving != "never":
        form["_meta"] = {ASKS: True}
    return form


def _hints(policy: Policy) -> dict[str, bool]:
    """What MCP's annotations can say of a policy; what is not known is not said, and then means the worse."""
    match policy.effect:
        case "read":
            return {"readOnlyHint": True}
        case "write":
            return {"readOnlyHint": False, "idempotentHint": False}
        case "idempotent":
            return {"readOnlyHint": False, "idempotentHint": True}
        case "unknown":
            return {}


def result_of(answer: Answer[Any], returns: Returned | None) -> dict[str, Any]:
    """What became of a call (see `tukang.calling.call`), as the result of `tools/call`."""
    if not answer.steps:
        return fault(Fault("cancelled", "the call was cancelled before it had begun"))
    step = answer.steps[0]
    result: dict[str, Any] = {
        "content": [_content(part, step) for part in _parts(answer)],
        "_meta": {CALL: step.call_id},
    }
    if step.fault is not None:
        return {**result, "isError": True}
    if returns is None:
        return result
    value = returns.value(step.result)
    if value is None:
        warn(
            f"tool {step.tool!r} returned something else than its return type says; give it the type of what it returns"
        )
        told = (
            "the tool ran and ended well, but its result does not have the form that it declares; it is given as text"
        )
        return {**result, "content": [_text(told), *result["content"]], "isError": True}
    return {**result, "structuredContent": value}


def fault(found: Fault) -> dict[str, Any]:
    """A fault, as the result of `tools/call`: data for the model that called."""
    return {"content": [_text(found.as_text())], "isError": True}


def said(text: str, data: Mapping[str, Any], *, failed: bool = False) -> dict[str, Any]:
    """Words and the same as data, as the result of `tools/call`."""
    result = {"content": [_text(text)], "structuredContent": dict(data)}
    return {**result, "isError": True} if failed else result


def _parts(answer: Answer[Any]) -> Sequence[Text | Image | File]:
    """The parts of the one result. A step holds its words only."""
    for message in answer.messages:
        for part in message.parts:
            if isinstance(part, ToolResult) and part.call_id == answer.steps[0].call_id:
                return part.content
    return (Text(answer.steps[0].result),)


def _content(part: Text | Image | File, step: Step) -> dict[str, Any]:
    if isinstance(part, Text):
        return _text(part.text)
    if part.data is None and part.url is not None:
        name = part.url.rpartition("/")[2] or part.url
        return {"type": "resource_link", "uri": part.url, "name": name, "mimeType": part.media_type}
    if isinstance(part, Image):
        return {"type": "image", "data": _base64(part.data), "mimeType": part.media_type}
    uri = f"tukang://result/{step.call_id}"
    return {
        "type": "resource",
        "resource": {"uri": uri, "mimeType": part.media_type, "blob": _base64(part.data)},
    }


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _base64(data: bytes | None) -> str:
    return base64.b64encode(data or b"").decode()
