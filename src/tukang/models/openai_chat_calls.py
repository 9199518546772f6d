"""Which call a streamed piece of a call belongs to, when indexes and ids cannot be trusted.

Pure and about this protocol alone. Servers repeat one index for every call, leave out the index or the id, send the id
once or with each piece, or send calls whole. No call may be lost and no two may become one: see `CallTable.add`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from tukang.models.base import ArgumentsDelta, CallBegan, ModelEvent


class Function(msgspec.Struct, gc=False):
    """The inside of a piece: a function's name and arguments, or a custom tool's name and input."""

    name: Any = None
    arguments: Any = None
    input: Any = None


class CallPiece(msgspec.Struct):
    """One entry of `tool_calls`, in a message or in a delta."""

    index: Any = None
    id: Any = None
    function: Function | None = None
    custom: Function | None = None
    extra_content: Any = None


class _Call:
    """A call under construction."""

    __slots__ = ("arguments", "began", "extra", "id", "key", "name")

    def __init__(self, key: int, wire_id: str | None) -> None:
        self.key = key
        self.id = wire_id
        self.name = ""
        self.arguments: list[str] = []
        self.began = False
        self.extra: Any = None

    @property
    def complete(self) -> bool:
        """Whether the argument text is a whole JSON object, so that nothing can follow it."""
        text = "".join(self.arguments)
        if not text.rstrip().endswith("}"):
            return False
        try:
            return isinstance(msgspec.json.decode(text), dict)
        except msgspec.DecodeError:
            return False


class CallTable:
    """The calls of one reply."""

    __slots__ = ("_begun", "_by_index", "_calls")

    def __init__(self) -> None:
        self._begun: list[_Call] = []
        self._calls: list[_Call] = []
        self._by_index: dict[int | str, _Call] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add_whole(self, piece: CallPiece, out: list[ModelEvent]) -> None:
        """Take in an entry of a reply that is not streamed: a call of its own, whatever its id and index."""
        self._take(self._open(_wire_id(piece)), piece, out)

    def add(self, piece: CallPiece, out: list[ModelEvent]) -> None:
        """Take in a streamed entry and append what it says to `out`.

        A new id opens a call, also on an index that is taken. Without an id, an entry belongs to the call of its index,
        or to the last call; but another name, or more text after whole arguments under a name, is another call.
        """
        function = piece.function
        bare = piece.id is None and piece.extra_content is None
        if bare and type(piece.index) is int and function is not None and function.name is None:
            # Nearly every entry is a bare piece of the arguments of a call that began: the short way for that one.
            call = self._by_index.get(piece.index)
            if call is not None and call.began and type(function.arguments) is str and function.arguments:
                call.arguments.append(function.arguments)
                out.append(ArgumentsDelta(call.key, function.arguments))
                return
        self._take(self._of(piece), piece, out)

    def close(self, out: list[ModelEvent]) -> None:
        """The reply is over: calls that never got a name are calls too, and the model must hear of them."""
        for call in self._calls:
            if not call.began:
                self._begin(call, out)

    def extras(self) -> list[tuple[int, str, Any]]:
        """What the server adds to its calls (`extra_content`), with their place in the reply and their name."""
        return [(place, call.name, call.extra) for place, call in enumerate(self._begun) if call.extra is not None]

    def _take(self, call: _Call, piece: CallPiece, out: list[ModelEvent]) -> None:
        name, arguments = _name(piece), _arguments(piece)
        if piece.extra_content is not None:
            call.extra = piece.extra_content
        if name and not call.began:
            call.name = name
            self._begin(call, out)
        if arguments:
            call.arguments.append(arguments)
            if call.began:
                out.append(ArgumentsDelta(call.key, arguments))

    def _of(self, piece: CallPiece) -> _Call:
        wire_id, name, index = _wire_id(piece), _name(piece), piece.index
        has_index = isinstance(index, int | str)
        last = self._calls[-1] if self._calls else None
        call = self._by_index.get(index) if has_index else last
        if not name and (call is None or call.id != wire_id):
            if wire_id is not None:
                call = next((one for one in self._calls if one.id == wire_id), call)
            elif call is None:
                call = last
        if call is None or _is_another(call, wire_id, name, piece):
            call = self._open(wire_id)
        elif call.id is None:
            call.id = wire_id
        if has_index:
            self._by_index[index] = call
        return call

    def _open(self, wire_id: str | None) -> _Call:
        call = _Call(len(self._calls), wire_id)
        self._calls.append(call)
        return call

    def _begin(self, call: _Call, out: list[ModelEvent]) -> None:
        call.began = True
        self._begun.append(call)
        out.append(CallBegan(call.key, call.name, call.id))
        if call.arguments:
            out.append(ArgumentsDelta(call.key, "".join(call.arguments)))


def _is_another(call: _Call, wire_id: str | None, name: str, piece: CallPiece) -> bool:
    """Whether an entry that could belong to `call` is the beginning of another one."""
    if wire_id is not None and call.id is not None and wire_id != call.id:
        return True
    return bool(name) and call.began and (name != call.name or (bool(_arguments(piece)) and call.complete))


def _wire_id(piece: CallPiece) -> str | None:
    return piece.id if isinstance(piece.id, str) and piece.id else None


def _name(piece: CallPiece) -> str:
    function = piece.function or piece.custom
    return function.name if function is not None and isinstance(function.name, str) else ""


def _arguments(piece: CallPiece) -> str:
    """The argument text. Some servers send the object itself."""
    function = piece.function or piece.custom
    if function is None:
        return ""
    arguments = function.input if function.arguments is None else function.arguments
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else msgspec.json.encode(arguments).decode()
