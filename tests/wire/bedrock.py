"""How rows of Amazon Bedrock are decoded, and what they expect in the house's words: Converse, and Claude by InvokeModel.

What a row expects is told from the row alone, never by the adapter under test. The recorder kept arguments decoded, so they
are compared as values. Usage: Bedrock's `inputTokens` leaves out what was read from, or written to, a cache.

Rows with which no SDK agrees stand in `disputed.toml`. Of InvokeModel's, those of Claude are read as Anthropic's; all others
must fail clearly, as the adapter speaks to no other maker.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec

from tests.wire import anthropic
from tests.wire.extracted import Call, Extracted, extracted
from tukang.conversation import Usage
from tukang.models.base import ModelEvent
from tukang.models.bedrock_converse_decode import ConverseDecoder
from tukang.models.bedrock_errors import error_type, reported_error
from tukang.models.bedrock_invoke import InvokeDecoder
from tukang.models.exchange import Decoder


def decode_converse(status: int, headers: Mapping[str, str], pieces: Iterable[bytes]) -> Extracted:
    """What the adapter makes of a response of Converse or ConverseStream that comes in these pieces."""
    return _decode(ConverseDecoder(), status, headers, pieces)


def decode_invoke(status: int, headers: Mapping[str, str], pieces: Iterable[bytes]) -> Extracted:
    """What the adapter makes of a response of InvokeModel that comes in these pieces."""
    return _decode(InvokeDecoder(), status, headers, pieces)


def _decode(decoder: Decoder, status: int, headers: Mapping[str, str], pieces: Iterable[bytes]) -> Extracted:
    if status >= 300:
        body = b"".join(pieces)
        return extracted((), reported_error(error_type(headers, body), body, status=status))
    events: list[ModelEvent] = []
    for piece in pieces:
        events += decoder.feed(piece)
    events += decoder.end()
    found = extracted(events, decoder.error)
    calls = tuple(Call(call.name, _canonical(call.arguments), call.wire_id) for call in found.calls)
    return msgspec.structs.replace(found, calls=calls)


def expected_converse(row: Mapping[str, Any]) -> Extracted:
    """What a row of Converse expects."""
    expect = row["expect"]
    error = expect.get("error")
    if error is not None:
        return Extracted(error=" ".join(error["message"].split())[:100])
    return Extracted(
        text=expect["text"],
        thinking=expect["thinking"],
        calls=tuple(Call(call["name"], _value(call["input"]), call["id"]) for call in expect["tool_calls"]),
        finish=expect["finish"],
        usage=_usage(expect["usage"]),
    )


def expected_invoke(row: Mapping[str, Any]) -> Extracted:
    """What a row of InvokeModel expects: a reading as Anthropic's, or a clear refusal of any other maker's body."""
    usage = row["expect"].get("usage") or {}
    if "shape" in row["expect"] or "input_tokens" not in usage:
        return Extracted(error="")
    return msgspec.structs.replace(anthropic.expected(row), steps=msgspec.UNSET)  # no such tools there


def _canonical(arguments: str) -> str:
    try:
        return _value(json.loads(arguments or "{}"))
    except ValueError:
        return arguments


def _value(value: Any) -> str:
    return msgspec.json.encode(value, order="deterministic").decode()


def _usage(counts: Mapping[str, Any] | None) -> Usage | None:
    if not counts:
        return None
    read = cast(int, counts.get("cacheReadInputTokens") or 0)
    written = cast(int, counts.get("cacheWriteInputTokens") or 0)
    return Usage(counts["inputTokens"] + read + written, counts["outputTokens"], 0, read, written, 1)
