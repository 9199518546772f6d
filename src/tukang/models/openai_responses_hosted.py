"""Tools that a server of the Responses protocol runs itself, as it takes them, and what their items say in words.

Pure. Who runs what:

| declared | sent as | OpenAI, Azure | Bedrock (bedrock-mantle) |
|---|---|---|---|
| `web_search` | `web_search` | yes | not by gpt-oss |
| `file_search` | `file_search` | yes | — |
| `code` | `code_interpreter` | yes | — |
| `image_generation` | `image_generation` | yes | — |
| `mcp` | `mcp` with `server_url` or `connector_id` | yes; asks when it is to | — |
| `aws` | `mcp` with the ARN as `connector_id` | — | yes; never asks |

A server that is none of these is taken at its word: it has what OpenAI has, or refuses. Where it is to ask before a call of
a remote MCP server, its reply ends in `mcp_approval_request` items: each is a call here that wants permission, and what
becomes of it goes back as `mcp_approval_response`. A permission is sent once, in the request right after it was given. Later,
where no `mcp_call` says that it was used, nobody knows whether it was: then it goes back as a refusal that says so.

gpt-oss on Bedrock has two more, `notes` and `tasks`, that are always there and cannot be declared; they come as `mcp_call`s.

Sources: https://developers.openai.com/api/docs/guides/tools-connectors-mcp, https://platform.openai.com/docs/guides/tools,
https://docs.aws.amazon.com/bedrock/latest/userguide/tool-use-server-side.html,
https://docs.aws.amazon.com/bedrock/latest/userguide/inference-responses-api.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from tukang.models.base import ModelRequest
from tukang.models.openai_responses_dialect import Dialect
from tukang.tools.hosted import Hosted

REQUEST = "mcp_approval_request"

_FAMILY = {"aws": "bedrock"}
_INCLUDE: Mapping[str, str] = {
    "web_search": "web_search_call.action.sources",
    "file_search": "file_search_call.results",
    "code": "code_interpreter_call.outputs",
}
"""What has to be asked for, so that an item holds its results."""

_NAMES: Mapping[str, str] = {
    "web_search_call": "web_search",
    "file_search_call": "file_search",
    "code_interpreter_call": "code",
    "image_generation_call": "image_generation",
}
_FEW = 300


def cannot_serve(tool: Hosted, dialect: Dialect) -> str | None:
    """Why a server does not run a tool as it is declared; None if it does."""
    options = tool.options
    if tool.kind not in dialect.hosted:
        return "it has no such tool; there are: " + (", ".join(sorted(dialect.hosted)) or "none")
    if tool.asks and tool.kind == "aws":
        return "Bedrock calls it without asking: leave out rules about it"
    if tool.kind == "web_search" and "blocked" in options:
        return "it takes domains to search in, and none to leave out: say domains instead of blocked"
    if tool.kind == "web_search" and "most" in options:
        return "it bounds all of its tools together: leave most out, and say Settings(extra={'max_tool_calls': …})"
    return None


def hosted_tools(request: ModelRequest, dialect: Dialect) -> list[dict[str, Any]]:
    """The entries of `tools` for what the server runs."""
    return [{**_tool(tool), **tool.own.get(_FAMILY.get(tool.kind, dialect.family), {})} for tool in request.hosted]


def included(request: ModelRequest, dialect: Dialect) -> list[str]:
    """What is asked for so that results come with the calls."""
    if not dialect.includes_results:
        return []
    return [_INCLUDE[tool.kind] for tool in request.hosted if tool.kind in _INCLUDE]


def _tool(tool: Hosted) -> dict[str, Any]:
    options = tool.options
    match tool.kind:
        case "web_search":
            sent: dict[str, Any] = {"type": "web_search"}
            if "domains" in options:
                sent["filters"] = {"allowed_domains": options["domains"]}
            if "near" in options:
                sent["user_location"] = {"type": "approximate", **options["near"]}
            return sent
        case "file_search":
            sent = {"type": "file_search", "vector_store_ids": options["stores"]}
            return sent | ({"max_num_results": options["results"]} if "results" in options else {})
        case "code":
            files = {"file_ids": options["files"]} if "files" in options else {}
            return {"type": "code_interpreter", "container": {"type": "auto", **files}}
        case "mcp":
            return _server(tool)
        case "aws":
            sent = {
                "type": "mcp",
                "server_label": tool.name,
                "connector_id": options["arn"],
                "require_approval": "never",
            }
            return sent | ({"server_description": options["description"]} if "description" in options else {})
        case kind:
            return {"type": kind}


def _server(tool: Hosted) -> dict[str, Any]:
    sent: dict[str, Any] = {
        "type": "mcp",
        "server_label": tool.name,
        "require_approval": "always" if tool.asks else "never",
    }
    fields = {
        "server_url": "url",
        "connector_id": "connector",
        "allowed_tools": "tools",
        "authorization": "token",
        "headers": "headers",
        "server_description": "description",
    }
    return sent | {field: tool.options[name] for field, name in fields.items() if name in tool.options}


# ── approvals ────────────────────────────────────────────────────────────────────────────────────────────────────────


def asked_arguments(item: Mapping[str, Any]) -> str:
    """What a server wants to call, as the arguments of a call that wants permission."""
    given = item.get("arguments")
    text = given if isinstance(given, str) and given.strip() else "{}"
    try:
        arguments = msgspec.json.decode(text)
    except msgspec.DecodeError:
        arguments = text
    return msgspec.json.encode({"tool": str(item.get("name") or ""), "arguments": arguments}).decode()


def answer_to(request: str, *, permitted: bool, why: str = "") -> dict[str, Any]:
    """A decision in the protocol's form."""
    said: dict[str, Any] = {"type": "mcp_approval_response", "approval_request_id": request, "approve": permitted}
    return said if permitted or not why else {**said, "reason": why[:_FEW]}


