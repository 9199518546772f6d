"""What an OpenAI response, streamed or whole, says in neutral events. The mapping stands at the top of `openai_responses`.

Pure: bytes in, `ModelEvent`s out, no I/O. Events of a kind that is not known are read over: the protocol gets new ones every
few months. The first byte decides whether a body is a stream: no header is trusted for that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from tukang.conversation import Usage
from tukang.errors import ModelError
from tukang.models.base import FinishReason, ModelEvent, ReplyEnded, UsageReported
from tukang.models.http import snippet
from tukang.models.openai_chat_errors import reported_error
from tukang.models.openai_responses_dialect import PROVIDER
from tukang.models.openai_responses_output import OutputItems, as_fields, as_list
from tukang.models.sse import EventDecoder, ServerEvent

FINISH: Mapping[str, FinishReason] = {
    "completed": "stop",
    "complete": "stop",
    "incomplete": "length",
    "max_output_tokens": "length",
    "max_tokens": "length",
    "content_filter": "filtered",
}
"""`status`, or the reason of an incomplete response, in neutral words; anything else (`queued`) is `unknown`."""

_PIECES: Mapping[str, Literal["message", "reasoning", "call"]] = {
    "response.output_text.delta": "message",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.reasoning_text.delta": "reasoning",
    "response.function_call_arguments.delta": "call",
    "response.custom_tool_call_input.delta": "call",
}
_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
_CAUSES: Mapping[str, Mapping[str, str]] = {
    "invalid_prompt": {"type": "invalid_request_error"},
    "context_length_exceeded": {"type": "invalid_request_error"},
    "unsupported_image_media_type": {"type": "invalid_request_error"},
    "empty_image_file": {"type": "invalid_request_error"},
    "failed_to_download_image": {"type": "invalid_request_error"},
    "image_file_not_found": {"type": "invalid_request_error"},
    "image_content_policy_violation": {"code": "content_policy_violation"},
}
"""Codes of a failed response that say what the request did wrong; a new try would not help."""

# Lone halves of a surrogate pair, written as JSON escapes by servers that cut a character in two.
_LONE_HALF = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
_WRONG_ADDRESS = "Check that the base URL is one of a server with /responses (it often ends in /v1)."
_CHAT = "The server answers with a chat completion. Use the same model as openai:… instead of responses:…"


class _Event(msgspec.Struct):
    """One event of a stream, or a whole response: only the fields that are looked at."""

    type: Any = None
    delta: Any = None
    item_id: Any = None
    output_index: Any = None
    item: msgspec.Raw = msgspec.Raw(b"null")
    response: msgspec.Raw = msgspec.Raw(b"null")
    annotation: Any = None
    error: Any = None
    code: Any = None
    message: Any = None
    detail: Any = None
    object: Any = None


_read_event = msgspec.json.Decoder(_Event).decode
_read_fields = msgspec.json.Decoder(Any).decode


class ResponsesDecoder:
    """Turns the bytes of one response into events: `feed` it everything, then `end` it.

    Neither method raises. What the server reports as an error, or sends against the protocol, is kept in `error`, so that
    the events which came before it are not lost with it; after that nothing more is read.

    Args:
        model: the model that was asked, for the hint of an error.
        provider: who keeps opaque parts and sealed reasoning.
    """

    def __init__(self, model: str = "", provider: str = PROVIDER) -> None:
        self.error: ModelError | None = None
        self.done = False
        """The response has ended, whatever the server still sends."""
        self._asked = model
        self._head = b""
        self._events: EventDecoder | None = None
        self._body: list[bytes] | None = None
        self._out: list[ModelEvent] = []
        self._items = OutputItems(provider)
        self._refusal: list[str] = []
        self._ended: dict[str, Any] | None = None
        self._reported: ModelError | None = None  # an `error` event; `response.failed` follows and says it better
        self._model: str | None = None

    @property
    def complete(self) -> bool:
        """Whether all is known that counts, so that a connection that breaks now costs nothing."""
        return self._ended is not None or self._reported is not None

    def feed(self, chunk: bytes) -> list[ModelEvent]:
        """Take in more bytes; what they say."""
        if self._body is not None:
            self._body.append(chunk)
            return []
        if self._events is None:
            self._head = chunk = self._head + chunk
            start = chunk.lstrip(b"\xef\xbb\xbf \t\r\n")
            if not start:
                return []
            if start[:1] in b"{[":
                self._body = [start]
                return []
            self._events = EventDecoder()
        for event in self._events.feed(chunk):
            self._data(event)
        return self._taken()

    def end(self) -> list[ModelEvent]:
        """The response is over: what is left, and `ReplyEnded` unless there is an `error`."""
        if self._body is not None:
            self._whole(b"".join(self._body))
        elif self._events is not None:
            for event in self._events.end():
                self._data(event)
        if self.error is None and self._ended is None:
            self.error = self._reported or self._nothing_came()
        elif self.error is None:
            self._close(self._ended or {})
        return self._taken()

    def _taken(self) -> list[ModelEvent]:
        out = self._out
        self._out = []
        return out

    def _nothing_came(self) -> ModelError:
        if self._items or self._model is not None:
            return ModelError("bad_response", "The stream broke off before the reply was complete.", retryable=True)
        if self._events is not None and not self._head.lstrip().startswith((b"data", b"event", b":", b"id", b"retry")):
            text = f"The response is neither JSON nor a stream of events: {_words_of(self._head)}"
            return ModelError("bad_response", text, hint=_WRONG_ADDRESS)
        return ModelError("bad_response", "The reply is empty.", retryable=True)

    # ── a stream ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _data(self, sent: ServerEvent) -> None:
        data = sent.data.strip()
        if self.error is not None or self.done or not data or data == b"[DONE]":
            return
        event = _read(data)
        if event is None:
            if b"\n" in data:  # a server that leaves out the blank line between events
                for line in data.split(b"\n"):
                    self._data(ServerEvent(line.removeprefix(b"data:")))
            else:
                text = f"The response cannot be read: {_words_of(data)}"
                self.error = ModelError("bad_response", text, retryable=True)
            return
        self._event(event, str(event.type or sent.name))

    def _event(self, event: _Event, kind: str) -> None:
        piece = _PIECES.get(kind)
        if piece is not None:
            if isinstance(event.delta, str):
                self._items.piece(piece, event.output_index, event.item_id, event.delta, self._out)
        elif kind == "response.output_item.added":
            self._items.added(event.output_index, _fields(event.item), self._out)
        elif kind == "response.output_item.done":
            self._items.done(event.output_index, _fields(event.item), self._out)
        elif kind == "response.output_text.annotation.added":
            self._items.annotated(event.output_index, event.item_id, event.annotation)
        elif kind == "response.refusal.delta" and isinstance(event.delta, str):
            self._refusal.append(event.delta)
        elif kind in ("response.created", "response.in_progress", "response.queued"):
            self._model = self._model or _name(_fields(event.response)) or ""
        elif kind in _ENDS:
            self._end(_fields(event.response), kind.removeprefix("response."))
        elif kind == "error" or event.error or (not kind and (event.message or event.detail)):
            self._reported = self._failed(event.error or {"code": event.code, "message": event.message or event.detail})
        elif not kind and event.object == "chat.completion.chunk":
            self.error = ModelError("bad_response", _CHAT)

    # ── a whole response, and the end of a stream ────────────────────────────────────────────────────────────────────

    def _whole(self, body: bytes) -> None:
        event = _read(body)
        if event is None:
            text = f"The response cannot be read: {_words_of(body)}"
            self.error = ModelError("bad_response", text, retryable=True)
            return
        fields = as_fields(_loose(body))
        if isinstance(fields.get("output"), list):
            self._end(fields, "completed")
        elif event.error or event.message or event.detail:
            self.error = self._failed(event.error or event.message or event.detail)
        elif fields.get("status") is not None and event.object == "response":
            self._end(fields, "completed")
        else:
            chat = event.object == "chat.completion"
            text = _CHAT if chat else "The response has no `output`: it is not one of the Responses protocol."
            self.error = ModelError("bad_response", text, hint=None if chat else _WRONG_ADDRESS)

    def _end(self, response: dict[str, Any], status: str) -> None:
        """The final state of a response, which holds everything once more."""
        response.setdefault("status", status)
        self._model = _name(response) or self._model or None
        usage = as_fields(response.get("usage"))
        if usage:
            self._out.append(UsageReported(read_usage(usage)))
        if response.get("error") or response["status"] in ("failed", "cancelled"):
            self.error = self._failed(response.get("error") or {"message": f"The response was {response['status']}."})
            return
        self._ended = response
        self.done = True

    def _failed(self, error: Any) -> ModelError:
        what = as_fields(error)
        cause = _CAUSES.get(str(what.get("code")))
        if cause is not None and not (what.get("type") and "type" in cause):
            error = {**what, **cause}
        fault = reported_error(error, model=self._asked)
        fault.status = None  # the response's own was a good one: the server had begun
        return fault

    def _close(self, response: dict[str, Any]) -> None:
        self._items.finish(as_list(response.get("output")), self._out)
        refusal = "".join(self._items.refusal) or "".join(self._refusal) or None
        status = response.get("status")
        status = status if isinstance(status, str) else "completed"
        reason = as_fields(response.get("incomplete_details")).get("reason")
        finish = FINISH.get(str(reason) if status == "incomplete" and reason else status, "unknown")
        if finish == "stop":
            finish = "refused" if refusal else "calls" if self._items.calls or self._items.requests else "stop"
        self._out.append(ReplyEnded(finish, status, self._model, refusal))


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Token counts in neutral words. `input` includes what was cached and `output` includes reasoning, as they do here."""
    read, written = as_fields(usage.get("input_tokens_details")), as_fields(usage.get("output_tokens_details"))
    taken, given = _count(usage.get("input_tokens")), _count(usage.get("output_tokens"))
    return Usage(
        input=taken,
        output=max(given, _count(usage.get("total_tokens")) - taken),
        reasoning=_count(written.get("reasoning_tokens")),
        cache_read=_count(read.get("cached_tokens")),
        cache_write=_count(read.get("cache_write_tokens")),
        requests=1,
    )


def _read(data: bytes) -> _Event | None:
    """An event, or None for what is none."""
    try:
        return _read_event(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    value = _loose(data)
    return None if not isinstance(value, dict) else _read_event(msgspec.json.encode(value))


def _loose(data: bytes) -> Any:
    """A value, with what strict JSON does not allow in it: NaN, half a character. None for what is no JSON."""
    try:
        return _read_fields(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    try:
        value: Any = json.loads(_LONE_HALF.sub(rb"\\ufffd", data))
    except (ValueError, RecursionError):
        return None
    return as_list(value)[0] if as_list(value) else value


def _fields(raw: msgspec.Raw) -> dict[str, Any]:
    return as_fields(_read_fields(raw))


def _name(response: dict[str, Any]) -> str | None:
    name = response.get("model")
    return name if isinstance(name, str) and name else None


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and value > 0 else 0


def _words_of(data: bytes) -> str:
    return snippet(data[:1000].decode("utf-8", "replace"))
