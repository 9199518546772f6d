"""HTTP for the adapters: one shared session per event loop, one POST, and what a failure of it is called.

This file knows HTTP and `ModelError`; it knows no wire protocol and retries nothing. No header and no address with
credentials in it ever gets into an error: aiohttp's own exceptions carry both, so they are never chained to ours.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import functools
import math
import ssl
import urllib.request
from collections.abc import AsyncGenerator, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from time import time
from weakref import WeakKeyDictionary

import aiohttp
from yarl import URL

from tukang.errors import ConfigurationError, ModelError, ModelErrorKind
from tukang.models.lines import Connector

NETWORK_FAULTS = (aiohttp.ClientError, asyncio.TimeoutError, OSError)
"""What aiohttp raises when a request, or the reading of its response, goes wrong."""

SILENCE = 600.0
"""Seconds without a byte after which a request is given up, where the caller sets no bound of its own."""

LAST_WORDS = 5.0
"""Seconds without a byte after which a response whose reply is whole is taken as ended, though its connection stays open."""

LONGEST = 64 * 2**20
"""Bytes of one response that are read. The longest replies there are, and pictures in them, stay far below; more is a server
that has gone wrong, and would fill the memory."""

LONGEST_REFUSAL = 2**20
"""Bytes that are read of a response that is no reply: it says why in the first few hundred."""

_STATUS: Mapping[int, tuple[ModelErrorKind, bool]] = {
    401: ("authentication", False),
    402: ("rate_limited", False),
    403: ("authentication", False),
    404: ("not_found", False),
    405: ("not_found", False),
    408: ("overloaded", True),
    409: ("overloaded", True),
    425: ("overloaded", True),
    429: ("rate_limited", True),
    501: ("bad_request", False),
    505: ("bad_request", False),
}

# The one piece of state outside a value: a session belongs to its event loop and must be found again from there. An
# entry lives as long as its loop runs.
_Held = tuple[aiohttp.ClientSession, AsyncGenerator[None, None]]
_open: WeakKeyDictionary[asyncio.AbstractEventLoop, _Held] = WeakKeyDictionary()


async def shared_session() -> aiohttp.ClientSession:
    """The session of the running event loop; opened on first use, closed when the loop shuts down.

    All adapters of a loop share its connections. It closes with the loop because an asynchronous generator holds it:
    `asyncio.run` (and every other runner) finishes those before it closes the loop. A loop that runs until the process ends,
    such as the one behind `Agent.run`, has its session closed then.
    """
    loop = asyncio.get_running_loop()
    held = _open.get(loop)
    if held is None or held[0].closed:
        session = aiohttp.ClientSession(
            connector=Connector(),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=30, sock_read=SILENCE),
            headers={"User-Agent": "tukang"},
        )
        keeper = _keep(loop, session)
        _open[loop] = held = (session, keeper)
        await anext(keeper)
        _close_at_exit()
    return held[0]


async def _keep(loop: asyncio.AbstractEventLoop, session: aiohttp.ClientSession) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        held = _open.get(loop)
        if held is not None and held[0] is session:
            del _open[loop]
        await session.close()


@functools.cache
def _close_at_exit() -> None:
    """Have the sessions of loops that nobody shuts down closed with the process, so that aiohttp does not complain."""
    atexit.register(_close_all)


def _close_all() -> None:
    for loop, (session, _) in list(_open.items()):
        with contextlib.suppress(Exception):
            if loop.is_running():
                asyncio.run_coroutine_threadsafe(session.close(), loop).result(1)
            elif not loop.is_closed():
                loop.run_until_complete(session.close())


def proxy_for(url: URL) -> URL | None:
    """The proxy that the environment (`HTTPS_PROXY`, `NO_PROXY`, …) names for an address; none for this machine.

    It is asked once, when an adapter is made: aiohttp's own `trust_env` would read the environment for every request.
    """
    host = url.host or ""
    if host == "localhost" or host.startswith("127.") or host == "::1" or urllib.request.proxy_bypass(host):
        return None
    address = urllib.request.getproxies().get(url.scheme)
    return URL(address) if address else None


class Route:
    """How the requests of an adapter travel.

    Args:
        session: the user's own, with the proxy and the TLS settings it has; it stays theirs to close. The shared one of the
            event loop if None.
        proxy: the address of a proxy, with a name and a password in it where it wants them. If None, a session of the user's
            own decides; for the shared one, the environment does (`proxy_for`).
        tls: whose certificates to trust, and which to show; the session's own settings if None.

    Raises:
        ConfigurationError: the proxy's address is not one.
    """

    __slots__ = ("_proxy", "session", "tls")

    def __init__(
        self,
        session: aiohttp.ClientSession | None = None,
        proxy: str | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.session = session
        self.tls = tls
        self._proxy = None if proxy is None else _checked_proxy(proxy)

    @property
    def secret(self) -> str:
        """The proxy's password, which must not get into an error."""
        return (self._proxy.password if self._proxy is not None else None) or ""

    def proxy_to(self, url: URL) -> URL | None:
        """The proxy for an address; None to leave it to the session."""
        if self._proxy is not None or self.session is not None:
            return self._proxy
        return proxy_for(url)


