"""The neutral vocabulary: what was said, in parts that belong to no provider.

This file holds values only. It knows no provider, no tool and no loop, and does no I/O. Everything is frozen; two equal
values mean the same thing. Where a part is stored, and how it is written for a provider, is somebody else's concern.

A conversation is a sequence of `Message`s. Instructions ("system" text) are not part of it: they belong to the agent and
are sent beside it. All results of one reply's calls stand in one message with the role `tool`, in the order asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

Role = Literal["user", "assistant", "tool"]


class Text(msgspec.Struct, frozen=True, gc=False, tag="text"):
    """Words, from anyone."""

    text: str


class Thinking(msgspec.Struct, frozen=True, gc=False, tag="thinking", omit_defaults=True):
    """A model's reasoning. `signature` is the provider's seal: signed thinking goes back verbatim, and only to `provider`."""

    text: str
    signature: str | None = None
    provider: str | None = None
    redacted: bool = False


class ToolCall(msgspec.Struct, frozen=True, gc=False, tag="tool_call", omit_defaults=True):
    """A call the model asked for.

    `id` is ours, made of turn, round and position. `arguments` is the text as the model sent it, valid JSON or not.
    `wire_id` is the provider's own id, kept only where it is usable (present, and not yet seen in the conversation).
    `redacted` says that the arguments are not as the model sent them: a secret was taken out before they were written down.
    `permission` says that the provider would run it, and asks whether it may: `name` is then the server's label, and the
    arguments are `{"tool": …, "arguments": …}`.
    """

    id: str
    name: str
    arguments: str
    wire_id: str | None = None
    redacted: bool = False
    permission: bool = False


class Image(msgspec.Struct, frozen=True, gc=False, tag="image", omit_defaults=True):
    """A picture: its bytes with a media type such as `image/png`, or a URL."""

    media_type: str
    data: bytes | None = None
    url: str | None = None


class File(msgspec.Struct, frozen=True, gc=False, tag="file", omit_defaults=True):
    """A document such as a PDF: its bytes, or a URL."""

    media_type: str
    name: str | None = None
    data: bytes | None = None
    url: str | None = None


class ToolResult(msgspec.Struct, frozen=True, gc=False, tag="tool_result", omit_defaults=True):
    """The one result of one call. `fault` says that the content is an error, as data for the model."""

    call_id: str
    name: str
    content: tuple[Text | Image | File, ...]
    fault: bool = False

    @property
    def text(self) -> str:
        """The words of the result, as the model reads them."""
        return "\n".join([part.text for part in self.content if isinstance(part, Text)])


class ServerCall(msgspec.Struct, frozen=True, gc=False, tag="server_call", omit_defaults=True):
    """A call that the provider itself runs. `data` is the provider's own form, kept verbatim.

    `tool` is what it is called when it is declared (`web_search`, `code`, `label.tool` of an MCP server), where that is
    known. `result` is what it returned, in words, where that stands in the call itself; `fault` that it failed.
    """

    id: str
    name: str
    arguments: str
    provider: str
    data: Any = None
    tool: str = ""
    result: str | None = None
    fault: bool = False


class ServerResult(msgspec.Struct, frozen=True, gc=False, tag="server_result", omit_defaults=True):
    """What a provider's own tool returned, kept verbatim. `text` is that in words, as far as it can be read."""

    call_id: str
    provider: str
    data: Any = None
    text: str = ""
    fault: bool = False


class Citation(msgspec.Struct, frozen=True, gc=False, tag="citation", omit_defaults=True):
    """Where a statement comes from."""

    title: str | None = None
    url: str | None = None
    quote: str | None = None
    provider: str | None = None
    data: Any = None


class Opaque(msgspec.Struct, frozen=True, gc=False, tag="opaque"):
    """A provider's own part that has no neutral meaning; it goes back verbatim to that provider and to no other."""

    provider: str
    data: Any


Part = Text | Thinking | ToolCall | ToolResult | ServerCall | ServerResult | Image | File | Citation | Opaque


class Message(msgspec.Struct, frozen=True, dict=True):
    """One contribution to a conversation.

    The instance dictionary is there for one reason: what was made of a message stays with it (the bytes an adapter encoded it
    to, its size, its shortened form), so that a long turn does not make its history again each round. It takes no part in
    equality or in storage.
    """

    role: Role
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """All text parts joined; thinking and results are not text."""
        return "".join([part.text for part in self.parts if isinstance(part, Text)])

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls this message asks for, in order."""
        return tuple([part for part in self.parts if isinstance(part, ToolCall)])

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The results this message brings, in order."""
        return tuple([part for part in self.parts if isinstance(part, ToolResult)])


def user(*parts: str | Part) -> Message:
    """A user's message. Strings become text parts."""
    return Message("user", tuple(Text(part) if isinstance(part, str) else part for part in parts))


def assistant(*parts: str | Part) -> Message:
    """An assistant's message. Strings become text parts."""
    return Message("assistant", tuple(Text(part) if isinstance(part, str) else part for part in parts))


class Usage(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Tokens of one or more model requests. `input` includes what was read from a cache; `output` includes reasoning.

    `served` counts what the provider's own tools were used for, where the provider counts it: `{"web_search": 2}`.
    """

    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache_read: int = 0
    cache_write: int = 0
    requests: int = 0
    served: Mapping[str, int] = {}

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.reasoning + other.reasoning,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.requests + other.requests,
            _summed(self.served, other.served) if other.served else self.served,
        )

    @property
    def total(self) -> int:
        """Input and output together: what a token budget counts."""
        return self.input + self.output


def _summed(one: Mapping[str, int], other: Mapping[str, int]) -> Mapping[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def validity(messages: Sequence[Message]) -> list[str]:
    """What is wrong with the order and pairing of a conversation; empty when it is valid.

    Valid means: every assistant message with calls is followed at once by one tool message that has exactly one result for
    each call, in the order asked; tool messages stand nowhere else; no call id occurs twice.
    """
    faults: list[str] = []
    seen: set[str] = set()
    open_calls: tuple[ToolCall, ...] = ()
    for place, message in enumerate(messages):
        asked = [call.id for call in open_calls]
        answered = [result.call_id for result in message.results]
        if message.role == "tool" or asked:
            if message.role != "tool":
                faults.append(f"message {place}: calls {asked} have no results")
            elif asked != answered:
                faults.append(f"message {place}: calls {asked} were answered as {answered}")
        elif answered:
            faults.append(f"message {place}: a result outside a tool message")
        open_calls = message.calls
        faults += [f"message {place}: call id {call.id} occurs twice" for call in open_calls if call.id in seen]
        seen.update(call.id for call in open_calls)
    if open_calls:
        faults.append(f"the last calls {[call.id for call in open_calls]} have no results")
    return faults
