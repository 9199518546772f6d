"""One server, as long as the program uses it: connected when first needed, again when the connection was lost, and asked.

What is promised of a call:
* It is made at most once, unless it is a read, or certainly never left: then once more, over a new connection.
* One that had left, that is no read, and whose answer will not come has an unknown outcome.
* It takes no longer than its caller waits: cancelling it cancels it at the server too.

All of it runs on the loop of `client_thread`; what others see from outside (`offer`, `edition`) is swapped at once.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from mcp import Client, MCPError
from mcp import types as wire
from pydantic import ValidationError

from tukang.mcp.client_asking import Asks
from tukang.mcp.client_config import McpServer
from tukang.mcp.client_connection import Connection, Offer, Tell, UnreachableError
from tukang.mcp.client_thread import CONNECTION, begin
from tukang.mcp.client_wire import SENDING, Sending
from tukang.secrets import Remover
from tukang.tools.foreign import ToolError
from tukang.tools.outcome import NothingDone, OutcomeUnknown

T = TypeVar("T")

_CATCHING_UP = 1.0
"""Seconds a call waits, when it has ended, for a list that changed because of it: so that the next turn has it."""

_IN_ONE_GO = 0.01
"""Seconds in which news of changes are one."""

_RESTING = 10.0
"""Seconds between two looks, at most, at the list of a server that keeps saying that it has changed, and has not."""

_AGAIN = 30.0
"""Seconds between two attempts at an optional server that is not there."""


class Link:
    """Args:
    server: which.
    asks: who answers what it asks for.
    """

    def __init__(self, server: McpServer, asks: Asks) -> None:
        self.server = server
        self.offer: Offer | None = None
        self.edition = 0
        self.why: str | None = None
        self._asks = asks
        self._remover = Remover(server.secrets, in_errors=True)
        self._forget()

    def _forget(self) -> None:
        """Begin anew, as a forked process must: what it inherited belongs to its parent."""
        self._process = os.getpid()
        self._connection: Connection | None = None
        self._opening: asyncio.Task[Connection] | None = None
        self._refreshing: asyncio.Task[None] | None = None
        self._stale = False
        self._pause, self._resting, self._told = _IN_ONE_GO, False, 0.0
        self._tried = 0.0

    # ── the connection ───────────────────────────────────────────────────────────────────────────────────────────────

    async def opened(self) -> Connection:
        """The connection, opened if there is none. Opening goes on when who wanted it does not wait any longer: it serves the
        next one.

        Raises:
            UnreachableError: the server cannot be reached.
            ConfigurationError: it cannot even be tried.
        """
        if self._process != os.getpid():
            self._forget()
        if self.connected and self._connection is not None:
            return self._connection
        if self._opening is None or self._opening.done():
            self._opening = asyncio.create_task(self._open(), name=f"{CONNECTION}{self.server.name}")
            self._opening.add_done_callback(_heard)
        return await asyncio.shield(self._opening)

    async def _open(self) -> Connection:
        self._tried = time.monotonic()
        connection = Connection(self.server, self._asks, self._changed)
        try:
            await connection.open()
            async with asyncio.timeout(self.server.patience):
                self._now_offers(await connection.offer())
        except BaseException as error:
            connection.end()
            if isinstance(error, (MCPError, TimeoutError, ValidationError)):
                error = connection.unreachable(error)
            self.why = str(error)
            raise error
        self._connection, self.why = connection, None
        return connection

    def _now_offers(self, offer: Offer) -> None:
        if offer != self.offer:
            self.offer = offer
            self.edition += 1

    def look(self) -> int:
        """The edition of what it offers. At once; an optional server that is not there is tried again behind the scenes."""
        if self.offer is None and self.server.optional and self._tried and time.monotonic() > self._tried + _AGAIN:
            self._tried = time.monotonic()
            begin(self._try_again)
        return self.edition

    async def _try_again(self) -> None:
        try:
            await self.opened()
        except Exception as error:
            self.why = str(error)

    def _changed(self) -> None:
        """The server says that its list has changed: it is read again, once for all that it says in one go, and ever more
        seldom while that is not so: some say it each time that they are asked."""
        self._stale = True
        now = time.monotonic()
        if now > self._told + max(1.0, 10 * self._pause):
            self._pause = _IN_ONE_GO
        self._told = now
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._refresh(), name=f"mcp-refresh:{self.server.name}")

    async def _refresh(self) -> None:
        try:
            while self._stale:
                self._resting = self._pause > _IN_ONE_GO
                await asyncio.sleep(self._pause)
                self._stale = self._resting = False
                before = self.edition
                if (
                    self._opening is not None and not self._opening.done()
                ):  # what is being opened is listed before it counts
                    await asyncio.wait((self._opening,))
                if (connection := self._connection) is not None and not connection.lost:
                    async with asyncio.timeout(self.server.patience):
                        self._now_offers(await connection.offer())
                self._pause = _IN_ONE_GO if self.edition != before else min(2 * self._pause, _RESTING)
        except Exception as error:  # the list stays as it was known
            self.why = self._remover.text(f"its list could not be read again: {error}")

    async def close(self) -> None:
        """End the connection. The next use opens another one."""
        if self._process != os.getpid():
            return
        connection, self._connection = self._connection, None
        for task in (self._refreshing, self._opening):
            if task is not None and not task.done():
                task.cancel()
        if connection is not None:
            await connection.close()

    def abandon(self) -> None:
        """Have the connection end, from whatever thread: nobody uses it any more."""
        if self._process == os.getpid() and self._connection is not None:
            begin(self.close)

    @property
    def connected(self) -> bool:
        """Whether there is a connection now."""
        return self._process == os.getpid() and self._connection is not None and not self._connection.lost

    @property
    def given_up(self) -> bool:
        """Whether it is optional, was not there, and is not to be waited for again: that is tried behind the scenes."""
        return self.server.optional and self._process == os.getpid() and self._tried > 0

    # ── what it is asked ─────────────────────────────────────────────────────────────────────────────────────────────

    async def call(
        self, tool: str, arguments: dict[str, Any], *, reads: bool, tell: Tell | None
    ) -> wire.CallToolResult:
        """Call a tool.

        Args:
            tool: its original name.
            arguments: checked.
            reads: it changes nothing, so that it may be made again.
            tell: takes what the server says of its progress.

        Raises:
            NothingDone: the server cannot be reached; the call never left.
            OutcomeUnknown: it left, its answer will not come, and it is no read.
            ToolError: the server answered with an error; or the answer to a read will not come.
        """
        try:
            result = await self._called(tool, arguments, reads=reads, tell=tell)
        finally:
            refreshing = self._refreshing
        if refreshing is not None and not refreshing.done() and not self._resting:
            await asyncio.wait((refreshing,), timeout=_CATCHING_UP)
        return result

    async def _called(
        self, tool: str, arguments: dict[str, Any], *, reads: bool, tell: Tell | None
    ) -> wire.CallToolResult:
        error: BaseException
        for last in (False, True):
            sending = Sending()
            try:
                connection = await self.opened()
            except Exception as unreached:
                raise NothingDone(
                    str(unreached), "Do without it, or tell the user that it is not there."
                ) from unreached
            try:
                return await connection.call(tool, arguments, sending, tell)
            except ValidationError as malformed:
                raise ToolError(
                    f"it ran, but its answer is not what MCP says it should be: {_first(malformed)}"
                ) from None
            except Exception as failed:
                error = failed
            if sending.session_lost:
                connection.end()
            gone = connection.lost or sending.broken or _is_closed(error)
            if sending.sent and not (gone or sending.session_lost):
                raise ToolError(self._said(error)) from error
            if sending.sent and not reads:
                raise OutcomeUnknown(
                    f"the connection to {self.server.name!r} was lost while it ran: {self._said(error)}"
                )
            if last or not (gone or sending.session_lost):
                break
            if gone and self.server.command is not None:
                connection.end()  # what is left of it goes before another is started
        if sending.sent:
            raise ToolError(f"the connection to {self.server.name!r} was lost, twice: {self._said(error)}") from error
        raise NothingDone(f"{self.server.name!r} did not take it: {self._said(error)}") from error

    async def ask(self, request: Callable[[Client], Awaitable[T]]) -> T:
        """Ask for something that changes nothing: once more, over a new connection, when the first is lost.

        Raises:
            UnreachableError: there is no answer.
            ToolError: the server answered with an error.
        """
        for last in (False, True):
            connection = await self.opened()
            sending = Sending()
            SENDING.set(sending)
            try:
                async with asyncio.timeout(self.server.timeout):
                    return await request(connection.client)
            except TimeoutError:
                raise ToolError(f"{self.server.name!r} did not answer within {self.server.timeout:g} seconds") from None
            except ValidationError as malformed:
                raise ToolError(
                    f"the answer of {self.server.name!r} is not what MCP says it should be: {_first(malformed)}"
                ) from None
            except MCPError as error:
                if not (connection.lost or sending.broken or sending.session_lost or _is_closed(error)):
                    raise ToolError(self._said(error)) from error
                if last:
                    raise connection.unreachable(error) from error
                connection.end()
        raise AssertionError("the second time returns or raises")

    def _said(self, error: BaseException) -> str:
        said = error.message if isinstance(error, MCPError) else str(error) or type(error).__name__
        return self._remover.text(said)[:2000]


def _heard(task: asyncio.Task[Any]) -> None:
    """What it ended in is known: nobody need have waited for it."""
    if not task.cancelled():
        task.exception()


def _is_closed(error: BaseException) -> bool:
    """Whether the answer to a request will not come, as the SDK has it."""
    return isinstance(error, MCPError) and error.code == wire.CONNECTION_CLOSED


def _first(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, found['loc']))}: {found['msg']}"


__all__ = ["Link", "UnreachableError"]