def _checked_proxy(address: str) -> URL:
    try:
        url = URL(address.strip())
    except ValueError:
        url = URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigurationError("proxy: it is not the address of one: it must look like http://host:3128")
    return url


async def post(
    session: aiohttp.ClientSession,
    url: URL,
    body: bytes,
    headers: Mapping[str, str],
    *,
    proxy: URL | None = None,
    tls: ssl.SSLContext | None = None,
    seconds: float | None = None,
) -> aiohttp.ClientResponse:
    """Send one POST and return when the response's headers are there, whatever its status.

    Redirects are not followed: the key would go wherever the server points.

    Args:
        session: from `shared_session`, or the user's own.
        url: where to.
        body: the encoded request.
        headers: all headers beside aiohttp's own.
        proxy: the proxy to go by; the session's own if None. See `proxy_for`.
        tls: whose certificates to trust, and which to show; the session's own settings if None.
        seconds: how long the whole request may take, reading included; None for the session's own bounds.

    Raises:
        one of `NETWORK_FAULTS`, to be passed to `network_error` outside the `except` block.
    """
    trust = True if tls is None else tls
    if seconds is None:
        return await session.post(url, data=body, headers=headers, allow_redirects=False, proxy=proxy, ssl=trust)
    timeout = aiohttp.ClientTimeout(total=max(seconds, 0.001), sock_connect=30)
    return await session.post(
        url, data=body, headers=headers, allow_redirects=False, proxy=proxy, ssl=trust, timeout=timeout
    )


async def rest(content: aiohttp.StreamReader) -> bytes:
    """More of a response whose reply is whole: token counts, or the mark of the end. They come at once or not at all.

    Raises:
        TimeoutError: nothing came, and the connection is still open.
    """
    async with asyncio.timeout(LAST_WORDS):
        return await content.readany()


async def beginning(content: aiohttp.StreamReader) -> bytes:
    """`LONGEST_REFUSAL` bytes of a response, or all if it has fewer."""
    read = bytearray()
    while len(read) < LONGEST_REFUSAL and (chunk := await content.readany()):
        read += chunk
    return bytes(read[:LONGEST_REFUSAL])


async def drain(content: aiohttp.StreamReader) -> None:
    """Give the end of a response whose content is complete a moment to arrive: then its connection can be used again."""
    try:
        async with asyncio.timeout(0.1):
            while not content.at_eof():
                await content.readany()
    except TimeoutError:
        pass


def where(url: URL) -> str:
    """An address as it may be shown: no credentials, no query."""
    return str(url.with_user(None).with_query(None).with_fragment(None))


