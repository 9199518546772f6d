"""How rows of OpenAI Responses and compatible servers are decoded, and what they expect in the house's words.

What a row expects is told from the row alone, never by the adapter under test. Four readings depart from the recorder's, on
purpose:

* A stream that never comes to its end (`no_terminal_event`) is an error here, and never a silent empty answer. The recorder
  and the vendor's SDK report nothing.
* Where a recorded body holds several responses one after the other (they were joined by whoever recorded them; no server
  sends that), the last is compared, as the recorder did.
* Where the pieces of a text disagree with the text that follows them whole (a hand-made recording), the pieces stand: a
  user has seen them.
* The status of a failed response is not compared: an error has no finish.

Usage: `output` includes reasoning, so it is what the total has beyond the input where that is more than the output.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import msgspec

from tests.wire.extracted import Call, Extracted, extracted
from tests.wire.steps import in_responses, taken
from tukang.conversation import Opaque, ServerCall, ServerResult, Usage
from tukang.models.base import ModelEvent, PartCompleted
from tukang.models.openai_chat_decode import read_error
from tukang.models.openai_chat_errors import reported_error
from tukang.models.openai_responses_decode import ResponsesDecoder
from tukang.models.openai_responses_items import SHELLS

_BEGINNING = re.compile(rb'(?:event: ?response\.created\r?\n)?data: ?\{"type": ?"response\.created"')


def decode(status: int, headers: Mapping[str, str], pieces: Iterable[bytes]) -> Extracted:  # noqa: ARG001
    """What the adapter makes of a response that comes in these pieces."""
    if status >= 300:
        refused = extracted((), reported_error(read_error(b"".join(pieces)), status=status))
        return msgspec.structs.replace(refused, server=())
    decoder = ResponsesDecoder()
    events: list[ModelEvent] = []
    for piece in _last_response(list(pieces)):
        events += decoder.feed(piece)
    events += decoder.end()
    got = extracted(events, decoder.error)
    return msgspec.structs.replace(got, server=_server_types(events), steps=taken(events, arguments=False))


def expected(row: Mapping[str, Any]) -> Extracted:
    """What a row expects."""
    expect = row["expect"]
    error = "" if expect.get("no_terminal_event") else None
    if expect.get("error") is not None:
        error = _message(expect["error"])
    return Extracted(
        text=_text(expect["text"] or "", row["response"]["body"]),
        thinking=expect["thinking"] or "",
        calls=tuple(Call(call["name"], call["arguments"] or "", call["id"] or None) for call in expect["tool_calls"]),
        finish=msgspec.UNSET if error is not None else expect["finish"],
        usage=msgspec.UNSET if error is not None else _usage(expect.get("usage")),
        error=error,
        server=tuple(sorted(expect.get("server_tools") or ())),
        steps=msgspec.UNSET if error is not None else in_responses(_last(row["response"]["body"])),
    )


def _text(expected: str, body: str) -> str:
    """The expected text, unless the pieces of an item disagree with the text that follows them whole."""
    pieces: dict[Any, str] = {}
    wholes: dict[Any, str] = {}
    for line in body.splitlines():
        if line.startswith("data:") and '"response.output_text.d' in line:
            event = json.loads(line.removeprefix("data:"))
            place = event.get("output_index")
            if event["type"] == "response.output_text.delta":
                pieces[place] = pieces.get(place, "") + event["delta"]
            else:
                wholes[place] = wholes.get(place, "") + event["text"]
    if all(whole.startswith(pieces.get(place, "")) for place, whole in wholes.items()):
        return expected
    return "".join(pieces.values())


def _server_types(events: Sequence[ModelEvent]) -> tuple[str, ...]:
    """The provider's own types of all that it ran or added itself."""
    parts = [event.part for event in events if isinstance(event, PartCompleted)]
    items = [part.data["type"] for part in parts if isinstance(part, ServerCall | ServerResult | Opaque)]
    return tuple(sorted(kind for kind in items if kind not in SHELLS))


def _last(body: str) -> str:
    return b"".join(_last_response([body.encode()])).decode()


def _last_response(pieces: list[bytes]) -> list[bytes]:
    body = b"".join(pieces)
    starts = [found.start() for found in _BEGINNING.finditer(body)]
    if len(starts) < 2:
        return pieces
    skip = starts[-1]
    kept: list[bytes] = []
    for piece in pieces:
        kept.append(piece[skip:])
        skip = max(0, skip - len(piece))
    return kept


def _usage(counts: Mapping[str, Any] | None) -> Usage | None:
    if not counts:
        return None
    read, written = _inside(counts, "input_tokens_details"), _inside(counts, "output_tokens_details")
    taken, given = counts.get("input_tokens") or 0, counts.get("output_tokens") or 0
    return Usage(
        input=taken,
        output=max(given, (counts.get("total_tokens") or 0) - taken),
        reasoning=written.get("reasoning_tokens") or 0,
        cache_read=read.get("cached_tokens") or 0,
        cache_write=read.get("cache_write_tokens") or 0,
        requests=1,
    )


def _message(error: Any) -> str:
    """The beginning of the provider's message, which must be found in ours; empty where the recorder kept a whole body."""
    if isinstance(error, str):
        return " ".join(error.split())[:100]
    message = (_inside(error, "error") or error).get("message")
    return " ".join(message.split())[:100] if isinstance(message, str) else ""


def _inside(outer: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    inner = outer.get(key)
    return cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}
