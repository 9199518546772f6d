"""What an OpenAI chat completion, streamed or whole, says in neutral events. The mapping stands at the top of `openai_chat`.

Pure: bytes in, `ModelEvent`s out, no I/O. It reads what servers really send: unknown fields, nulls and missing fields are
nothing special, and an error is an error wherever it stands, with status 200 too. The first byte decides whether a body
is a stream: no header is trusted for that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from tukang.conversation import Citation
from tukang.errors import ModelError
from tukang.models.base import (
    ArgumentsDelta,
    FinishReason,
    ModelEvent,
    PartCompleted,
    ReplyEnded,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)
from tukang.models.http import snippet
from tukang.models.openai_chat_calls import CallPiece, CallTable, Function
from tukang.models.openai_chat_dialect import PROVIDER
from tukang.models.openai_chat_errors import reported_error
from tukang.models.openai_chat_sealed import Sealed
from tukang.models.openai_chat_usage import read_usage
from tukang.models.sse import EventDecoder

FINISH: Mapping[str, FinishReason] = {
    "": "stop",
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "complete": "stop",
    "tool_calls": "calls",
    "function_call": "calls",
    "tool_use": "calls",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "filtered",
    "refusal": "refused",
}
"""`finish_reason` in neutral words, before the calls are looked at (`ChatDecoder` does). Anything else is `unknown`."""

# Lone halves of a surrogate pair, written as JSON escapes by servers that cut a character in two.
_LONE_HALF = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
_WRONG_ADDRESS = "Check that the base URL is one of a chat completions server (it often ends in /v1)."


class _Words(msgspec.Struct):
    """A `message` or a `delta`: the same fields."""

    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    refusal: Any = None
    tool_calls: list[CallPiece] | None = None
    function_call: Function | None = None
    annotations: Any = None
    reasoning_details: Any = None


class _Choice(msgspec.Struct):
    index: Any = None
    message: _Words | None = None
    delta: _Words | None = None
    finish_reason: Any = None


class _Chunk(msgspec.Struct):
    """A whole completion or one chunk of a stream."""

    choices: list[_Choice] | None = None
    usage: Any = None
    error: Any = None
    model: Any = None
    message: Any = None
    detail: Any = None


_read_chunk = msgspec.json.Decoder(_Chunk).decode


class ChatDecoder:
    """Turns the bytes of one response into events: `feed` it everything, then `end` it.

    Neither method raises. What the server reports as an error, or sends against the protocol, is kept in `error`, so that
    the events which came before it are not lost with it; after that nothing more is read.

    Args:
        model: the model that was asked, for the hint of an error.
        provider: who keeps what comes sealed (`openai_chat_dialect.PROVIDER`).
    """

    def __init__(self, model: str = "", provider: str = PROVIDER) -> None:
        self.error: ModelError | None = None
        self.done = False
        """The server has said that nothing follows (`[DONE]`)."""
        self._asked = model
        self._provider = provider
        self._head = b""
        self._events: EventDecoder | None = None
        self._body: list[bytes] | None = None
        self._out: list[ModelEvent] = []
        self._calls = CallTable()
        self._sealed = Sealed(provider)
        self._said = False
        self._replied = False
        self._finish: str | None = None
        self._refusal: list[str] = []
        self._model: str | None = None
        self._usage: Any = None

    @property
    def complete(self) -> bool:
        """Whether the reply is whole, so that a connection that breaks now costs nothing but the token counts."""
        return self._replied and (self.done or self._finish is not None)

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
        return _joined(self._taken())

    def end(self) -> list[ModelEvent]:
        """The response is over: what is left, and `ReplyEnded` unless there is an `error`."""
        if self._body is not None:
            self._data(b"".join(self._body))
            self.done = True
        elif self._events is not None:
            for event in self._events.end():
                self._data(event.data)
        if self.error is None:
            self._close()
        return self._taken()

    def _close(self) -> None:
        if not self._replied:
            self.error = self._nothing_came()
        elif not self.complete:
            self.error = ModelError(
                "bad_response", "The stream broke off before the reply was complete.", retryable=True
            )
        else:
            self._calls.close(self._out)
            refusal = "".join(self._refusal) or None
            finish = self._neutral_finish()
            for extra in self._calls.extras():
                self._sealed.add_extra(*extra)
            sealed = self._sealed.part(cut=finish == "length" and not (self._said or self._calls))
            if sealed is not None:
                self._out.append(PartCompleted(sealed))
            self._out.append(ReplyEnded(finish, self._finish, self._model, refusal))

    def _nothing_came(self) -> ModelError:
        if self._events is None or self.done or self._usage is not None:
            return ModelError("bad_response", "The reply is empty: it has no choices.", retryable=True)
        return ModelError(
            "bad_response",
            f"The response is neither JSON nor a stream of events: {_words_of(self._head)}",
            hint=_WRONG_ADDRESS,
        )

    def _neutral_finish(self) -> FinishReason:
        finish = FINISH.get((self._finish or "").lower(), "unknown")
        if self._refusal and finish == "stop":
            return "refused"
        if finish in ("stop", "calls", "unknown"):
            # Servers say `stop` beside calls, `tool_calls` without any, and nothing at all: the calls themselves count.
            return "calls" if self._calls else "stop" if finish == "calls" else finish
        return finish

    def _taken(self) -> list[ModelEvent]:
        out = self._out
        self._out = []
        return out

    def _data(self, data: bytes) -> None:
        if self.error is not None or self.done:
            return
        data = data.strip()
        if data == b"[DONE]":
            self.done = True
        elif data:
            chunk = _read(data)
            if chunk is not None:
                self._chunk(chunk)
            elif b"\n" in data and self._events is not None:
                # A server that leaves out the blank line between events.
                for line in data.split(b"\n"):
                    self._data(line)
            elif not self.complete:
                text = f"The response cannot be read: {_words_of(data)}"
                self.error = ModelError("bad_response", text, retryable=True)

    def _chunk(self, chunk: _Chunk) -> None:
        if chunk.usage and chunk.usage != self._usage:
            self._usage = chunk.usage
            self._out.append(UsageReported(read_usage(_dict(chunk.usage))))
        if chunk.error or (chunk.choices is None and (chunk.message or chunk.detail)):
            self.error = reported_error(chunk.error or chunk.message or chunk.detail, model=self._asked)
        elif chunk.choices is None and self._body is not None:
            text = "The response has no `choices`: it is not a chat completion."
            self.error = ModelError("bad_response", text, hint=_WRONG_ADDRESS)
        else:
            if chunk.model and isinstance(chunk.model, str):
                self._model = chunk.model
            for choice in chunk.choices or ():
                self._choice(choice)

    def _choice(self, choice: _Choice) -> None:
        # Only one reply was asked for; where a server sends more, the first is the reply.
        first = not self._replied
        if (choice.index not in (0, None) and not first) or (self._body is not None and not first):
            return
        self._replied = True
        if self._body is not None:
            words = choice.message or choice.delta
        else:
            # Some servers close a stream with the whole message once more.
            words = choice.delta or (choice.message if first else None)
        if words is not None:
            self._words(words)
        if isinstance(choice.finish_reason, str):
            self._finish = choice.finish_reason

    def _words(self, words: _Words) -> None:
        thinking = words.reasoning_content or words.reasoning
        if thinking and isinstance(thinking, str):
            self._out.append(ThinkingDelta(thinking))
        if words.content:
            self._said = True
            if isinstance(words.content, str):
                self._out.append(TextDelta(words.content))
            else:
                self._content_parts(words.content)
        if words.refusal and isinstance(words.refusal, str):
            self._refusal.append(words.refusal)
        if words.tool_calls:
            add = self._calls.add if self._body is None else self._calls.add_whole
            for piece in words.tool_calls:
                add(piece, self._out)
        elif words.function_call is not None and (words.function_call.name or words.function_call.arguments):
            # The form before `tool_calls`: one call, no id. Some servers send it empty beside the new one.
            self._calls.add(CallPiece(function=words.function_call), self._out)
        if words.annotations:
            self._citations(words.annotations)
        if words.reasoning_details:
            self._sealed.add_details(words.reasoning_details, whole=self._body is not None)

    def _content_parts(self, content: Any) -> None:
        """Content as a list of parts: words, and thinking as Mistral sends it."""
        for part in _list(content):
            fields = _dict(part)
            kind = fields.get("type")
            if kind == "thinking":
                thinking = fields.get("thinking")
                pieces = [thinking] if isinstance(thinking, str) else [_text(one) for one in _list(thinking)]
                if text := "".join(pieces):
                    self._out.append(ThinkingDelta(text))
            elif kind == "refusal":
                self._refusal.append(_text(fields.get("refusal")))
            elif text := _text(part):
                self._out.append(TextDelta(text))

    def _citations(self, annotations: Any) -> None:
        for annotation in _list(annotations):
            source = _dict(_dict(annotation).get("url_citation"))
            if source:
                title, url, quote = (_text(source.get(field)) or None for field in ("title", "url", "content"))
                self._out.append(PartCompleted(Citation(title, url, quote, self._provider, annotation)))


def _joined(events: list[ModelEvent]) -> list[ModelEvent]:
    """Neighbouring deltas as one: what came at once need not be handled in twenty pieces."""
    out: list[ModelEvent] = events[:1]
    for event in events[1:]:
        last = out[-1]
        if isinstance(event, ArgumentsDelta) and isinstance(last, ArgumentsDelta) and event.key == last.key:
            out[-1] = ArgumentsDelta(event.key, last.text + event.text)
        elif isinstance(event, TextDelta) and isinstance(last, TextDelta):
            out[-1] = TextDelta(last.text + event.text)
        elif isinstance(event, ThinkingDelta) and isinstance(last, ThinkingDelta):
            out[-1] = ThinkingDelta(last.text + event.text)
        else:
            out.append(event)
    return out


def read_error(body: bytes) -> Any:
    """What the body of a response with an error's status says: the `error` in it, all of it, or its text."""
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        return _words_of(body)
    if listed := _list(value):
        value = listed[0]
    return _dict(value).get("error") or value


def _read(data: bytes) -> _Chunk | None:
    """A chunk, or None for what is none."""
    try:
        return _read_chunk(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    try:
        # A second, slower look at what strict JSON does not allow: NaN among the log probabilities, half a character.
        # Gemini wraps an error in a list.
        value: Any = json.loads(_LONE_HALF.sub(rb"\\ufffd", data))
        return msgspec.convert(_list(value)[0] if _list(value) else value, _Chunk)
    except (ValueError, RecursionError):
        return None


def _words_of(data: bytes) -> str:
    return snippet(data[:1000].decode("utf-8", "replace"))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    text = _dict(value).get("text")
    return text if isinstance(text, str) else ""


def _dict(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
