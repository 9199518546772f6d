"""What the local model is shown of a conversation: the request of this turn, what it has done so far, and what was before.

A pure reading of a `ModelRequest`. A small model loses the thread in a long text, so everything here has a longest length;
what is cut is cut in the middle and marked. Together, with the fixed examples and some thirty tools, it fits into a slot's
share of the context (`llama.CONTEXT`).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tukang.conversation import File, Image, Message, ToolCall, ToolResult
from tukang.models.base import ModelRequest
from tukang.models.local.grammar import compact

LONGEST_RESULT = 1500
LONGEST_RESULTS = 3600
LONGEST_INSTRUCTIONS = 2400
LONGEST_REQUEST = 2400
LONGEST_EARLIER = 1800


class Step(msgspec.Struct, frozen=True):
    """One call of this turn with its result. `key` is equal for equal calls, however their arguments were written."""

    name: str
    arguments: str
    result: str
    key: str

    @property
    def line(self) -> str:
        return f"{self.name}({self.arguments}) = {self.result}"


class Exchange(msgspec.Struct, frozen=True):
    """An earlier turn: what the user said and what was answered. `known` are the results it rested on."""

    request: str
    answer: str
    known: tuple[str, ...] = ()


class View(msgspec.Struct, frozen=True):
    """A request as the local model reads it.

    Args:
        request: the user's words of this turn.
        steps: calls of this turn, in order.
        earlier: turns before, oldest first.
        instructions: the agent's, cut to `LONGEST_INSTRUCTIONS`.
        said: everything that grounds an identifier, uncut: conversation, instructions and results.
        note: the loop's sentence for this request.
    """

    request: str
    steps: tuple[Step, ...]
    earlier: tuple[Exchange, ...]
    instructions: str
    said: tuple[str, ...]
    note: str | None

    @property
    def settled(self) -> tuple[Step, ...]:
        """The steps as they stand now: where the same call was made again, only what came of it last. A refusal that was
        overcome would be read as one that holds."""
        last = {step.key: place for place, step in enumerate(self.steps)}
        return tuple(step for place, step in enumerate(self.steps) if last[step.key] == place)


def view_of(request: ModelRequest) -> View:
    """Read a request. A conversation without a user's message has an empty request."""
    messages = request.messages
    start = max((place for place, message in enumerate(messages) if message.role == "user"), default=0)
    asked = messages[start].text if messages and messages[start].role == "user" else ""
    return View(
        request=shorten(asked, LONGEST_REQUEST),
        steps=_within(_steps(messages[start:])),
        earlier=_earlier(messages[:start]),
        instructions=shorten(request.instructions.strip(), LONGEST_INSTRUCTIONS),
        said=(*_everything(messages), request.instructions),
        note=request.note,
    )


def call_key(name: str, arguments: object) -> str:
    """The same for the same tool and equal arguments."""
    return name + msgspec.json.encode(arguments, order="deterministic").decode()


def shorten(text: str, most: int) -> str:
    """The text within `most` characters, its middle left out where it is longer."""
    if len(text) <= most:
        return text
    half = (most - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"


def _steps(messages: Sequence[Message]) -> list[Step]:
    results = {result.call_id: result for message in messages for result in message.results}
    calls = [call for message in messages for call in message.calls]
    return [_step(call, results[call.id]) for call in calls if call.id in results]


def _step(call: ToolCall, result: ToolResult) -> Step:
    try:
        arguments: object = msgspec.json.decode(call.arguments or "{}")
    except msgspec.DecodeError:
        return Step(call.name, call.arguments, _words(result), call.name + call.arguments)
    return Step(call.name, compact(arguments), _words(result), call_key(call.name, arguments))


def _words(result: ToolResult) -> str:
    words = [result.text, *("[gambar]" for part in result.content if isinstance(part, Image))]
    words += [f"[berkas {part.name or part.media_type}]" for part in result.content if isinstance(part, File)]
    text = " ".join(word for word in words if word).strip()
    return text or "(kosong)"


def _within(steps: list[Step]) -> tuple[Step, ...]:
    """Results cut to their share of what all of them may take."""
    share = min(LONGEST_RESULT, max(200, LONGEST_RESULTS // max(1, len(steps))))
    return tuple(Step(step.name, step.arguments, shorten(step.result, share), step.key) for step in steps)


def _earlier(messages: Sequence[Message]) -> tuple[Exchange, ...]:
    """The turns before this one, the newest that fit."""
    starts = [place for place, message in enumerate(messages) if message.role == "user"]
    kept: list[Exchange] = []
    room = LONGEST_EARLIER
    for start, end in reversed(list(zip(starts, [*starts, len(messages)][1:], strict=True))):
        turn = messages[start:end]
        answer = " ".join(message.text for message in turn if message.role == "assistant" and message.text)
        known = tuple(shorten(step.line, 300) for step in _steps(turn))
        exchange = Exchange(shorten(turn[0].text, 500), shorten(answer, 500), known)
        room -= len(exchange.request) + len(exchange.answer) + sum(map(len, known))
        if room < 0 and kept:
            break
        kept.append(exchange)
    return tuple(reversed(kept))


def _everything(messages: Sequence[Message]) -> list[str]:
    # Arguments are left out: a call cannot vouch for itself.
    words = [message.text for message in messages]
    return [*words, *(result.text for message in messages for result in message.results)]
