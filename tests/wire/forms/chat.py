"""Requests of OpenAI Chat Completions, and of Ollama, which is like it."""

from __future__ import annotations

import re
from typing import cast
from urllib.parse import urlsplit

import aiohttp
import msgspec

from tests.wire.forms.reading import (
    KEY,
    NOTHING,
    Form,
    Json,
    Result,
    Tool,
    from_url,
    items,
    listed,
    parsed,
    texts,
    unread,
    without,
)
from tukang.conversation import File, Image, Text
from tukang.models.base import Model
from tukang.models.ollama import Ollama
from tukang.models.openai_chat import OpenAIChat


def _chat_messages(request: Json) -> list[Json]:
    return [_chat_message(message) for message in request["messages"] if message["role"] not in ("system", "developer")]


def _chat_message(message: Json) -> Json:
    kept = without(message, "annotations", "refusal", "name", "tool_name")
    if not message.get("prefix"):
        kept.pop("prefix", None)
    content = message.get("content")
    if isinstance(content, list):
        parts = [without(part) for part in cast("list[Json]", content)]
        only_text = all(part.get("type") == "text" for part in parts)
        kept["content"] = "\n".join(part.get("text", "") for part in parts) if only_text else parts
    if message.get("tool_calls"):
        kept["tool_calls"] = [_chat_call(call) for call in message["tool_calls"]]
    return {key: value for key, value in kept.items() if value not in NOTHING}


def _chat_call(call: Json) -> Json:
    function = call["function"]
    return without({"id": call.get("id"), "name": function["name"], "arguments": parsed(function.get("arguments"))})


def _chat_results(request: Json) -> dict[str, Result]:
    found: dict[str, Result] = {}
    for message in request["messages"]:
        if message["role"] == "tool":
            content = [_chat_part(part) for part in listed(message.get("content"))]
            found[message.get("tool_call_id") or str(len(found))] = Result(content)
    return found


def _chat_part(part: Json) -> Text | Image | File:
    match part.get("type"):
        case "text":
            return Text(part["text"])
        case "image_url":
            return from_url(part["image_url"]["url"])
        case _:
            return unread(part)


def _chat_tools(request: Json) -> list[Tool]:
    functions = [tool["function"] for tool in items(request, "tools") if "function" in tool]
    return [Tool(it["name"], it.get("description") or "", it.get("parameters") or {}) for it in functions]


def _chat_instructions(request: Json) -> str:
    said = [
        listed(message.get("content")) for message in request["messages"] if message["role"] in ("system", "developer")
    ]
    return texts([part for parts in said for part in parts])


def _chat_model(step: Json, session: aiohttp.ClientSession) -> Model:
    request = step["request"]
    return OpenAIChat(
        request["model"], base_url=step["url"], api_key=KEY, session=session, stream=bool(request.get("stream"))
    )


def _ollama_model(step: Json, session: aiohttp.ClientSession) -> Model:
    request, url = step["request"], urlsplit(str(step["url"]))
    host = f"{url.scheme}://{url.netloc}{url.path.removesuffix('/api/chat')}"
    return Ollama(request["model"], host=host, api_key=KEY, session=session, stream=request.get("stream", True))


CHAT = Form(
    _chat_model, _chat_messages, _chat_results, _chat_tools, _chat_instructions, re.compile(r'"executed_tools"')
)
OLLAMA = msgspec.structs.replace(CHAT, model=_ollama_model)
