"""Requests of Amazon Bedrock: Converse, and InvokeModel with the body of Anthropic."""

from __future__ import annotations

import base64
import json
import re
from typing import cast
from urllib.parse import unquote, urlsplit

import aiohttp
import msgspec

from tests.wire.forms.anthropic import ANTHROPIC
from tests.wire.forms.reading import KEY, Form, Json, Result, Tool, items, texts, unread, without
from tests.wire.steps import in_converse
from tukang.conversation import File, Image, Text
from tukang.models.base import Model
from tukang.models.bedrock_converse import BedrockConverse
from tukang.models.bedrock_invoke import BedrockInvoke


def _converse_messages(request: Json) -> list[Json]:
    return [
        {
            "role": message["role"],
            "content": [_converse_block(block) for block in message["content"] if "cachePoint" not in block],
        }
        for message in request["messages"]
    ]


def _converse_block(block: Json) -> Json:
    if "toolUse" in block:
        return {"toolUse": {key: block["toolUse"][key] for key in ("toolUseId", "name", "input")}}
    if "toolResult" in block:
        result = without(block["toolResult"])
        return {"toolResult": result if result.get("status") == "error" else without(result, "status")}
    return block


def _converse_results(request: Json) -> dict[str, Result]:
    blocks = [
        block["toolResult"] for message in request["messages"] for block in message["content"] if "toolResult" in block
    ]
    return {
        block["toolUseId"]: Result(
            [_converse_part(part) for part in items(block, "content")], block.get("status") == "error"
        )
        for block in blocks
    }


def _converse_part(part: Json) -> Text | Image | File:
    match part:
        case {"text": str(text)}:
            return Text(text)
        case {"image": {"format": str(kind), "source": {"bytes": str(data)}}}:
            return Image(f"image/{kind}", base64.b64decode(data))
        case {"document": {"format": "pdf", "source": {"bytes": str(data)}, **more}}:
            return File("application/pdf", cast("str | None", more.get("name")), base64.b64decode(data))
        case {"json": value}:
            return Text(json.dumps(value, ensure_ascii=False))
        case _:
            return unread(part)


def _converse_tools(request: Json) -> list[Tool]:
    specs = [tool["toolSpec"] for tool in items(request.get("toolConfig") or {}, "tools") if "toolSpec" in tool]
    return [Tool(it["name"], it.get("description") or "", it["inputSchema"]["json"]) for it in specs]


def _converse_instructions(request: Json) -> str:
    return texts(items(request, "system"))


def _bedrock_path(step: Json) -> tuple[str, str]:
    """The model and the operation in a step's address."""
    found = re.search(r"/model/(.+)/([a-z-]+)$", urlsplit(str(step["url"])).path)
    if found is None:
        raise ValueError(f"{step['url']} is not an address of Bedrock's")
    return unquote(found[1]), found[2]


def _converse_model(step: Json, session: aiohttp.ClientSession) -> Model:
    model, operation = _bedrock_path(step)
    return BedrockConverse(model, region="us-east-1", token=KEY, session=session, stream=operation == "converse-stream")


def _invoke_model(step: Json, session: aiohttp.ClientSession) -> Model:
    model, operation = _bedrock_path(step)
    return BedrockInvoke(
        model, region="us-east-1", token=KEY, session=session, stream=operation == "invoke-with-response-stream"
    )


CONVERSE = Form(
    _converse_model,
    _converse_messages,
    _converse_results,
    _converse_tools,
    _converse_instructions,
    re.compile(r'"type": ?"server_tool_use"'),
    ran=in_converse,
)
INVOKE = msgspec.structs.replace(ANTHROPIC, model=_invoke_model)
