"""What Gemini's `generateContent`, streamed or whole, says in neutral events. The mapping stands at the top of `gemini`.

Pure: bytes in, `ModelEvent`s out, no I/O. The first byte decides what a body is: `{` a whole reply, `[` a list of chunks (a
stream without `alt=sse`), anything else a stream of events. An error is an error wherever it stands.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from tukang.conversation import Citation, File, Image, Opaque, ServerCall, ServerResult, Thinking, Usage
from tukang.errors import ModelError
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
from tukang.models.gemini_errors import blocked, ended_badly, reported_error
from tukang.models.gemini_hosted import declared_name, looked_up, ran
from tukang.models.gemini_parts import PROVIDER, seal
from tukang.models.http import snippet
from tukang.models.sse import EventDecoder

FINISH: Mapping[str, FinishReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    "SAFETY": "filtered",
    "RECITATION": "filtered",
    "LANGUAGE": "filtered",
    "BLOCKLIST": "filtered",
    "PROHIBITED_CONTENT": "filtered",
    "SPII": "filtered",
    "ESCALATION": "filtered",
    "MODEL_ARMOR": "filtered",
    "IMAGE_SAFETY": "filtered",
    "IMAGE_PROHIBITED_CONTENT": "filtered",
    "IMAGE_RECITATION": "filtered",
}
"""`finishReason` in neutral words, before the calls are looked at. Those that are errors stand in `gemini_errors`; anything
else (`OTHER`, `IMAGE_OTHER`, `NO_IMAGE`, what is new) is `unknown`."""

_WRONG_ADDRESS = "Check that GOOGLE_GEMINI_BASE_URL is the address of a Gemini server, without /v1beta."


class _Function(msgspec.Struct):
    name: Any = None
    id: Any = None
    args: msgspec.Raw = msgspec.Raw(b"")


class _Part(msgspec.Struct):
    text: Any = None
    thought: Any = None
    thoughtSignature: Any = None
    functionCall: _Function | None = None


class _Content(msgspec.Struct):
    parts: list[msgspec.Raw] | None = None


class _Candidate(msgspec.Struct):
    content: _Content | None = None
    finishReason: Any = None
    finishMessage: Any = None
    index: Any = None
    groundingMetadata: Any = None
    citationMetadata: Any = None
    urlContextMetadata: Any = None


class _Chunk(msgspec.Struct):
    """A whole reply or one chunk of a stream: the same fields."""

    candidates: list[_Candidate] | None = None
    promptFeedback: Any = None
    usageMetadata: Any = None
    modelVersion: Any = None
    error: Any = None


_read_chunk = msgspec.json.Decoder(_Chunk).decode
_read_chunks = msgspec.json.Decoder(list[_Chunk]).decode
_read_part = msgspec.json.Decoder(_Part).decode
_read_object = msgspec.json.Decoder(dict[str, Any]).decode


class GeminiDecoder:
    """Turns the bytes of one response into events: `feed` it everything, then `end` it.

    Neither method raises. What the server reports as an error, or sends against the protocol, is kept in `error`, so that
    the events which came before it are not lost with it; after that nothing more is read.

    Args:
        model: the model that was asked, for the hint of an error.
    """

    def __init__(self, model: str = "") -> None:
        self.error: ModelError | None = None
        self._asked = model
        self._head = b""
        self._events: EventDecoder | None = None
        self._body: list[bytes] | None = None
        self._out: list[ModelEvent] = []
        self._thinking: list[str] = []
        self._calls = 0
        self._replied = False
        self._finish: str | None = None
        self._model: str | None = None
        self._usage: Any = None
        self._sources: list[Citation] = []
        self._looked_up: list[ServerCall] = []
        self._own_calls = False

    @property
    def done(self) -> bool:
        """This protocol has no word for that nothing follows: the response just ends."""
        return False

    @property
    def complete(self) -> bool:
        """Whether the reply is whole, so that a connection that breaks now costs nothing but the token counts."""
        return self._finish is not None

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
            self._data(event.data)
        return self._taken()

    def end(self) -> list[ModelEvent]:
        """The response is over: what is left, and `ReplyEnded` unless there is an `error`."""
        if self._body is not None:
            self._data(b"".join(self._body))
        elif self._events is not None:
            for event in self._events.end():
                self._data(event.data)
        if self.error is None:
            self._close()
        return self._taken()

    def _taken(self) -> list[ModelEvent]:
        out = self._out
        self._out = []
        return out

    def _data(self, data: bytes) -> None:
        data = data.strip()
        if not data or self.error is not None:
            return
        try:
            chunks = _read_chunks(data) if data.startswith(b"[") else [_read_chunk(data)]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            text = f"The response cannot be read: {_words_of(data)}"
            self.error = ModelError("bad_response", text, retryable=True)
            return
        for chunk in chunks:
            if self.error is None:
                self._chunk(chunk)

    def _chunk(self, chunk: _Chunk) -> None:
        if chunk.usageMetadata and chunk.usageMetadata != self._usage:
            self._usage = chunk.usageMetadata
            self._out.append(UsageReported(read_usage(_dict(chunk.usageMetadata))))
        if isinstance(chunk.modelVersion, str):
            self._model = chunk.modelVersion or self._model
        if chunk.error:
            self.error = reported_error(chunk.error, model=self._asked)
            return
        feedback = _dict(chunk.promptFeedback)
        reason = feedback.get("blockReason")
        if isinstance(reason, str) and not chunk.candidates:
            self.error = blocked(reason, feedback.get("blockReasonMessage"))
            return
        for candidate in chunk.candidates or ():
            # Only one reply was asked for; where a server sends more, the first is the reply.
            if candidate.index in (None, 0):
                self._candidate(candidate)

    def _candidate(self, candidate: _Candidate) -> None:
        self._replied = True
        for raw in (candidate.content.parts if candidate.content else None) or ():
            self._part(bytes(raw))
        if candidate.groundingMetadata or candidate.urlContextMetadata:
            self._looked_up = looked_up(
                PROVIDER, _dict(candidate.groundingMetadata), _dict(candidate.urlContextMetadata)
            )
        if candidate.groundingMetadata or candidate.citationMetadata:
            self._sources = _sources(_dict(candidate.groundingMetadata), _dict(candidate.citationMetadata))
        if isinstance(candidate.finishReason, str):
            self._finish = candidate.finishReason
            self.error = ended_badly(self._finish, candidate.finishMessage)

    def _close(self) -> None:
        if not self._replied:
            self.error = self._nothing_came()
        elif self._finish is None and self._body is None:
            text = "The stream broke off before the reply was complete."
            self.error = ModelError("bad_response", text, retryable=True)
        else:
            if not self._own_calls:
                self._out += map(PartCompleted, self._looked_up)
            self._out += map(PartCompleted, self._sources)
            finish = FINISH.get(self._finish or "STOP", "unknown")
            if self._calls and finish in ("stop", "unknown"):
                finish = "calls"
            self._out.append(ReplyEnded(finish, self._finish, self._model))

    def _nothing_came(self) -> ModelError:
        if self._usage is not None or self._model is not None:
            return ModelError("bad_response", "The reply is empty: it has no candidates.", retryable=True)
        words = _words_of(b"".join(self._body) if self._body else self._head)
        text = f"The response is not one of Gemini's: {words}" if words else "The response is empty."
        return ModelError("bad_response", text, hint=_WRONG_ADDRESS, retryable=not words)

    # ── parts ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _part(self, raw: bytes) -> None:
        try:
            part = _read_part(raw)
        except (msgspec.DecodeError, UnicodeDecodeError):
            part = _Part()
        signature = part.thoughtSignature if isinstance(part.thoughtSignature, str) else None
        if isinstance(part.text, str) and part.thought is True:
            self._thought(part.text, signature)
            return
        self._thinking.clear()
        if part.functionCall is not None:
            self._call(part.functionCall)
            kind = "functionCall"
        elif isinstance(part.text, str):
            if part.text:
                self._out.append(TextDelta(part.text))
            kind = "text"
        else:
            kind = self._other(raw)
        if signature and kind:
            self._out.append(PartCompleted(seal(signature, kind)))

    def _thought(self, text: str, signature: str | None) -> None:
        if text:
            self._thinking.append(text)
            self._out.append(ThinkingDelta(text))
        if signature:
            # It replaces what was streamed of it, so it is all of it.
            self._out.append(PartCompleted(Thinking("".join(self._thinking), signature, PROVIDER)))
            self._thinking.clear()

    def _call(self, function: _Function) -> None:
        name, wire_id = (one if isinstance(one, str) else "" for one in (function.name, function.id))
        self._out.append(CallBegan(self._calls, name, wire_id or None))
        arguments = _arguments(bytes(function.args))
        if arguments:
            self._out.append(ArgumentsDelta(self._calls, arguments))
        self._calls += 1

    def _other(self, raw: bytes) -> str:
        """A part that is neither text nor a call; the kind whose seal goes beside it, empty where it is kept inside."""
        try:
            fields = _read_object(raw)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return ""
        if blob := _dict(fields.get("inlineData")):
            media = _blob(_text(blob.get("mimeType")), _text(blob.get("data")))
            self._out.append(PartCompleted(media))
            return "inlineData"
        if set(fields) <= {"thoughtSignature", "thought"}:
            return "text"  # a seal alone: that of the text before it
        if "text" in fields or "functionCall" in fields:
            return ""  # of a type that is not the protocol's: sent back, it would be refused
        own = _own(fields)
        self._own_calls = self._own_calls or "toolCall" in fields
        self._out.append(PartCompleted(own))
        return ""


def _arguments(raw: bytes) -> str:
    """The argument text, without the line breaks in which a whole reply is printed: it reads as in a stream."""
    text = raw.decode("utf-8", "replace")
    return "" if text in ("", "null") else msgspec.json.format(text, indent=-1)


def _own(fields: dict[str, Any]) -> ServerCall | ServerResult | Opaque:
    """One of Gemini's own parts, kept verbatim."""
    call, result = _dict(fields.get("toolCall")), _dict(fields.get("toolResponse"))
    if code := _dict(fields.get("executableCode")):
        written = _json({"code": code.get("code")})
        return ServerCall(_text(code.get("id")), "code_execution", written, PROVIDER, fields, tool="code")
    if outcome := _dict(fields.get("codeExecutionResult")):
        return ServerResult(_text(outcome.get("id")), PROVIDER, fields, *ran(outcome))
    if call:
        name, arguments = _text(call.get("toolType")), _json(call.get("args") or {})
        return ServerCall(_text(call.get("id")), name, arguments, PROVIDER, fields, tool=declared_name(name))
    if result:
        return ServerResult(_text(result.get("id")), PROVIDER, fields, _json(result.get("response") or {}))
    return Opaque(PROVIDER, fields)


