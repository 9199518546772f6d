"""Anthropic Messages, the request's side.

Source: https://docs.anthropic.com/en/api/messages, …/docs/build-with-claude/tool-use and …/extended-thinking.

* Roles are user and assistant, in any order; several of one role in a row are one. `system` may stand behind the first
  message (new models). Only the last message may be without content, and no text is empty.
* Each message with `tool_use` is followed by a user's message that begins with one `tool_result` for each, and the reverse.
* Thinking goes back with its signature, both as they came. With thinking on, a reply that called tools in the turn under way
  begins with it, and no tool is forced.
* Tool names match `[a-zA-Z0-9_-]{1,128}` and are unique; a request with tool blocks lists tools; at most four cache marks.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from tukang.mock.requests.hosted import of_anthropic
from tukang.mock.requests.reading import is_object, items, member, need, objects, twice, words
from tukang.mock.seals import seal
from tukang.mock.values import JSON, Address, Asked, Offered

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_THOUGHTS = ("thinking", "redacted_thinking")
_MOST_MARKS = 4


def read(body: JSON, address: Address) -> Asked:
    """What is asked, if Anthropic would answer it."""
    need(address.headers.get("anthropic-version"), "anthropic-version: header is required")
    need(isinstance(body.get("model"), str) and body["model"], "model: Field required")
    return read_body(body, body["model"], stream=bool(body.get("stream")), address=address)


def read_body(body: JSON, model: str, *, stream: bool, address: Address | None = None) -> Asked:
    """What is asked, for a body that came by whatever way; over HTTP, with its address."""
    need(isinstance(body.get("max_tokens"), int), "max_tokens: Field required")
    need(body["max_tokens"] > 0, "max_tokens: Input should be greater than or equal to 1")
    need(isinstance(body.get("messages"), list), "messages: Field required")
    need(body["messages"], "messages: at least one message is required")
    for place, message in enumerate(items(body, "messages")):
        _check_message(place, message, last=place == len(body["messages"]) - 1)
    messages = _joined(objects(body, "messages"))
    _check_pairs(messages)
    tools = _offered(body)
    _check_listed(body, messages)
    choice = _choice(body, tools)
    _check_thinking(body, messages, choice)
    marks = msgspec.json.encode([body.get("system"), body["messages"], body.get("tools")]).count(b'"cache_control":{')
    need(marks <= _MOST_MARKS, f"A maximum of 4 blocks with cache_control may be provided. Found {marks}.")
    form = member(member(member(body, "output_config"), "format"), "schema") or None
    hosting = of_anthropic(body, address, messages)
    asked = replace(_asked(model, stream, tools, choice, messages), form=form, hosting=hosting)
    return replace(asked, wishes=frozenset({"toolset"})) if any(map(is_toolset, objects(body, "tools"))) else asked


def _asked(model: str, stream: bool, tools: tuple[Offered, ...], choice: str, messages: list[JSON]) -> Asked:
    last = objects(messages[-1], "content") if messages[-1]["role"] == "user" else []
    results = tuple(words(block.get("content")) for block in last if block.get("type") == "tool_result")
    texts = [
        words(block.get("text"))
        for message in messages
        if message["role"] == "user"
        for block in objects(message, "content")
        if block.get("type") == "text"
    ]
    return Asked(model, stream, tools, choice, texts[-1] if texts else "", results)


def _joined(messages: list[JSON]) -> list[JSON]:
    """The messages with their content as blocks, and those of one role in a row as one; without instructions in between."""
    joined: list[JSON] = []
    for message in messages:
        if message["role"] == "system":
            continue
        content: Any = message["content"]
        blocks: list[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if joined and joined[-1]["role"] == message["role"]:
            joined[-1] = {**joined[-1], "content": [*joined[-1]["content"], *blocks]}
        else:
            joined.append({**message, "content": blocks})
    return joined


def _check_message(place: int, message: Any, *, last: bool) -> None:
    at = f"messages.{place}"
    need(is_object(message), f"{at}: Input should be a valid dictionary")
    role, content = message.get("role"), message.get("content")
    system = (
        'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as '
    )
    need(role != "system" or place, f"{system}an input message role.")
    need(role in ("user", "assistant", "system"), f"{at}.role: Input should be 'user' or 'assistant'")
    need(isinstance(content, str | list), f"{at}.content: Field required")
    may_be_empty = last and role == "assistant"
    empty = f"{at}: all messages must have non-empty content except for the optional final assistant message"
    need(content or may_be_empty, empty)
    if isinstance(content, str):
        need(content.strip() or may_be_empty, "messages: text content blocks must contain non-whitespace text")
        return
    for number, block in enumerate(cast("list[Any]", content)):
        _check_block(f"{at}.content.{number}", block, role)


def _check_block(at: str, block: Any, role: str) -> None:
    need(is_object(block) and isinstance(block.get("type"), str), f"{at}.type: Field required")
    match block["type"]:
        case "text":
            text = block.get("text")
            need(isinstance(text, str), f"{at}.text.text: Field required")
            need(text, "messages: text content blocks must be non-empty")
            need(text.strip(), "messages: text content blocks must contain non-whitespace text")
        case "tool_use":
            need(role == "assistant", f"{at}: `tool_use` blocks can only be in `assistant` messages")
            legal = isinstance(block.get("id"), str) and _ID.fullmatch(block["id"])
            need(legal, f"{at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
            named = _TOOL_NAME.fullmatch(words(block.get("name")))
            need(named, f"{at}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
            need(is_object(block.get("input")), f"{at}.tool_use.input: Input should be a valid dictionary")
            need(block.get("toolset_name") in (None, "computer"), f"{at}.tool_use.toolset_name: unknown toolset")
        case "tool_result":
            need(role == "user", f"{at}: `tool_result` blocks can only be in `user` messages")
            need(isinstance(block.get("tool_use_id"), str), f"{at}.tool_result.tool_use_id: Field required")
        case "thinking":
            need(role == "assistant", f"{at}: `thinking` blocks can only be in `assistant` messages")
            need(isinstance(block.get("thinking"), str), f"{at}.thinking.thinking: Field required")
            need(block.get("signature"), f"{at}.thinking.signature: Field required")
            need(block["signature"] == seal(block["thinking"]), f"{at}: Invalid `signature` in `thinking` block")
            need("cache_control" not in block, f"{at}.thinking.cache_control: Extra inputs are not permitted")
        case _:
            pass


def _check_pairs(messages: list[JSON]) -> None:
    waiting: list[str] = []
    for place, message in enumerate(messages):
        content = objects(message, "content")
        results = [words(block["tool_use_id"]) for block in content if block["type"] == "tool_result"]
        for name in results:
            need(
                name in waiting,
                f"messages.{place}.content.0: unexpected `tool_use_id` found in `tool_result` blocks: {name}. Each "
                "`tool_result` block must have a corresponding `tool_use` block in the previous message.",
            )
        again = twice(results)
        need(not again, f"messages.{place}: each tool_use must have a single result. Found multiple for id: {again}")
        leading = [words(block["tool_use_id"]) for block in takewhile(_is_result, content)]
        _check_answered(place - 1, [name for name in waiting if name not in leading])
        waiting = [block["id"] for block in content if block["type"] == "tool_use"]
        need(not twice(waiting), "messages: `tool_use` ids must be unique")
    _check_answered(len(messages) - 1, waiting)


def _is_result(block: JSON) -> bool:
    return block["type"] == "tool_result"


def _check_answered(place: int, missing: list[str]) -> None:
    need(
        not missing,
        f"messages.{place}: `tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(missing)}. "
        "Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
    )


def _offered(body: JSON) -> tuple[Offered, ...]:
    tools: list[Offered] = []
    names: list[str] = []
    for place, tool in enumerate(objects(body, "tools")):
        if is_toolset(tool):
            need("name" not in tool, f"tools.{place}.{tool['type']}.name: Extra inputs are not permitted")
            continue
        if tool.get("type") == "mcp_toolset":
            continue  # a server's tools have no name of their own here
        name = words(tool.get("name"))
        legal = _TOOL_NAME.fullmatch(name)
        need(legal, f"tools.{place}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        names.append(name)
        if tool.get("type", "custom") != "custom":
            continue  # the provider's own tools
        schema = member(tool, "input_schema")
        need(is_object(tool.get("input_schema")), f"tools.{place}.custom.input_schema: Field required")
        kind = schema.get("type")
        need(kind is not None, f"tools.{place}.custom.input_schema.type: Field required")
        need(kind == "object", f"tools.{place}.custom.input_schema.type: Input should be 'object'")
        for word in ("oneOf", "allOf", "anyOf"):
            forbidden = "input_schema does not support oneOf, allOf, or anyOf at the top level"
            need(word not in schema, f"tools.{place}.custom.input_schema: {forbidden}")
        tools.append(Offered(name, schema))
    need(not twice(names), "tools: Tool names must be unique.")
    return tuple(tools)


def is_toolset(tool: JSON) -> bool:
    """Whether an entry is of several tools of the provider's, which have names of their own."""
    return words(tool.get("type")).startswith("computer_toolset_")


