"""Tools that Google runs itself, as `generateContent` takes them, and what their parts say in words.

Pure. Beside functions of ours they go from Gemini 3 on only, and then a request asks for their calls as parts
(`toolConfig.includeServerSideToolInvocations`), which go back verbatim. Alone, a search says what it looked for only in the
reply's metadata: that is one call here, which has nothing that could go back.

| declared | sent as |
|---|---|
| `web_search` | `googleSearch`, without options |
| `web_fetch` | `urlContext`, without options |
| `code` | `codeExecution`, without files |
| `file_search` | `fileSearch` (`fileSearchStoreNames`, `topK`) |

Sources: https://ai.google.dev/gemini-api/docs/google-search, …/url-context, …/code-execution, …/file-search and the types
of the `google-genai` SDK.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from tukang.conversation import ServerCall
from tukang.errors import ConfigurationError
from tukang.models.base import ModelRequest
from tukang.tools.hosted import Hosted

_FIELDS: Mapping[str, str] = {
    "web_search": "googleSearch",
    "web_fetch": "urlContext",
    "code": "codeExecution",
    "file_search": "fileSearch",
}
_NAMES: Mapping[str, str] = {
    "GOOGLE_SEARCH_WEB": "web_search",
    "GOOGLE_SEARCH_IMAGE": "web_search",
    "URL_CONTEXT": "web_fetch",
    "FILE_SEARCH": "file_search",
}


def cannot_serve(tool: Hosted) -> str | None:
    """Why Google does not run a tool as it is declared; None if it does."""
    if tool.kind not in _FIELDS:
        return "it has no such tool"
    if tool.kind != "file_search" and tool.options:
        return f"its {_FIELDS[tool.kind]} has no options: leave out {', '.join(sorted(tool.options))}"
    return None


def add_hosted(body: dict[str, Any], request: ModelRequest, *, with_functions: bool) -> None:
    """Put them into a body that has its functions already.

    Args:
        body: the body.
        request: what is asked.
        with_functions: whether the model takes them beside functions.

    Raises:
        ConfigurationError: it does not, and there are functions.
    """
    if not request.hosted:
        return
    if request.tools:
        if not with_functions:
            raise ConfigurationError(
                f"Gemini before version 3 takes {request.hosted[0]!r} only without other tools: leave them out, or take a "
                "newer model"
            )
        body.setdefault("toolConfig", {})["includeServerSideToolInvocations"] = True
    body["tools"] = [*body.get("tools", ()), *(_tool(tool) for tool in request.hosted)]


def _tool(tool: Hosted) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if tool.kind == "file_search":
        given["fileSearchStoreNames"] = list(tool.options["stores"])
        if "results" in tool.options:
            given["topK"] = tool.options["results"]
    return {_FIELDS[tool.kind]: given | dict(tool.own.get("gemini", {}))}


# ── what comes back ──────────────────────────────────────────────────────────────────────────────────────────────────


def declared_name(kind: str) -> str:
    """What a call of this `toolType` is called when it is declared."""
    return _NAMES.get(kind, "")


def ran(outcome: Mapping[str, Any]) -> tuple[str, bool]:
    """What code printed, and whether it failed."""
    return str(outcome.get("output") or "").rstrip(), outcome.get("outcome") not in (None, "OUTCOME_OK")


def looked_up(provider: str, grounding: Mapping[str, Any], context: Mapping[str, Any]) -> list[ServerCall]:
    """Searches and fetches that stand in the metadata of a reply only."""
    calls: list[ServerCall] = []
    if queries := [one for one in _list(grounding.get("webSearchQueries")) if isinstance(one, str)]:
        pages = [_dict(_dict(chunk).get("web")) for chunk in _list(grounding.get("groundingChunks"))]
        found = "\n".join(" — ".join(filter(None, (page.get("title"), page.get("uri")))) for page in pages if page)
        calls.append(_call(provider, "googleSearch", {"queries": queries}, "web_search", found))
    for page in map(_dict, _list(context.get("urlMetadata"))):
        url, status = str(page.get("retrievedUrl") or ""), str(page.get("urlRetrievalStatus") or "")
        failed = status not in ("", "URL_RETRIEVAL_STATUS_SUCCESS")
        calls.append(_call(provider, "urlContext", {"url": url}, "web_fetch", status or url, fault=failed))
    return calls


def _call(provider: str, name: str, arguments: Any, tool: str, result: str, *, fault: bool = False) -> ServerCall:
    text = msgspec.json.encode(arguments).decode()
    return ServerCall("", name, text, provider, None, tool=tool, result=result, fault=fault)


def _dict(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
