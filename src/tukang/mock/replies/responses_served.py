"""What a server of the Responses protocol ran itself, as items. Source: https://platform.openai.com/docs/api-reference/responses

* A remote server's tools are listed once in a conversation (`mcp_list_tools`), before the first call of one.
* A call that was asked about names the request (`approval_request_id`) that was answered with a yes.
* Results stand in the call's own item; those of searches and of code only where the request asked for them (`include`).
"""

from __future__ import annotations

from collections.abc import Iterator

from tukang.mock.values import JSON, Refused, Spoken
from tukang.models.scripted import ScriptedServed

_KINDS = ("web_search", "file_search", "code")


def items(spoken: Spoken) -> Iterator[JSON]:
    """Every item, in the order of the script."""
    listed = set(spoken.asked.listed)
    yes = [request for request, permitted in spoken.asked.decided if permitted]
    for place, one in enumerate(spoken.served):
        key = f"{spoken.key}_{place}"
        if not one.label:
            yield _own(one, key, spoken)
            continue
        if one.label not in listed:
            listed.add(one.label)
            yield _list(one, key)
        name = one.tool.partition(".")[2]
        item: JSON = {"arguments": one.text, "name": name, "server_label": one.label}
        if one.asks:
            yield {"id": f"mcpr_{key}", "type": "mcp_approval_request", **item}
            continue
        output = {"output": None, "error": one.result} if one.fault else {"output": one.result, "error": None}
        status = "failed" if one.fault else "completed"
        request = yes.pop(0) if one.label in spoken.asked.asking else None
        yield {
            "id": f"mcp_{key}",
            "type": "mcp_call",
            **item,
            **output,
            "status": status,
            "approval_request_id": request,
        }


def _list(one: ScriptedServed, key: str) -> JSON:
    tool = {
        "name": one.tool.partition(".")[2],
        "description": "",
        "input_schema": {"type": "object"},
        "annotations": None,
    }
    return {"id": f"mcpl_{key}", "type": "mcp_list_tools", "server_label": one.label, "tools": [tool], "error": None}


def _own(one: ScriptedServed, key: str, spoken: Spoken) -> JSON:
    status = "failed" if one.fault else "completed"
    results = "results" in spoken.asked.wishes
    lines = (one.result or "").splitlines()
    match one.tool:
        case "web_search":
            action: JSON = {"type": "search", "query": one.arguments.get("query", "")}
            if results:
                action["sources"] = [{"type": "url", "url": line.rpartition(" — ")[2]} for line in lines]
            return {"id": f"ws_{key}", "type": "web_search_call", "status": status, "action": action}
        case "file_search":
            found = [{"file_id": "file_1", "filename": "dokumen.txt", "text": line, "score": 0.9} for line in lines]
            query = [str(one.arguments.get("query", ""))]
            given = found if results else None
            return {"id": f"fs_{key}", "type": "file_search_call", "status": status, "queries": query, "results": given}
        case "code":
            outputs = [{"type": "logs", "logs": one.result}] if results else None
            code = str(one.arguments.get("code", ""))
            container = {"container_id": "cntr_mock", "code": code, "outputs": outputs}
            return {"id": f"ci_{key}", "type": "code_interpreter_call", "status": status, **container}
        case other:
            raise Refused(
                f"this protocol has no tool {other!r} of its own; there are: {', '.join(_KINDS)}, and label.tool"
            )