def _check_listed(body: JSON, messages: list[JSON]) -> None:
    kinds = {block.get("type") for message in messages for block in objects(message, "content")}
    listed = items(body, "tools") or not kinds & {"tool_use", "tool_result"}
    need(listed, "Requests which include `tool_use` or `tool_result` blocks must define tools")


def _choice(body: JSON, tools: tuple[Offered, ...]) -> str:
    wanted = member(body, "tool_choice")
    if not wanted:
        return "auto"
    need(items(body, "tools"), "tool_choice: tool_choice may only be specified while providing tools")
    name = words(wanted.get("name"))
    match wanted.get("type"):
        case "tool":
            need(any(tool.name == name for tool in tools), f"tool_choice: Tool '{name}' not found in provided tools")
            return name
        case "any":
            return "required"
        case "auto" | "none" as said:
            return said
        case said:
            need(False, f"tool_choice: Input tag '{said}' found using 'type' does not match any of the expected tags")
            return "auto"


def _check_thinking(body: JSON, messages: list[JSON], choice: str) -> None:
    thinking = member(body, "thinking")
    if thinking.get("type") != "enabled":
        return  # an adaptive model thinks when it likes
    need(choice in ("auto", "none"), "Thinking may not be enabled when tool_choice forces tool use.")
    budget = thinking.get("budget_tokens")
    need(isinstance(budget, int), "thinking.enabled.budget_tokens: Field required")
    least = "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
    need(cast("int", budget) >= 1024, least)
    need(body["max_tokens"] > cast("int", budget), "`max_tokens` must be greater than `thinking.budget_tokens`.")
    warm = body.get("temperature") in (None, 1)
    need(warm, "`temperature` may only be set to 1 when thinking is enabled.")
    _check_begins(messages)


def _check_begins(messages: list[JSON]) -> None:
    """The last reply that called tools begins with its thinking, if the turn is still under way."""
    blocks = objects(messages[-1], "content")
    if len(messages) < 2 or not any(block["type"] == "tool_result" for block in blocks):
        return
    first = objects(messages[-2], "content")[0]["type"]
    need(
        first in _THOUGHTS,
        f"messages.{len(messages) - 2}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{first}`. When "
        "`thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of "
        "`tool_use` and `tool_result` blocks).",
    )
