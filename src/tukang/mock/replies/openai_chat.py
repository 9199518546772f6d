"""OpenAI Chat Completions, the reply's side. Source: https://platform.openai.com/docs/api-reference/chat

* A stream is unnamed server-sent events, each a `chat.completion.chunk`, and `[DONE]`. The first chunk has the role; the last
  one before the usage has the finish reason; usage comes in a chunk without choices, if it was asked for.
* A call's first delta has its index, id and name; the others its index and more argument text.
* Reasoning is `reasoning_content`, as compatible servers send it; OpenAI's own has none here.
* Error: `{"error": {"message", "type", "param", "code"}}`; in a stream the same object is one event.
"""

from __future__ import annotations

from collections.abc import Iterator

from tukang.conversation import Usage
from tukang.mock.frames import sse
from tukang.mock.values import JSON, Fault, Frame, Spoken, pieces

CREATED = 1_700_000_000
"""When every reply was made, in seconds since 1970: the same script gives the same bytes."""

_FINISH = {"stop": "stop", "calls": "tool_calls", "length": "length", "filtered": "content_filter", "refused": "stop"}
_TYPES = {
    401: "invalid_request_error",
    403: "permission_error",
    404: "invalid_request_error",
    429: "rate_limit_error",
}
_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}


def error(fault: Fault) -> JSON:
    """The body of an error."""
    kind = _TYPES.get(fault.status, "invalid_request_error" if fault.status < 500 else "server_error")
    code = fault.code or _CODES.get(fault.status)
    return {"error": {"message": fault.message, "type": kind, "param": fault.param, "code": code}}


class ChatSpeech:
    """One reply in Chat Completions."""

    def __init__(self, spoken: Spoken) -> None:
        self._spoken = spoken
        self._finish = _FINISH.get(spoken.finish, "stop")
        self._refuses = spoken.finish == "refused"

    def whole(self) -> JSON:
        spoken = self._spoken
        text = "".join(spoken.text) or None
        message: JSON = {
            "role": "assistant",
            "content": None if self._refuses else text,
            "refusal": text if self._refuses else None,
        }
        if spoken.thinking:
            message["reasoning_content"] = spoken.thinking
        if spoken.calls:
            message["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in spoken.calls
            ]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self._finish}
        return {**self._head("chat.completion"), "choices": [choice], "usage": _usage(spoken.usage)}

    def deltas(self) -> Iterator[Frame]:
        yield self._delta({"role": "assistant", "content": "" if self._spoken.text else None, "refusal": None})
        for piece in pieces(self._spoken.thinking):
            yield self._delta({"reasoning_content": piece}, timed=True)
        for text in self._spoken.text:
            yield self._delta({"refusal" if self._refuses else "content": text}, timed=True)
        for index, call in enumerate(self._spoken.calls):
            function = {"name": call.name, "arguments": ""}
            first = {"index": index, "id": call.id, "type": "function", "function": function}
            yield self._delta({"tool_calls": [first]}, timed=True)
            for piece in pieces(call.arguments):
                yield self._delta({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}, timed=True)

    def ending(self) -> Iterator[Frame]:
        yield self._delta({}, finish=self._finish)
        if "usage" in self._spoken.asked.wishes:
            yield sse({**self._head("chat.completion.chunk"), "choices": [], "usage": _usage(self._spoken.usage)})
        yield Frame(b"data: [DONE]\n\n")

    def broken(self, fault: Fault) -> Iterator[Frame]:
        yield sse(error(fault))

    def _head(self, kind: str) -> JSON:
        name = f"chatcmpl-{self._spoken.key}"
        return {
            "id": name,
            "object": kind,
            "created": CREATED,
            "model": self._spoken.asked.model,
            "service_tier": "default",
        }

    def _delta(self, delta: JSON, *, finish: str | None = None, timed: bool = False) -> Frame:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        chunk: JSON = {**self._head("chat.completion.chunk"), "choices": [choice]}
        if "usage" in self._spoken.asked.wishes:
            chunk["usage"] = None
        return sse(chunk, delta=timed)


def _usage(usage: Usage) -> JSON:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.total,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning, "audio_tokens": 0},
    }
