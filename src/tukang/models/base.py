"""What a model is to the rest of the house: one method that takes a `ModelRequest` and yields `ModelEvent`s.

An adapter always streams; a non-streaming reply is the fold of its events (`Fold`). An adapter keeps no state of a turn,
retries nothing, and decides nothing: when a request fails it raises one `ModelError` that says what happened, and the loop
decides. What an adapter *may* keep is connections, loaded weights and encoded bytes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from tukang.conversation import Message, Part, Text, Thinking, ToolCall, Usage
from tukang.tools.contract import Contract
from tukang.tools.hosted import Hosted

Think = bool | Literal["low", "medium", "high"]
ToolChoice = str
"""`auto`, `required`, `none`, or the name of one tool."""

FinishReason = Literal["stop", "calls", "length", "filtered", "refused", "paused", "unknown"]


class Settings(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """How the model should sample. `None` leaves a setting to the provider.

    Args:
        temperature: 0 to 2, as the provider understands it.
        max_tokens: the longest reply, in tokens.
        top_p: nucleus sampling, 0 to 1.
        stop: texts that end the reply.
        think: reasoning on or off, or how much of it.
        seed: for repeatable sampling, where the provider has it.
        parallel_calls: whether one reply may ask for several calls.
        cache: whether prompts are marked for the provider's cache, where it wants marks.
        extra: the provider's own fields, sent as they are.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    think: Think | None = None
    seed: int | None = None
    parallel_calls: bool | None = None
    cache: bool = True
    extra: Mapping[str, Any] = {}

    def __post_init__(self) -> None:
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise ValueError(f"temperature must be between 0 and 2, not {self.temperature}")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ValueError(f"max_tokens must be at least 1, not {self.max_tokens}")
        if self.top_p is not None and not 0 <= self.top_p <= 1:
            raise ValueError(f"top_p must be between 0 and 1, not {self.top_p}")


class ModelRequest(msgspec.Struct, frozen=True, gc=False):
    """One request, complete and neutral.

    Args:
        instructions: the system text; empty for none.
        messages: the conversation, valid in the sense of `tukang.conversation.validity`.
        tools: every tool on offer.
        tool_choice: `auto`, `required`, `none` or a tool's name.
        tools_off: no call may come back (the forced answer). Tools are still listed where the protocol's cache or rules
            want them; the adapter uses whatever the protocol has for "no tools now".
        note: a sentence of the loop's for this request only (time left, answer now), to be sent after the conversation.
        settings: sampling.
        conversation: a name that stays the same from round to round, for providers that route by it to a warm cache.
        answer: the name of the tool whose arguments are the answer, where the answer is data; it is one of `tools`, and has
            no function. Where it is the one that must be called and cannot be forced, an adapter may ask for its arguments
            as structured output and read the text as that call (`tukang.models.structured`).
        returns: a JSON Schema that the text of the reply must follow: the provider's own structured output, where it has it.
        seconds: how long the whole request may take; None for no bound. The caller enforces it; an adapter may pass it on.
        hosted: the tools on offer that the provider runs; none that the model `cannot_serve`.
    """

    instructions: str
    messages: Sequence[Message]
    tools: tuple[Contract, ...] = ()
    tool_choice: ToolChoice = "auto"
    tools_off: bool = False
    note: str | None = None
    settings: Settings = Settings()
    conversation: str | None = None
    answer: str | None = None
    returns: Mapping[str, Any] | None = None
    seconds: float | None = None
    hosted: tuple[Hosted, ...] = ()


# ── what a model yields ──────────────────────────────────────────────────────────────────────────────────────────────


class TextDelta(msgspec.Struct, frozen=True, gc=False, tag=True):
    """More words of the answer."""

    text: str


class ThinkingDelta(msgspec.Struct, frozen=True, gc=False, tag=True):
    """More of the reasoning."""

    text: str


