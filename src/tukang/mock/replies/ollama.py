"""Ollama `/api/chat`, the reply's side. Source: https://github.com/ollama/ollama/blob/main/docs/api.md and …/types.go

* A stream is lines of JSON; the last has `done: true`, the reason and the counts.
* A call comes whole, with its arguments as an object and without an id. The server reads the model's text itself: what is not
  JSON is an error of the server's, never of the client's.
* The reason is `stop` also when there are calls.
* Error: `{"error": "…"}`; in a stream it is a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from tukang.mock.frames import line
from tukang.mock.values import JSON, Fault, Frame, Refused, Spoken, as_object, pieces

_CREATED = "2023-11-14T22:13:20Z"


def error(fault: Fault) -> JSON:
    """The body of an error."""
    return {"error": fault.message}


class OllamaSpeech:
    """One reply in Ollama's chat."""

    def __init__(self, spoken: Spoken) -> None:
        self._spoken = spoken

    def whole(self) -> JSON:
        message: JSON = {"content": "".join(self._spoken.text)}
        if self._spoken.thinking:
            message["thinking"] = self._spoken.thinking
        if self._spoken.calls:
            message["tool_calls"] = self._calls()
        return {**self._part(message), **self._end()}

    def deltas(self) -> Iterator[Frame]:
        for piece in pieces(self._spoken.thinking):
            yield line(self._part({"content": "", "thinking": piece}), delta=True)
        for text in self._spoken.text:
            yield line(self._part({"content": text}), delta=True)
        for call in self._calls():
            yield line(self._part({"content": "", "tool_calls": [call]}), delta=True)

    def ending(self) -> Iterator[Frame]:
        yield line({**self._part({"content": ""}), **self._end()})

    def broken(self, fault: Fault) -> Iterator[Frame]:
        yield line(error(fault))

    def _calls(self) -> list[JSON]:
        calls: list[JSON] = []
        for place, call in enumerate(self._spoken.calls):
            arguments = as_object(call.arguments)
            if arguments is None:
                raise Refused(f"error parsing tool call: raw='{call.arguments}', err=invalid character", status=500)
            calls.append({"function": {"index": place, "name": call.name, "arguments": arguments}})
        return calls

    def _part(self, message: JSON) -> JSON:
        head = {"model": self._spoken.asked.model, "created_at": _CREATED}
        return {**head, "message": {"role": "assistant", **message}, "done": False}

    def _end(self) -> JSON:
        usage = self._spoken.usage
        return {
            "done": True,
            "done_reason": "length" if self._spoken.finish == "length" else "stop",
            "total_duration": 3_000_000,
            "load_duration": 1_000_000,
            "prompt_eval_count": usage.input,
            "prompt_eval_duration": 1_000_000,
            "eval_count": usage.output,
            "eval_duration": 1_000_000,
        }
