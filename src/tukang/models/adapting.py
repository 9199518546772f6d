"""What any provider wants of a neutral conversation: a result for each call, legal names, text and arguments it can read.

Pure, and without any provider's name: a protocol's encoder calls these where its rules want them (DESIGN, rule 16).
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, cast

import msgspec

from tukang.conversation import ToolResult
from tukang.tools.contract import LEGAL_NAME
from tukang.tools.outcome import failed

_encode = msgspec.json.Encoder().encode

_INTERRUPTED = failed(
    "outcome_unknown",
    "This call was interrupted: whether it took effect is not known.",
    "Find out with another tool before you ask for it again.",
).content


class Asked(Protocol):
    """A call that wants its result: our id of it, and the tool's name."""

    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...


def answered(results: Iterable[ToolResult], calls: Sequence[Asked]) -> list[ToolResult]:
    """One result for each call, in the order asked: what is missing is made up, the rest is dropped.

    Args:
        results: what stands after the calls; of two for one call the first counts.
        calls: the calls of the assistant message before.
    """
    by_call: dict[str, ToolResult] = {}
    for result in results:
        by_call.setdefault(result.call_id, result)
    return [by_call.get(call.id) or ToolResult(call.id, call.name, _INTERRUPTED, fault=True) for call in calls]


def legal_name(name: str) -> str:
    """A name as every provider takes it back. A model may invent anything; sent as it is, it would poison the history."""
    if LEGAL_NAME.fullmatch(name):
        return name
    mended = re.sub(r"[^A-Za-z0-9_-]", "_", name) or "unnamed"
    return (mended if re.match(r"[A-Za-z_]", mended) else f"_{mended}")[:64]


def arguments_object(text: str, deepest: int = 100) -> dict[str, Any]:
    """Argument text as the object that providers want back.

    Nothing (`""`, blanks, `null`) is `{}`. What is not an object, or is nested deeper than a provider takes, is
    `{"unreadable": text}`: the model sees what it wrote, and the history can be sent.

    Args:
        text: as the model sent it.
        deepest: levels of nesting the provider takes.
    """
    if text.strip() in ("", "null"):
        return {}
    value = read_json(text)
    if isinstance(value, dict) and not is_deeper(value, deepest):
        return cast("dict[str, Any]", value)
    return {"unreadable": text}


def arguments_text(text: str) -> str:
    """Argument text as every provider takes it back: a JSON object, unchanged where it is one (see `arguments_object`)."""
    if isinstance(read_json(text), dict):
        return text
    return json_bytes(arguments_object(text)).decode()


def read_json(text: str) -> Any:
    """The JSON value in a text, or `msgspec.UNSET` where it is none."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return msgspec.UNSET


def json_bytes(value: Any) -> bytes:
    """A value as JSON, `msgspec.Raw` in it as it is.

    Half a surrogate pair, as a cut text may hold, becomes "?": one such character must not make a conversation unsendable.
    """
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain).encode(errors="replace")


def data_url(media_type: str, data: bytes | None) -> str:
    """Bytes as a `data:` address."""
    return f"data:{media_type};base64,{base64.b64encode(data or b'').decode()}"


def _plain(value: Any) -> Any:
    return json.loads(bytes(value)) if isinstance(value, msgspec.Raw) else msgspec.to_builtins(value)


def is_deeper(value: Any, levels: int) -> bool:
    """Whether a JSON value is nested deeper than so many levels of objects and lists; a plain value has none."""
    layer: list[Any] = [value]
    for _ in range(levels):
        inside: list[Any] = []
        for one in layer:
            if isinstance(one, dict):
                inside += cast("dict[str, Any]", one).values()
            elif isinstance(one, list):
                inside += cast("list[Any]", one)
        if not inside:
            return False
        layer = inside
    return any(isinstance(one, dict | list) for one in layer)
