"""One request and its response, over HTTP, for any adapter that has a decoder: what is sent, read, and raised.

This file knows HTTP and no protocol. It retries nothing; it makes sure that what came before a failure is yielded first, that
the connection is given back or closed, and that no failure carries a key.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Protocol

import aiohttp
from yarl import URL

from tukang.errors import ConfigurationError, ModelError
from tukang.models import http
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
        session: the user's own, which stays theirs to close; the shared one of the event loop if None.
        secrets: what must not get into an error.
    """

    __slots__ = ("headers", "proxy", "secrets", "session", "url")

    def __init__(
        self,
        url: URL,
        headers: Mapping[str, str],
        session: aiohttp.ClientSession | None = None,
        secrets: Sequence[str] = (),
    ) -> None:
        self.url = url
        self.headers = headers
        self.session = session
        self.secrets = tuple(secret for secret in secrets if len(secret) > 7)
        self.proxy = http.proxy_for(url)


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
        ModelError: the server cannot be reached, refuses, reports an error, or does not speak the protocol.
    """
    response: aiohttp.ClientResponse | None = None
    failure: ModelError | None = None
    try:
        session = address.session or await http.shared_session()
        response = await http.post(session, address.url, body, address.headers, proxy=address.proxy, seconds=seconds)
        if response.status >= 300:
            failure = _refusal(address.url, response.status, response.headers, await response.read(), refused)
        else:
            async for chunk in response.content.iter_any():
                for event in decoder.feed(chunk):
                    yield event
                if decoder.error is not None:
                    break
                if decoder.done and not response.content.is_eof():
                    await http.drain(response)
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


def without_secrets(error: ModelError, secrets: Sequence[str]) -> ModelError:
    """The same error, should a server have quoted a key in it."""
    message = error.message
    for secret in secrets:
        message = message.replace(secret, "…")
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
