"""What Anthropic ran itself, as blocks. Source: https://platform.claude.com/docs/en/agents-and-tools/tool-use/server-tools

A call and its result are neighbours; a call that has no result yet gets it in a later reply. What a search found is sealed,
and the seal must come back as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tukang.mock.seals import seal
from tukang.mock.values import JSON, Refused, Spoken
from tukang.models.scripted import ScriptedServed

_NAMES = {"web_search": "web_search", "web_fetch": "web_fetch", "code": "bash_code_execution"}
_COUNTED = ("web_search", "web_fetch")


def blocks(spoken: Spoken) -> Iterator[JSON]:
    """Every block, in the order of the script: first the results that earlier replies left open."""
    for place, one in enumerate(spoken.served):
        key = f"{spoken.key}{place}"
        if one.asks:
            raise Refused("the MCP connector asks nobody")
        if one.label:
            name = one.tool.partition(".")[2]
            call: JSON = {"type": "mcp_tool_use", "id": f"mcptoolu_{key}", "name": name, "server_name": one.label}
        elif one.tool in _NAMES:
            call = {"type": "server_tool_use", "id": f"srvtoolu_{key}", "name": _NAMES[one.tool]}
        else:
            raise Refused(f"Anthropic has no tool {one.tool!r} of its own")
        yield {**call, "input": one.arguments}
        if one.result is not None:
            yield _result(one, call["id"])


def counted(served: tuple[ScriptedServed, ...]) -> Mapping[str, int]:
    """What the usage says of them."""
    return {f"{name}_requests": sum(one.tool == name for one in served) for name in _COUNTED}


def _result(one: ScriptedServed, call: str) -> JSON:
    text = one.result or ""
    if one.label:
        content: object = [{"type": "text", "text": text}]
        return {"type": "mcp_tool_result", "tool_use_id": call, "is_error": one.fault, "content": content}
    name = _NAMES[one.tool]
    kind = f"{name}_tool_result"
    if one.fault:
        error = {"type": f"{kind}_error", "error_code": text or "unavailable"}
        return {"type": kind, "tool_use_id": call, "content": error}
    match one.tool:
        case "web_search":
            content = [_page(line) for line in text.splitlines()]
        case "web_fetch":
            source = {"type": "text", "media_type": "text/plain", "data": text}
            document = {"type": "document", "source": source, "title": None}
            url = str(one.arguments.get("url", ""))
            content = {"type": "web_fetch_result", "url": url, "content": document, "retrieved_at": None}
        case _:
            content = {"type": f"{name}_result", "stdout": text, "stderr": "", "return_code": 0, "content": []}
    return {"type": kind, "tool_use_id": call, "content": content}


def _page(line: str) -> JSON:
    title, _, url = line.rpartition(" — ")
    page = {"type": "web_search_result", "title": title or url, "url": url, "page_age": None}
    return {**page, "encrypted_content": seal(url)}
