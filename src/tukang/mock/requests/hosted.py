"""The provider's own tools in a request: which are declared, which ask, and what was decided. Knows two protocols' words.

Sources: https://platform.openai.com/docs/guides/tools-connectors-mcp,
https://docs.aws.amazon.com/bedrock/latest/userguide/tool-use-server-side.html,
https://platform.claude.com/docs/en/agents-and-tools/mcp-connector
"""

from __future__ import annotations

import re

from tukang.mock.requests.reading import need, objects, words
from tukang.mock.seals import is_seal, seal
from tukang.mock.values import JSON, Address, Hosting

_KINDS = {"web_search": "web_search", "file_search": "file_search", "code_interpreter": "code"}
_VERSIONED = re.compile(r"(web_search|web_fetch|code_execution)_20\d{6}")
_MCP_BETA = "mcp-client-2025-11-20"


def of_responses(body: JSON, entries: list[JSON]) -> Hosting:
    """Of a request to Responses, checked."""
    hosted: set[str] = set()
    asking: set[str] = set()
    for place, tool in enumerate(objects(body, "tools")):
        kind, label = words(tool.get("type")), words(tool.get("server_label"))
        if kind in _KINDS:
            hosted.add(_KINDS[kind])
        elif kind == "mcp":
            at = f"tools[{place}]"
            need(label, f"Missing required parameter: '{at}.server_label'.", param=f"{at}.server_label")
            where = [field for field in ("server_url", "connector_id", "tunnel_id") if tool.get(field)]
            need(
                len(where) == 1,
                f"One of 'server_url', 'connector_id', or 'tunnel_id' must be provided in '{at}'.",
                param=at,
            )
            hosted.add(label)
            arn = words(tool.get("connector_id")).startswith("arn:")
            never = f"Invalid value for '{at}.require_approval': it has to be 'never' for an ARN."
            need(not arn or tool.get("require_approval") == "never", never, param=at)
            if tool.get("require_approval", "always") != "never":
                asking.add(label)
    listed = frozenset(words(one.get("server_label")) for one in entries if one.get("type") == "mcp_list_tools")
    return Hosting(frozenset(hosted), frozenset(asking), listed, _decisions(entries))


def _decisions(entries: list[JSON]) -> tuple[tuple[str, bool], ...]:
    """What was decided and not used; every request of the server's is answered once, after it."""
    requests = [words(one.get("id")) for one in entries if one.get("type") == "mcp_approval_request"]
    decided: dict[str, bool] = {}
    for one in entries:
        if one.get("type") == "mcp_approval_response":
            name = words(one.get("approval_request_id"))
            need(name in requests, f"Approval request '{name}' not found.", param="input")
            need(name not in decided, f"Approval request '{name}' was answered twice.", param="input")
            need(isinstance(one.get("approve"), bool), "Missing required parameter: 'approve'.", param="input")
            decided[name] = one["approve"]
    for name in requests:
        need(name in decided, f"No approval response found for approval request {name}.", param="input")
    used = {words(one.get("approval_request_id")) for one in entries if one.get("type") == "mcp_call"}
    return tuple((name, permitted) for name, permitted in decided.items() if name not in used)


def of_anthropic(body: JSON, address: Address | None, messages: list[JSON]) -> Hosting:
    """Of a request to Messages, checked. `address` is None where there is no header to look at."""
    hosted: set[str] = set()
    sets: set[str] = set()
    for tool in objects(body, "tools"):
        kind = words(tool.get("type"))
        if found := _VERSIONED.fullmatch(kind):
            need(tool.get("name") == found[1], f"tools: '{kind}' must have the name '{found[1]}'")
            hosted.add("code" if found[1] == "code_execution" else found[1])
        elif kind == "mcp_toolset":
            sets.add(words(tool.get("mcp_server_name")))
    servers = {words(one.get("name")) for one in objects(body, "mcp_servers")}
    need(sets == servers, f"mcp_servers: each server needs one mcp_toolset, and the reverse: {sorted(sets ^ servers)}")
    beta = address is None or _MCP_BETA in address.headers.get("anthropic-beta", "")
    need(not servers or beta, "mcp_servers: Extra inputs are not permitted")
    _check_results(messages)
    return Hosting(frozenset(hosted | sets))


def _check_results(messages: list[JSON]) -> None:
    """Calls have their results and results their calls, but for what the provider is still to run; seals are as they were."""
    called: dict[str, int] = {}
    brought: set[str] = set()
    for place, message in enumerate(messages):
        for block in objects(message, "content"):
            if block["type"] in ("server_tool_use", "mcp_tool_use"):
                called[words(block.get("id"))] = place
            elif block["type"] != "tool_result" and "tool_use_id" in block:
                name = words(block["tool_use_id"])
                need(name in called, f"messages.{place}: unexpected `tool_use_id` in `{block['type']}`: {name}")
                brought.add(name)
                _check_seals(place, block)
    last = max((place for place, message in enumerate(messages) if message["role"] == "assistant"), default=-1)
    for name in called.keys() - brought:
        pending = called[name] == last
        need(pending, f"messages.{called[name]}: `{name}` was found without its tool result block")


def _check_seals(place: int, block: JSON) -> None:
    for page in objects(block, "content"):
        sealed = page.get("encrypted_content")
        good = sealed is None or (is_seal(sealed) and sealed == seal(words(page.get("url"))))
        need(good, f"messages.{place}: Invalid `encrypted_content` in search_result block")
