"""Events and messages as text in a store, and back; also those that an older version wrote.

Each event is written with the version of its form. What is older than `VERSION` is brought up one version at a time by the
functions in `UPCASTS` when it is read; what is stored is never rewritten. A form changes its version when a reader of today
could not read it as it is: a new field with a default does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import msgspec

from tukang.conversation import Message
from tukang.loop.events import Event
from tukang.memory.stores.errors import StoreError

VERSION = 1
"""The form of events that is written today."""

Upcast = Callable[[dict[str, Any]], dict[str, Any]]

UPCASTS: Mapping[tuple[str, int], Upcast] = {}
"""(kind, version) → a function from an event of that version, as a JSON object, to the same event of the next version.

A kind that did not change from one version to the next has no entry there. A kind that was renamed returns its new name as
`type`.
"""

_SURROGATE = re.compile("[\ud800-\udfff]")

_events = msgspec.json.Decoder(Event)
_messages = msgspec.json.Decoder(tuple[Message, ...])


class EventRow(msgspec.Struct, frozen=True, gc=False):
    """An event as it is stored: `kind` is its tag, `data` the whole of it as JSON, the tag too."""

    version: int
    kind: str
    data: str


def row_of(event: Event) -> EventRow:
    """An event, to be written."""
    return EventRow(VERSION, type(event).__name__, text_of(event))


def event_of(row: EventRow, version: int = VERSION, upcasts: Mapping[tuple[str, int], Upcast] = UPCASTS) -> Event:
    """An event that was written by this version or an older one.

    Raises:
        StoreError: `too_new`: a newer tukang wrote it; `corrupt`: it is no event.
    """
    if row.version > version:
        raise StoreError(
            "too_new",
            f"an event {row.kind} has the form of version {row.version}; this tukang reads up to {version}.",
            "Use the version that wrote it, or a newer one.",
        )
    try:
        if row.version == version:
            return _events.decode(row.data)
        event = cast("dict[str, Any]", msgspec.json.decode(row.data))
        for older in range(row.version, version):
            if upcast := upcasts.get((event["type"], older)):
                event = upcast(event)
        return msgspec.convert(event, Event)  # pyright: ignore[reportArgumentType]  # a union is as good as a type
    except (msgspec.MsgspecError, KeyError) as error:
        raise StoreError("corrupt", f"a stored event {row.kind} cannot be read: {error}.") from error


def messages_of(text: str | None) -> tuple[Message, ...]:
    """The messages of a turn as they were written; none while it is open.

    Raises:
        StoreError: `corrupt`: they are no messages.
    """
    try:
        return _messages.decode(text) if text else ()
    except msgspec.MsgspecError as error:
        raise StoreError("corrupt", f"the stored messages of a turn cannot be read: {error}.") from error


def text_of(value: Any) -> str:
    """JSON. Half a surrogate pair, which no UTF-8 can hold, becomes the sign for a character that cannot be shown."""
    try:
        return _encoder.encode(value).decode()
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(value, builtin_types=(bytes,), enc_hook=_plain)
        return _encoder.encode(_mended(plain)).decode()


def storable(text: str) -> str:
    """A text that both databases take, as long as it was: the sign NUL and half a surrogate pair become a sign for something
    that cannot be shown."""
    return _SURROGATE.sub("\ufffd", text.replace("\0", "\ufffd"))


def value_of(text: str | None) -> Any:
    """What `text_of` wrote, as plain data."""
    return None if text is None else msgspec.json.decode(text)


def _plain(value: Any) -> Any:
    """A mapping of any kind is an object in JSON."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    raise NotImplementedError(f"{type(value).__name__} is not a value of the journal")


_encoder = msgspec.json.Encoder(enc_hook=_plain)


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_mended(key): _mended(one) for key, one in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_mended(one) for one in cast("Sequence[Any]", value)]
    return value
