"""What a Converse reply, whole or in frames, says in neutral events. The mapping stands at the top of `bedrock_converse`.

Pure: bytes in, `ModelEvent`s out, no I/O. The first byte decides whether a body is a stream of frames (a length, whose first
byte is 0 or 1) or JSON: no header is trusted for that. An unknown block is kept verbatim.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import msgspec

from tukang.conversation import Image, Opaque, Part, ServerCall, ServerResult, Thinking
from tukang.errors import ModelError
from tukang.models.aws import BrokenFrame, Frame, FrameDecoder
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
from tukang.models.bedrock_converse_wire import (
    Delta,
    Reasoning,
    Start,
    Use,
    as_dict,
    as_list,
    bytes_of,
    citation_of,
    forgiving,
    object_in,
    raw_text,
    read_event,
    read_reasoning,
    read_usage,
    read_use,
    read_whole,
)
from tukang.models.bedrock_errors import reported_error

FINISH: Mapping[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "filtered",
    "content_filtered": "filtered",
}
"""`stopReason` in neutral words, before the calls are looked at. Anything else is `unknown`."""

_MALFORMED = ("malformed_model_output", "malformed_tool_use")
_SERVER_CALL = "server_tool_use"


class _Block:
    """A content block under construction."""

    __slots__ = ("data", "key", "pieces", "redacted", "signature")

    def __init__(self) -> None:
        self.key: int | None = None
        self.data: dict[str, Any] | None = None
        self.pieces: list[str] = []
        self.signature = ""
        self.redacted = b""


class ConverseDecoder:
    """Turns the bytes of one response into events: `feed` it everything, then `end` it.

    Neither method raises. What the service reports as an error, or sends against the protocol, is kept in `error`, so that
    the events which came before it are not lost with it; after that nothing more is read.

    Args:
        provider: who keeps the parts that go back verbatim.
        model: the model that was asked, for the hint of an error.
    """

    def __init__(self, provider: str = "bedrock", model: str = "") -> None:
        self.error: ModelError | None = None
        self._provider = provider
        self._asked = model
        self._frames: FrameDecoder | None = None
        self._body: list[bytes] | None = None
        self._out: list[ModelEvent] = []
        self._blocks: dict[Any, _Block] = {}
        self._calls = 0
        self._said = False
        self._finish: str | None = None
        self._counted = False
        self._model: str | None = None

    @property
    def done(self) -> bool:
        """Whether nothing follows: the reason and the counts are here, in whichever order they came."""
        return self._counted and self.complete

    @property
    def complete(self) -> bool:
        """Whether the reply is whole, so that a connection that breaks now costs nothing but the token counts."""
        return self._finish is not None

    def feed(self, chunk: bytes) -> list[ModelEvent]:
        """Take in more bytes; what they say."""
        if self._body is None and self._frames is None:
            if not chunk:
                return []
            if chunk[0] > 1:
                self._body = []
            else:
                self._frames = FrameDecoder()
        if self._frames is None:
            if self._body is not None:
                self._body.append(chunk)
            return []
        try:
            for frame in self._frames.feed(chunk):
                self._frame(frame)
        except BrokenFrame:
            self._fail("The stream cannot be read: a frame of it is broken.")
        return self._taken()

    def end(self) -> list[ModelEvent]:
        """The response is over: what is left, and `ReplyEnded` unless there is an `error`."""
        if self._body is not None:
            self._whole(b"".join(self._body))
            self._body = None
        if self.error is None:
            self._close()
        return self._taken()

    def _close(self) -> None:
        if self._finish is None:
            self._fail("The stream broke off before the reply was complete." if self._frames else "The reply is empty.")
            return
        for index in list(self._blocks):
            self._stop(index)
        if self._finish in _MALFORMED and not self._said:
            self._fail(f"The model wrote something that Bedrock could not read ({self._finish}).")
            return
        finish = FINISH.get(self._finish, "unknown")
        if finish in ("stop", "calls", "unknown"):
            # Servers say `end_turn` beside calls, and `tool_use` where only their own tools ran: the calls themselves count.
            finish = "calls" if self._calls else "stop" if finish == "calls" else finish
        self._out.append(ReplyEnded(finish, self._finish, self._model))

    def _fail(self, message: str) -> None:
        if self.error is None:
            self.error = ModelError("bad_response", message, retryable=True)

    def _taken(self) -> list[ModelEvent]:
        out = self._out
        self._out = []
        return out

    # ── a whole reply ────────────────────────────────────────────────────────────────────────────────────────────────

    def _whole(self, body: bytes) -> None:
        reply = forgiving(read_whole, body)
        message = reply.output.message if reply is not None and reply.output is not None else None
        if reply is None or message is None:
            self.error = reported_error("", body, model=self._asked)
            return
        self._count(reply.usage, reply.trace)
        for index, block in enumerate(message.content or ()):
            for kind, value in block.items():
                self._whole_block(index, kind, value)
        if isinstance(reply.stopReason, str):
            self._finish = reply.stopReason

    def _whole_block(self, index: int, kind: str, value: msgspec.Raw) -> None:
        if kind == "text":
            self._text(msgspec.json.decode(value))
        elif kind == "toolUse":
            use = read_use(value)
            self._start_use(index, use)
            self._arguments(self._blocks[index], raw_text(use.input))
            self._stop(index)
        elif kind == "reasoningContent":
            reasoning = read_reasoning(value)
            inner = as_dict(reasoning.reasoningText)
            reasoning.text, reasoning.signature = inner.get("text"), inner.get("signature")
            self._reasoning(self._block(index), reasoning)
            self._stop(index)
        elif kind == "citationsContent":
            content = as_dict(msgspec.json.decode(value))
            for piece in as_list(content.get("content")):
                self._text(as_dict(piece).get("text"))
            for citation in as_list(content.get("citations")):
                self._part(citation_of(citation, self._provider))
        elif kind != "type":  # a flag that some gateways put beside the block
            self._other(kind, msgspec.json.decode(value))

    def _other(self, kind: str, value: Any) -> None:
        fields = as_dict(value)
        if kind == "toolResult":
            call_id = str(fields.get("toolUseId", ""))
            said = "\n".join([_words(as_dict(piece)) for piece in as_list(fields.get("content"))])
            failed = fields.get("status") == "error"
            self._part(ServerResult(call_id, self._provider, {kind: value}, said, failed))
        elif kind == "image" and (data := bytes_of(as_dict(fields.get("source")).get("bytes"))):
            self._part(Image(f"image/{fields.get('format', 'png')}", data))
        else:
            self._part(Opaque(self._provider, {kind: value}))

    # ── a stream ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _frame(self, frame: Frame) -> None:
        if self.error is not None:
            return
        if frame.failed:
            self.error = reported_error(frame.kind, frame.payload, model=self._asked)
            return
        event = forgiving(read_event, frame.payload)
        if event is None:
            self._fail(f"The stream cannot be read: its {frame.kind or 'nameless'} event is not one.")
            return
        match frame.kind:
            case "contentBlockDelta" if event.delta is not None:
                self._delta(event.contentBlockIndex, event.delta)
            case "contentBlockStart" if event.start is not None:
                self._start(event.contentBlockIndex, event.start)
            case "contentBlockStop":
                self._stop(event.contentBlockIndex)
            case "messageStop":
                self._finish = event.stopReason if isinstance(event.stopReason, str) else ""
            case "metadata":
                self._count(event.usage, event.trace)
            case _:
                pass

    def _block(self, index: Any) -> _Block:
        block = self._blocks.get(index)
        if block is None:
            self._blocks[index] = block = _Block()
        return block

    def _start(self, index: Any, start: Start) -> None:
        if start.toolUse is not None:
            self._start_use(index, start.toolUse)
        elif start.toolResult is not None:
            self._block(index).data = {"toolResult": {**as_dict(start.toolResult), "content": []}}
        elif start.image is not None:
            self._block(index).data = {"image": as_dict(start.image)}

    def _start_use(self, index: Any, use: Use) -> None:
        name, wire_id = use.name if isinstance(use.name, str) else "", use.toolUseId
        block = self._blocks[index] = _Block()
        if use.type == _SERVER_CALL:
            block.data = {"toolUse": {"toolUseId": wire_id, "name": name, "type": use.type}}
            return
        block.key = self._calls
        self._calls += 1
        self._said = True
        self._out.append(CallBegan(block.key, name, wire_id if isinstance(wire_id, str) and wire_id else None))

    def _delta(self, index: Any, delta: Delta) -> None:
        if delta.text is not None:
            self._text(delta.text)
        if delta.toolUse is not None:
            self._arguments(self._block(index), raw_text(delta.toolUse.input))
        if delta.reasoningContent is not None:
            self._reasoning(self._block(index), delta.reasoningContent)
        if delta.citation is not None:
            self._part(citation_of(delta.citation, self._provider))
        data = self._block(index).data if index in self._blocks else None
        if data is not None and "toolResult" in data:
            data["toolResult"]["content"] += as_list(delta.toolResult)
        elif data is not None and "image" in data:
            data["image"] |= as_dict(delta.image)

    def _text(self, text: Any) -> None:
        if isinstance(text, str) and text:
            self._said = True
            self._out.append(TextDelta(text))

    def _arguments(self, block: _Block, text: str) -> None:
        if block.data is not None:
            block.pieces.append(text)
        elif block.key is not None and text:
            self._out.append(ArgumentsDelta(block.key, text))

    def _reasoning(self, block: _Block, reasoning: Reasoning) -> None:
        if isinstance(reasoning.text, str):
            block.pieces.append(reasoning.text)
            if reasoning.text:
                self._out.append(ThinkingDelta(reasoning.text))
        if isinstance(reasoning.signature, str):
            block.signature += reasoning.signature
        if isinstance(reasoning.redactedContent, str):
            block.redacted += bytes_of(reasoning.redactedContent)

    def _stop(self, index: Any) -> None:
        """A block is whole: what of it could not be streamed."""
        block = self._blocks.pop(index, None)
        if block is None or block.key is not None:
            return
        if block.data is None:
            if block.redacted:
                seal = base64.b64encode(block.redacted).decode()
                self._part(Thinking("", seal, self._provider, redacted=True))
            elif block.pieces or block.signature:
                self._part(Thinking("".join(block.pieces), block.signature or None, self._provider))
        elif "toolUse" in block.data:
            use, text = block.data["toolUse"], "".join(block.pieces)
            use["input"] = object_in(text)
            tool = "code" if "code_interpreter" in use["name"] else ""
            self._part(ServerCall(str(use["toolUseId"]), use["name"], text, self._provider, block.data, tool=tool))
        else:
            kind, value = next(iter(block.data.items()))
            self._other(kind, value)

    def _part(self, part: Part) -> None:
        self._said = self._said or not isinstance(part, Thinking)
        self._out.append(PartCompleted(part))

    def _count(self, usage: Any, trace: Any) -> None:
        self._counted = True
        if usage:
            self._out.append(UsageReported(read_usage(as_dict(usage))))
        invoked = as_dict(as_dict(trace).get("promptRouter")).get("invokedModelId")
        if isinstance(invoked, str):
            self._model = invoked


def _words(piece: dict[str, Any]) -> str:
    """A piece of what a tool of the provider's returned, in words."""
    text = piece.get("text")
    return text if isinstance(text, str) else msgspec.json.encode(piece.get("json", piece)).decode()
