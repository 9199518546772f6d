"""The connector of the shared sessions: aiohttp's own, which hands a connection straight from one request to the next.

To give a connection back to aiohttp's connector and take it from there again costs as much as reading a small response. So
whoever asks directly (`direct`) gives it to the line of its address, and takes it from there as it was left, its parser
included. Whoever asks aiohttp itself finds all connections where it looks for them: before it looks, they are given back.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, Any

import aiohttp

if TYPE_CHECKING:
    from aiohttp.client_reqrep import ConnectionKey
    from aiohttp.connector import Connection

KEPT = 60.0
"""Seconds that a connection is kept without being used, at least; in a line it may be a quarter more."""


class Line:
    """The connections to one address that are free; the last that was used goes first.

    Args:
        connector: theirs.
    """

    __slots__ = ("_connector", "_free")

    def __init__(self, connector: Connector) -> None:
        self._connector = connector
        self._free: list[tuple[Connection, float]] = []

    def take(self) -> Connection | None:
        """A connection, if there is one that is still good: open, and nothing has come on it that nobody asked for."""
        while self._free:
            connection, _ = self._free.pop()
            protocol = connection.protocol
            if protocol is not None and not len(protocol) and protocol.is_connected():
                return connection
            connection.close()
        return None

    def give(self, connection: Connection) -> None:
        """Take a connection back. One whose response was not read to its end is closed, and so is one that comes too late."""
        protocol = connection.protocol
        if protocol is None or protocol.should_close or not protocol.is_connected() or self._connector.closed:
            connection.release()
            return
        self._free.append((connection, monotonic()))
        if self._connector.sweeping is None:
            self._connector.sweep()

    def give_back(self) -> None:
        """Give all of them back to the connector."""
        while self._free:
            self._free.pop()[0].release()

    def close_older(self, since: float) -> bool:
        """Close those that nobody has used since then; whether any are left."""
        for connection, _ in [one for one in self._free if one[1] < since]:
            connection.close()
        self._free = [one for one in self._free if one[1] >= since]
        return bool(self._free)


class Connector(aiohttp.TCPConnector):
    """aiohttp's connector, with lines. It has no bound on its connections."""

    def __init__(self) -> None:
        super().__init__(limit=0, keepalive_timeout=KEPT)  # pyright: ignore[reportUnknownMemberType]
        self._lines: dict[ConnectionKey, Line] = {}
        self.sweeping: asyncio.TimerHandle | None = None

    def line(self, key: ConnectionKey) -> Line:
        """The line of an address."""
        return self._lines.setdefault(key, Line(self))

    async def connect(self, req: aiohttp.ClientRequest, *more: Any, **named: Any) -> Connection:
        """A connection, by aiohttp's own rules."""
        if self._lines and (line := self._lines.get(req.connection_key)):
            line.give_back()
        return await super().connect(req, *more, **named)

    def sweep(self) -> None:
        """Close what was not used for so long, now and as long as there is something to close."""
        since = monotonic() - KEPT
        left = [line for line in self._lines.values() if line.close_older(since)]
        again = asyncio.get_running_loop().call_later
        self.sweeping = again(KEPT / 4, self.sweep) if left else None

    async def close(self, **how: Any) -> None:
        """Close everything."""
        if self.sweeping is not None:
            self.sweeping.cancel()
        for line in self._lines.values():
            line.give_back()
        await super().close(**how)
