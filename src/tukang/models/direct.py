"""One POST on a connection of the shared session, without the rest of aiohttp's client.

That client can do much that no adapter asks of it: redirects, cookies, authentication, tracing, bodies sent in pieces. On the
way through it a small request costs as much CPU as all the rules of a round. So the plain case takes connections from the
session's own connector (which knows names, TLS, and which connections can be used again; see `lines`), writes to them, and
has aiohttp's own parser read the response.

What is used of aiohttp here is not all in its documentation. `fits` says whether the version that is installed has it; if
not, and for all that is not the plain case (a session of the user's, a proxy, TLS settings, a bound in seconds), `http.post`
is used.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import aiohttp
from aiohttp.http import HttpProcessingError
from multidict import CIMultiDict
from yarl import URL

from tukang.errors import ConfigurationError
from tukang.models.http import SILENCE
from tukang.models.lines import Connector, Line

if TYPE_CHECKING:
    from aiohttp.client_proto import ResponseHandler
    from aiohttp.connector import Connection

_OWN = {"Accept": "*/*", "Accept-Encoding": "gzip, deflate", "User-Agent": "tukang"}


class Response:
    """As much of a response as an adapter needs. Its names are those of aiohttp's own."""

    __slots__ = ("_connection", "_flight", "_line", "_watch", "content", "headers", "status")

    def __init__(
        self,
        connection: Connection,
        line: Line,
        watch: Watch,
        flight: Flight,
        status: int,
        headers: Mapping[str, str],
        content: aiohttp.StreamReader,
    ) -> None:
        self._connection = connection
        self._line = line
        self._watch = watch
        self._flight = flight
        self.status = status
        self.headers = headers
        self.content = content

    async def read(self) -> bytes:
        """The rest of the body."""
        return await self.content.read()

    def release(self) -> None:
        """Give the connection back if the response was read to its end, else close it."""
        self._watch.remove(self._flight)
        self._line.give(self._connection)


class Post:
    """What is sent to an address, less the body.

    Args:
        url: where to; without a user's name in it.
        headers: all headers, beside those that every request has.

    Raises:
        ConfigurationError: a header has a line break in it; its value is not in the message.
    """

    __slots__ = ("_head", "_url", "_way")

    def __init__(self, url: URL, headers: Mapping[str, str]) -> None:
        sent = CIMultiDict({"Host": url.host_port_subcomponent or "", **_OWN})
        sent.update(headers)
        for name, value in sent.items():
            if any(mark in name + value for mark in "\r\n\0"):
                raise ConfigurationError(f"the header {name!r} has a line break in it; headers are single lines")
        lines = [f"POST {url.raw_path_qs} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items())]
        self._head = "\r\n".join([*lines, "Content-Length: "]).encode()
        self._url = url
        self._way: Way | None = None

    async def send(self, session: aiohttp.ClientSession, body: bytes) -> Response:
        """Send it and return when the response's headers are there, whatever its status.

        Raises:
            aiohttp.ClientError, TimeoutError, OSError: as `http.post` does; also later, when the response is read.
        """
        way = self._way
        if way is None or way.session is not session:
            way = self._way = Way(session, self._url)
        used = connection = way.line.take()
        if connection is None:
            try:
                connection = await way.connector.connect(way.to, [], session.timeout)
            except TimeoutError:
                raise aiohttp.ConnectionTimeoutError from None
        protocol, transport = connection.protocol, connection.transport
        assert protocol is not None
        assert transport is not None
        watch, flight = way.watch, Flight(protocol)
        watch.add(flight)
        try:
            if used is None:
                protocol.set_response_params(read_until_eof=True)
            transport.write(b"%b%d\r\n\r\n%b" % (self._head, len(body), body))
            message, content = await protocol.read()
            while message.code < 200 and message.code != 101:  # it says that more is to come; not so 101
                message, content = await protocol.read()
        except BaseException as fault:
            watch.remove(flight)
            connection.close()
            if isinstance(fault, HttpProcessingError):
                raise aiohttp.ClientPayloadError(type(fault).__name__) from None
            raise
        flight.content = content
        return Response(connection, way.line, watch, flight, message.code, message.headers, content)


class Way:
    """By which session a request goes, and what belongs to it. It never changes: while a request is under way in one event
    loop, the same address may be asked from another, by another session.

    Args:
        session: a shared one.
        url: where to.
    """

    __slots__ = ("connector", "line", "session", "to", "watch")

    def __init__(self, session: aiohttp.ClientSession, url: URL) -> None:
        assert isinstance(session.connector, Connector), "it is a shared one"
        self.session, self.connector = session, session.connector
        # It is never sent: it tells the connector where to.
        self.to = aiohttp.ClientRequest("POST", url, loop=asyncio.get_running_loop(), session=session)
        self.line = self.connector.line(self.to.connection_key)
        self.watch = _watch_of(session)


class Watch:
    """Gives up responses of which nothing has come for so many seconds, or up to twice as many.

    It has one timer, for all that are under way. A timer for each, set anew with every piece that comes, costs more than
    reading the pieces. A timer that finds nothing under way is not set again.

    Args:
        seconds: how long a server may be silent.
    """

    __slots__ = ("_every", "_flights", "_timer")

    def __init__(self, seconds: float) -> None:
        self._every = seconds / 2
        self._flights: set[Flight] = set()
        self._timer: asyncio.TimerHandle | None = None

    def add(self, flight: Flight) -> None:
        self._flights.add(flight)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._every, self._look)

    def remove(self, flight: Flight) -> None:
        self._flights.discard(flight)

    def _look(self) -> None:
        for flight in [flight for flight in self._flights if flight.is_silent()]:
            flight.give_up()
        again = asyncio.get_running_loop().call_later
        self._timer = again(self._every, self._look) if self._flights else None


