"""How rows of OpenAI Chat Completions and compatible servers are decoded, and what they expect in the house's words.

What a row expects is told from the row alone, never by the adapter under test. Two readings depart from the recorder's,
on purpose:

* Calls in the form before `tool_calls` (`function_call`) are calls. Where the recorder saw none and the reply finished with
  `function_call`, the call is read from the recorded body here, and must come out.
* The counts of a failed request are kept, which the vendor's SDK loses: they are not compared where an error is expected.

Usage: `output` includes reasoning, so it is what the total has beyond the input where that is more than the completion.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import msgspec

from tests.wire.extracted import Call, Extracted, extracted
from tukang.conversation import Usage
from tukang.models.base import ModelEvent
from tukang.models.openai_chat_decode import ChatDecoder, read_error
from tukang.models.openai_chat_errors import reported_error


def decode(status: int, headers: Mapping[str, str], pieces: Iterable[bytes]) -> Extracted:  # noqa: ARG001
    """What the adapter makes of a response that comes in these pieces."""
    if status >= 300:
        return extracted((), reported_error(read_error(b"".join(pieces)), status=status))
    decoder = ChatDecoder()
    events: list[ModelEvent] = []
    for piece in pieces:
        events += decoder.feed(piece)
    events += decoder.end()
    return extracted(events, decoder.error)


def expected(row: Mapping[str, Any]) -> Extracted:
    """What a row expects."""
    expect = row["expect"]
    calls = tuple(
        Call(call["name"], call["arguments"] or "", call["id"] or None) for call in expect.get("tool_calls") or ()
    )
    if not calls and expect["finish"] == "function_call":
        calls = _older_call(row["response"]["body"])
    failed = expect.get("error") is not None
    return Extracted(
        text=expect["text"] or "",
        thinking=expect["thinking"] or "",
        calls=calls,
        finish=msgspec.UNSET if failed else expect["finish"],
        refusal=expect["refusal"] or None if "refusal" in expect and not failed else msgspec.UNSET,
        usage=msgspec.UNSET if failed else _usage(expect.get("usage")),
        error=_message(expect["error"]) if failed else None,
    )


def _usage(counts: Mapping[str, Any] | None) -> Usage | None:
    if not counts:
        return None
    read, written = _inside(counts, "prompt_tokens_details"), _inside(counts, "completion_tokens_details")
    prompt, completion = counts.get("prompt_tokens") or 0, counts.get("completion_tokens") or 0
    return Usage(
        input=prompt,
        output=max(completion, (counts.get("total_tokens") or 0) - prompt),
        reasoning=written.get("reasoning_tokens") or 0,
        cache_read=read.get("cached_tokens") or counts.get("prompt_cache_hit_tokens") or 0,
        cache_write=read.get("cache_write_tokens") or 0,
        requests=1,
    )


def _message(error: Any) -> str:
    """The beginning of the provider's message, which must be found in ours; empty where the recorder kept a whole body."""
    if isinstance(error, str):
        return " ".join(error.split())[:100]
    message = (_inside(error, "error") or error).get("message")
    return " ".join(message.split())[:100] if isinstance(message, str) else ""


def _older_call(body: str) -> tuple[Call, ...]:
    name = arguments = ""
    for choice in _choices(body):
        call = _inside(_inside(choice, "message") or _inside(choice, "delta"), "function_call")
        name += call.get("name") or ""
        arguments += call.get("arguments") or ""
    return (Call(name, arguments, None),) if name else ()


def _inside(outer: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    inner = outer.get(key)
    return cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}


def _choices(body: str) -> Iterator[Mapping[str, Any]]:
    if body.lstrip().startswith("{"):
        yield from json.loads(body)["choices"][:1]
        return
    for line in body.splitlines():
        if line.startswith("data: {"):
            yield from json.loads(line[6:]).get("choices", ())[:1]
