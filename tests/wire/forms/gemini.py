"""Requests of Gemini."""

from __future__ import annotations

import json
import re
from typing import Any, cast
from urllib.parse import urlsplit

import aiohttp

from tests.wire.forms.reading import KEY, Form, Json, Result, Tool, items, texts
from tukang.conversation import Text
from tukang.models.base import Model
from tukang.models.gemini import Gemini


def _gemini_messages(request: Json) -> list[Json]:
    return [{"role": it.get("role", "user"), "parts": items(it, "parts")} for it in request["contents"]]


def _gemini_results(request: Json) -> dict[str, Result]:
    parts = [part for content in request["contents"] for part in items(content, "parts")]
    answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
    return {answer.get("id") or str(place): Result([_gemini_part(answer)]) for place, answer in enumerate(answers)}


def _gemini_part(answer: Json) -> Text:
    said = answer["response"]
    for key in ("result", "output", "return_value"):
        if list(said) == [key]:
            said = said[key]
    return Text(said if isinstance(said, str) else json.dumps(said, ensure_ascii=False))


def _gemini_tools(request: Json) -> list[Tool]:
    declared = [it for tool in items(request, "tools") for it in items(tool, "functionDeclarations")]
    return [
        Tool(
            it["name"],
            it.get("description") or "",
            it.get("parametersJsonSchema") or _lowered(it.get("parameters") or {}),
        )
        for it in declared
    ]


def _lowered(schema: Any) -> Any:
    """Gemini's own schema dialect as JSON Schema: its types are in capitals."""
    if isinstance(schema, list):
        return [_lowered(one) for one in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    read = {key: _lowered(value) for key, value in cast(Json, schema).items()}
    return read | {"type": read["type"].lower()} if isinstance(read.get("type"), str) else read


def _gemini_instructions(request: Json) -> str:
    return texts(items(request.get("systemInstruction") or {}, "parts"))


def _gemini_model(step: Json, session: aiohttp.ClientSession) -> Model:
    url = urlsplit(str(step["url"]))
    found = re.search(r"/models/([^:/]+):(\w+)$", url.path)
    if found is None:
        raise ValueError(f"{step['url']} is not an address of Gemini's")
    return Gemini(
        found[1],
        base_url=f"{url.scheme}://{url.netloc}",
        api_key=KEY,
        session=session,
        stream=found[2].startswith("stream"),
    )


GEMINI = Form(
    _gemini_model,
    _gemini_messages,
    _gemini_results,
    _gemini_tools,
    _gemini_instructions,
    re.compile(r'"(executableCode|groundingMetadata|urlContextMetadata)"'),
)
