"""What single pieces of a Messages reply mean in neutral words: counts, citations, calls that the provider runs.

Pure, and without state: which piece belongs where is the concern of `anthropic_decode`. What a server sends in the place
of a text, a number or an object is read as none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from tukang.conversation import Citation, ServerCall, ServerResult, Usage
from tukang.models.anthropic_blocks import PROVIDER
from tukang.models.anthropic_hosted import declared_name, said_by


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Token counts in neutral words. The provider counts what it read from and wrote to the cache beside `input_tokens`."""
    own = fields_of(usage.get("server_tool_use"))
    read, written = _number(usage.get("cache_read_input_tokens")), _number(usage.get("cache_creation_input_tokens"))
    return Usage(
        input=_number(usage.get("input_tokens")) + read + written,
        output=_number(usage.get("output_tokens")),
        reasoning=_number(fields_of(usage.get("output_tokens_details")).get("thinking_tokens")),
        cache_read=read,
        cache_write=written,
        requests=1,
        served={name.removesuffix("_requests"): count for name, value in own.items() if (count := _number(value))},
    )


def server_call(data: dict[str, Any], text: str) -> ServerCall:
    """A call that the provider runs, from its block and the arguments that were streamed."""
    if text:
        try:
            data = {**data, "input": fields_of(msgspec.json.decode(text))}
        except (msgspec.DecodeError, RecursionError):
            data = {**data, "input": {}}
    arguments = text or json_text(fields_of(data.get("input")))
    name = text_of(data.get("name"))
    return ServerCall(text_of(data.get("id")), name, arguments, PROVIDER, data, tool=declared_name(data))


def server_result(data: dict[str, Any]) -> ServerResult:
    """What it returned."""
    text, fault = said_by(data)
    return ServerResult(text_of(data.get("tool_use_id")), PROVIDER, data, text, fault)


def citation(data: dict[str, Any]) -> Citation:
    """Where a text comes from; the provider has five forms of it."""
    title = data.get("title") or data.get("document_title")
    url = data.get("url") or data.get("source")
    return Citation(
        text_of(title) or None, text_of(url) or None, text_of(data.get("cited_text")) or None, PROVIDER, data
    )


def grow(data: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """A delta of a kind that is not known: texts grow, all else is set."""
    for key, value in delta.items():
        if key != "type":
            before = data.get(key)
            data[key] = before + value if isinstance(before, str) and isinstance(value, str) else value


def json_text(value: Any) -> str:
    """A value as JSON."""
    return msgspec.json.encode(value).decode()


def _number(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and value > 0 else 0


def text_of(value: Any) -> str:
    """A text, or none."""
    return value if isinstance(value, str) else ""


def fields_of(value: Any) -> dict[str, Any]:
    """An object's fields, or none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else dict[str, Any]()
