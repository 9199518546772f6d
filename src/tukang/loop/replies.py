"""What a model's reply means for the turn: calls to answer, the answer, or something that is not whole yet.

The order of the questions is the order of the code: what may count at all, does it ask for calls, is it an answer. Part of
the fold (see `evolve`): a pure function, and what to do about it is decided elsewhere.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec.structs import replace

from tukang.conversation import Message, Part, Text, ToolCall
from tukang.loop.events import ModelFault, ModelReplied
from tukang.loop.state import Call, State, call_id
from tukang.tools.policy import Policy


def joined(before: tuple[Part, ...], after: tuple[Part, ...]) -> tuple[Part, ...]:
    """Two pieces of one reply as one: text that was broken in two is one text again."""
    if before and after and isinstance(before[-1], Text) and isinstance(after[0], Text):
        return (*before[:-1], Text(before[-1].text + after[0].text), *after[1:])
    return before + after


def accepted(state: State, event: ModelReplied) -> dict[str, Any]:
    """What a whole reply changes."""
    usage = state.usage + event.usage
    if state.asking is None:  # it came after the loop had stopped waiting for it
        return {"usage": usage}
    parts = joined(state.partial, event.parts)
    if state.asking.tools_off or event.finish in ("filtered", "refused"):
        parts = tuple(part for part in parts if not isinstance(part, ToolCall))
    changes = {"asking": None, "partial": (), "broken": None, "usage": usage, "model": event.model or state.model}
    if any(isinstance(part, ToolCall) for part in parts):
        return changes | _with_calls(state, parts, cut=event.finish == "length")
    return changes | _without_calls(state, parts, event)


def _with_calls(state: State, parts: tuple[Part, ...], *, cut: bool) -> dict[str, Any]:
    """A new round: every call gets its id, and enters the conversation as it was asked for."""
    number = state.round + 1
    said: list[Part] = []
    calls: list[Call] = []
    for part in parts:
        if isinstance(part, ToolCall):
            part = replace(part, id=call_id(state.turn, number, len(calls)))
            policy = state.policies.get(part.name, Policy())
            calls.append(Call(part.id, part.name, number, len(calls), part.arguments, policy))
        said.append(part)
    if cut and isinstance(said[-1], ToolCall) and not _is_object(said[-1].arguments):
        calls[-1] = replace(calls[-1], cut=True)
    return {
        "round": number,
        "attempt": 0,
        "continuations": 0,
        "calls": tuple(calls),
        "calls_asked": state.calls_asked + len(calls),
        "messages": (*state.messages, Message("assistant", tuple(said))),
    }


def _without_calls(state: State, parts: tuple[Part, ...], event: ModelReplied) -> dict[str, Any]:
    text = "".join(part.text for part in parts if isinstance(part, Text))
    if event.finish == "paused":
        return {"partial": parts, "broken": "paused"}
    if event.finish == "refused" or event.refusal:
        return {"partial": parts, "answered": ("refused", event.refusal or text)}
    if event.finish == "filtered":
        return {"partial": parts, "answered": ("filtered", text)}
    if state.choice not in ("auto", "none") and state.forced is None:
        # A call was demanded and none came: the reply does not count, but the fault does, so that this ends.
        return {"faults": state.faults + 1}
    if event.finish == "length" and text:
        return {"partial": parts, "broken": "length"}
    if not text.strip():
        empty = ModelFault("bad_response", "the reply was empty", retryable=state.forced is None)
        return {"broken": empty, "error": empty}
    return {"partial": parts, "answered": (state.forced or "answer", text)}


def _is_object(text: str) -> bool:
    """Whether an argument text is a whole JSON object, so that a cut after it took nothing away."""
    try:
        return isinstance(cast(object, msgspec.json.decode(text)), dict)
    except msgspec.DecodeError:
        return False
