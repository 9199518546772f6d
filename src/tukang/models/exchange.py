"""One request and its response, over HTTP, for any adapter that has a decoder: what is sent, read, and raised.

This file knows HTTP and no protocol. It retries nothing; it makes sure that what came before a failure is yielded first, that
the connection is given back or closed, and that no failure carries a key.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Protocol

import aiohttp
from yarl import URL

from tukang.errors import ConfigurationError, ModelError
from tukang.models import direct, http
from tukang.models.base import ModelEvent


class Decoder(Protocol):
    """Turns the bytes of one response into events. Neither method raises: what went wrong is kept in `error`."""

    error: ModelError | None

    @property
    def done(self) -> bool:
        """Whether the server has said that nothing follows."""
        ...

    @property
    def complete(self) -> bool:
        """Whether the reply is whole, so that a connection that breaks now costs nothing that counts."""
        ...

    def feed(self, chunk: bytes) -> list[ModelEvent]: ...

    def end(self) -> list[ModelEvent]: ...


class Address:
    """Where an adapter's requests go, and how.

    Args:
        url: the whole address.
        headers: all headers beside aiohttp's own, the key among them; they are never shown.
        route: by which session, proxy and TLS settings.
        secrets: what must not get into an error.
    """

    __slots__ = ("_plain", "headers", "proxy", "route", "secrets", "url")

    def __init__(
        self,
        url: URL,
        headers: Mapping[str, str],
        route: http.Route,
        secrets: Sequence[str] = (),
    ) -> None:
        self.url = url
        self.headers = headers
        self.route = route
        self.secrets = tuple(_as_quoted(url, (*secrets, route.secret)))
        self.proxy = route.proxy_to(url)
        plain = route.session is None and route.tls is None and self.proxy is None and url.user is None
        self._plain = direct.Post(url, headers) if plain and direct.fits() else None

    def with_headers(self, headers: Mapping[str, str]) -> Address:
        """The same with other headers."""
        return Address(self.url, headers, self.route, self.secrets)

    def with_secrets(self, more: Sequence[str]) -> Address:
        """The same, with more that must not get into an error."""
        return Address(self.url, self.headers, self.route, (*self.secrets, *more)) if more else self

    async def post(self, body: bytes, seconds: float | None = None) -> aiohttp.ClientResponse | direct.Response:
        """Send one request, once. See `http.post`."""
        session = self.route.session or await http.shared_session()
        if self._plain is not None and seconds is None:
            return await self._plain.send(session, body)
        return await http.post(
            session, self.url, body, self.headers, proxy=self.proxy, tls=self.route.tls, seconds=seconds
        )


async def exchange(
    address: Address,
    body: bytes,
    decoder: Decoder,
    refused: Callable[[int, Mapping[str, str], bytes], ModelError],
    *,
    seconds: float | None = None,
) -> AsyncIterator[ModelEvent]:
    """Send one request, once, and yield what comes back, ending in `ReplyEnded`.

    Args:
        address: where to; without a session of its own, the shared one of the event loop is used.
        body: the encoded request.
        decoder: a fresh one.
        refused: what a status of 400 or more means: status, headers, body.
        seconds: how long the whole exchange may take.

    Raises:
        ModelError: the server cannot be reached, refuses, reports an error, sends too much, or does not speak the
            protocol.
    """
    response: aiohttp.ClientResponse | direct.Response | None = None
    failure: ModelError | None = None
    try:
        response = await address.post(body, seconds)
        if response.status >= 300:
            said = await http.beginning(response.content)
            failure = _refusal(address.url, response.status, response.headers, said, refused)
        else:
            read = 0
            content = response.content
            while chunk := await (content.readany() if not decoder.complete else http.rest(content)):
                read += len(chunk)
                if read > http.LONGEST:
                    failure = None if decoder.complete else http.too_long(address.url)
                    break
                for event in decoder.feed(chunk):
                    yield event
                if decoder.error is not None:
                    break
                if content.at_eof():
                    break
                if decoder.done and not content.is_eof():
                    await http.drain(content)
                    break
    except http.NETWORK_FAULTS as fault:
        # Raised below, outside this block: aiohttp's exceptions carry the request's headers.
        failure = None if decoder.complete else http.network_error(fault, address.url)
    finally:
        if response is not None:
            # Gives the connection back if the response was read to its end, and closes it otherwise.
            response.release()
    if failure is None:
        for event in decoder.end():
            yield event
        failure = decoder.error
    if failure is not None:
        raise without_secrets(failure, address.secrets)


def _refusal(
    url: URL,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    refused: Callable[[int, Mapping[str, str], bytes], ModelError],
) -> ModelError:
    if status >= 400:
        return refused(status, headers, body)
    text = f"{http.where(url)} sends us on to another address, where a key must not follow."
    return ModelError("not_found", text, hint="Name the address that the server itself has.", status=status)


_SCHEME = re.compile(r"(?:bearer|basic|token|key|apikey)\s+(?=\S+$)", re.IGNORECASE)
_NAMED = re.compile(r"key|token|secret|sig|code|auth|pass", re.IGNORECASE)
_SHORTEST = 8
"""Characters a secret must have to be taken out: a shorter one stands in too many innocent words."""


def _as_quoted(url: URL, secrets: Sequence[str]) -> Iterator[str]:
    """The secrets of a request in every form in which a server may quote them; longer forms first."""
    forms = {*secrets, *(value for name, value in url.query.items() if _NAMED.search(name))}
    forms |= {_SCHEME.sub("", secret.strip(), count=1) for secret in forms}
    if url.password:
        forms |= {url.password, b64encode(f"{url.user or ''}:{url.password}".encode()).decode()}
    yield from sorted((form for form in forms if len(form) >= _SHORTEST), key=len, reverse=True)


def without_secrets(error: ModelError, secrets: Sequence[str]) -> ModelError:
    """The same error, should a server have quoted a key in it, or the beginning of one where the words are cut."""
    message = error.message
    for secret in secrets:
        message = message.replace(secret, "…")
        if message.endswith("…"):
            cut = message[:-1]
            half = next((size for size in range(len(secret) - 1, 3, -1) if cut.endswith(secret[:size])), 0)
            message = f"{cut[: len(cut) - half]}…"
    if message == error.message:
        return error
    return ModelError(
        error.kind,
        message,
        hint=error.hint,
        status=error.status,
        retryable=error.retryable,
        retry_after=error.retry_after,
    )


def checked_key(key: str, variable: str) -> str:
    """A key without the blanks around it.

    Raises:
        ConfigurationError: there is something in it that no key has; the key itself is not in the message.
    """
    key = key.strip()
    if not (key.isascii() and key.isprintable()):
        raise ConfigurationError(f"the API key ({variable}) has characters in it that no key has; copy it again.")
    return key
