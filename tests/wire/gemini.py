"""How rows of Gemini's `generateContent` are decoded, and what they expect in the house's words.

No traffic was recorded of this protocol: the rows are those that the tests make, in the form the recorder uses for others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from tests.wire.extracted import Call, Extracted, extracted
from tests.wire.ollama import sorted_json, with_sorted_arguments
from tukang.conversation import Usage
from tukang.models.base import ModelEvent
from tukang.models.gemini_decode import GeminiDecoder
from tukang.models.gemini_errors import read_error, reported_error


def decode(status: int, headers: Mapping[str, str], pieces: Iterable[bytes]) -> Extracted:  # noqa: ARG001
    """What the adapter makes of a response that comes in these pieces."""
    if status >= 300:
        return extracted((), reported_error(read_error(b"".join(pieces)), status=status))
    decoder = GeminiDecoder()
    events: list[ModelEvent] = []
    for piece in pieces:
        events += decoder.feed(piece)
    events += decoder.end()
    return with_sorted_arguments(extracted(events, decoder.error))


def expected(row: Mapping[str, Any]) -> Extracted:
    """What a row expects."""
    expect = row["expect"]
    calls = tuple(
        Call(call["name"], sorted_json(call["input"]), call.get("id")) for call in expect.get("tool_calls") or ()
    )
    failed = expect.get("error") is not None
    return Extracted(
        text=expect.get("text") or "",
        thinking=expect.get("thinking") or "",
        calls=calls,
        finish=msgspec.UNSET if failed else expect["finish"],
        usage=msgspec.UNSET if failed else _usage(expect.get("usage")),
        error=str(expect["error"])[:100] if failed else None,
    )


def _usage(counts: Mapping[str, Any] | None) -> Usage | None:
    if not counts:
        return None
    thoughts = counts.get("thoughtsTokenCount") or 0
    return Usage(
        input=(counts.get("promptTokenCount") or 0) + (counts.get("toolUsePromptTokenCount") or 0),
        output=(counts.get("candidatesTokenCount") or 0) + thoughts,
        reasoning=thoughts,
        cache_read=counts.get("cachedContentTokenCount") or 0,
        requests=1,
    )
