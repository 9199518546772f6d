"""One signed POST to one of Amazon's services, and its answer whole. For services that are no models: they stream nothing.

Nothing is tried again here. What is said when there is no answer is whether the service can have got the request: who
changes something by it must know that.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from types import MappingProxyType

import aiohttp
import msgspec
from yarl import URL

from tukang.models import http
from tukang.models.aws import Account
from tukang.models.bedrock_errors import EXPIRED, error_type

LONGEST = 16 * 2**20
"""Bytes of an answer that are read: more than any of these services sends."""

_NEVER_SENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.InvalidURL,
    aiohttp.ClientHttpProxyError,  # it was the proxy that said no
)
"""There was no connection, so nothing went over it."""


class Answered(msgspec.Struct, frozen=True):
    """What came back.

    Args:
        status: of HTTP.
        body: whole.
        headers: of the answer; looked up without regard to case.
        fault: the exception that it names, in small letters; empty where it names none.
    """

    status: int
    body: bytes
    headers: Mapping[str, str] = MappingProxyType({})
    fault: str = ""


class NotAnsweredError(Exception):
    """There is no answer, or not a whole one. The message has no secret in it.

    Args:
        message: why.
        sent: whether the service may have got the request.
        late: whether it was its time that was up.
    """

    def __init__(self, message: str, *, sent: bool, late: bool = False) -> None:
        super().__init__(message)
        self.sent = sent
        self.late = late


class TooLongError(NotAnsweredError):
    """There is an answer, and it is longer than what is read."""


async def ask(
    account: Account,
    path: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    seconds: float,
    longest: int = LONGEST,
    route: http.Route | None = None,
) -> Answered:
    """Send one request.

    Args:
        account: who asks, and where.
        path: from the host on, percent-encoded as it goes over the wire.
        body: as it is sent.
        headers: all beside aiohttp's own and the signature's.
        seconds: how long the whole may take, reading included.
        longest: bytes of an answer that are read.
        route: by which session and proxy; the shared one's if None.

    Raises:
        ConfigurationError: no credentials, or no region.
        NotAnsweredError: see there.
    """
    way = route or http.Route()
    until = time.monotonic() + seconds
    try:
        async with asyncio.timeout(seconds):
            url = await account.url(path)
            signed = await account.headers(url, body, headers)
            session = way.session or await http.shared_session()
    except TimeoutError:
        raise NotAnsweredError("there was no time left to ask", sent=False, late=True) from None
    try:
        return await _asked(session, way, account, url, body, signed, until - time.monotonic(), longest)
    except http.NETWORK_FAULTS as error:
        fault = error
    # outside the block: aiohttp's own exceptions hold the headers, and must not be chained to ours
    said = http.network_error(fault, url.origin()).message
    raise NotAnsweredError(said, sent=not isinstance(fault, _NEVER_SENT), late=isinstance(fault, TimeoutError))


async def _asked(
    session: aiohttp.ClientSession,
    way: http.Route,
    account: Account,
    url: URL,
    body: bytes,
    headers: Mapping[str, str],
    seconds: float,
    longest: int,
) -> Answered:
    sent = await http.post(session, url, body, headers, proxy=way.proxy_to(url), tls=way.tls, seconds=seconds)
    async with sent as response:
        read = bytearray()
        while chunk := await response.content.readany():
            read += chunk
            if len(read) > longest:
                raise TooLongError(f"it answered with more than {longest} bytes", sent=True)
        whole = bytes(read)
        fault = error_type(response.headers, whole) if response.status >= 300 else ""
        if fault == EXPIRED:
            account.forget()
        return Answered(response.status, whole, response.headers, fault)
