"""What strict mode made a model write although nobody declared it, taken out again: exactly that, and nothing else.

Strict mode wants every property to be required. One that was optional is sent as required and nullable, so that `null` is how
the model leaves it out; a tool must see what was declared. A null that the declared schema allows is a value and stays.
This file knows arguments and events; how a schema is made strict is `openai_strict`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from typing import Any, cast

import msgspec

from tukang.models.base import ArgumentsDelta, CallBegan, ModelEvent, ReplyEnded

_encode = msgspec.json.Encoder().encode
_read_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_read_list = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Forced:
    """Where in a value a null stands for something that was left out. A tree like the schema's; it may hold itself.

    `names` are the properties of this object that were optional; `inside` and `items` are what stands in its properties and
    in the items of this list.
    """

    __slots__ = ("inside", "items", "names")

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.inside: dict[str, Forced] = {}
        self.items: Forced | None = None

    def __bool__(self) -> bool:
        """Whether there is anything to undo, here or further in."""
        return any(one.names for one in self._all({}))

    def _all(self, seen: dict[int, Forced]) -> Iterator[Forced]:
        if id(self) not in seen:
            seen[id(self)] = self
            yield self
            for one in (*self.inside.values(), *([] if self.items is None else [self.items])):
                yield from one._all(seen)


def undone(arguments: str, forced: Forced) -> str:
    """Argument text without the nulls that strict mode forced; everything else in it stays as it was written.

    Args:
        arguments: as the model sent it. What cannot be read stays as it is.
        forced: where those nulls are.
    """
    try:
        made = _without(arguments.encode(), forced)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return arguments
    return arguments if made is None else made.decode()


def _without(value: bytes, forced: Forced) -> bytes | None:
    """The value without them; None where there are none in it."""
    changed = False
    start = value.lstrip()[:1]
    if start == b"{":
        kept: dict[str, msgspec.Raw] = {}
        for name, one in _read_object(value).items():
            if name in forced.names and bytes(one).strip() == b"null":
                changed = True
                continue
            inner = forced.inside.get(name)
            made = None if inner is None else _without(bytes(one), inner)
            changed = changed or made is not None
            kept[name] = one if made is None else msgspec.Raw(made)
        return _encode(kept) if changed else None
    if start == b"[" and forced.items is not None:
        items = [(one, _without(bytes(one), forced.items)) for one in _read_list(value)]
        changed = any(made is not None for _, made in items)
        return _encode([one if made is None else msgspec.Raw(made) for one, made in items]) if changed else None
    return None


async def undoing(events: AsyncIterator[ModelEvent], forced: Mapping[str, Forced]) -> AsyncIterator[ModelEvent]:
    """The same events, with what strict mode forced taken out of the arguments.

    The argument text of a call to such a tool is passed on in one piece, when the reply ends: what has been streamed cannot
    be taken back.

    Args:
        events: of one reply.
        forced: by the name of the tool.
    """
    held: dict[int, tuple[Forced, list[str]]] = {}
    async with aclosing(cast(Any, events)):
        async for event in events:
            match event:
                case CallBegan(key, name) if name in forced:
                    held[key] = (forced[name], [])
                case ArgumentsDelta(key, text) if key in held:
                    held[key][1].append(text)
                    continue
                case ReplyEnded():
                    for key, (where, pieces) in held.items():
                        if text := undone("".join(pieces), where):
                            yield ArgumentsDelta(key, text)
                case _:
                    pass
            yield event
