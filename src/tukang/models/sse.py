"""Server-sent events, decoded piece by piece from bytes that may be cut anywhere.

This file knows the framing and nothing of what is in it: no JSON, no provider, no I/O.
Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation

It departs from the specification in one point, on purpose: an event that the end of the stream leaves without its blank
line is delivered by `end` instead of being dropped, because servers do close right after their last line.
"""

from __future__ import annotations

import msgspec

_BOM = b"\xef\xbb\xbf"


class ServerEvent(msgspec.Struct, frozen=True, gc=False):
    """One event: its data lines joined by a line feed, and its name (empty where the server gave none)."""

    data: bytes
    name: str = ""


class EventDecoder:
    """Turns chunks of bytes into events.

    Lines may end in CR LF, LF or CR. Bytes are split at line ends only, so a character that is cut between two chunks
    is whole again before anybody decodes it. `id` and `retry` are read over: model streams are never resumed by them.
    """

    __slots__ = ("_after_cr", "_partial", "_started")

    def __init__(self) -> None:
        self._partial: list[bytes] = []
        self._after_cr = False
        self._started = False

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Take in more bytes; the events that became complete."""
        if self._after_cr and chunk:
            # The CR at the end of the last chunk has ended its line already; this LF belongs to it.
            self._after_cr = False
            if chunk[:1] == b"\n":
                chunk = chunk[1:]
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n" not in chunk:
            if chunk:
                self._partial.append(chunk)
            return []
        self._partial.append(chunk)
        blocks = b"".join(self._partial).split(b"\n\n")
        self._partial = [blocks.pop()]
        out: list[ServerEvent] = []
        for block in blocks:
            # Nearly every event is one line of data: the short way for that one.
            if self._started and block.startswith(b"data: ") and b"\n" not in block:
                out.append(ServerEvent(block[6:]))
            elif (event := self._block(block)) is not None:
                out.append(event)
        return out

    def end(self) -> list[ServerEvent]:
        """The stream is over: what it left unfinished, if that holds data."""
        block = b"".join(self._partial)
        self._partial = []
        event = self._block(block)
        return [] if event is None else [event]

    def _block(self, block: bytes) -> ServerEvent | None:
        """The event that the lines before a blank one make; None where they hold no data."""
        if not self._started:
            self._started = True
            block = block.removeprefix(_BOM)
        data: list[bytes] = []
        name = ""
        for line in block.split(b"\n"):
            field, _, value = line.partition(b":")
            if field == b"data":
                data.append(value.removeprefix(b" "))
            elif field == b"event":
                name = value.removeprefix(b" ").decode("utf-8", "replace")
        return ServerEvent(b"\n".join(data), name) if data else None
