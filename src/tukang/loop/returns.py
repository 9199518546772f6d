"""The answer as data: it is given by calling a tool without a function, and the valid arguments of that call are the answer.

While other tools may still be needed, the model is free to call them; the answer's tool is one among them. Once nothing but
the answer may come (there are no other tools, a limit is reached, or the model has answered in words), that tool alone is
asked for. What is wrong goes back once with the reason: words instead of data, and data that does not fit. After that the
turn ends without data, and says so. Siblings of the answer are run and answered like any other call.
"""

from __future__ import annotations

from typing import Any

import msgspec

from tukang.conversation import Part, Text, ToolCall
from tukang.loop.effects import Settle
from tukang.loop.state import Call, State
from tukang.tools.outcome import Outcome

_TAKEN = Outcome((Text('{"ok":true}'),))
"""What the model is told of data that fits: the call itself says the rest."""

_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def settle(state: State) -> list[Settle]:
    """Take the data that fits: there is no function to run."""
    if state.returns is None:
        return []
    return [Settle(call.id, _TAKEN) for call in state.calls if call.status == "ready" and gives(state, call)]


def ends(state: State, call: Call) -> bool:
    """Whether the result of a call, when it succeeds, is the answer: where data is wanted, that of a terminal tool is not."""
    return call.policy.terminal if state.returns is None else gives(state, call)


def gives(state: State, call: Call) -> bool:
    """Whether a call gives the answer."""
    return state.returns is not None and call.name == state.returns.tool


def choice(state: State, *, tools_off: bool) -> str:
    """The tool_choice of the next request: as it would be otherwise, or the answer's tool, when only that may be called."""
    assert state.returns is not None, "asked only where the answer is data"
    alone = tools_off or state.in_words or len(state.policies) == 1
    return state.returns.tool if alone else state.choice


def admitted(state: State, parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts of a reply that count: where no other tool may be called, other calls do not."""
    if state.forced is None and state.choice != "none":
        return parts
    return tuple(part for part in parts if not isinstance(part, ToolCall) or _named(state, part))


def written(state: State, text: str) -> ToolCall | None:
    """The call that a model wrote as the words of its reply, when they are an object and nothing else: some models do, and
    one that cannot be forced often does. Whether it fits is found out where every call is checked."""
    if state.returns is None:
        return None
    text = _bare(text)
    is_object = text.startswith("{") and text.endswith("}")
    return ToolCall("", state.returns.tool, text) if is_object else None


def without(state: State, parts: tuple[Part, ...]) -> dict[str, Any]:
    """What a reply of words changes: they go back once, then they are all there is."""
    if state.in_words:
        text = "".join(part.text for part in parts if isinstance(part, Text))
        return {"partial": parts, "answered": (state.forced or "no_data", text)}
    last = parts[-1]
    if isinstance(last, Text):  # what comes next belongs to the same message, and is another paragraph
        parts = (*parts[:-1], Text(f"{last.text}\n\n"))
    return {"partial": parts, "in_words": True}


def concluded(state: State, answer: Call | None) -> dict[str, Any]:
    """What the end of a round changes: there is data, or it was wrong for the first or for the last time."""
    if state.returns is None:
        return {}
    if answer is not None and answer.arguments is not None:
        data = _data(answer.arguments, state.returns.key)
        return {"data": data, "answered": (state.forced or "answer", data)}
    if not any(gives(state, call) and _wrong(call) for call in state.calls):
        return {}
    return {"answered": (state.forced or "no_data", "")} if state.misfit else {"misfit": True}


def _named(state: State, part: ToolCall) -> bool:
    return state.returns is not None and part.name == state.returns.tool


def _wrong(call: Call) -> bool:
    return (
        call.outcome is not None and call.outcome.fault is not None and call.outcome.fault.kind == "invalid_arguments"
    )


def _data(arguments: str, key: str | None) -> str:
    return arguments if key is None else bytes(_members(arguments)[key]).decode()


def _bare(text: str) -> str:
    """A text without blanks and without a Markdown fence around it."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        text = text[text.index("\n") : -3].strip()
    return text
