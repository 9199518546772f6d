"""The wire values of a Converse reply: the fields that are read, and how odd ones are read all the same.

Pure. Names are the wire's. Fields are `Any` where services and gateways send what they should not; who reads one checks it.
Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import msgspec

from tukang.conversation import Citation, Usage

_T = TypeVar("_T")

_LONE_HALF = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


class Use(msgspec.Struct):
    toolUseId: Any = None
    name: Any = None
    type: Any = None
    input: msgspec.Raw = msgspec.Raw(b"")


class Reasoning(msgspec.Struct):
    text: Any = None
    signature: Any = None
    redactedContent: Any = None
    reasoningText: Any = None


class Message(msgspec.Struct):
    content: list[dict[str, msgspec.Raw]] | None = None


class Output(msgspec.Struct):
    message: Message | None = None


class Whole(msgspec.Struct):
    """A reply that is not streamed."""

    output: Output | None = None
    stopReason: Any = None
    usage: Any = None
    trace: Any = None


class Delta(msgspec.Struct):
    text: Any = None
    toolUse: Use | None = None
    reasoningContent: Reasoning | None = None
    toolResult: Any = None
    citation: Any = None
    image: Any = None


class Start(msgspec.Struct):
    toolUse: Use | None = None
    toolResult: Any = None
    image: Any = None


class Event(msgspec.Struct):
    """The fields of all events; which one it is stands in the frame."""

    contentBlockIndex: Any = None
    start: Start | None = None
    delta: Delta | None = None
    stopReason: Any = None
    usage: Any = None
    trace: Any = None


read_whole = msgspec.json.Decoder(Whole).decode
read_event = msgspec.json.Decoder(Event).decode
read_use = msgspec.json.Decoder(Use).decode
read_reasoning = msgspec.json.Decoder(Reasoning).decode


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Token counts in neutral words: Bedrock's `inputTokens` leaves out what was read from, or written to, a cache."""
    read = _number(usage.get("cacheReadInputTokens")) or _number(usage.get("cacheReadInputTokenCount"))
    written = _number(usage.get("cacheWriteInputTokens")) or _number(usage.get("cacheWriteInputTokenCount"))
    return Usage(
        input=_number(usage.get("inputTokens")) + read + written,
        output=_number(usage.get("outputTokens")),
        cache_read=read,
        cache_write=written,
        requests=1,
    )


def citation_of(value: Any, provider: str) -> Citation:
    fields = as_dict(value)
    url = as_dict(as_dict(fields.get("location")).get("web")).get("url") or fields.get("source")
    quote = "".join(str(as_dict(piece).get("text", "")) for piece in as_list(fields.get("sourceContent")))
    title = fields.get("title")
    return Citation(
        title if isinstance(title, str) else None, url if isinstance(url, str) else None, quote or None, provider, value
    )


def forgiving(read: Callable[[str | bytes], _T], data: bytes) -> _T | None:
    """A value, or None for what is none. A second look forgives half a character, which some models write."""
    try:
        return read(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return read(json.dumps(json.loads(_LONE_HALF.sub(rb"\\ufffd", data))))
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def raw_text(raw: msgspec.Raw) -> str:
    """The text of a JSON value as it came; of a string, what it says: an input that is streamed, or was encoded twice."""
    text = bytes(raw).decode("utf-8", "replace").strip()
    if not text.startswith('"'):
        return text
    value = msgspec.json.decode(text)
    return value if isinstance(value, str) else ""


def object_in(text: str) -> dict[str, Any]:
    try:
        return as_dict(msgspec.json.decode(text))
    except msgspec.DecodeError:
        return {}


def bytes_of(value: Any) -> bytes:
    try:
        return base64.b64decode(value) if isinstance(value, str) else b""
    except ValueError:
        return b""


def _number(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and value > 0 else 0


def as_dict(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
