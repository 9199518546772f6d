"""One HTTP exchange that stays where it may go and within its bounds: addresses checked, redirects followed by hand, the body
counted as it comes and as it unpacks.

No proxy is used: behind one, nobody here would see which address is asked. Each exchange has its own connection, no cookie is
kept, and no header of the developer's goes to a host that it is not for.
"""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import Awaitable, Callable, Mapping

import aiohttp
import msgspec
from yarl import URL

from tukang.connectors.addresses import Lookup, NotPublicError, Resolver
from tukang.connectors.hosts import Host, Hosts, NotAllowed
from tukang.models.http import NETWORK_FAULTS

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_READS = frozenset({"GET", "HEAD"})
_PIECE = 64 * 1024


class Reached(msgspec.Struct, frozen=True):
    """What came back.

    Args:
        url: where from, after redirects.
        status, headers: as they came; names in small letters.
        body: unpacked, and no longer than the bound.
        whole: whether that is all of it.
    """

    url: URL
    status: int
    headers: Mapping[str, str]
    body: bytes
    whole: bool


class NotReached(Exception):
    """Nothing came back. The model reads why.

    Args:
        message: what happened.
        sent: whether the request may have arrived.
    """

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.message, self.sent = message, sent


class Reach(msgspec.Struct, frozen=True):
    """How far an exchange goes.

    Args:
        hosts: which hosts it may ask.
        seconds: all of it, redirects and reading included.
        size: bytes of a body, as it comes and as it unpacks.
        redirects: how many are followed.
        lookup: how names are looked up; the system's way if None.
        tls: whose certificates to trust; the system's if None.
    """

    hosts: Hosts
    seconds: float
    size: int
    redirects: int = 3
    lookup: Lookup | None = None
    tls: ssl.SSLContext | None = None


HeadersFor = Callable[[Host], Mapping[str, str]]


async def fetch(reach: Reach, method: str, address: str, headers: HeadersFor, body: bytes | None = None) -> Reached:
    """Ask for an address.

    Args:
        reach: see `Reach`.
        method: in capitals. Redirects of what is no GET or HEAD are not followed, but returned.
        address: what the model asked for.
        headers: entry of the list of hosts → headers for it.
        body: what is sent.

    Raises:
        NotAllowed: it may not be asked for, or leads to what may not.
        NotReached: nothing came back, or not in time.
    """
    url, host = reach.hosts.checked(address)
    resolver = Resolver(reach.lookup, private=reach.hosts.private)
    connector = aiohttp.TCPConnector(resolver=resolver, use_dns_cache=False, force_close=True, ssl=reach.tls or True)
    progress = _Progress()
    try:
        async with (
            asyncio.timeout(reach.seconds),
            aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
                timeout=aiohttp.ClientTimeout(total=None),
                trace_configs=[progress.trace()],
            ) as session,
        ):
            return await _followed(session, reach, method, url, host, headers, body)
    except TimeoutError:
        raise NotReached(f"it did not answer within {reach.seconds:g} seconds", sent=progress.sent) from None
    except NETWORK_FAULTS as error:
        raise NotReached(_said(error), sent=progress.sent) from None


class _Progress:
    """Whether anything of a request had left."""

    def __init__(self) -> None:
        self.sent = False

    def trace(self) -> aiohttp.TraceConfig:
        trace = aiohttp.TraceConfig()
        trace.on_request_headers_sent.append(self._left)
        return trace

    def _left(self, *_: object) -> Awaitable[None]:
        self.sent = True
        return asyncio.sleep(0)


async def _followed(
    session: aiohttp.ClientSession,
    reach: Reach,
    method: str,
    url: URL,
    host: Host,
    headers: HeadersFor,
    body: bytes | None,
) -> Reached:
    for left in range(reach.redirects, -1, -1):
        given = {"Accept-Encoding": "gzip, deflate", "User-Agent": "tukang", **headers(host)}
        async with session.request(method, url, headers=given, data=body, allow_redirects=False) as response:
            target = response.headers.get("Location")
            if response.status not in _REDIRECTS or target is None or method not in _READS:
                return await _read(response, url, reach.size)
        if not left:
            break
        try:
            url, host = reach.hosts.checked(target, url)
        except NotAllowed as error:
            raise NotAllowed(f"it leads elsewhere, and that is not possible: {error}") from None
    raise NotAllowed(f"it leads elsewhere more than {reach.redirects} times")


async def _read(response: aiohttp.ClientResponse, url: URL, most: int) -> Reached:
    unpack = _unpacker(response.headers.get("Content-Encoding", ""))
    body, came, whole = bytearray(), 0, True
    async for piece in response.content.iter_chunked(_PIECE):
        came += len(piece)
        unpacked = unpack(piece, most - len(body) + 1)
        body += unpacked
        if len(body) > most or came > most:
            whole = False
            break
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Reached(url, response.status, headers, bytes(body[:most]), whole)


def _unpacker(encoding: str) -> Callable[[bytes, int], bytes]:
    """Unpacks a body piece by piece, never more than is asked for at once."""
    match encoding.strip().lower():
        case "" | "identity":
            return lambda piece, most: piece[:most]
        case "gzip" | "x-gzip":
            return _Inflating(31)
        case "deflate":
            return _Inflating(15)
        case _:
            raise NotReached("its body is packed in a way that was not asked for", sent=True)


class _Inflating:
    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._inflate = zlib.decompressobj(bits)
        self._begun = False

    def __call__(self, piece: bytes, most: int) -> bytes:
        try:
            return self._unpacked(piece, most)
        except zlib.error:
            if self._begun or self._bits == 31:
                raise NotReached("its body is packed, and damaged", sent=True) from None
            self._inflate = zlib.decompressobj(-15)  # some servers leave out what should stand around it
            return self._unpacked(piece, most)

    def _unpacked(self, piece: bytes, most: int) -> bytes:
        out = bytearray(self._inflate.decompress(piece, most))
        self._begun = True
        while self._inflate.eof and self._inflate.unused_data and self._bits == 31 and len(out) < most:
            rest = self._inflate.unused_data  # a body may be made of several
            self._inflate = zlib.decompressobj(31)
            out += self._inflate.decompress(rest, most - len(out))
        return bytes(out)


def _said(error: Exception) -> str:
    """What a failure of the network is called. The library's own words hold addresses and headers."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, NotPublicError):
            return "its name means an address that is not of the open internet"
        cause = cause.__cause__ or cause.__context__
    match error:
        case aiohttp.ClientConnectorDNSError():
            return "there is no host of that name"
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
            return "its certificate is not trusted"
        case aiohttp.ClientConnectorError():
            return "it takes no connections"
        case aiohttp.ClientPayloadError():
            return "the connection broke off while its answer came"
        case _:
            return "the connection failed, or it does not speak HTTP"
