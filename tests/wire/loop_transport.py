"""An aiohttp session that opens no connection: it answers with recorded responses, in order, and keeps what was sent.

It stands where an adapter's session stands, so that everything above the socket is the real thing. It knows no protocol.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, cast

import aiohttp
import msgspec
from multidict import CIMultiDict

from tests.wire.recordings import body_of

BEYOND = b'{"error": {"message": "the recording ends here", "type": "end_of_recording", "code": "end_of_recording"}}'
"""What is answered after the last recorded response, with status 400, so that nobody asks again."""


class Content:
    """The body of one response, in two pieces."""

    def __init__(self, body: bytes) -> None:
        self._pieces = [body[: len(body) // 2], body[len(body) // 2 :]]

    async def iter_any(self) -> AsyncIterator[bytes]:
        """What has come, piece by piece."""
        while self._pieces:
            yield self._pieces.pop(0)

    async def readany(self) -> bytes:
        """The next piece."""
        return self._pieces.pop(0) if self._pieces else b""

    def is_eof(self) -> bool:
        """Whether all has arrived: it always has."""
        return True

    def at_eof(self) -> bool:
        """Whether all was read."""
        return not self._pieces


class Response:
    """One recorded response, as aiohttp shows it."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status = status
        self.headers = CIMultiDict(headers)
        self.content = Content(body)
        self._body = body

    async def read(self) -> bytes:
        """The whole body."""
        return self._body

    def release(self) -> None:
        """There is no connection to give back."""


class Transport:
    """A session that serves recorded responses.

    Args:
        responses: `status`, `content_type` or `headers`, and `body` or `body_b64`, of each step.

    `sent` keeps the body of every request, those beyond the recording too.
    """

    def __init__(self, responses: Sequence[Mapping[str, Any]]) -> None:
        self._responses = responses
        self.sent: list[dict[str, Any]] = []

    async def post(self, url: object, *, data: bytes, **options: object) -> Response:  # noqa: ARG002
        """Take a request and answer with the next response."""
        self.sent.append(msgspec.json.decode(data, type=dict[str, Any]))
        step = len(self.sent) - 1
        if step >= len(self._responses):
            return Response(400, {"content-type": "application/json"}, BEYOND)
        recorded = self._responses[step]
        headers: dict[str, str] = {
            "content-type": recorded.get("content_type") or "",
            **(recorded.get("headers") or {}),
        }
        return Response(recorded["status"], headers, body_of(recorded))

    @property
    def session(self) -> aiohttp.ClientSession:
        """Itself, for an adapter."""
        return cast(aiohttp.ClientSession, self)
