"""Our tools as an MCP server, on the official SDK's low-level server: what it lists, and how a call is brought in.

The protocol is the SDK's, and what a call does is `serving`'s. Here is what lies between: who calls and in which
conversation, progress, cancelling, and asking the caller's user for permission (elicitation). In the versions of the protocol
until 2025-11-25 the question goes to the client while its request waits; from 2026-07-28 on the request is answered with the
question, and comes again with the answer (https://modelcontextprotocol.io/specification, SEP-2322). The call itself waits
here in both cases, like one whose user thinks at a terminal.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping
from importlib.metadata import version
from typing import Any, cast

import anyio
import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from tukang.conversation import ToolCall
from tukang.loop.events import Event, ModelReplied
from tukang.mcp.serving import Asked, Caller, Service
from tukang.runtime.people import Approval, Verdict
from tukang.runtime.signals import Progress, Signal

KEY = "tukang/idempotency_key"
"""In a request's `_meta`: with the same key, the same call is made once, and given again as it ended."""

SESSION = "tukang/session"
"""In a request's `_meta`: the conversation that the call belongs to, where that is not the connection's own."""

QUESTION = "permission"
"""The name of the question, where it goes back with the answer to a request."""

MOST_NEWS = 100
"""Pieces of progress that wait to be sent; the oldest make room."""

MOST_OPEN = 1000
"""Questions that may be open at one time; the oldest is then not answered any more."""

_PATIENCE = 5.0
"""Seconds that a cancelled call has to end well."""

_FORM = {
    "type": "object",
    "properties": {
        "approve": {"type": "boolean", "title": "Approve", "description": "Whether exactly this call may run, once"},
        "reason": {"type": "string", "title": "Reason", "description": "Why not; the model reads it"},
    },
    "required": ["approve"],
}

Context = ServerRequestContext[Any, Any]
Who = Callable[[Any], Caller]
"""From what the transport knows of a request (an HTTP request; None over stdio) to who calls."""


class _Question(msgspec.Struct, frozen=True):
    approval: Approval
    answer: asyncio.Future[Verdict | None]


class _Step(msgspec.Struct, frozen=True):
    percent: float | None
    message: str


class _Ongoing:
    """A call under way. It may outlive the request that began it, while its question is with the client."""

    def __init__(self, service: Service, asked: Asked) -> None:
        self.asked = asked
        self.news: asyncio.Queue[_Question | _Step] = asyncio.Queue()
        self.task = asyncio.create_task(service.call(asked, self._decide, self._listen))
        self.sent = 0.0

    async def _decide(self, approval: Approval) -> Verdict | None:
        question = _Question(approval, asyncio.get_running_loop().create_future())
        self.news.put_nowait(question)
        return await question.answer

    def _listen(self, told: Event | Signal) -> None:
        if isinstance(told, Signal) and isinstance(told.delta, Progress):
            self._tell(_Step(told.delta.percent, told.delta.message))
        elif isinstance(told, ModelReplied):
            names = [part.name for part in told.parts if isinstance(part, ToolCall)]
            if names and names != [self.asked.tool]:
                self._tell(_Step(None, ", ".join(names)))

    def _tell(self, step: _Step) -> None:
        if self.news.qsize() < MOST_NEWS:
            self.news.put_nowait(step)

    def how_far(self, step: _Step) -> float:
        """A number that only grows, as the protocol wants it: the percentage where it is known."""
        if step.percent is not None and step.percent > self.sent:
            self.sent = step.percent
        else:
            self.sent += 0.001 if step.percent is not None else 1.0
        return self.sent


