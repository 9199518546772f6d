"""One connection to one server, from its handshake to its end: a task that enters the SDK's contexts, and leaves them.

A connection is opened once and lost once. Opening it again is `client_link`'s business; so is what a lost call means.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Any, cast

import msgspec
from mcp import Client, MCPError
from mcp import types as wire
from mcp.client.session import ClientRequestContext
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.dispatcher import ProgressFnT
from pydantic import TypeAdapter

from tukang.errors import TukangError
from tukang.mcp.client_asking import Asks
from tukang.mcp.client_config import McpServer
from tukang.mcp.client_oauth import PERSON
from tukang.mcp.client_thread import CONNECTION
from tukang.mcp.client_wire import SENDING, LastWords, Sending, address, process
from tukang.secrets import Remover
from tukang.tools.failure import words

_LOG = logging.getLogger("tukang.mcp")
_LEVELS = {"debug": 10, "info": 20, "notice": 20, "warning": 30, "error": 40}
_PAGES, _TOOLS = 100, 5000
_AGAIN = 5.0
_LEAVING = 8.0
"""Seconds that leaving may take: a process is killed sooner; a server at an address need not answer."""
_ANSWER: TypeAdapter[Any] = TypeAdapter(wire.CallToolResult | wire.InputRequiredResult)
_ROUNDS = 10
"""How often a server may ask for more in the middle of one call."""

Tell = Callable[[float | None, str], None]


class UnreachableError(TukangError):
    """A server that cannot be reached, or is not there any more. The message names it, says why, and what it said last."""


class Offer(msgspec.Struct, frozen=True):
    """What a server offers: its tools, and whether it has resources and prompts."""

    tools: tuple[wire.Tool, ...] = ()
    resources: bool = False
    prompts: bool = False


class Connection:
    """Args:
    server: to what.
    asks: who answers what the server asks for.
    changed: is called when the server says that what it offers has changed.
    """

    def __init__(self, server: McpServer, asks: Asks, changed: Callable[[], None]) -> None:
        self._server = server
        self._asks = asks
        self._changed = changed
        self._words = LastWords(server)
        self._noise = 0
        self._over = asyncio.Event()
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def lost(self) -> bool:
        """Whether it is of no use any more."""
        return self._over.is_set() or self._task is None or self._task.done()

    # ── its life ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def open(self) -> None:
        """Connect, within the server's patience.

        Raises:
            UnreachableError: that did not succeed.
            ConfigurationError: it cannot even be tried.
        """
        until = time.monotonic() + self._server.patience + (PERSON if self._server.oauth else 0.0)
        try:
            await self._try("auto", until)
        except MCPError as error:
            if error.code != wire.CONNECTION_CLOSED or self._server.command is None:
                raise self.unreachable(error) from error
            # some older servers end when they are asked for what they do not know: so not to ask is tried, once
            self._over.clear()
            try:
                await self._try("legacy", until)
            except Exception as again:
                raise self.unreachable(again) from again
        except TukangError:
            raise
        except Exception as error:
            raise self.unreachable(error) from error

    async def _try(self, mode: str, until: float) -> None:
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        name = f"{CONNECTION}{self._server.name}"
        self._task = asyncio.create_task(self._hold(mode, opened), name=name)
        try:
            done, _ = await asyncio.wait((opened,), timeout=until - time.monotonic())
        except asyncio.CancelledError:
            self._task.cancel()
            raise
        if not done:
            opened.cancel()
            self._task.cancel()
            raise TimeoutError(f"it did not answer within {self._server.patience:g} seconds")
        opened.result()

    async def _hold(self, mode: str, opened: asyncio.Future[None]) -> None:
        """Enter, say so, wait until it is over, and leave: all in this one task, as the SDK's contexts want it."""
        try:
            async with contextlib.AsyncExitStack() as stack:
                stack.callback(self._over.set)
                self._client = await stack.enter_async_context(self._made(mode))
                if self._listens:
                    listening = asyncio.create_task(self._listen(), name=f"mcp-listen:{self._server.name}")
                    stack.push_async_callback(_ended, listening)
                if not opened.done():
                    opened.set_result(None)
                await self._over.wait()
                stack.callback(_hurried(_LEAVING).cancel)
        except asyncio.CancelledError:
            if not opened.done():
                opened.set_exception(ConnectionError("it was given up"))
            raise
        except BaseException as error:
            if not opened.done():
                opened.set_exception(_innermost(error))
            else:
                _LOG.info("%s: the connection was lost: %s", self._server.name, self._clean(words(error)))
        finally:
            self._over.set()

    def _made(self, mode: str) -> Client:
        asks, self._words = self._asks, LastWords(self._server)
        by_process = self._server.command is not None
        return Client(
            process(self._server, self._words, self._over.set) if by_process else address(self._server),
            mode=mode,
            cache=None,  # what is offered is asked for when it has changed, and kept by the link
            client_info=wire.Implementation(name="tukang", version=version("tukang")),
            elicitation_callback=asks.elicited if asks.elicit else None,
            sampling_callback=asks.sampled if asks.sample else None,
            logging_callback=self._logged,
            message_handler=self._heard,
        )

    async def close(self) -> None:
        """End it, and wait until it has ended: a server that was started here is gone then."""
        self._over.set()
        if self._task is not None:
            await asyncio.wait((self._task,))

    def end(self) -> None:
        """End it, and do not wait."""
        self._over.set()

    def unreachable(self, error: BaseException) -> UnreachableError:
        """The error that says why, without secrets."""
        said = error.message if isinstance(error, MCPError) else str(error) or type(error).__name__
        if isinstance(error, MCPError) and error.code == wire.CONNECTION_CLOSED:
            said = "it ended before it answered"
        last = f"; its last words: {self._words.text}" if self._words.text else ""
        noise = "; it writes what is not MCP to its standard output" if self._noise else ""
        text = f"MCP server {self._server.name!r} ({self._server.where}) cannot be reached: {said}{noise}{last}"
        return UnreachableError(self._clean(text))

    def _clean(self, text: str) -> str:
        return Remover(self._server.secrets, in_errors=True).text(text)

    # ── what it says by itself ───────────────────────────────────────────────────────────────────────────────────────

    async def _heard(self, message: Any) -> None:
        if isinstance(message, Exception):
            self._noise += 1
        elif isinstance(
            message,
            (
                wire.ToolListChangedNotification,
                wire.ResourceListChangedNotification,
                wire.PromptListChangedNotification,
            ),
        ):
            self._changed()

    async def _logged(self, params: wire.LoggingMessageNotificationParams) -> None:
        _LOG.log(_LEVELS.get(params.level, 40), "%s: %s", self._server.name, self._clean(str(params.data)[:1000]))

    @property
    def _listens(self) -> bool:
        """Whether changes are to be asked for: in the newer protocol they do not come by themselves."""
        assert self._client is not None
        tools = self._client.server_capabilities.tools
        newer = self._client.session.discover_result is not None
        return newer and tools is not None and bool(tools.list_changed)

    async def _listen(self) -> None:
        assert self._client is not None
        while not self._over.is_set():
            with contextlib.suppress(MCPError, SubscriptionLost, TimeoutError):
                async with self._client.listen(tools_list_changed=True) as events:
                    self._changed()  # whatever was said before was not heard
                    async for _ in events:
                        self._changed()
            await asyncio.sleep(_AGAIN)

    # ── what it is asked ─────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def client(self) -> Client:
        """The SDK's client, connected."""
        assert self._client is not None, "it is opened first"
        return self._client

    async def offer(self) -> Offer:
        """What the server offers now: all pages of it."""
        has = self.client.server_capabilities
        tools = await pages(self._page) if has.tools is not None else []
        return Offer(tuple(tools), has.resources is not None, has.prompts is not None)

    async def _page(self, cursor: str | None) -> tuple[list[wire.Tool], str | None]:
        page = await self.client.list_tools(cursor=cursor)
        return page.tools, page.next_cursor

    async def call(
        self, tool: str, arguments: dict[str, Any], sending: Sending, tell: Tell | None
    ) -> wire.CallToolResult:
        """Call a tool. Cancelling this tells the server.

        Not by `Client.call_tool`, which throws a result away, and lists the tools once more, when the result does not fit the
        schema that was promised: by then the call was made.

        Raises:
            MCPError: it was answered with an error, or not at all; `sending` says whether it had left.
        """
        SENDING.set(sending)
        session = self.client.session
        responses: wire.InputResponses | None = None
        state: str | None = None
        told = _progress(tell, self._clean)
        for _ in range(_ROUNDS):
            params = wire.CallToolRequestParams(
                name=tool, arguments=arguments, input_responses=responses, request_state=state
            )
            request = wire.CallToolRequest(params=params)
            try:
                result = await session.send_request(request, _ANSWER, progress_callback=told)
            except MCPError as error:
                if error.code != wire.HEADER_MISMATCH:
                    raise
                await pages(self._page)  # the SDK learns from it which headers the server wants to see
                result = await session.send_request(request, _ANSWER, progress_callback=told)
            if isinstance(result, wire.CallToolResult):
                return result
            responses, state = await self._answers(result), result.request_state
        raise MCPError(wire.INVALID_REQUEST, f"the server asked for more {_ROUNDS} times, and never had enough")

    async def _answers(self, asked: wire.InputRequiredResult) -> wire.InputResponses:
        """What the server wants to know before it goes on. Without a handler the SDK's own refuses."""
        answers: wire.InputResponses = {}
        for key, request in (asked.input_requests or {}).items():
            context = ClientRequestContext(session=self.client.session, request_id=key)
            said = await self.client.session.dispatch_input_request(context, request)
            if isinstance(said, wire.ErrorData):
                raise MCPError(said.code, f"it asks for something that is not given here: {said.message}")
            answers[key] = said
        if not answers:
            await asyncio.sleep(0.1)  # it only wants to be asked again
        return answers


async def pages(page: Callable[[str | None], Awaitable[tuple[list[Any], str | None]]]) -> list[Any]:
    """All that a server lists, page by page, as far as that is reasonable."""
    found: list[Any] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        more, cursor = await page(cursor)
        found += more
        if cursor is None or len(found) >= _TOOLS:
            break
    return found[:_TOOLS]


def _progress(tell: Tell | None, clean: Callable[[str], str]) -> ProgressFnT | None:
    if tell is None:
        return None

    async def told(progress: float, total: float | None, message: str | None) -> None:
        percent = None if not total or total <= 0 else max(0.0, min(100.0, 100.0 * progress / total))
        tell(percent, clean((message or "")[:500]))

    return told


def _hurried(seconds: float) -> asyncio.TimerHandle:
    """Cancels the current task after so many seconds."""
    me = asyncio.current_task()
    assert me is not None, "within a task"
    return asyncio.get_running_loop().call_later(seconds, me.cancel)


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait((task,))


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        error = group.exceptions[0]
    return error
