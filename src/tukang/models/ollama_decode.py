"""What Ollama's `/api/chat`, streamed or whole, says in neutral events. The mapping stands at the top of `ollama`.

Pure: bytes in, `ModelEvent`s out, no I/O. A stream is one JSON object a line, a whole reply one object; both are read
alike, and an error is an error wherever it stands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast

import msgspec

from tukang.conversation import Usage
from tukang.errors import ModelError
from tukang.models.adapting import read_json
from tukang.models.base import (
    ArgumentsDelta,
    CallBegan,
    FinishReason,
    ModelEvent,
    ReplyEnded,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)
from tukang.models.http import snippet
from tukang.models.ollama_errors import reported_error

FINISH: Mapping[str | None, FinishReason] = {None: "stop", "": "stop", "stop": "stop", "length": "length"}
"""`done_reason` in neutral words, before the calls are looked at. Anything else is `unknown`."""

_WRONG_ADDRESS = "Check that OLLAMA_HOST is the address of an Ollama server, without /api or /v1."


class _Function(msgspec.Struct):
    name: Any = None
    arguments: msgspec.Raw = msgspec.Raw(b"")


class _Call(msgspec.Struct):
    id: Any = None
    function: _Function | None = None


class _Message(msgspec.Struct):
    content: Any = None
    thinking: Any = None
    tool_calls: list[_Call] | None = None


class _Chunk(msgspec.Struct):
    """A whole reply or one line of a stream: the same fields."""

    message: _Message | None = None
    done: Any = None
    done_reason: Any = None
    error: Any = None
    model: Any = None
    prompt_eval_count: Any = None
    eval_count: Any = None


_read_chunk = msgspec.json.Decoder(_Chunk).decode


class OllamaDecoder:
    """Turns the bytes of one response into events: `feed` it everything, then `end` it.

    Neither method raises. What the server reports as an error, or sends against the protocol, is kept in `error`, so that
    the events which came before it are not lost with it; after that nothing more is read.

    Args:
        model: the model that was asked, for the hint of an error.
        forced: names of tools one of which was demanded: the words of the reply are then a call written as JSON
            (`ollama_encode`), and are held back until they are known to be none.
    """

    def __init__(self, model: str = "", forced: Collection[str] = ()) -> None:
        self.error: ModelError | None = None
        self.done = False
        """The server has said that nothing follows (`"done": true`)."""
        self._asked = model
        self._forced = forced
        self._held: list[str] = []
        self._partial: list[bytes] = []
        self._odd: list[bytes] = []
        self._out: list[ModelEvent] = []
        self._calls = 0
        self._came = False
        self._replied = False
        self._finish: str | None = None
        self._model: str | None = None

    @property
    def complete(self) -> bool:
        """Whether the reply is whole."""
        return self.done

    def feed(self, chunk: bytes) -> list[ModelEvent]:
        """Take in more bytes; what they say."""
        if b"\n" not in chunk:
            if chunk:
                self._partial.append(chunk)
            return []
        self._partial.append(chunk)
        lines = b"".join(self._partial).split(b"\n")
        self._partial = [lines.pop()]
        for line in lines:
            self._line(line)
        return self._taken()

    def end(self) -> list[ModelEvent]:
        """The response is over: what is left, and `ReplyEnded` unless there is an `error`."""
        self._line(b"".join(self._partial))
        self._partial = []
        if self._odd and self.error is None:
            # Not one object a line: one object over several lines, or no JSON at all.
            self._data(b"\n".join(self._odd))
        if self.error is None:
            self._close()
        return self._taken()

    def _taken(self) -> list[ModelEvent]:
        out = self._out
        self._out = []
        return out

    def _line(self, line: bytes) -> None:
        line = line.strip()
        if not line or self.done or self.error is not None:
            return
        self._came = True
        try:
            chunk = None if self._odd else _read_chunk(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            chunk = None
        if chunk is None:
            self._odd.append(line)
        else:
            self._chunk(chunk)

    def _data(self, data: bytes) -> None:
        try:
            self._chunk(_read_chunk(data))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            text = f"The response cannot be read: {snippet(data[:1000].decode('utf-8', 'replace'))}"
            broken = self._replied or data.startswith(b"{")  # it was one, and broke off
            hint = None if broken else _WRONG_ADDRESS
            self.error = ModelError("bad_response", text, hint=hint, retryable=broken)

    def _chunk(self, chunk: _Chunk) -> None:
        if chunk.error:
            self.error = reported_error(chunk.error, model=self._asked)
            return
        if isinstance(chunk.model, str):
            self._model = chunk.model or self._model
        if chunk.message is not None:
            self._replied = True
            self._message(chunk.message)
        if chunk.done is True:
            self.done = True
            self._finish = chunk.done_reason if isinstance(chunk.done_reason, str) else None
            if chunk.prompt_eval_count is not None or chunk.eval_count is not None:
                usage = Usage(_count(chunk.prompt_eval_count), _count(chunk.eval_count), requests=1)
                self._out.append(UsageReported(usage))

    def _message(self, message: _Message) -> None:
        if isinstance(message.thinking, str) and message.thinking:
            self._out.append(ThinkingDelta(message.thinking))
        if isinstance(message.content, str) and message.content:
            if self._forced:
                self._held.append(message.content)
            else:
                self._out.append(TextDelta(message.content))
        for call in message.tool_calls or ():
            # A call comes whole, and each entry is one, whatever its index and id.
            function = call.function or _Function()
            name = function.name if isinstance(function.name, str) else ""
            self._call(name, _arguments(function.arguments), call.id)

    def _call(self, name: str, arguments: str, wire_id: Any) -> None:
        self._out.append(CallBegan(self._calls, name, wire_id if isinstance(wire_id, str) and wire_id else None))
        if arguments:
            self._out.append(ArgumentsDelta(self._calls, arguments))
        self._calls += 1

    def _close(self) -> None:
        if not self._replied:
            text = "The response is no reply: it has no `message`."
            self.error = ModelError("bad_response", text, hint=_WRONG_ADDRESS, retryable=self.done or not self._came)
        elif not self.done:
            text = "The stream broke off before the reply was complete."
            self.error = ModelError("bad_response", text, retryable=True)
        else:
            self._release()
            finish = FINISH.get(self._finish, "unknown")
            if self._calls and finish != "length":
                finish = "calls"
            self._out.append(ReplyEnded(finish, self._finish, self._model))

    def _release(self) -> None:
        """What was held back: a call, if it is one that was demanded; words otherwise."""
        text = "".join(self._held)
        value = read_json(text) if text and not self._calls else None
        if isinstance(value, dict):
            fields = cast("dict[str, Any]", value)
            arguments = fields.get("arguments", fields.get("parameters"))
            if fields.get("name") in self._forced and isinstance(arguments, dict):
                self._call(fields["name"], msgspec.json.encode(arguments).decode(), None)
                return
        if text:
            self._out.append(TextDelta(text))


def read_error(body: bytes) -> Any:
    """What the body of a response with an error's status says: its `error`, or its text."""
    text = body.decode("utf-8", "replace")
    value = read_json(text)
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return fields.get("error") or fields
    return snippet(text[:1000]) or "The server gave no reason."


def _arguments(raw: msgspec.Raw) -> str:
    """The argument text, as it came. Some servers put the object into a string."""
    text = bytes(raw).decode("utf-8", "replace")
    if text == "null":
        return ""
    value = read_json(text) if text.startswith('"') else None
    return value if isinstance(value, str) else text


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and value > 0 else 0