class CallBegan(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A call opened. `key` is the adapter's own number for it within this reply (0, 1, …), never the provider's index."""

    key: int
    name: str
    wire_id: str | None = None


class ArgumentsDelta(msgspec.Struct, frozen=True, gc=False, tag=True):
    """More argument text of the call `key`."""

    key: int
    text: str


class PartCompleted(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A whole part that does not stream (an image, a citation, a provider's own part, sealed thinking).

    A `Thinking` here replaces the thinking that was streamed since the last completed part.
    """

    part: Part


class UsageReported(msgspec.Struct, frozen=True, gc=False, tag=True):
    """What the request has cost so far; the last report counts. It may come although the request fails later."""

    usage: Usage


class ReplyEnded(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The reply is complete. Exactly one, and last.

    Args:
        finish: why, in neutral words.
        raw_finish: why, in the provider's words.
        model: the model that answered, as the provider names it.
        refusal: the provider's separate refusal text, where it has one.
    """

    finish: FinishReason
    raw_finish: str | None = None
    model: str | None = None
    refusal: str | None = None


ModelEvent = TextDelta | ThinkingDelta | CallBegan | ArgumentsDelta | PartCompleted | UsageReported | ReplyEnded


@runtime_checkable
class Model(Protocol):
    """One provider adapter."""

    @property
    def name(self) -> str:
        """As a user writes it: `openai:gpt-4o-mini`, `local`."""
        ...

    @property
    def provider(self) -> str:
        """Who keeps opaque parts and signed thinking: `openai`, `local`."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Send one request and yield what comes back, ending in `ReplyEnded`; raises `ModelError`."""
        ...

    async def prepare(self, request: ModelRequest) -> None:
        """Load and warm up, before a turn's clock starts. `request` shows the instructions and tools to come."""
        ...


class Serves(Protocol):
    """A model whose provider runs tools itself. One that is not so simply does not have the method."""

    def cannot_serve(self, tool: Hosted) -> str | None:
        """Why the provider cannot run this tool as it is declared, in a sentence that goes on "…: it has no such tool"; None
        if it can."""
        ...


# ── the fold ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class Reply(msgspec.Struct, frozen=True, gc=False):
    """What a stream amounts to. Call ids are empty here: the loop gives them out when it accepts the reply."""

    parts: tuple[Part, ...]
    finish: FinishReason
    usage: Usage
    raw_finish: str | None = None
    model: str | None = None
    refusal: str | None = None

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def thinking(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Thinking))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


class Fold:
    """Builds a `Reply` from events. It can be asked at any moment, so a broken stream keeps what had come."""

    def __init__(self) -> None:
        self._parts: list[_Growing | Part] = []
        self._calls: dict[int, _Growing] = {}
        self._usage = Usage()
        self._ended: ReplyEnded | None = None

    @property
    def ended(self) -> bool:
        return self._ended is not None

    def add(self, event: ModelEvent) -> None:
        """Take one event in."""
        # Every piece of every stream comes through here: the plainest of tests, and what is frequent first. `isinstance` asks
        # the metaclass of a Struct, unless the type is exactly this one: a no costs as much as ten of these.
        if type(event) is TextDelta:
            self._grow("text", event.text)
        elif type(event) is ArgumentsDelta:
            self._calls[event.key].pieces.append(event.text)
        elif type(event) is ThinkingDelta:
            self._grow("thinking", event.text)
        elif type(event) is CallBegan:
            self._calls[event.key] = call = _Growing("call", event.name, event.wire_id)
            self._parts.append(call)
        elif type(event) is UsageReported:
            self._usage = event.usage
        elif type(event) is ReplyEnded:
            self._ended = event
        elif type(event) is PartCompleted:
            if isinstance(event.part, Thinking) and self._last_is("thinking"):
                self._parts.pop()
            self._parts.append(event.part)

    def reply(self) -> Reply:
        """What has come so far, as a reply."""
        end = self._ended or ReplyEnded("unknown")
        parts = [part.close() if isinstance(part, _Growing) else part for part in self._parts]
        return Reply(tuple(parts), end.finish, self._usage, end.raw_finish, end.model, end.refusal)

    def _last_is(self, kind: str) -> bool:
        last = self._parts[-1] if self._parts else None
        return isinstance(last, _Growing) and last.kind == kind

    def _grow(self, kind: Literal["text", "thinking"], text: str) -> None:
        last = self._parts[-1] if self._parts else None
        if not isinstance(last, _Growing) or last.kind != kind:
            last = _Growing(kind)
            self._parts.append(last)
        last.pieces.append(text)


class _Growing:
    """A part under construction."""

    __slots__ = ("kind", "name", "pieces", "wire_id")

    def __init__(self, kind: Literal["text", "thinking", "call"], name: str = "", wire_id: str | None = None) -> None:
        self.kind = kind
        self.name = name
        self.wire_id = wire_id
        self.pieces: list[str] = []

    def close(self) -> Part:
        text = "".join(self.pieces)
        if self.kind == "text":
            return Text(text)
        if self.kind == "thinking":
            return Thinking(text)
        return ToolCall("", self.name, text, self.wire_id)
