"""How rows of Ollama's `/api/chat` are decoded, and what they expect in the house's words.

What a row expects is told from the row alone, never by the adapter under test. Arguments are objects in this protocol, so
they are compared as JSON with sorted keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from tests.wire.extracted import Call, Extracted, extracted
from tukang.conversation import Usage
from tukang.models.base import ModelEvent
from tukang.models.ollama_decode import OllamaDecoder, read_error
from tukang.models.ollama_errors import reported_error


def decode(status: int, headers: Mapping[str, str], pieces: Iterable[bytes]) -> Extracted:  # noqa: ARG001
    """What the adapter makes of a response that comes in these pieces."""
    if status >= 300:
        return extracted((), reported_error(read_error(b"".join(pieces)), status=status))
    decoder = OllamaDecoder()
    events: list[ModelEvent] = []
    for piece in pieces:
        events += decoder.feed(piece)
    events += decoder.end()
    return with_sorted_arguments(extracted(events, decoder.error))


def with_sorted_arguments(found: Extracted) -> Extracted:
    """The same with the arguments of each call as JSON with sorted keys."""
    calls = tuple(
        Call(call.name, sorted_json(json.loads(call.arguments or "{}")), call.wire_id) for call in found.calls
    )
    return replace(found, calls=calls)


def sorted_json(value: Any) -> str:
    """JSON with sorted keys."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def expected(row: Mapping[str, Any]) -> Extracted:
    """What a row expects."""
    expect = row["expect"]
    calls = tuple(Call(call["name"], sorted_json(call["input"]), call["id"]) for call in expect["tool_calls"])
    failed = expect["error"] is not None
    return Extracted(
        text=expect["text"] or "",
        thinking=expect["thinking"] or "",
        calls=calls,
        finish=msgspec.UNSET if failed else expect["finish"],
        usage=msgspec.UNSET if failed else _usage(expect["usage"]),
        error=str(expect["error"])[:100] if failed else None,
    )


def _usage(counts: Mapping[str, Any] | None) -> Usage | None:
    if not counts:
        return None
    return Usage(counts.get("prompt_eval_count") or 0, counts.get("eval_count") or 0, requests=1)
