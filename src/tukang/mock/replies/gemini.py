"""Gemini `generateContent`, the reply's side.

Source: https://ai.google.dev/api/generate-content and …/gemini-api/docs/thinking.

* A reply is one candidate whose content is parts: text, thoughts (`thought: true`), function calls. A call comes whole.
* The first call of a reply carries a `thoughtSignature`, which must come back with it (the rule of Gemini 3).
* A stream is whole responses, each with more parts; the last one has the finish reason. There is no end mark. With
  `alt=sse` they are server-sent events, without it the items of one JSON array.
* The finish reason is `STOP` also when there are calls; arguments that are not JSON are `MALFORMED_FUNCTION_CALL`.
* Error: `{"error": {"code", "message", "status"}}`; in a stream the same object is one event.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tukang.conversation import Usage
from tukang.mock.frames import sse
from tukang.mock.seals import seal
from tukang.mock.values import JSON, Fault, Frame, Spoken, as_object, pieces

_FINISH = {
    "stop": "STOP",
    "calls": "STOP",
    "length": "MAX_TOKENS",
    "filtered": "SAFETY",
    "refused": "PROHIBITED_CONTENT",
    "unknown": "OTHER",
}
_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def error(fault: Fault) -> JSON:
    """The body of an error."""
    status = _STATUS.get(fault.status, "INVALID_ARGUMENT" if fault.status < 500 else "INTERNAL")
    return {"error": {"code": fault.status, "message": fault.message, "status": status}}


class GeminiSpeech:
    """One reply of Gemini."""

    def __init__(self, spoken: Spoken) -> None:
        self._spoken = spoken
        self._events = "events" in spoken.asked.wishes
        self._began = False
        malformed = any(as_object(call.arguments) is None for call in spoken.calls)
        self._finish = "MALFORMED_FUNCTION_CALL" if malformed else _FINISH.get(spoken.finish, "STOP")

    def whole(self) -> JSON:
        thinking: list[JSON] = [{"text": self._spoken.thinking, "thought": True}] if self._spoken.thinking else []
        text: list[JSON] = [{"text": "".join(self._spoken.text)}] if self._spoken.text else []
        return self._response([*thinking, *text, *self._calls()], finish=self._finish)

    def deltas(self) -> Iterator[Frame]:
        for piece in pieces(self._spoken.thinking):
            yield self._frame(self._response([{"text": piece, "thought": True}]), timed=True)
        for text in self._spoken.text:
            yield self._frame(self._response([{"text": text}]), timed=True)
        for call in self._calls():
            yield self._frame(self._response([call]), timed=True)

    def ending(self) -> Iterator[Frame]:
        yield self._frame(self._response([{"text": ""}], finish=self._finish))
        if not self._events:
            yield Frame(b"]")

    def broken(self, fault: Fault) -> Iterator[Frame]:
        yield self._frame(error(fault))
        if not self._events:
            yield Frame(b"]")

    def _calls(self) -> Iterator[JSON]:
        for place, call in enumerate(self._spoken.calls):
            arguments = as_object(call.arguments)
            if arguments is not None:
                part: JSON = {"functionCall": {"id": call.id, "name": call.name, "args": arguments}}
                yield part if place else {**part, "thoughtSignature": seal(call.name)}

    def _response(self, parts: list[JSON], *, finish: str | None = None) -> JSON:
        candidate: JSON = {"content": {"role": "model", "parts": parts}, "index": 0}
        if finish:
            candidate["finishReason"] = finish
        return {
            "candidates": [candidate],
            "usageMetadata": _usage(self._spoken.usage),
            "modelVersion": self._spoken.asked.model,
            "responseId": self._spoken.key,
        }

    def _frame(self, event: JSON, *, timed: bool = False) -> Frame:
        if self._events:
            return sse(event, delta=timed)
        mark, self._began = (b",\r\n" if self._began else b"["), True
        return Frame(mark + msgspec.json.encode(event), timed)


def _usage(usage: Usage) -> JSON:
    return {
        "promptTokenCount": usage.input,
        "cachedContentTokenCount": usage.cache_read,
        "candidatesTokenCount": max(0, usage.output - usage.reasoning),
        "thoughtsTokenCount": usage.reasoning,
        "totalTokenCount": usage.total,
    }