# A session has one watch, whoever sends by it, and so one timer. It goes with the session.
_watches: WeakKeyDictionary[aiohttp.ClientSession, Watch] = WeakKeyDictionary()


def _watch_of(session: aiohttp.ClientSession) -> Watch:
    if (watch := _watches.get(session)) is None:
        watch = _watches[session] = Watch(SILENCE)
    return watch


class Flight:
    """A response on its way."""

    __slots__ = ("_came", "_looks", "_protocol", "content")

    def __init__(self, protocol: ResponseHandler) -> None:
        self._protocol = protocol
        self._came = 0
        self._looks = 0
        self.content: aiohttp.StreamReader | None = None

    def is_silent(self) -> bool:
        """Whether no more has come for three looks."""
        came = self.content.total_bytes if self.content else 0
        self._looks = self._looks + 1 if came == self._came else 0
        self._came = came
        return self._looks > 2

    def give_up(self) -> None:
        fault = aiohttp.SocketTimeoutError("nothing came for too long")
        self._protocol.set_exception(fault)
        if self.content is not None:
            self.content.set_exception(fault)


@cache
def fits() -> bool:
    """Whether this version of aiohttp has what is used here, as it is used."""
    try:
        from aiohttp.client_proto import ResponseHandler
        from aiohttp.connector import Connection

        inspect.signature(aiohttp.BaseConnector.connect).bind(None, None, [], None)
        inspect.signature(ResponseHandler.set_response_params).bind(None, read_until_eof=True)
        inspect.signature(aiohttp.ClientRequest).bind("POST", URL(), loop=None, session=None)
    except (ImportError, AttributeError, TypeError):
        return False
    used = {
        ResponseHandler: ("read", "set_exception", "should_close", "is_connected", "__len__"),
        aiohttp.ClientRequest: ("connection_key",),
        Connection: ("protocol", "transport", "release", "close"),
        aiohttp.StreamReader: ("total_bytes", "set_exception"),
    }
    return all(hasattr(owner, name) for owner, names in used.items() for name in names)