# ── what comes back ──────────────────────────────────────────────────────────────────────────────────────────────────


def declared_name(item: Mapping[str, Any]) -> str:
    """What a call is called when it is declared; empty where that is no tool of ours to declare."""
    kind = str(item.get("type"))
    if kind == "mcp_call":
        return f"{item.get('server_label') or 'mcp'}.{item.get('name') or ''}"
    return _NAMES.get(kind, "")


def said_by(item: Mapping[str, Any]) -> tuple[str | None, bool]:
    """What a call returned, in words, and whether it failed. None where that is in another item, or not to be known."""
    failed = item.get("status") in ("failed", "incomplete") or bool(item.get("error"))
    match item.get("type"):
        case "web_search_call":
            action = _fields(item.get("action"))
            return _lines([_fields(one).get("url") for one in _list(action.get("sources"))]), failed
        case "file_search_call":
            found = [_fields(one) for one in _list(item.get("results"))]
            return _lines([f"{one.get('filename') or ''}: {one.get('text') or ''}" for one in found]), failed
        case "code_interpreter_call":
            outputs = [_fields(one) for one in _list(item.get("outputs"))]
            return _lines([one.get("logs") or one.get("url") for one in outputs]), failed
        case "image_generation_call":
            return ("a picture" if item.get("result") else ""), failed
        case "mcp_call":
            return (_problem(item["error"]) if item.get("error") else str(item.get("output") or "")), failed
        case _:
            return None, failed


def output_text(item: Mapping[str, Any]) -> str:
    """What an output item of the server's says."""
    output = item.get("output", item.get("tools"))
    if isinstance(output, str):
        return output
    return msgspec.json.encode(output).decode() if output else ""


def _problem(error: Any) -> str:
    if isinstance(error, str):
        return error
    fields = _fields(error)
    said = fields.get("message") or fields.get("content")
    return said if isinstance(said, str) else msgspec.json.encode(error).decode()


def _lines(texts: Sequence[Any]) -> str:
    return "\n".join([str(one).rstrip() for one in texts if one])


def _fields(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