class _Desk:
    """Where calls come in."""

    def __init__(self, service: Service, who: Who) -> None:
        self.service = service
        self._who = who
        self._run = f"mcp-{secrets.token_hex(4)}"
        self._open: dict[str, tuple[_Ongoing, _Question]] = {}

    async def list(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:  # noqa: ARG002
        listed = self.service.listed(self._who(context.request))
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool, by_name=False) for tool in listed])

    async def call(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        asked = self._asked(context, params)
        if params.request_state is None:
            ongoing = _Ongoing(self.service, asked)
        else:
            ongoing = self._answered(params, asked)
        try:
            return await self._until(ongoing, context)
        except BaseException:  # cancelled, or the client is gone
            ongoing.task.cancel()
            with anyio.move_on_after(_PATIENCE, shield=True):
                await asyncio.wait([ongoing.task])
            raise

    def _asked(self, context: Context, params: types.CallToolRequestParams) -> Asked:
        meta = cast("dict[str, Any]", params.meta or {})
        key, session = meta.get(KEY), meta.get(SESSION)
        for name, value in ((KEY, key), (SESSION, session)):
            if value is not None and not (isinstance(value, str) and value.strip()):
                raise MCPError(types.INVALID_PARAMS, f"_meta[{name!r}] must be a text that is not blank")
        headers = cast("Mapping[str, str]", getattr(context.request, "headers", None) or {})
        conversation = session or headers.get("mcp-session-id") or self._run
        return Asked(params.name, params.arguments, self._who(context.request), conversation, key)

    async def _until(self, ongoing: _Ongoing, context: Context) -> types.CallToolResult | types.InputRequiredResult:
        """Follow a call until it has ended, or its question is to go back with the answer to this request."""
        while True:
            news = asyncio.ensure_future(ongoing.news.get())
            try:
                await asyncio.wait([ongoing.task, news], return_when=asyncio.FIRST_COMPLETED)
            finally:
                if not news.done():
                    news.cancel()
            if not news.cancelled() and news.done():
                told = news.result()
                if isinstance(told, _Step):
                    await self._progress(ongoing, told, context)
                elif question := await self._ask(ongoing, told, context):
                    return question
            elif ongoing.task.done():
                return types.CallToolResult.model_validate(ongoing.task.result(), by_name=False)

    async def _progress(self, ongoing: _Ongoing, step: _Step, context: Context) -> None:
        total = None if step.percent is None else 100.0
        await context.session.report_progress(ongoing.how_far(step), total, step.message or None)

    # ── permission ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def _ask(self, ongoing: _Ongoing, question: _Question, context: Context) -> types.InputRequiredResult | None:
        """Ask the client's user. What is returned, if anything, is how this request is answered."""
        if question.answer.done():  # nobody waits for it any more
            return None
        if not _can_ask(context):
            question.answer.set_result(None)
            return None
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            await self._ask_now(question, context)
            return None
        state = secrets.token_urlsafe(32)
        while len(self._open) >= MOST_OPEN:
            self._close(next(iter(self._open)))
        self._open[state] = (ongoing, question)
        question.answer.add_done_callback(lambda _: self._open.pop(state, None))
        params = types.ElicitRequestFormParams(message=_message(question.approval), requested_schema=_FORM)
        return types.InputRequiredResult(
            input_requests={QUESTION: types.ElicitRequest(params=params)}, request_state=state
        )

    async def _ask_now(self, question: _Question, context: Context) -> None:
        asking = asyncio.ensure_future(
            context.session.elicit_form(_message(question.approval), _FORM, context.request_id)
        )
        try:
            await asyncio.wait([asking, question.answer], return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not asking.done():
                asking.cancel()  # the time to decide is over, or the call was cancelled
        if question.answer.done():
            return
        said = None if asking.exception() else asking.result()
        question.answer.set_result(_verdict(question.approval, said))

    def _answered(self, params: types.CallToolRequestParams, asked: Asked) -> _Ongoing:
        """The call whose question is answered; only by who was asked, and only with the same call."""
        found = self._open.get(params.request_state or "")
        if found is None or found[0].asked != asked or found[1].answer.done():
            raise MCPError(types.INVALID_PARAMS, "no question of this call is open any more: make the call again")
        ongoing, question = found
        said = (params.input_responses or {}).get(QUESTION)
        question.answer.set_result(_verdict(question.approval, said if isinstance(said, types.ElicitResult) else None))
        return ongoing

    def _close(self, state: str) -> None:
        _, question = self._open.pop(state)
        if not question.answer.done():
            question.answer.set_result(None)

    async def close(self) -> None:
        """End what waits for an answer that cannot come any more."""
        tasks = [ongoing.task for ongoing, _ in self._open.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_PATIENCE)


def build(service: Service, who: Who) -> Server[Any]:
    """An MCP server of the SDK's, for any of its transports.

    Args:
        service: what is served.
        who: says who calls.
    """
    desk = _Desk(service, who)

    @contextlib.asynccontextmanager
    async def lifespan(_: Server[Any]) -> AsyncGenerator[None]:
        try:
            yield None
        finally:
            await desk.close()

    return Server(
        f"tukang:{service.agent.name}",
        version=version("tukang"),
        lifespan=lifespan,
        on_list_tools=desk.list,
        on_call_tool=desk.call,
    )


def _can_ask(context: Context) -> bool:
    """Whether the client has a form to show to its user."""
    capabilities = context.session.client_capabilities
    able = capabilities.elicitation if capabilities else None
    return able is not None and (able.form is not None or able.url is None)


def _message(approval: Approval) -> str:
    arguments = json.dumps(dict(approval.arguments), ensure_ascii=False, indent=2, default=str)
    why = f"{approval.why}\n" if approval.why else ""
    return f"{approval.tool} [{approval.effect}]\n{why}{arguments}"


def _verdict(approval: Approval, said: types.ElicitResult | None) -> Verdict | None:
    """What the answer means. All that is not clearly a yes is a no; where nobody could answer, it is nothing."""
    if said is None:
        return None
    content = said.content or {}
    if said.action == "accept" and content.get("approve") is True:
        return approval.approve(by="the client's user")
    reason = content.get("reason")
    return approval.refuse(reason if isinstance(reason, str) else "", by="the client's user")
