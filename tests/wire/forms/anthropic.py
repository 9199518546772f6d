"""Requests of Anthropic Messages.

Not compared: system messages in the middle of a conversation (a library's announcement of further tools), and `caller`, which
the adapter sends back as the provider gave it, and the library of the recordings leaves out.
"""

from __future__ import annotations

import base64
import re

import aiohttp

from tests.wire.forms.reading import KEY, Form, Json, Result, Tool, items, listed, texts, unread, without
from tests.wire.steps import in_anthropic
from tukang.conversation import File, Image, Text
from tukang.models.anthropic import AnthropicMessages
from tukang.models.base import Model


def _anthropic_messages(request: Json) -> list[Json]:
    return [
        {"role": message["role"], "content": [_anthropic_block(block) for block in listed(message["content"])]}
        for message in request["messages"]
        if message["role"] != "system"
    ]


def _anthropic_block(block: Json) -> Json:
    kept = without(block, "cache_control", "caller") | ({"input": block["input"]} if "input" in block else {})
    if block["type"] == "tool_result":
        content = [without(part, "cache_control") for part in listed(block.get("content"))]
        kept = without(kept | {"content": content})
        if not block.get("is_error"):
            kept.pop("is_error", None)
    return kept


def _anthropic_results(request: Json) -> dict[str, Result]:
    blocks = [block for message in request["messages"] for block in listed(message["content"])]
    return {
        block["tool_use_id"]: Result(
            [_anthropic_part(part) for part in listed(block.get("content"))], bool(block.get("is_error"))
        )
        for block in blocks
        if block["type"] == "tool_result"
    }


def _anthropic_part(part: Json) -> Text | Image | File:
    match part:
        case {"type": "text", "text": str(text)}:
            return Text(text)
        case {"type": "image", "source": {"type": "base64", "media_type": str(media), "data": str(data)}}:
            return Image(media, base64.b64decode(data))
        case {"type": "image", "source": {"type": "url", "url": str(url)}}:
            return Image("image/*", url=url)
        case {"type": "document", "source": {"type": "text", "media_type": str(media), "data": str(text)}}:
            return File(media, part.get("title"), text.encode())
        case {"type": "document", "source": {"type": "url", "url": str(url)}}:
            return File("application/pdf", part.get("title"), url=url)
        case {"type": "document", "source": {"type": "base64", "media_type": str(media), "data": str(data)}}:
            return File(media, part.get("title"), base64.b64decode(data))
        case _:
            return unread(part)


_ANTHROPIC_CLIENT = re.compile(r"custom|(memory|bash|text_editor|computer)_\d+")


def _anthropic_tools(request: Json) -> list[Tool]:
    tools = [it for it in items(request, "tools") if _ANTHROPIC_CLIENT.fullmatch(it.get("type") or "custom")]
    return [Tool(it["name"], it.get("description") or "", it.get("input_schema") or {}) for it in tools]


def _anthropic_own(request: Json) -> Json:
    own = [it for it in items(request, "tools") if not _ANTHROPIC_CLIENT.fullmatch(it.get("type") or "custom")]
    servers = {"mcp_servers": request["mcp_servers"]} if request.get("mcp_servers") else {}
    return ({"tools": own} if own else {}) | servers


def _anthropic_instructions(request: Json) -> str:
    return texts(listed(request.get("system")))


def _anthropic_model(step: Json, session: aiohttp.ClientSession) -> Model:
    request = step["request"]
    return AnthropicMessages(
        request["model"], base_url=step["url"], api_key=KEY, session=session, stream=bool(request.get("stream"))
    )


ANTHROPIC = Form(
    _anthropic_model,
    _anthropic_messages,
    _anthropic_results,
    _anthropic_tools,
    _anthropic_instructions,
    re.compile(r'"type": ?"(server_tool_use|mcp_tool_use)'),
    _anthropic_own,
    in_anthropic,
)
