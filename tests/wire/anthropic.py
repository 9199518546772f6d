"""How rows of Anthropic's Messages API are decoded, and what they expect in the house's words.

What a row expects is told from the row alone, never by the adapter under test. Two readings depart from the recorder's, on
purpose:

* Arguments are compared as JSON values: the recorder kept them parsed, the adapter keeps the model's own spelling.
* Usage: the provider counts what it read from and wrote to its cache beside the input; in the house it is part of it.

Rows on which the SDK and the recorder do not agree stand in `disputed.toml`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec

from tests.wire.extracted import Call, Extracted, extracted
from tests.wire.recordings import body_of
from tests.wire.steps import in_anthropic, taken
from tukang.conversation import Usage
from tukang.models.anthropic_decode import AnthropicDecoder
from tukang.models.anthropic_errors import read_error, reported_error
from tukang.models.base import ModelEvent


def decode(status: int, headers: Mapping[str, str], pieces: Iterable[bytes]) -> Extracted:  # noqa: ARG001
    """What the adapter makes of a response that comes in these pieces."""
    if status >= 300:
        return extracted((), reported_error(read_error(b"".join(pieces)), status=status))
    decoder = AnthropicDecoder()
    events: list[ModelEvent] = []
    for piece in pieces:
        events += decoder.feed(piece)
    events += decoder.end()
    got = extracted(events, decoder.error)
    calls = tuple(Call(call.name, _canonical(call.arguments), call.wire_id) for call in got.calls)
    return msgspec.structs.replace(got, calls=calls, steps=taken(events, arguments=True))


def expected(row: Mapping[str, Any]) -> Extracted:
    """What a row expects."""
    expect = row["expect"]
    failed = expect.get("error") is not None
    return Extracted(
        text=expect["text"] or "",
        thinking=expect["thinking"] or "",
        calls=tuple(
            Call(call["name"], _canonical(msgspec.json.encode(call["input"]).decode()), call["id"])
            for call in expect["tool_calls"]
        ),
        finish=msgspec.UNSET if failed else expect["finish"],
        usage=msgspec.UNSET if failed else _usage(expect["usage"]),
        error=_message(expect["error"]) if failed else None,
        steps=msgspec.UNSET if failed else in_anthropic(body_of(row["response"]).decode("utf-8", "replace")),
    )


def _canonical(arguments: str) -> str:
    try:
        value: Any = msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return arguments
    return msgspec.json.encode(value, order="deterministic").decode()


def _usage(counts: Mapping[str, Any] | None) -> Usage | None:
    if not counts:
        return None
    read, written = counts.get("cache_read_input_tokens") or 0, counts.get("cache_creation_input_tokens") or 0
    own = cast("Mapping[str, int]", counts.get("server_tool_use") or {})
    details = cast("Mapping[str, Any]", counts.get("output_tokens_details") or {})
    return Usage(
        input=counts["input_tokens"] + read + written,
        output=counts["output_tokens"],
        reasoning=details.get("thinking_tokens") or 0,
        cache_read=read,
        cache_write=written,
        requests=1,
        served={name.removesuffix("_requests"): count for name, count in own.items() if count},
    )


def _message(error: Any) -> str:
    return " ".join(error["error"]["message"].split())[:100]
