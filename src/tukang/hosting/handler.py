"""The function that Lambda invokes. It keeps an event loop from one invocation to the next, and the toolbox with it.

What is costly happens once for each instance, before its first answer; whoever makes the toolbox is asked only then. Nothing
that goes wrong in an invocation is told to the caller beyond that it went wrong; the log gets it, without secrets.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, cast

import msgspec

from tukang.agent import Agent
from tukang.calling import AsAsked
from tukang.hosting import rpc
from tukang.hosting.events import (
    Event,
    Invocation,
    UnreadableBodyError,
    UnreadableEventError,
    http_answer,
    names_tool,
    read,
)
from tukang.hosting.identity import Grants
from tukang.loop.limits import Limits
from tukang.loop.permissions import Principal, Rule
from tukang.mcp.serving import Asked, Caller, Service
from tukang.memory.keyed import Log
from tukang.runtime.vault import Source
from tukang.secrets import Remover, secrets_in
from tukang.tools.outcome import Fault, FaultKind

RESERVE = 0.5
"""Seconds of an invocation that are kept for writing its answer down."""

LARGEST = 6 * 1024 * 1024 - 64 * 1024
"""Bytes of an answer: Lambda gives back 6 MB at most."""


def toolbox(
    tools: Iterable[Any],
    *,
    name: str = "tools",
    limits: Limits | None = None,
    rules: Iterable[Rule] = (),
    secrets: Source | None = None,
) -> Agent:
    """Tools to be served, with no model behind them; see `Agent` for what they and the rest may be."""
    return Agent(AsAsked("", ""), tools=tools, name=name, limits=limits, rules=rules, secrets=secrets)


class LambdaHandler:
    """The function: set it as the handler of an AWS Lambda function.

    Args:
        make: makes the agent whose tools are served (see `toolbox`), when they are first wanted.
        tools: the names of those that are served; None for all.
        approved: tools whose calls are permitted beforehand. Nobody can be asked here, so any other call that needs
            permission is refused.
        grants: what callers are granted.
        context: from who calls to the host's own object for their call; see `Agent.start`.
        log: where calls with an idempotency key are written down. In memory when None: that holds for one instance of the
            function only, and not for the others that Lambda starts beside it.
    """

    def __init__(
        self,
        make: Callable[[], Agent],
        *,
        tools: Collection[str] | None = None,
        approved: Collection[str] = (),
        grants: Grants | None = None,
        context: Callable[[Principal | None], Any] | None = None,
        log: Callable[[], Log] | None = None,
    ) -> None:
        self._make = make
        self._tools = tools
        self._approved = approved
        self._grants = grants or Grants()
        self._context = context
        self._log = log
        self._service: Service | None = None
        self._runner: asyncio.Runner | None = None
        self._one_at_a_time = threading.Lock()

    def __call__(self, event: Any, context: Any) -> Any:
        """Answer one invocation; see `events` for what may come in."""
        with self._one_at_a_time:
            if self._runner is None:
                self._runner = asyncio.Runner()
            try:
                return self._runner.run(self._answer(event, context))
            except KeyboardInterrupt:
                raise
            except Exception as error:
                _log_fault(error)
                return _broken(event, context)

    def close(self) -> None:
        """End what it keeps from one invocation to the next. Lambda has no need of it: it ends the whole process."""
        with self._one_at_a_time:
            if self._runner is not None:
                self._runner.close()
                self._runner = None

    @property
    def service(self) -> Service:
        """What is served; made on first use."""
        if self._service is None:
            self._service = Service(
                self._make(),
                tools=self._tools,
                ask=False,
                approved=self._approved,
                log=self._log() if self._log else None,
                way_out="The owner of the function can permit it beforehand: LambdaHandler(…, approved=[{tool!r}]).",
            )
        return self._service

    def tool_schema(self) -> list[dict[str, Any]]:
        """What AgentCore Gateway is told of the tools that a direct caller may use; see `tukang.hosting.gateway`."""
        from tukang.hosting.gateway import tool_schema

        return tool_schema(self.service, Caller(self._grants.direct))

    async def _answer(self, event: Any, context: Any) -> Any:
        try:
            invocation = read(event, getattr(context, "client_context", None))
        except UnreadableBodyError as error:
            return _http(400, rpc.failed(None, rpc.PARSE_ERROR, str(error)))
        except UnreadableEventError as error:
            return rpc.failed(None, rpc.INVALID_REQUEST, str(error))
        principal = self._grants.principal(invocation)
        caller = Caller(principal, self._context(principal) if self._context else None)
        setting = rpc.Setting(caller, invocation.session, invocation.key, _seconds_left(context))
        match invocation.kind:
            case "gateway":
                return await self._for_gateway(invocation, setting)
            case "rpc":
                answer = await rpc.answered(self.service, event, setting)
                return None if answer is None else _bounded(answer, invocation.event)
            case _:
                return await self._over_http(invocation, setting)

    async def _for_gateway(self, invocation: Invocation, setting: rpc.Setting) -> Any:
        """A call of AgentCore Gateway's, which wraps whatever JSON it gets back."""
        asked = Asked(
            tool=invocation.tool,
            arguments=invocation.event,
            caller=setting.caller,
            conversation=setting.session or "gateway",
            key=setting.key,
            seconds=setting.seconds,
        )
        value = _plain(await self.service.call(asked))
        size = len(msgspec.json.encode(value))
        if size > LARGEST:
            return _fault(
                "tool_failed", f"it ran, but its result has {size} bytes, and a function can give back {LARGEST}"
            )
        return value

    async def _over_http(self, invocation: Invocation, setting: rpc.Setting) -> dict[str, Any]:
        """Streamable HTTP as it is without a stream: one POST, one JSON answer."""
        if invocation.method != "POST":
            return http_answer(405, headers={"Allow": "POST"})
        spoken = invocation.headers.get("mcp-protocol-version")
        try:
            message: Any = msgspec.json.decode(invocation.body)
        except (msgspec.DecodeError, RecursionError):
            return _http(400, rpc.failed(None, rpc.PARSE_ERROR, "the body is no JSON that can be read"))
        if spoken is not None and spoken not in rpc.VERSIONS:
            given = cast("Event", message).get("id") if isinstance(message, Mapping) else None
            said = rpc.failed(
                given, rpc.UNSUPPORTED_VERSION, "that version is not spoken here", {"supported": list(rpc.VERSIONS)}
            )
            return _http(400, said)
        answer = await rpc.answered(self.service, message, setting)
        if answer is None:
            return http_answer(202)
        status = 400 if answer.get("error", {}).get("code") == rpc.INVALID_REQUEST else 200
        return _http(status, _bounded(answer, message))


