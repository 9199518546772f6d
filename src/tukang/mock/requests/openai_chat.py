"""OpenAI Chat Completions, the request's side. Source: https://platform.openai.com/docs/api-reference/chat/create

* Each assistant message with calls is followed by one tool message per call, in any order; a tool message stands nowhere
  else.
* A call's id has at most 40 characters, its arguments are a text. Tool names match `[a-zA-Z0-9_-]{1,64}`.
* An assistant message without calls has content; so has every other message. `content: null` beside calls is right.
* `tool_choice` and `parallel_tool_calls` need `tools`; `tools` is not empty; `stream_options` needs `stream`.
* A `strict` tool closes every object (`additionalProperties: false`) and requires every member.
"""

from __future__ import annotations

import re
from typing import Any, cast

from tukang.mock.requests.reading import is_object, items, last_results, member, need, objects, words
from tukang.mock.values import JSON, Address, Asked, Offered, Wish

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_LONGEST_ID = 40


def read(body: JSON, address: Address) -> Asked:  # noqa: ARG001 - the same for each protocol
    """What is asked, if OpenAI would answer it."""
    need(isinstance(body.get("model"), str) and body["model"], "you must provide a model parameter")
    need(isinstance(body.get("messages"), list), "Missing required parameter: 'messages'.", param="messages")
    need(
        body["messages"], "Invalid 'messages': empty array. Expected an array with minimum length 1.", param="messages"
    )
    need(
        not body.get("stream_options") or body.get("stream"),
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
        param="stream_options",
    )
    tools = offered(body, "function")
    messages = cast("list[Any]", body["messages"])
    for place, message in enumerate(messages):
        _check_message(place, message)
    _check_pairs(cast("list[JSON]", messages))
    return _asked(body, tools, cast("list[JSON]", messages))


def _asked(body: JSON, tools: tuple[Offered, ...], messages: list[JSON]) -> Asked:
    results = last_results(messages, lambda message: message["role"] == "tool")
    said = [words(message.get("content")) for message in messages if message["role"] == "user"]
    wishes: set[Wish] = {"usage"} if member(body, "stream_options").get("include_usage") else set()
    return Asked(
        body["model"],
        bool(body.get("stream")),
        tools,
        choice(body, tools, nested="function"),
        said[-1] if said else "",
        tuple(words(message.get("content")) for message in results),
        frozenset(wishes),
        member(member(member(body, "response_format"), "json_schema"), "schema") or None,
    )


def offered(body: JSON, nested: str | None) -> tuple[Offered, ...]:
    """The tools on offer, checked.

    Args:
        body: the request.
        nested: where in a tool its function stands; None when it is the tool itself.
    """
    tools: list[Offered] = []
    for place, tool in enumerate(items(body, "tools")):
        at = f"tools[{place}]"
        need(is_object(tool), f"Invalid type for '{at}': expected an object.", param=at)
        if tool.get("type") != "function":
            continue  # the provider's own tools
        function = member(tool, nested) if nested else cast("JSON", tool)
        at += f".{nested}" if nested else ""
        name = function.get("name")
        need(isinstance(name, str), f"Missing required parameter: '{at}.name'.", param=f"{at}.name")
        need(
            TOOL_NAME.fullmatch(str(name)),
            f"Invalid '{at}.name': string does not match pattern. Expected a string that matches the pattern "
            "'^[a-zA-Z0-9_-]+$'.",
            param=f"{at}.name",
            code="invalid_value",
        )
        schema = member(function, "parameters")
        _check_schema(str(name), schema, strict=function.get("strict") is True)
        tools.append(Offered(str(name), schema or {"type": "object"}))
    return tuple(tools)


def choice(body: JSON, tools: tuple[Offered, ...], *, nested: str | None) -> str:
    """The tool choice in neutral words, checked."""
    for name in ("tool_choice", "parallel_tool_calls") if nested else ():
        need(
            body.get(name) is None or items(body, "tools"),
            f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified.",
            param=name,
        )
    wanted = body.get("tool_choice") or "auto"
    if isinstance(wanted, str):
        need(
            wanted in ("auto", "none", "required"),
            f"Invalid value: '{wanted}'. Supported values are: 'none', 'auto', and 'required'.",
            param="tool_choice",
            code="invalid_value",
        )
        return wanted
    if not is_object(wanted) or wanted.get("type") != "function":
        return "auto"  # allowed tools, or one of the provider's own
    name = words((member(wanted, nested) if nested else wanted).get("name"))
    known = any(tool.name == name for tool in tools)
    need(known, f"Invalid value for 'tool_choice': tool '{name}' not found in 'tools'.", param="tool_choice")
    return name


