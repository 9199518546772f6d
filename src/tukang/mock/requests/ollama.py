"""Ollama `/api/chat`, the request's side. Source: https://github.com/ollama/ollama/blob/main/docs/api.md and …/types.go

* Streaming is on unless `stream` is false. There is no tool choice; calls and results are not matched.
* A call's arguments are an object, `content` a text, images base64: the server decodes into Go types and refuses all else.
"""

from __future__ import annotations

import base64
from typing import Any

from tukang.mock.requests.reading import is_object, items, last_results, member, need, objects, words
from tukang.mock.values import JSON, Address, Asked, Offered

_ROLES = frozenset({"system", "user", "assistant", "tool"})


def read(body: JSON, address: Address) -> Asked:  # noqa: ARG001 - the same for each protocol
    """What is asked, if Ollama would answer it."""
    need(isinstance(body.get("model"), str) and body["model"], "model is required")
    for message in items(body, "messages"):
        _check_message(message)
    messages = objects(body, "messages")
    options = body.get("options")
    fits = options is None or is_object(options)
    need(fits, _unreadable(options, "ChatRequest.options", "map[string]interface {}"))
    last = last_results(messages, lambda message: message.get("role") == "tool")
    results = tuple(words(message.get("content")) for message in last)
    said = [words(message.get("content")) for message in messages if message.get("role") == "user"]
    tools = tuple(_offered(tool) for tool in objects(body, "tools"))
    stream = body.get("stream") is not False
    form = member(body, "format") or None
    choice = "auto" if form is None else "none"  # every word follows it, so that no call can come
    return Asked(body["model"], stream, tools, choice, said[-1] if said else "", results, form=form)


def _check_message(message: Any) -> None:
    need(is_object(message), _unreadable(message, "ChatRequest.messages", "api.Message"))
    need(words(message.get("role")) in _ROLES, f"invalid role: {message.get('role')}")
    content = message.get("content")
    need(content is None or isinstance(content, str), _unreadable(content, "ChatRequest.messages.content", "string"))
    for call in objects(message, "tool_calls"):
        arguments = member(call, "function").get("arguments")
        fits = arguments is None or is_object(arguments)
        place = "ChatRequest.messages.tool_calls.function.arguments"
        need(fits, _unreadable(arguments, place, "api.ToolCallFunctionArguments"))
    for image in items(message, "images"):
        need(_is_base64(image), "illegal base64 data at input byte 0")


def _unreadable(value: object, place: str, wanted: str) -> str:
    kinds = {"str": "string", "list": "array", "dict": "object", "bool": "bool", "int": "number", "float": "number"}
    kind = kinds.get(type(value).__name__, "null")
    return f"json: cannot unmarshal {kind} into Go struct field {place} of type {wanted}"


def _is_base64(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        base64.b64decode(value, validate=True)
    except ValueError:
        return False
    return True


def _offered(tool: JSON) -> Offered:
    function = member(tool, "function")
    return Offered(words(function.get("name")), member(function, "parameters") or {"type": "object"})
