"""What passes between the parts of the mock: what was asked, what is said in reply, and what went wrong. Values only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, Protocol

import msgspec

from tukang.conversation import Usage
from tukang.models.base import FinishReason
from tukang.models.scripted import Says, ScriptedServed

JSON = dict[str, Any]
"""A JSON object."""

Wish = Literal["usage", "encrypted", "events", "toolset", "results"]
"""Something a request may ask to get: usage in a stream, sealed reasoning, server-sent events, calls of a toolset's members,
results of the provider's own tools."""


class Offered(msgspec.Struct, frozen=True):
    """A tool on offer: its name and the JSON Schema of its arguments."""

    name: str
    schema: JSON


class Hosting(msgspec.Struct, frozen=True):
    """The provider's own tools in a request.

    Args:
        declared: their names, a server's by its label.
        asking: the labels of servers whose calls are to be asked about.
        listed: the labels of servers whose tools are listed in the conversation.
        decided: what was asked about and not used yet, with the answer.
    """

    declared: frozenset[str] = frozenset()
    asking: frozenset[str] = frozenset()
    listed: frozenset[str] = frozenset()
    decided: tuple[tuple[str, bool], ...] = ()


class Asked(msgspec.Struct, frozen=True):
    """What every protocol asks, in neutral words.

    Args:
        model: the model asked for.
        stream: whether the reply is to be streamed.
        tools: every tool on offer.
        choice: `auto`, `required`, `none`, or the name of one tool.
        text: the user's last words.
        results: the results that came since the model last spoke; empty when there are none.
        wishes: see `Wish`.
        form: the JSON Schema that the text of the reply is to follow; None where it may say anything.
        hosting: the provider's own tools; see there.
    """

    model: str
    stream: bool
    tools: tuple[Offered, ...] = ()
    choice: str = "auto"
    text: str = ""
    results: tuple[str, ...] = ()
    wishes: frozenset[Wish] = frozenset()
    form: JSON | None = None
    hosting: Hosting = Hosting()

    @property
    def listed(self) -> frozenset[str]:
        return self.hosting.listed

    @property
    def asking(self) -> frozenset[str]:
        return self.hosting.asking

    @property
    def decided(self) -> tuple[tuple[str, bool], ...]:
        return self.hosting.decided


class Address(msgspec.Struct, frozen=True):
    """What a request says outside its body.

    Args:
        model: the model in the path, for the protocols that have it there.
        action: the last word of the path (`converse-stream`).
        query: the query.
        headers: with lower-case names.
    """

    model: str
    action: str
    query: Mapping[str, str]
    headers: Mapping[str, str]


class Fault(msgspec.Struct, frozen=True):
    """Why there is no reply, or no end to it.

    Args:
        status: the HTTP status it has, or would have had.
        message: in the provider's style.
        param: the place in the request, for the protocols that say it.
        code: the provider's code, for the protocols that have one.
    """

    status: int
    message: str
    param: str | None = None
    code: str | None = None


class Refused(Exception):
    """The provider would not take this request."""

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.fault = Fault(status, message, param, code)


class SpokenCall(msgspec.Struct, frozen=True):
    """A call as it goes out. `arguments` is the text of the script, JSON or not."""

    id: str
    name: str
    arguments: str


class Spoken(msgspec.Struct, frozen=True):
    """One reply as it goes out.

    Args:
        key: different for each reply of a server; what ids are made of. Ends in `r` if the reply has reasoning.
        asked: the request.
        thinking, text, calls: what is said; each text is one delta.
        served: what the provider ran itself, before the text.
        finish: why it ends.
        usage: what it costs.
    """

    key: str
    asked: Asked
    thinking: str
    text: tuple[str, ...]
    calls: tuple[SpokenCall, ...]
    finish: FinishReason
    usage: Usage
    served: tuple[ScriptedServed, ...] = ()


class Frame(msgspec.Struct, frozen=True):
    """Bytes to send at once. Before a `delta` the server waits, if the script says so."""

    data: bytes
    delta: bool = False


class Speech(Protocol):
    """One reply in one protocol. Made for one reply, because the events of some protocols are counted."""

    def __init__(self, spoken: Spoken) -> None: ...

    def whole(self) -> JSON:
        """The reply in one piece; raises `Refused` where the protocol has no way to say it."""
        ...

    def deltas(self) -> Iterator[Frame]:
        """The stream, without its end."""
        ...

    def ending(self) -> Iterator[Frame]:
        """The end of the stream."""
        ...

    def broken(self, fault: Fault) -> Iterator[Frame]:
        """The end of a stream in which something went wrong."""
        ...


def spoken(says: Says, asked: Asked, number: int, prefix: str) -> Spoken:
    """A scripted reply as it goes out.

    Args:
        says: the reply.
        asked: the request.
        number: which reply of this server it is.
        prefix: what the ids of calls begin with.
    """
    key = f"{number:06x}" + ("r" if says.thinking else "")
    calls = tuple(
        SpokenCall(f"{prefix}{key}{place}" if call.id is None else call.id, call.name, call.text)
        for place, call in enumerate(says.calls)
    )
    text = (says.text,) if isinstance(says.text, str) else says.text
    finish = says.finish or ("calls" if calls else "stop")
    return Spoken(key, asked, says.thinking, tuple(filter(None, text)), calls, finish, says.usage, says.served)


def pieces(text: str, length: int = 12) -> Iterator[str]:
    """A text in pieces of so many characters: what a stream sends in several deltas although the script has one text."""
    return (text[start : start + length] for start in range(0, len(text), length))


def as_object(arguments: str) -> JSON | None:
    """The arguments as an object; None if they are not one."""
    try:
        return msgspec.json.decode(arguments or "{}", type=dict[str, Any])
    except msgspec.DecodeError:
        return None