def _check_schema(name: str, schema: JSON, *, strict: bool) -> None:
    start = f"Invalid schema for function '{name}':"
    param, code = "tools", "invalid_function_parameters"
    kind = schema.get("type")
    need(
        not schema or kind == "object",
        f"{start} schema must be a JSON Schema of 'type: \"object\"', got {kind!r}.",
        param=param,
        code=code,
    )
    if not strict:
        return
    for place, node in _nodes(schema, ()):
        if "properties" in node or node.get("type") == "object":
            closed = node.get("additionalProperties") is False
            message = (
                f"{start} In context={place!r}, 'additionalProperties' is required to be supplied and to be false."
            )
            need(closed, message, param=param, code=code)
            missing = set(member(node, "properties")) - set(map(words, items(node, "required")))
            message = (
                f"{start} In context={place!r}, 'required' is required to be supplied and to be an array including "
                f"every key in properties. Missing {sorted(missing)}."
            )
            need(not missing, message, param=param, code=code)


def _nodes(schema: JSON, place: tuple[str, ...]) -> list[tuple[tuple[str, ...], JSON]]:
    """The schema and every schema in it, with the way there."""
    found = [(place, schema)]
    for name in ("properties", "$defs", "definitions"):
        for key, inner in member(schema, name).items():
            if is_object(inner):
                found += _nodes(inner, (*place, name, key))
    for name in ("items", "additionalProperties"):
        if is_object(schema.get(name)):
            found += _nodes(schema[name], (*place, name))
    for name in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for key, inner in enumerate(objects(schema, name)):
            found += _nodes(inner, (*place, name, str(key)))
    return found


def _check_message(place: int, message: Any) -> None:
    at = f"messages[{place}]"
    need(is_object(message), f"Invalid type for '{at}': expected an object.", param=at)
    role = message.get("role")
    need(words(role) in _ROLES, f"Invalid value: '{role}'. Supported values are: {sorted(_ROLES)}.", param=f"{at}.role")
    calls = message.get("tool_calls")
    content = message.get("content")
    if role != "assistant" or (not calls and not message.get("refusal") and not message.get("function_call")):
        given = isinstance(content, str) or items(cast("JSON", message), "content")
        kind = "null" if content is None else "an invalid value"
        message_text = f"Invalid value for 'content': expected a string, got {kind}."
        need(given, message_text, param=f"messages.[{place}].content")
    if calls is not None:
        need(calls, f"Invalid '{at}.tool_calls': empty array. Expected an array with minimum length 1.", param=at)
        for number, call in enumerate(items(message, "tool_calls")):
            _check_call(f"{at}.tool_calls[{number}]", call)
    if role == "tool":
        need(
            isinstance(message.get("tool_call_id"), str), f"Missing required parameter: '{at}.tool_call_id'.", param=at
        )


def _check_call(at: str, call: Any) -> None:
    need(is_object(call), f"Invalid type for '{at}': expected an object.", param=at)
    need(isinstance(call.get("id"), str), f"Missing required parameter: '{at}.id'.", param=f"{at}.id")
    longest = f"Invalid '{at}.id': string too long. Expected a string with maximum length {_LONGEST_ID}"
    need(
        len(call["id"]) <= _LONGEST_ID, f"{longest}, but got a string with length {len(call['id'])} instead.", param=at
    )
    need(call.get("type") in ("function", "custom"), f"Missing required parameter: '{at}.type'.", param=f"{at}.type")
    if call["type"] == "custom":
        return
    function = member(call, "function")
    name = f"{at}.function.name"
    need(
        TOOL_NAME.fullmatch(words(function.get("name"))),
        f"Invalid '{name}': string does not match pattern.",
        param=name,
    )
    arguments = function.get("arguments")
    kind = f"Invalid type for '{at}.function.arguments': expected a string."
    need(isinstance(arguments, str), kind, param=f"{at}.function.arguments")


def _check_pairs(messages: list[JSON]) -> None:
    waiting: dict[str, int] = {}  # the calls of the last assistant message that have no result yet, with its place
    in_results = False
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            wanted = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
            name = message["tool_call_id"]
            need(in_results, f"Invalid parameter: {wanted}", param=f"messages.[{place}].role")
            need(
                name in waiting,
                f"Invalid parameter: 'tool_call_id' of '{name}' not found in 'tool_calls' of previous message.",
            )
            del waiting[name]
            continue
        _check_answered(waiting)
        calls = objects(message, "tool_calls")
        waiting = {words(call["id"]): place for call in calls}
        in_results = bool(calls)
    _check_answered(waiting)


def _check_answered(waiting: dict[str, int]) -> None:
    open_calls = ", ".join(waiting)
    need(
        not waiting,
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {open_calls}",
        param=f"messages.[{next(iter(waiting.values()), 0)}].role",
    )
