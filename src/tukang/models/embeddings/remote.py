"""What embedders behind a server have in common: texts in batches, one request for each, tried again where the server
says so.

Unlike a model's request, which the loop tries again, an embedder's has nobody above it that could: so it is done here.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from tukang.errors import ModelError
from tukang.models import http
from tukang.models.embeddings.base import Kind, unit_rows
from tukang.models.exchange import Address, without_secrets

if TYPE_CHECKING:
    from tukang.models.embeddings.base import Matrix

_TRIES = 4
_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
"""Seconds before the second try, where the server names none; each further pause is twice as long."""

_SECONDS = 120.0


class Remote(ABC):
    """An embedder behind a server.

    Args:
        name: as a user writes it.
        batch: texts in one request.
        at_once: requests under way at a time.
    """

    def __init__(self, name: str, batch: int, at_once: int = 1) -> None:
        self.name = name
        self._batch = batch
        self._at_once = at_once

    async def embed(self, texts: Sequence[str], kind: Kind) -> Matrix:
        """See `Embedder.embed`."""
        if not texts:
            return unit_rows([[]])[:0]
        batches = [[text or " " for text in texts[at : at + self._batch]] for at in range(0, len(texts), self._batch)]
        rows: list[list[float]] = []
        for at in range(0, len(batches), self._at_once):
            for several in await asyncio.gather(*(self._tried(one, kind) for one in batches[at : at + self._at_once])):
                rows += several
        if len({len(row) for row in rows}) != 1:
            raise ModelError("bad_response", f"{self.name} sent vectors of different lengths.")
        return unit_rows(rows)

    async def _tried(self, texts: Sequence[str], kind: Kind) -> list[list[float]]:
        pause = _PAUSE
        for left in reversed(range(_TRIES)):
            try:
                rows = await self._ask(texts, kind)
            except ModelError as error:
                if not (error.retryable and left):
                    raise
                await asyncio.sleep(min(_LONGEST_PAUSE, pause if error.retry_after is None else error.retry_after))
                pause *= 2
            else:
                if len(rows) != len(texts) or not all(rows):
                    raise ModelError("bad_response", f"{self.name} sent {len(rows)} vectors for {len(texts)} texts.")
                return rows
        raise AssertionError("the last try returns or raises")

    async def _ask(self, texts: Sequence[str], kind: Kind) -> list[list[float]]:
        address, body = await self._request(texts, kind)
        return self._rows(await self._post(address, body))

    @abstractmethod
    async def _request(self, texts: Sequence[str], kind: Kind) -> tuple[Address, bytes]:
        """Where to, and what."""

    @abstractmethod
    def _rows(self, body: bytes) -> list[list[float]]:
        """The vectors in a response, in order. Raises `msgspec.DecodeError` or `ModelError` where it is none."""

    @abstractmethod
    def _refused(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        """What a status of 400 or more means."""

    async def _post(self, address: Address, body: bytes) -> bytes:
        """Send one request, once, and read all of its response."""
        failure: ModelError | None = None
        read = bytearray()
        response: Any = None
        try:
            response = await address.post(body, _SECONDS)
            if response.status >= 300:
                said = await http.beginning(response.content)
                failure = self._refused(response.status, response.headers, said)
            else:
                while chunk := await response.content.readany():
                    read += chunk
                    if len(read) > http.LONGEST:
                        failure = http.too_long(address.url)
                        break
        except http.NETWORK_FAULTS as fault:
            failure = http.network_error(fault, address.url)  # raised below: aiohttp's exceptions carry the key
        finally:
            if response is not None:
                response.release()
        if failure is not None:
            raise without_secrets(failure, address.secrets)
        return bytes(read)


def decoded(body: bytes, form: type[Any], name: str) -> Any:
    """A response's JSON.

    Raises:
        ModelError: it is not of this form.
    """
    try:
        return msgspec.json.decode(body, type=form)
    except msgspec.DecodeError as error:
        raise ModelError("bad_response", f"{name} sent no embeddings: {error}.") from error
