"""Comparing an answer with what is known: performs `CheckAnswer`. Whether it goes back is the loop's business.

What an answer may rest on are the results of tools and the user's own words, of this turn and, where the policy says so, of
the turns before as far as the model sees them; and the agent's instructions. What the model said is not among it, and
neither are the arguments of its calls: nothing vouches for itself. What a picture or a document says is not read; where
there is one in this turn, what nothing else supports may stand in it, and nobody can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from tukang.conversation import Citation, File, Image, Message, Part, ServerCall, ServerResult, Text, ToolResult
from tukang.grounding.evidence import Evidence, Source
from tukang.grounding.policy import Check, unsupported
from tukang.loop import ending
from tukang.loop.events import AnswerChecked
from tukang.loop.state import State
from tukang.runtime.turn import Turn
from tukang.tools.advice import warn
from tukang.tools.aside import aside
from tukang.tools.failure import words

MOST = 20
"""How many unsupported things are said, to the model and to the caller."""

LONGEST = 200
"""Characters of each of them."""

LONG = 100_000
"""Characters that are read on the event loop: a tenth of a second or two."""

_SOURCE = "source"


def takes_time(turn: Turn, state: State) -> bool:
    """Whether a comparison is a function's, or there is so much to read that the event loop should not do it."""
    assert state.grounding is not None, "compared only where there is a policy"
    return state.grounding.function or sum(map(_unread_length, _sources(turn, state))) > LONG


async def compare(turn: Turn, state: State, clock: Callable[[], float]) -> AnswerChecked:
    """Compare it where that may take its time."""
    assert state.grounding is not None, "compared only where there is a policy"
    if state.grounding.function:
        return await _ask_function(turn, state, clock)
    checked: AnswerChecked = await aside(check_answer, turn, state, 0.0)
    return replace(checked, at=clock())


def check_answer(turn: Turn, state: State, at: float) -> AnswerChecked:
    """Compare what the turn is about to end with, by the patterns of its policy."""
    assert state.grounding is not None, "compared only where there is a policy"
    found = unsupported(_said(state), evidence(turn, state), state.grounding.patterns)
    if found and _unread(state):
        return AnswerChecked(at=at, unchecked="a picture or document of this turn may say it, and is not read")
    return AnswerChecked(at=at, unsupported=_few(found))


async def _ask_function(turn: Turn, state: State, clock: Callable[[], float]) -> AnswerChecked:
    """Have the developer's function compare it. One that fails has found nothing out; it is told, and so is the caller."""
    check: Check | None = turn.grounded
    if check is None:
        return AnswerChecked(at=clock(), unchecked="the agent has no such function any more")
    try:
        found = cast("object", await aside(check, _said(state), evidence(turn, state)))
        if isinstance(found, str) or not isinstance(found, Iterable):
            raise TypeError(f"it returned {found!r}; expected the unsupported texts, as a list")
        names = [str(one) for one in cast("Iterable[object]", found)]
    except Exception as error:
        why = words(error)
        warn(f"the function grounded= of agent {turn.started.agent!r} failed, so an answer was not checked: {why}")
        return AnswerChecked(at=clock(), unchecked=f"the function that checks it failed: {why}")
    return AnswerChecked(at=clock(), unsupported=_few(names))


def evidence(turn: Turn, state: State) -> Evidence:
    """What an answer of this turn may rest on."""
    return Evidence([*_sources(turn, state), turn.instructions], turn.context)


def _sources(turn: Turn, state: State) -> list[Source]:
    earlier = turn.history if state.grounding is None or state.grounding.earlier else ()
    sources = (_source(message) for message in (*state.messages, *earlier))
    return [source for source in sources if source.text]


def _unread_length(source: Source) -> int:
    return 0 if source.was_read else len(source.text)


def _said(state: State) -> str:
    """What is about to be answered: words, or the values in data."""
    end = ending.coming(state)
    assert end is not None, "compared when the turn is about to end"
    if state.data is None or end.said != state.data:
        return end.said
    return "\n".join(_values(msgspec.json.decode(state.data)))


def _values(data: Any) -> list[str]:
    """The values in data, not the names of its members."""
    if isinstance(data, dict):
        return [text for value in cast("dict[str, Any]", data).values() for text in _values(value)]
    if isinstance(data, list):
        return [text for value in cast("list[Any]", data) for text in _values(value)]
    return [data] if isinstance(data, str) else [] if data is None or isinstance(data, bool) else [str(data)]


def _source(message: Message) -> Source:
    """What a message supports. It is read once; what was read stays with it."""
    known = vars(message)
    source: Source | None = known.get(_SOURCE)
    if source is None:
        texts = [text for part in message.parts if (text := _text(message, part))]
        known[_SOURCE] = source = Source("\n".join(texts))
    return source


def _text(message: Message, part: Part) -> str:
    match part:
        case Text(text) if message.role == "user":
            return text
        case ToolResult():
            return "\n".join(filter(None, (_text(message, one) or _file(one) for one in part.content))) or part.text
        case File() if message.role == "user":
            return _file(part)
        case ServerCall(result=result) if result:
            return result
        case ServerResult():
            return msgspec.json.encode(part.data).decode()
        case Citation():
            return "\n".join(filter(None, (part.title, part.url, part.quote)))
        case _:
            return ""


def _file(part: Text | Image | File) -> str:
    """The words of a document that is text."""
    if isinstance(part, Text):
        return part.text
    readable = isinstance(part, File) and part.media_type.startswith("text/") and part.data
    return part.data.decode(errors="replace") if readable and part.data else ""


def _unread(state: State) -> bool:
    """Whether this turn has a picture or document that nobody here can read."""
    parts = [part for message in state.messages if message.role in ("user", "tool") for part in message.parts]
    shown = [one for part in parts for one in (part.content if isinstance(part, ToolResult) else (part,))]
    return any(isinstance(one, Image | File) and not _file(one) for one in shown)


def _few(found: Iterable[str]) -> tuple[str, ...]:
    short = [one if len(one) <= LONGEST else one[: LONGEST - 1] + "…" for one in dict.fromkeys(found)]
    return tuple(short[:MOST])
