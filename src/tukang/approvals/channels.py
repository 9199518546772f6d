"""Asking people who are not at this program: a channel tells them, and takes their decision when it comes.

A channel is an approver that decides nothing: `approve=channel` sends what is asked and leaves the call waiting in the
store, so nothing is held meanwhile. What comes back, to whatever process, goes to `receive`, which writes it into the store;
the turn goes on where its session is resumed. What is sent twice, or comes back twice, changes nothing: the first decision
counts.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from collections.abc import Mapping
from typing import Any, Literal, Protocol

import aiohttp
import msgspec

from tukang.approvals.elsewhere import Pending, approve, edit, pending, refuse
from tukang.errors import ConfigurationError, TukangError
from tukang.memory.stores.base import Store
from tukang.runtime.people import Approval
from tukang.secrets import Remover
from tukang.tools.advice import warn
from tukang.tools.failure import words

HEADER = "Tukang-Signature"
"""The header that a signature stands in: `t=SECONDS,v1=HEX`, the HMAC-SHA-256 of `SECONDS.BODY`."""

OLDEST = 300.0
"""Seconds that a signature may be old, or ahead."""


class NotAcceptedError(TukangError):
    """What came in is not a decision that may count. The message says why; whoever sent it need not be told more than no."""


class Channel(Protocol):
    """A way to ask people elsewhere."""

    async def __call__(self, asked: Approval) -> None:
        """Tell them. It decides nothing, so the call waits; what cannot be told now is told again when the turn is
        resumed."""
        ...

    async def receive(self, body: bytes, signature: str) -> Pending:
        """Take a decision; returns what it was about.

        Raises:
            NotAcceptedError: it is not from whom it should be, is too old, or is about nothing that waits.
            WaitError: somebody has decided already, or it has expired.
        """
        ...


class Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A decision as it comes in.

    Args:
        turn, call, digest: what it is about, as it was sent out.
        decision: what is to become of the call.
        arguments: with `edit`: all of them.
        by, reason: who, and why.
    """

    turn: str
    call: str
    digest: str
    decision: Literal["approve", "refuse", "edit"]
    by: str
    reason: str = ""
    arguments: Mapping[str, Any] | None = None


class Webhook:
    """Sends what is asked to a URL as JSON, and takes decisions as JSON, both signed with one secret.

    Sent is: `turn`, `call`, `digest`, `session`, `agent`, `tool`, `effect`, `arguments` (without what looks like a secret),
    `why`, `edited`. What comes back is `Said`.

    Args:
        url: where to send it.
        secret: at least 16 characters, known to both sides.
        store: where the turns wait.
        tries: how often sending is tried; a little later each time.
        timeout: seconds that one try may take.

    Raises:
        ConfigurationError: the URL is none, or the secret is too short.
    """

    def __init__(self, url: str, secret: str, store: Store, *, tries: int = 3, timeout: float = 10.0) -> None:
        if not url.startswith(("https://", "http://")):
            raise ConfigurationError(f"a webhook's address begins with https:// (or http://), not {url[:40]!r}")
        if len(secret) < 16:
            raise ConfigurationError("a webhook's secret has at least 16 characters: whoever guesses it decides")
        self._url = url
        self._secret = secret.encode()
        self._store = store
        self._tries = tries
        self._timeout = aiohttp.ClientTimeout(total=timeout)

    async def __call__(self, asked: Approval) -> None:
        body = msgspec.json.encode(_question(asked))
        for left in reversed(range(self._tries)):
            try:
                await self._send(body)
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                if not left:
                    warn(f"nobody could be told about {asked.tool!r}, so it waits: {words(error)}")
                    return
                await asyncio.sleep(0.5 * (self._tries - left))
            else:
                return

    async def receive(self, body: bytes, signature: str) -> Pending:
        self._verify(body, signature)
        try:
            said = msgspec.json.decode(body, type=Said)
        except msgspec.MsgspecError as error:
            raise NotAcceptedError(f"it is no decision: {error}") from error
        one = await self._meant(said)
        match said.decision:
            case "approve":
                await approve(self._store, one, by=said.by, reason=said.reason)
            case "refuse":
                await refuse(self._store, one, by=said.by, reason=said.reason)
            case "edit":
                if said.arguments is None:
                    raise NotAcceptedError("an edit says which arguments")
                await edit(self._store, one, said.arguments, by=said.by, reason=said.reason)
        return one

    def signature(self, body: bytes, at: float | None = None) -> str:
        """The signature of a body, made now or at a time in seconds since the epoch."""
        second = str(int(time.time() if at is None else at))
        return f"t={second},v1={hmac.new(self._secret, second.encode() + b'.' + body, hashlib.sha256).hexdigest()}"

    async def _send(self, body: bytes) -> None:
        headers = {"Content-Type": "application/json", HEADER: self.signature(body)}
        async with (
            aiohttp.ClientSession(timeout=self._timeout) as session,
            session.post(self._url, data=body, headers=headers, allow_redirects=False) as response,
        ):
            if response.status >= 300:
                raise aiohttp.ClientError(f"it answered {response.status}")

    def _verify(self, body: bytes, signature: str) -> None:
        second = signature.removeprefix("t=").partition(",")[0]
        if not second.isascii() or not second.isdecimal() or abs(time.time() - int(second[:12])) > OLDEST:
            raise NotAcceptedError("its signature is missing, or too old")
        if not hmac.compare_digest(self.signature(body, int(second[:12])).encode(), signature.encode()):
            raise NotAcceptedError("its signature is not of this body and secret")

    async def _meant(self, said: Said) -> Pending:
        for one in await pending(self._store, turn=said.turn, open_only=False):
            if (one.question.call, one.question.digest) == (said.call, said.digest):
                return one
        raise NotAcceptedError("nothing waits for this decision")


def _question(asked: Approval) -> dict[str, Any]:
    """What is sent. A secret that a model put into arguments leaves this program no more than it gets into a journal."""
    return {
        "turn": asked.turn,
        "call": asked.call_id,
        "digest": asked.digest,
        "session": asked.session,
        "agent": asked.agent,
        "tool": asked.tool,
        "effect": asked.effect,
        "arguments": Remover(()).value(dict(asked.arguments)),
        "why": asked.why,
        "edited": asked.edited,
    }