def _seconds_left(context: Any) -> float | None:
    """How long a call may take: what is left of the invocation, less what writing it down takes."""
    left = getattr(context, "get_remaining_time_in_millis", None)
    return None if left is None else left() / 1000 - RESERVE


def _http(status: int, message: Mapping[str, Any]) -> dict[str, Any]:
    return http_answer(status, msgspec.json.encode(message))


def _plain(result: Mapping[str, Any]) -> Any:
    """What came of a call, as the JSON that it is about: the data, the fault, or the words under `result`."""
    if "structuredContent" in result:
        return result["structuredContent"]
    texts = [part["text"] for part in result["content"] if part["type"] == "text"]
    if len(texts) == len(result["content"]) == 1:
        try:
            value: Any = msgspec.json.decode(texts[0])
        except msgspec.DecodeError:
            value = texts[0]
        return cast("Event", value) if isinstance(value, dict) else {"result": value}
    return {"content": result["content"]} | ({"isError": True} if result.get("isError") else {})


def _bounded(answer: dict[str, Any], request: Event) -> dict[str, Any]:
    """The answer, if Lambda can give it back."""
    size = len(msgspec.json.encode(msgspec.json.encode(answer).decode()))  # a text in JSON
    if size <= LARGEST:
        return answer
    return rpc.failed(
        request.get("id"),
        rpc.INTERNAL_ERROR,
        f"the call was made, but its result has {size} bytes, and a function can give back {LARGEST}",
    )


def _fault(kind: FaultKind, message: str) -> Any:
    """A fault, as the data that AgentCore Gateway or a `LambdaTool` is given."""
    return msgspec.json.decode(Fault(kind, message).as_text())


def _broken(event: Any, context: Any) -> Any:
    """What a caller is told when an invocation went wrong, in the form they can read. How far it came is not known."""
    if names_tool(getattr(context, "client_context", None)):
        return _fault("outcome_unknown", "something went wrong around the call, which may have been made")
    whole = cast("Event", event if isinstance(event, Mapping) else {})
    given = whole.get("id") if "jsonrpc" in whole else None
    said = rpc.failed(given, rpc.INTERNAL_ERROR, "the request could not be answered")
    return _http(500, said) if "requestContext" in whole else said


def _log_fault(error: Exception) -> None:
    text = "".join(traceback.format_exception(error))
    print(Remover(secrets_in(os.environ), in_errors=True).text(text), file=sys.stderr, flush=True)