def network_error(fault: BaseException, url: URL) -> ModelError:
    """What a network fault is called. Only its kind and the system's own words are kept of it."""
    place = where(url)
    if isinstance(fault, TimeoutError):
        if isinstance(fault, aiohttp.ConnectionTimeoutError):
            return ModelError("connection", f"{place} could not be reached in time.", retryable=True)
        return ModelError("timeout", f"{place} did not finish its reply in time.", retryable=True)
    if isinstance(fault, aiohttp.InvalidURL):
        return ModelError("configuration", f"{place} is not an address that can be asked.", hint="Check the base URL.")
    if isinstance(fault, aiohttp.ClientConnectorCertificateError):
        return ModelError(
            "connection",
            f"The certificate of {place} is not trusted: {_why_untrusted(fault)}.",
            hint="Give the model tls=ssl.create_default_context(cafile=…) with the authority that signed it, "
            "or name that file in SSL_CERT_FILE.",
        )
    if isinstance(fault, aiohttp.ClientProxyConnectionError):
        return ModelError(
            "connection",
            f"The proxy on the way to {place} cannot be reached.",
            hint="Check proxy=…, or HTTPS_PROXY and HTTP_PROXY.",
            retryable=True,
        )
    if isinstance(fault, aiohttp.ClientHttpProxyError):
        text = f"The proxy on the way to {place} refuses with status {fault.status}."
        return ModelError("connection", text, hint="Check proxy=…: it may want a name and a password.")
    if isinstance(fault, aiohttp.ClientConnectorError):
        reason = fault.os_error.strerror or type(fault.os_error).__name__
        return ModelError(
            "connection",
            f"{place} cannot be reached: {reason}.",
            hint="Check the base URL and that the server runs.",
            retryable=True,
        )
    return ModelError("connection", f"The connection to {place} broke ({type(fault).__name__}).", retryable=True)


def too_long(url: URL) -> ModelError:
    """What a response of more than `LONGEST` bytes is called. The same request would bring the same again."""
    return ModelError("bad_response", f"{where(url)} sent more than {LONGEST // 2**20} MiB and no end of its reply.")


def _why_untrusted(fault: aiohttp.ClientConnectorCertificateError) -> str:
    reason = fault.certificate_error
    return reason.verify_message if isinstance(reason, ssl.SSLCertVerificationError) else type(reason).__name__


def snippet(text: str, length: int = 200) -> str:
    """The beginning of a text on one line, at most `length` characters of it."""
    text = " ".join(text[: 4 * length].split())
    return text if len(text) <= length else text[: length - 1] + "…"


def status_kind(status: int) -> tuple[ModelErrorKind, bool]:
    """What an HTTP status of 300 or more means, and whether the same request may succeed a little later."""
    known = _STATUS.get(status)
    if known is not None:
        return known
    if status >= 500:
        return "overloaded", True
    if status < 400:
        return "not_found", False
    return "bad_request", False


def may_retry(headers: Mapping[str, str]) -> bool | None:
    """What the server itself says about trying again (OpenAI's `x-should-retry`); None where it does not say."""
    return {"true": True, "false": False}.get(headers.get("x-should-retry", "").lower())


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the server asks to wait; None where it does not say.

    `retry-after-ms` (milliseconds) is finer and goes first. `Retry-After` is a number of seconds or a date, which is
    measured against the server's own `Date` where it sends one, so that a wrong clock here does no harm.
    Source: RFC 9110, section 10.2.3.

    Args:
        headers: the response's headers; the lookup must ignore case, as aiohttp's does.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("Retry-After")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    until = _moment(value)
    if until is None:
        return None
    now = _moment(headers.get("Date"))
    return max(0.0, until - (time() if now is None else now))


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else math.nan
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _moment(value: str | None) -> float | None:
    try:
        moment = parsedate_to_datetime(value) if value else None
        return None if moment is None else moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
