"""Anthropic Messages, the reply's side. Source: https://docs.anthropic.com/en/api/messages and …/messages-streaming

* A reply is a list of blocks: thinking with its signature, text, tool_use. Signature and thinking belong together.
* A stream is named events: message_start, then for each block start → deltas → stop, then message_delta with the stop reason
  and the usage, and message_stop. Pings may be anywhere. A thinking block's signature is its last delta.
* `usage.input_tokens` does not include what was read from a cache or written to it.
* Error: `{"type": "error", "error": {"type", "message"}}`; in a stream it is the event `error`.

What InvokeModel of Bedrock sends is this, in other frames: see `AnthropicSpeech.frame`.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tukang.conversation import Usage
from tukang.mock.frames import sse
from tukang.mock.replies import anthropic_served
from tukang.mock.seals import seal
from tukang.mock.values import JSON, Fault, Frame, Spoken, as_object, pieces

_FINISH = {
    "stop": "end_turn",
    "calls": "tool_use",
    "length": "max_tokens",
    "filtered": "refusal",
    "refused": "refusal",
    "paused": "pause_turn",
}
_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def error(fault: Fault) -> JSON:
    """The body of an error."""
    kind = _TYPES.get(fault.status, "invalid_request_error" if fault.status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": fault.message}, "request_id": "req_mock"}


class AnthropicSpeech:
    """One reply in Messages."""

    def __init__(self, spoken: Spoken) -> None:
        self._spoken = spoken
        self._finish = _FINISH.get(spoken.finish, "end_turn")

    def whole(self) -> JSON:
        blocks = [block for block, _ in self._blocks()]
        return {**self._message(self._finish), "content": blocks, "usage": self._usage()}

    def deltas(self) -> Iterator[Frame]:
        return (self.frame(event, timed) for event, timed in self._opening())

    def ending(self) -> Iterator[Frame]:
        ended = {"stop_reason": self._finish, "stop_sequence": None}
        yield self.frame({"type": "message_delta", "delta": ended, "usage": self._usage()})
        yield self.frame({"type": "message_stop"})

    def broken(self, fault: Fault) -> Iterator[Frame]:
        yield self.frame(error(fault))

    def frame(self, event: JSON, timed: bool = False) -> Frame:
        """An event as it stands in the stream."""
        return sse(event, event["type"], delta=timed)

    def _opening(self) -> Iterator[tuple[JSON, bool]]:
        usage = {**self._usage(), "output_tokens": 1}
        yield {"type": "message_start", "message": {**self._message(None), "content": [], "usage": usage}}, False
        yield {"type": "ping"}, False
        for index, (block, deltas) in enumerate(self._blocks()):
            yield {"type": "content_block_start", "index": index, "content_block": {**block, **_opened(block)}}, False
            for delta in deltas:
                yield (
                    {"type": "content_block_delta", "index": index, "delta": delta},
                    delta["type"] != "signature_delta",
                )
            yield {"type": "content_block_stop", "index": index}, False

    def _blocks(self) -> Iterator[tuple[JSON, list[JSON]]]:
        """Each block as it is when complete, with the deltas that lead there."""
        thinking = self._spoken.thinking
        if thinking:
            signature = seal(thinking)
            yield (
                {"type": "thinking", "thinking": thinking, "signature": signature},
                [
                    *({"type": "thinking_delta", "thinking": piece} for piece in pieces(thinking)),
                    {"type": "signature_delta", "signature": signature},
                ],
            )
        for block in anthropic_served.blocks(self._spoken):
            if "input" in block:
                text = msgspec.json.encode(block["input"]).decode()
                yield block, [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *pieces(text))]
            else:
                yield block, []
        if self._spoken.text:
            text = "".join(self._spoken.text)
            yield {"type": "text", "text": text}, [{"type": "text_delta", "text": piece} for piece in self._spoken.text]
        for call in self._spoken.calls:
            # a whole reply has an object here; a script that wants broken arguments gets its text, which is all there is
            given, text = as_object(call.arguments), call.arguments
            block: JSON = {"type": "tool_use", "id": call.id, "name": call.name}
            block["input"] = text if given is None else given
            if given and call.name == "computer" and "toolset" in self._spoken.asked.wishes:  # a script calls it so
                given = dict(given)
                block |= {"name": given.pop("action"), "input": given, "toolset_name": "computer"}
                text = msgspec.json.encode(given).decode()
            yield block, [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *pieces(text))]

    def _usage(self) -> JSON:
        served = self._spoken.served
        counted = {"server_tool_use": anthropic_served.counted(served)} if served else {}
        return {**_usage(self._spoken.usage), **counted}

    def _message(self, finish: str | None) -> JSON:
        return {
            "id": f"msg_{self._spoken.key}",
            "type": "message",
            "role": "assistant",
            "model": self._spoken.asked.model,
            "stop_reason": finish,
            "stop_sequence": None,
        }


def _opened(block: JSON) -> JSON:
    """What a block has instead when it was only just started."""
    match block["type"]:
        case "thinking":
            return {"thinking": "", "signature": ""}
        case "text":
            return {"text": ""}
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            return {"input": {}}
        case _:
            return {}


def _usage(usage: Usage) -> JSON:
    return {
        "input_tokens": max(0, usage.input - usage.cache_read - usage.cache_write),
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
        "service_tier": "standard",
    }
