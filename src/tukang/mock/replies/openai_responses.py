"""OpenAI Responses, the reply's side. Source: https://platform.openai.com/docs/api-reference/responses

* A reply is a list of items: reasoning (`rs_…`, with a summary), a message (`msg_…`), function calls (`fc_…`, with a
  `call_id`). Reasoning and the items after it are one unit; `encrypted_content` comes only if it was asked for.
* A stream is named, numbered events: created, in_progress, then for each item added → parts and deltas → done, then completed
  (or incomplete), which has the whole response again. Nothing is after it.
* An error inside a stream is an `error` event and then `response.failed`.
"""

from __future__ import annotations

from collections.abc import Iterator

from tukang.conversation import Usage
from tukang.mock.frames import sse
from tukang.mock.replies import responses_served
from tukang.mock.replies.openai_chat import CREATED, error
from tukang.mock.seals import seal
from tukang.mock.values import JSON, Fault, Frame, Spoken, SpokenCall, pieces

_INCOMPLETE = {"length": "max_output_tokens", "filtered": "content_filter"}


class ResponsesSpeech:
    """One reply in Responses. `_number` counts the events of its stream."""

    def __init__(self, spoken: Spoken) -> None:
        self._spoken = spoken
        self._number = -1

    def whole(self) -> JSON:
        return self._response(self._status(), [item for item, _ in self._items()])

    def deltas(self) -> Iterator[Frame]:
        for name in ("response.created", "response.in_progress"):
            yield self._event(name, response=self._response("in_progress", []))
        for place, (item, steps) in enumerate(self._items()):
            opened = {**item, **_opened(item)}
            yield self._event("response.output_item.added", output_index=place, item=opened)
            for name, fields in steps:
                timed = name.endswith(".delta")
                yield self._event(name, timed=timed, item_id=item["id"], output_index=place, **fields)
            yield self._event("response.output_item.done", output_index=place, item=item)

    def ending(self) -> Iterator[Frame]:
        yield self._event(f"response.{self._status()}", response=self.whole())

    def broken(self, fault: Fault) -> Iterator[Frame]:
        said = error(fault)["error"]
        yield self._event("error", error=said)
        failed = {
            **self._response("failed", []),
            "error": {"code": said["code"] or "server_error", "message": fault.message},
        }
        yield self._event("response.failed", response=failed)

    def _items(self) -> Iterator[tuple[JSON, list[tuple[str, JSON]]]]:
        """Each item as it is when done, with the events that lead there."""
        spoken = self._spoken
        if spoken.thinking:
            yield self._reasoning(spoken.thinking)
        for item in responses_served.items(spoken):
            yield item, []
        if spoken.text:
            yield self._message()
        for place, call in enumerate(spoken.calls):
            yield self._call(place, call)

    def _reasoning(self, thinking: str) -> tuple[JSON, list[tuple[str, JSON]]]:
        part = {"type": "summary_text", "text": thinking}
        item: JSON = {"id": f"rs_{self._spoken.key}", "type": "reasoning", "summary": [part]}
        if "encrypted" in self._spoken.asked.wishes:
            item["encrypted_content"] = seal(item["id"])
        name, at = "response.reasoning_summary", {"summary_index": 0}
        return item, [
            (f"{name}_part.added", {**at, "part": {**part, "text": ""}}),
            *((f"{name}_text.delta", {**at, "delta": piece}) for piece in pieces(thinking)),
            (f"{name}_text.done", {**at, "text": thinking}),
            (f"{name}_part.done", {**at, "part": part}),
        ]

    def _message(self) -> tuple[JSON, list[tuple[str, JSON]]]:
        text, refuses = "".join(self._spoken.text), self._spoken.finish == "refused"
        field, name = ("refusal", "response.refusal") if refuses else ("text", "response.output_text")
        part: JSON = {"type": "refusal"} if refuses else {"type": "output_text", "annotations": [], "logprobs": []}
        extra: JSON = {} if refuses else {"logprobs": []}
        item: JSON = {
            "id": f"msg_{self._spoken.key}",
            "type": "message",
            "status": "incomplete" if self._spoken.finish in _INCOMPLETE else "completed",
            "role": "assistant",
            "content": [{**part, field: text}],
        }
        at = {"content_index": 0}
        return item, [
            ("response.content_part.added", {**at, "part": {**part, field: ""}}),
            *((f"{name}.delta", {**at, "delta": piece, **extra}) for piece in self._spoken.text),
            (f"{name}.done", {**at, field: text, **extra}),
            ("response.content_part.done", {**at, "part": {**part, field: text}}),
        ]

    def _call(self, place: int, call: SpokenCall) -> tuple[JSON, list[tuple[str, JSON]]]:
        item: JSON = {
            "id": f"fc_{self._spoken.key}_{place}",
            "type": "function_call",
            "status": "completed",
            "arguments": call.arguments,
            "call_id": call.id,
            "name": call.name,
        }
        name = "response.function_call_arguments"
        return item, [
            *((f"{name}.delta", {"delta": piece}) for piece in pieces(call.arguments)),
            (f"{name}.done", {"arguments": call.arguments, "name": call.name}),
        ]

    def _status(self) -> str:
        return "incomplete" if self._spoken.finish in _INCOMPLETE else "completed"

    def _response(self, status: str, output: list[JSON]) -> JSON:
        asked = self._spoken.asked
        ended = status in ("completed", "incomplete")
        why = _INCOMPLETE.get(self._spoken.finish) if status == "incomplete" else None
        return {
            "id": f"resp_{self._spoken.key}",
            "object": "response",
            "created_at": CREATED,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": {"reason": why} if why else None,
            "instructions": None,
            "max_output_tokens": None,
            "metadata": {},
            "model": asked.model,
            "output": output,
            "parallel_tool_calls": True,
            "previous_response_id": None,
            "reasoning": {"effort": None, "summary": None},
            "store": True,
            "temperature": 1.0,
            "text": {"format": {"type": "text"}},
            "tool_choice": asked.choice if asked.choice in ("auto", "none", "required") else "auto",
            "tools": [],
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": _usage(self._spoken.usage) if ended else None,
            "user": None,
        }

    def _event(self, kind: str, /, *, timed: bool = False, **fields: object) -> Frame:
        self._number += 1
        return sse({"type": kind, "sequence_number": self._number, **fields}, kind, delta=timed)


def _opened(item: JSON) -> JSON:
    """What an item has instead when it was only just added."""
    match item["type"]:
        case "reasoning":
            return {"summary": []}
        case "message":
            return {"status": "in_progress", "content": []}
        case "function_call":
            return {"status": "in_progress", "arguments": ""}
        case _:
            return {"status": "in_progress"} if "status" in item else {}


def _usage(usage: Usage) -> JSON:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cache_read},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.total,
    }
