"""Tools that Anthropic runs itself, as the Messages API takes them, and what their results say in words.

Pure. A tool has a version in its type. Models from 4.6 on get the newest; older ones, and a server that refuses the newest
(`anthropic_dialect.learn`), the first. `anthropic={"type": "web_search_20260209"}` in the declaration says another.

| declared | sent as | beta |
|---|---|---|
| `web_search` | `web_search_20260318` / `web_search_20250305` | — |
| `web_fetch` | `web_fetch_20260318` / `web_fetch_20250910` | — |
| `code` | `code_execution_20260521` / `code_execution_20250825` | — |
| `mcp` | `mcp_toolset` in `tools`, and its server in `mcp_servers` | `mcp-client-2025-11-20` |

The MCP connector calls without asking, takes addresses only, and no headers but a token. On Bedrock there is none of this.

Sources: https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-reference,
https://platform.claude.com/docs/en/agents-and-tools/tool-use/server-tools,
https://platform.claude.com/docs/en/agents-and-tools/mcp-connector
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from tukang.models.anthropic_dialect import Dialect
from tukang.models.base import ModelRequest
from tukang.tools.hosted import Hosted

MCP_BETA = "mcp-client-2025-11-20"

_TYPES: Mapping[str, tuple[str, str]] = {
    "web_search": ("web_search_20260318", "web_search_20250305"),
    "web_fetch": ("web_fetch_20260318", "web_fetch_20250910"),
    "code": ("code_execution_20260521", "code_execution_20250825"),
}
"""Of each kind the newest version, and the first."""

_CODE = frozenset({"code_execution", "bash_code_execution", "text_editor_code_execution"})


def cannot_serve(tool: Hosted) -> str | None:
    """Why Anthropic does not run a tool as it is declared; None if it does."""
    options = tool.options
    if tool.kind not in (*_TYPES, "mcp"):
        return "it has no such tool"
    if tool.kind == "code" and options.get("files"):
        return "files are given to its container in a message, not with the tool: leave files out"
    if tool.kind != "mcp":
        return None
    if tool.asks:
        return "its MCP connector calls without asking: say approval='never', and have no rule about it"
    if "connector" in options:
        return "it connects to addresses only: say url, not connector"
    if not str(options["url"]).startswith("https://"):
        return "it connects to https:// addresses only"
    return "it sends no headers but the token: leave headers out" if "headers" in options else None


def hosted_tools(request: ModelRequest, dialect: Dialect) -> list[dict[str, Any]]:
    """The entries of `tools` for what it runs itself."""
    return [_toolset(tool) if tool.kind == "mcp" else _tool(tool, dialect) for tool in request.hosted]


def mcp_servers(request: ModelRequest) -> list[dict[str, Any]]:
    """The servers it is to connect to."""
    servers: list[dict[str, Any]] = []
    for tool in request.hosted:
        if tool.kind == "mcp":
            server = {"type": "url", "name": tool.name, "url": tool.options["url"]}
            if "token" in tool.options:
                server["authorization_token"] = tool.options["token"]
            servers.append(server)
    return servers


def _tool(tool: Hosted, dialect: Dialect) -> dict[str, Any]:
    newest, first = _TYPES[tool.kind]
    options = tool.options
    sent: dict[str, Any] = {
        "type": newest if dialect.newest_tools else first,
        "name": "code_execution" if tool.kind == "code" else tool.kind,
    }
    for field, name in (("allowed_domains", "domains"), ("blocked_domains", "blocked"), ("max_uses", "most")):
        if name in options:
            sent[field] = options[name]
    if "near" in options:
        sent["user_location"] = {"type": "approximate", **options["near"]}
    return sent | dict(tool.own.get("anthropic", {}))


def _toolset(tool: Hosted) -> dict[str, Any]:
    sent: dict[str, Any] = {"type": "mcp_toolset", "mcp_server_name": tool.name}
    if names := tool.options.get("tools"):
        sent["default_config"] = {"enabled": False}
        sent["configs"] = {name: {"enabled": True} for name in names}
    return sent | dict(tool.own.get("anthropic", {}))


# ── what comes back ──────────────────────────────────────────────────────────────────────────────────────────────────


def declared_name(block: Mapping[str, Any]) -> str:
    """What a call of its own is called when it is declared."""
    name = str(block.get("name") or "")
    if block.get("type") == "mcp_tool_use":
        return f"{block.get('server_name') or 'mcp'}.{name}"
    return "code" if name in _CODE else name


def said_by(block: Mapping[str, Any]) -> tuple[str, bool]:
    """What a result block says in words, as far as it is not sealed, and whether it is an error."""
    content: Any = block.get("content")
    if block.get("type") == "mcp_tool_result":
        return _words(content), bool(block.get("is_error"))
    fields = cast("dict[str, Any]", content) if isinstance(content, dict) else {}
    if fields.get("error_code"):
        return str(fields["error_code"]), True
    if "stdout" in fields or "stderr" in fields:
        printed = "\n".join(text for name in ("stdout", "stderr") if (text := str(fields.get(name) or "").rstrip()))
        code = fields.get("return_code")
        return (printed if not code else f"{printed}\n(exit status {code})".lstrip()), False
    if fields.get("type") == "web_fetch_result":
        document = cast("dict[str, Any]", fields.get("content") or {})
        source = cast("dict[str, Any]", document.get("source") or {})
        text = source.get("data") if source.get("type") == "text" else ""
        return "\n".join(str(one) for one in (document.get("title"), fields.get("url"), text) if one), False
    return _words(content), False


def _words(content: Any) -> str:
    """Texts, and pages as title and address; anything else as JSON, without what is sealed."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return msgspec.json.encode(_open(content)).decode() if content else ""
    return "\n".join([_line(one) for one in cast("list[Any]", content)])


def _line(piece: Any) -> str:
    fields = cast("dict[str, Any]", piece) if isinstance(piece, dict) else {}
    if isinstance(fields.get("text"), str):
        return fields["text"]
    if fields.get("url"):
        return " — ".join(str(one) for one in (fields.get("title"), fields["url"]) if one)
    return msgspec.json.encode(_open(piece)).decode()


def _open(value: Any) -> Any:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {key: _open(one) for key, one in fields.items() if not key.startswith("encrypted")}
    return [_open(one) for one in cast("Sequence[Any]", value)] if isinstance(value, list) else value