def _blob(kind: str, data: str) -> Image | File:
    try:
        content = base64.b64decode(data.translate(str.maketrans("-_", "+/")))
    except (binascii.Error, ValueError):
        content = b""
    return Image(kind, content) if kind.startswith("image/") else File(kind, None, content)


def _sources(grounding: Mapping[str, Any], cited: Mapping[str, Any]) -> list[Citation]:
    """Where the reply's statements come from: the pages it was grounded in, and texts it repeats."""
    quotes: dict[int, list[str]] = {}
    for support in map(_dict, _list(grounding.get("groundingSupports"))):
        for place in _list(support.get("groundingChunkIndices")):
            quotes.setdefault(place, []).append(_text(_dict(support.get("segment")).get("text")))
    found: list[Citation] = []
    for place, chunk in enumerate(map(_dict, _list(grounding.get("groundingChunks")))):
        page = _dict(chunk.get("web")) or _dict(chunk.get("retrievedContext")) or _dict(chunk.get("maps"))
        title, url = (_text(page.get(field)) or None for field in ("title", "uri"))
        quote = " … ".join(filter(None, quotes.get(place, ()))) or None
        found.append(Citation(title, url, quote, PROVIDER, chunk))
    for source in map(_dict, _list(cited.get("citationSources"))):
        found.append(Citation(None, _text(source.get("uri")) or None, None, PROVIDER, source))
    return found


def read_usage(counts: Mapping[str, Any]) -> Usage:
    """Token counts in neutral words. Google counts thinking beside the reply, and its own tools' texts beside the prompt."""
    thoughts = _count(counts.get("thoughtsTokenCount"))
    return Usage(
        input=_count(counts.get("promptTokenCount")) + _count(counts.get("toolUsePromptTokenCount")),
        output=_count(counts.get("candidatesTokenCount")) + thoughts,
        reasoning=thoughts,
        cache_read=_count(counts.get("cachedContentTokenCount")),
        requests=1,
    )


def _words_of(data: bytes) -> str:
    return snippet(data[:1000].decode("utf-8", "replace"))


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and value > 0 else 0


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _dict(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
