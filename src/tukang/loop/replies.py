"""What a model's reply means for the turn: calls to answer, the answer, or something that is not whole yet.

The order of the questions is the order of the code: what may count at all, does it ask for calls, is it an answer. Part of
the fold (see `evolve`): a pure function, and what to do about it is decided elsewhere.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec.structs import replace

from tukang.conversation import Message, Opaque, Part, Text, ToolCall
from tukang.loop import returns, served
from tukang.loop.events import ModelFault, ModelReplied
from tukang.loop.state import Call, State, call_id
from tukang.tools.policy import Policy

_UNDECLARED = Policy()
"""Of a tool that there is not: the call is refused when it is checked."""


def joined(before: tuple[Part, ...], after: tuple[Part, ...]) -> tuple[Part, ...]:
    """Two pieces of one reply as one: text that was broken in two is one text again."""
    if before and after and isinstance(before[-1], Text) and isinstance(after[0], Text):
        return (*before[:-1], Text(before[-1].text + after[0].text), *after[1:])
    return before + after


def accepted(state: State, event: ModelReplied) -> dict[str, Any]:
    """What a whole reply changes."""
    usage = state.usage + event.usage
    number = _number(state)
    ran = served.noted(state, event.parts, number)
    if state.asking is None:  # it came after the loop had stopped waiting for it
        return {"usage": usage, **ran}
    asking = state.asking
    if ran and state.choice == "required":  # what the provider ran is a call, too
        ran["choice"] = "auto"
    state = replace(state, **ran) if ran else state
    parts = joined(state.partial, event.parts)
    if asking.tools_off or event.finish in ("filtered", "refused"):
        parts = tuple(part for part in parts if not isinstance(part, ToolCall))
    elif state.returns is not None:
        parts = returns.admitted(state, parts)
    changes = {
        "asking": None,
        "partial": (),
        "broken": None,
        "usage": usage,
        "model": event.model or state.model,
        **ran,
    }
    if any([isinstance(part, ToolCall) for part in parts]):
        return changes | _with_calls(state, parts, number, cut=event.finish == "length")
    return changes | _without_calls(state, parts, event)


def _with_calls(state: State, parts: tuple[Part, ...], number: int, *, cut: bool) -> dict[str, Any]:
    """A new round: every call gets its id, and enters the conversation as it was asked for."""
    said: list[Part] = []
    calls: list[Call] = []
    for part in parts:
        if isinstance(part, ToolCall):
            part = replace(part, id=call_id(state.turn, number, len(calls)))
            policy = state.policies.get(part.name, _UNDECLARED)
            if part.permission:  # each permission is asked for by itself, and used for one call
                policy = replace(policy, repeatable=True)
            asked = Call(part.id, part.name, number, len(calls), part.arguments, policy, redacted=part.redacted)
            calls.append(replace(asked, permission=True) if part.permission else asked)
        said.append(part)
    last = next(part for part in reversed(said) if type(part) is not Opaque)  # what a provider adds says nothing
    if cut and isinstance(last, ToolCall) and not _is_object(last.arguments):
        calls[-1] = replace(calls[-1], cut=True)
    return {
        "round": number if state.forced is None else state.round,
        "attempt": 0,
        "continuations": 0,
        "calls": tuple(calls),
        "calls_asked": state.calls_asked + len(calls),
        # an answer that went back is not fallen back on once more has been done
        "sent_back": state.sent_back if all([returns.gives(state, call) for call in calls]) else None,
        "messages": (*state.messages, Message("assistant", tuple(said))),
    }


def _number(state: State) -> int:
    """The number of the round that begins. The answer that is forced at a limit is not counted, but its calls need ids."""
    before = state.done[-1].round if state.forced is not None and state.done else 0
    return max(state.round, before) + 1


def _without_calls(state: State, parts: tuple[Part, ...], event: ModelReplied) -> dict[str, Any]:
    text = _text(event.parts if state.in_words else parts)  # words that went back are not judged again
    if event.finish == "paused":
        return {"partial": parts, "broken": "paused"}
    if event.finish == "refused" or event.refusal:
        return {"partial": parts, "answered": ("refused", event.refusal or text)}
    if event.finish == "filtered":
        return {"partial": parts, "answered": ("filtered", text)}
    if state.choice not in ("auto", "none") and state.forced is None:
        # A call was demanded and none came: the reply does not count, but the fault does, so that this ends.
        return {"faults": state.faults + 1}
    if call := returns.written(state, text):
        return _with_calls(state, (*parts, call), _number(state), cut=False)
    if state.returns is not None and text.strip():
        return returns.without(state, parts)
    if event.finish == "length" and text:
        return {"partial": parts, "broken": "length"}
    if not text.strip():
        empty = ModelFault("bad_response", "the reply was empty", retryable=state.forced is None)
        return {"partial": state.partial, "broken": empty, "error": empty}
    return {"partial": parts, "answered": (state.forced or "answer", text)}


def _text(parts: tuple[Part, ...]) -> str:
    return "".join(part.text for part in parts if isinstance(part, Text))


def _is_object(text: str) -> bool:
    """Whether an argument text is a whole JSON object, so that a cut after it took nothing away."""
    try:
        return isinstance(cast(object, msgspec.json.decode(text)), dict)
    except msgspec.DecodeError:
        return False
