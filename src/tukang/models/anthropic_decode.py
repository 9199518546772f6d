"""What a Messages reply, streamed or whole, says in neutral events. The mapping stands at the top of `anthropic`.

Pure: bytes or decoded events in, `ModelEvent`s out, no I/O. Unknown events, blocks and deltas are nothing special: an unknown
block is kept verbatim. The first byte decides whether a body is a stream: no header is trusted for that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec

from tukang.conversation import Opaque, Part, Thinking
from tukang.errors import ModelError
from tukang.models.anthropic_blocks import PROVIDER
from tukang.models.anthropic_defined import TOOLSET_NAME, MemberInput
from tukang.models.anthropic_errors import reported_error
from tukang.models.anthropic_reading import (
    citation,
    fields_of,
    grow,
    json_text,
    read_usage,
    server_call,
    server_result,
    text_of,
)
from tukang.models.base import (
    ArgumentsDelta,
    CallBegan,
    FinishReason,
    ModelEvent,
    PartCompleted,
    ReplyEnded,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)
from tukang.models.http import snippet
from tukang.models.sse import EventDecoder

FINISH: Mapping[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "paused",
    "compaction": "paused",
    "refusal": "refused",
}
"""`stop_reason` in neutral words, before the calls are looked at (`AnthropicDecoder` does). Anything else is `unknown`."""

_WRONG_ADDRESS = "Check that the base URL is one of a server that speaks Anthropic's Messages API."
_SERVER_CALLS = ("server_tool_use", "mcp_tool_use")


class _Event(msgspec.Struct):
    """One event of a stream, or a whole message."""

    type: Any = None
    index: Any = None
    delta: dict[str, Any] | None = None
    content_block: dict[str, Any] | None = None
    message: Any = None
    usage: Any = None
    error: Any = None
    content: Any = None
    stop_reason: Any = None
    stop_details: Any = None
    container: Any = None
    model: Any = None


_read = msgspec.json.Decoder(_Event).decode


class _Block:
    """A content block under construction."""

    __slots__ = ("citations", "data", "key", "kind", "member", "pieces", "signature")

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.kind = str(data.get("type"))
        self.key = -1
        self.pieces: list[str] = []
        self.signature: list[str] = []
        self.citations: list[Any] = []
        self.member: MemberInput | None = None


class AnthropicDecoder:
    """Turns one response into events: `feed` it all bytes (or `feed_event` it all events), then `end` it.

    No method raises. What the server reports as an error, or sends against the protocol, is kept in `error`, so that the
    events which came before it are not lost with it; after that nothing more is read.

    Args:
        model: the model that was asked, for the hint of an error.
    """

    def __init__(self, model: str = "") -> None:
        self.error: ModelError | None = None
        self.done = False
        """The server has said that nothing follows (`message_stop`)."""
        self._asked = model
        self._head = b""
        self._events: EventDecoder | None = None
        self._body: list[bytes] | None = None
        self._out: list[ModelEvent] = []
        self._blocks: dict[Any, _Block] = {}
        self._calls = 0
        self._began = False
        self._replied = False
        self._worded = False  # the last thing that came is a text
        self._finish: str | None = None
        self._refusal: str | None = None
        self._model: str | None = None
        self._usage: dict[str, Any] = {}

    @property
    def complete(self) -> bool:
        """Whether the reply is whole, so that a connection that breaks now costs nothing."""
        return self._began and (self.done or self._finish is not None)

    def feed(self, chunk: bytes) -> list[ModelEvent]:
        """Take in more bytes of an HTTP response; what they say."""
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
            self._data(event.data)
        return self._taken()

    def feed_event(self, event: bytes | Mapping[str, Any]) -> list[ModelEvent]:
        """Take in one event that came in other frames than SSE (Bedrock's), as JSON or decoded; a whole message too."""
        self._data(event if isinstance(event, bytes) else msgspec.json.encode(event))
        return self._taken()

    def end(self) -> list[ModelEvent]:
        """The response is over: what is left, and `ReplyEnded` unless there is an `error`."""
        if self._body is not None:
            self._data(b"".join(self._body))
            self._body = None
        elif self._events is not None:
            for event in self._events.end():
                self._data(event.data)
        if self.error is None:
            self._close()
        return self._taken()

    def _close(self) -> None:
        if not self._began:
            self.error = ModelError(
                "bad_response",
                "The response is neither a message nor a stream of one: "
                + (snippet(self._head[:1000].decode("utf-8", "replace")) or "it is empty."),
                hint=_WRONG_ADDRESS,
                retryable=self._events is not None or not self._head.strip(),
            )
        elif not self.complete:
            self.error = _broken("The stream broke off before the reply was complete.")
        else:
            for index in list(self._blocks):
                self._stop(index)  # a server that leaves out `content_block_stop`
            self._out.append(ReplyEnded(self._neutral_finish(), self._finish, self._model, self._refusal))

    def _neutral_finish(self) -> FinishReason:
        finish = FINISH.get(self._finish or "", "unknown") if self._finish else "stop"
        if finish in ("stop", "calls", "unknown"):
            return "calls" if self._calls else "stop" if finish == "calls" else finish
        return finish

    def _taken(self) -> list[ModelEvent]:
        out = self._out
        self._out = []
        return out

    # ── events ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _data(self, data: bytes) -> None:
        if self.error is not None or self.done:
            return
        data = data.strip()
        if not data or data == b"[DONE]":
            return
        try:
            event = _read(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            text = snippet(data[:1000].decode("utf-8", "replace"))
            self.error = _broken(f"The response cannot be read: {text}")
            return
        if event.error:
            self.error = reported_error(event.error, model=self._asked)
            return
        handle = _HANDLERS.get(event.type) if isinstance(event.type, str) else None
        if handle is not None:
            handle(self, event)

    def _whole(self, event: _Event) -> None:
        """A message that is not streamed."""
        self._began = True
        content: Any = event.content
        if not isinstance(content, list):
            self.error = _broken("The message has no content.")
            return
        self._model = event.model if isinstance(event.model, str) else None
        self._count(event.usage)
        for place, block in enumerate(cast("list[Any]", content)):
            self._start_block(place, fields_of(block))
            self._stop(place)
        self._ended(
            {"stop_reason": event.stop_reason, "stop_details": event.stop_details, "container": event.container}
        )
        self.done = True

    def _message_start(self, event: _Event) -> None:
        if self._replied:
            # What was streamed of the first one cannot be taken back, and the two are not one reply.
            self.error = _broken("The stream began a second message in the middle of the first.")
            return
        self._began = True
        message = fields_of(event.message)
        self._model = message["model"] if isinstance(message.get("model"), str) else None
        self._count(message.get("usage"))
        given: Any = message.get("content")
        for block in cast("list[Any]", given) if isinstance(given, list) else ():
            self._start_block("first", fields_of(block))
            self._stop("first")

    def _message_delta(self, event: _Event) -> None:
        self._count(event.usage)
        self._ended(event.delta or {})

    def _message_stop(self, event: _Event) -> None:  # noqa: ARG002
        self.done = True

    def _ended(self, fields: Mapping[str, Any]) -> None:
        reason = fields.get("stop_reason")
        if isinstance(reason, str):
            self._finish = reason
        explanation = fields_of(fields.get("stop_details")).get("explanation")
        if isinstance(explanation, str):
            self._refusal = explanation
        container = fields_of(fields.get("container")).get("id")
        if isinstance(container, str):
            self._part(Opaque(PROVIDER, {"container": container}))

    def _count(self, usage: Any) -> None:
        """Counts come in pieces, each of them the total so far; a null says nothing."""
        counted = {key: value for key, value in fields_of(usage).items() if value is not None}
        if counted:
            self._usage |= counted
            self._out.append(UsageReported(read_usage(self._usage)))

    # ── blocks ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _block_start(self, event: _Event) -> None:
        self._began = True
        if event.index in self._blocks:
            self._stop(event.index)  # an index that is used again opens another block
        self._start_block(event.index, event.content_block or {})

    def _start_block(self, index: Any, data: dict[str, Any]) -> None:
        self._replied = True
        self._blocks[index] = block = _Block(data)
        match block.kind:
            case "text":
                if self._worded:  # two texts: sources are of one of them, and each goes back as it came
                    self._part(Opaque(PROVIDER, {"between": "texts"}))
                self._words(text_of(data.get("text")))
                given: Any = data.get("citations")
                block.citations += cast("list[Any]", given) if isinstance(given, list) else []
            case "thinking":
                self._thinking(block, text_of(data.get("thinking")))
                block.signature.append(text_of(data.get("signature")))
            case "tool_use":
                block.key = self._calls
                self._calls += 1
                caller = fields_of(data.get("caller"))
                if caller.get("type", "direct") != "direct":
                    self._part(Opaque(PROVIDER, {"caller": caller}))  # belongs to the call that follows
                name = text_of(data.get("name"))
                if family := text_of(data.get(TOOLSET_NAME)):
                    self._part(Opaque(PROVIDER, {TOOLSET_NAME: family}))  # belongs to the call that follows, too
                    block.member, name = MemberInput(name), family
                self._worded = False
                self._out.append(CallBegan(block.key, name, text_of(data.get("id")) or None))
            case _:
                pass

    def _block_delta(self, event: _Event) -> None:
        block, delta = self._blocks.get(event.index), event.delta or {}
        if block is None:
            return
        match delta.get("type"):
            case "text_delta":
                self._words(text_of(delta.get("text")))
            case "input_json_delta":
                text = text_of(delta.get("partial_json"))
                block.pieces.append(text)
                if text and block.member is not None:
                    text = block.member.feed(text)
                if text and block.key >= 0:
                    self._out.append(ArgumentsDelta(block.key, text))
            case "thinking_delta":
                self._thinking(block, text_of(delta.get("thinking")))
            case "signature_delta":
                block.signature.append(text_of(delta.get("signature")))
            case "citations_delta":
                block.citations.append(delta.get("citation"))
            case _:
                grow(block.data, delta)

    def _block_stop(self, event: _Event) -> None:
        self._stop(event.index)

    def _stop(self, index: Any) -> None:
        block = self._blocks.pop(index, None)
        if block is None:
            return
        match block.kind:
            case "text":
                for one in block.citations:
                    self._part(citation(fields_of(one)))
            case "thinking":
                text, signature = "".join(block.pieces), "".join(block.signature) or None
                if text or signature:
                    self._part(Thinking(text, signature, PROVIDER if signature else None))
            case "redacted_thinking":
                self._part(Thinking("", text_of(block.data.get("data")) or None, PROVIDER, redacted=True))
            case "tool_use":
                if not "".join(block.pieces):
                    given = json_text(fields_of(block.data.get("input")))
                    given = given if block.member is None else block.member.feed(given)
                    self._out.append(ArgumentsDelta(block.key, given))
            case kind if kind in _SERVER_CALLS:
                self._part(server_call(block.data, "".join(block.pieces)))
            case kind if "tool_use_id" in block.data:
                self._part(server_result(block.data))
            case _:
                if block.data:
                    self._part(Opaque(PROVIDER, block.data))

    def _words(self, text: str) -> None:
        if text:
            self._worded = True
            self._out.append(TextDelta(text))

    def _thinking(self, block: _Block, text: str) -> None:
        if text:
            block.pieces.append(text)
            self._worded = False
            self._out.append(ThinkingDelta(text))

    def _part(self, part: Part) -> None:
        self._worded = False
        self._out.append(PartCompleted(part))


def _broken(message: str) -> ModelError:
    return ModelError("bad_response", message, retryable=True)


_HANDLERS: Mapping[str, Callable[[AnthropicDecoder, _Event], None]] = {
    "message": AnthropicDecoder._whole,  # pyright: ignore[reportPrivateUsage]
    "message_start": AnthropicDecoder._message_start,  # pyright: ignore[reportPrivateUsage]
    "message_delta": AnthropicDecoder._message_delta,  # pyright: ignore[reportPrivateUsage]
    "message_stop": AnthropicDecoder._message_stop,  # pyright: ignore[reportPrivateUsage]
    "content_block_start": AnthropicDecoder._block_start,  # pyright: ignore[reportPrivateUsage]
    "content_block_delta": AnthropicDecoder._block_delta,  # pyright: ignore[reportPrivateUsage]
    "content_block_stop": AnthropicDecoder._block_stop,  # pyright: ignore[reportPrivateUsage]
}
