"""Requests of OpenAI Responses.

Not compared: the ids of items other than reasoning (calls go by `call_id`), their status, and empty messages.
"""

from __future__ import annotations

import re

import aiohttp

from tests.wire.forms.reading import (
    KEY,
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
from tests.wire.steps import in_responses
from tukang.conversation import File, Image, Text
from tukang.models.base import Model
from tukang.models.openai_responses import OpenAIResponses


def _responses_messages(request: Json) -> list[Json]:
    given = request["input"]
    items: list[Json] = [{"role": "user", "content": given}] if isinstance(given, str) else given
    kept = [item for item in items if item.get("role") not in ("system", "developer") and not _says_nothing(item)]
    return [_responses_item(item) for item in kept]


def _says_nothing(item: Json) -> bool:
    return item.get("type", "message") == "message" and not listed(item["content"])


def _responses_item(item: Json) -> Json:
    kept = without(item, "id", "status")
    match item.get("type", "message"):
        case "message":
            kind = "output_text" if item["role"] == "assistant" else "input_text"
            parts = listed(item["content"], kind=kind)
            return without(kept, "type") | {"content": [without(part, "annotations", "logprobs") for part in parts]}
        case "function_call":
            return kept | {"arguments": parsed(item["arguments"])}
        case "function_call_output" if items(item, "output"):
            return kept | {"output": [_responses_output(part) for part in items(item, "output")]}
        case "reasoning":
            return kept | {"id": item.get("id")}
        case _:
            return kept


def _responses_output(part: Json) -> Json:
    return without(part, "detail") if part.get("detail") == "auto" else without(part)


def _responses_results(request: Json) -> dict[str, Result]:
    given = items(request, "input")
    return {
        item["call_id"]: Result([_responses_part(part) for part in listed(item["output"], kind="input_text")])
        for item in given
        if item.get("type") == "function_call_output"
    }


def _responses_part(part: Json) -> Text | Image | File:
    match part:
        case {"type": "input_text", "text": str(text)}:
            return Text(text)
        case {"type": "input_image", "image_url": str(url)}:
            return from_url(url)
        case {"type": "input_file", "file_url": str(url)}:
            return from_url(url, media_type="application/pdf")
        case {"type": "input_file", "file_data": str(url)}:
            return from_url(url, part.get("filename"))
        case _:
            return unread(part)


def _responses_own(request: Json) -> Json:
    own = [tool for tool in items(request, "tools") if tool.get("type") != "function"]
    return {"tools": own} if own else {}


def _responses_tools(request: Json) -> list[Tool]:
    given = items(request, "input")
    added: list[Json] = [tool for item in given if item.get("type") == "additional_tools" for tool in item["tools"]]
    functions = [tool for tool in [*(items(request, "tools")), *added] if tool.get("type") == "function"]
    return [Tool(it["name"], it.get("description") or "", it.get("parameters") or {}) for it in functions]


def _responses_instructions(request: Json) -> str:
    given = items(request, "input")
    said = [listed(item.get("content")) for item in given if item.get("role") in ("system", "developer")]
    own: list[Json] = [{"text": request.get("instructions") or ""}]
    return texts(own + [part for parts in said for part in parts])


def _responses_model(step: Json, session: aiohttp.ClientSession) -> Model:
    request = step["request"]
    return OpenAIResponses(
        request["model"], base_url=step["url"], api_key=KEY, session=session, stream=bool(request.get("stream"))
    )


RESPONSES = Form(
    _responses_model,
    _responses_messages,
    _responses_results,
    _responses_tools,
    _responses_instructions,
    re.compile(
        r'"type": ?"(web_search|file_search|code_interpreter|computer|image_generation|mcp|tool_search|local_shell|shell)_'
        r"(call|output|list_tools|approval_request)"
    ),
    _responses_own,
    in_responses,
)
