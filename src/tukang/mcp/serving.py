"""What is served to others of an agent: its tools, and itself as one more. Whatever brings the calls stands elsewhere.

It knows neither the SDK nor a transport: a call comes in as values, and goes out as the JSON of `tools/call`'s result. A tool
runs through `tukang.calling`, the agent as any turn of its.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from tukang.agent import Agent
from tukang.calling import OtherCallError, call
from tukang.errors import ConfigurationError, SessionBusyError
from tukang.loop.events import Event
from tukang.loop.permissions import Principal
from tukang.mcp import asking, forms
from tukang.mcp.returning import Returned, returned
from tukang.memory.keyed import PATIENCE, KeyedSession, Log, MemoryLog
from tukang.memory.redaction import Redaction
from tukang.runtime.journal import JournalConflictError
from tukang.runtime.people import Approval, Verdict
from tukang.runtime.signals import Signal
from tukang.tools.json_text import Unreadable, canonical
from tukang.tools.names import nearest
from tukang.tools.outcome import Fault
from tukang.tools.outputs import MemoryOutputs
from tukang.tools.tool import Tool

if TYPE_CHECKING:
    from tukang.memory.stores.base import Store

Listen = Callable[[Event | Signal], None]
Decide = Callable[[Approval], Awaitable[Verdict | None]]
"""Asks whoever called; None when they cannot be asked, or say nothing."""

BY_OPERATOR = "the operator"
"""Who permitted a call, where it was permitted beforehand."""

MOST_CONVERSATIONS = 1000
"""Conversations of which long results are kept; the one that was used least recently goes first."""


class Caller(msgspec.Struct, frozen=True):
    """Who calls, as the host knows them.

    Args:
        principal: what they may use; None for somebody who was granted nothing.
        context: the host's own object for their turns; see `Agent.start`.
    """

    principal: Principal | None = None
    context: Any = None

    @property
    def id(self) -> str:
        """What tells them from others."""
        return self.principal.id if self.principal else ""


class Asked(msgspec.Struct, frozen=True):
    """A call from outside.

    Args:
        tool, arguments: as they were given.
        caller: who calls.
        conversation: a name for what belongs together: tools find it as `CallContext.session`.
        key: the caller's idempotency key: with it, a call that was made before is not made again.
        seconds: how long it may take; None for the agent's own limits.
    """

    tool: str
    arguments: Mapping[str, Any] | None = None
    caller: Caller = Caller()
    conversation: str = "mcp"
    key: str | None = None
    seconds: float | None = None

    @property
    def session(self) -> str:
        """The conversation, with whose it is: nobody reaches another one's by guessing its name, or by having such a name."""
        if not self.caller.id:
            return f"/{self.conversation}" if "/" in self.conversation else self.conversation
        return f"{quote(self.caller.id, safe=' :@', errors='surrogatepass')}/{self.conversation}"


class Service:
    """An agent's tools, to be called from outside.

    Args:
        agent: whose.
        tools: the names of those that are served; None for all.
        ask: whether the agent itself is served, as one more tool.
        approved: tools whose calls are permitted beforehand, by whoever runs the server.
        log: where calls with a key are written down; in memory when None.
        store: where the agent's own conversations are kept; in memory when None.
        way_out: what a caller is told to do about a call that nobody could be asked about; `{tool}` is its tool.

    Raises:
        ConfigurationError: there is no tool of a name that is given, or the agent's own tool has the name of another.
    """

    def __init__(
        self,
        agent: Agent,
        *,
        tools: Collection[str] | None = None,
        ask: bool = True,
        approved: Collection[str] = (),
        log: Log | None = None,
        store: str | Store | None = None,
        way_out: str = "Whoever runs the server can permit it beforehand: approved=[{tool!r}].",
    ) -> None:
        names = [tool.name for tool in agent.toolbox]
        for name in (*(tools or ()), *approved):
            if name not in names:
                raise ConfigurationError(f"there is no tool {name!r} to serve{_near(name, names)}")
        self.agent = agent
        self._only = None if tools is None else frozenset(tools)
        self.asked = asking.AgentTool(agent, store, taken=names) if ask else None
        if not self.names and self.asked is None:
            raise ConfigurationError(
                f"agent {agent.name!r} has no tools, and is not to be asked: nothing is left to serve"
            )
        self._approved = frozenset(approved)
        self._log = log or MemoryLog()
        self._way_out = way_out
        self._redactions: dict[frozenset[str], Redaction] = {}
        self._returned: dict[str, tuple[Tool, Returned | None]] = {}
        self._room: dict[str, asyncio.Semaphore] = {}
        self._outputs: dict[str, MemoryOutputs] = {}
        self._under_way = 0
        self.idle = asyncio.Event()
        """Set while no call is under way."""
        self.idle.set()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the agent's tools that are served, as it has them now."""
        return tuple([tool.name for tool in self.agent.toolbox if self._only is None or tool.name in self._only])

    def listed(self, caller: Caller) -> list[dict[str, Any]]:
        """What this caller may call, as `tools/list` gives it."""
        scopes = caller.principal.scopes if caller.principal else ()
        toolbox, names = self.agent.toolbox, self.names
        permitted = {contract.name for contract in toolbox.permitted(scopes)}
        shown = [tool for tool in toolbox if tool.name in permitted and tool.name in names]
        own = [] if self.asked is None else [self.asked.described()]
        return [forms.described(tool, self._returns(tool)) for tool in shown] + own

    async def call(self, asked: Asked, decide: Decide | None = None, listen: Listen | None = None) -> dict[str, Any]:
        """Make a call; what came of it, as `tools/call` gives it. Whatever is wrong with the call is data.

        Cancelling it ends the call well first.

        Args:
            asked: the call.
            decide: asks the caller whether a call may be made.
            listen: is told every event and signal of the turn that it is.
        """
        if asked.key is not None and not asked.key.strip():
            return forms.fault(Fault("invalid_arguments", "the idempotency key is empty"))
        self._under_way += 1
        self.idle.clear()
        try:
            return await self._made(asked, decide, listen)
        finally:
            self._under_way -= 1
            if not self._under_way:
                self.idle.set()

    async def _made(self, asked: Asked, decide: Decide | None, listen: Listen | None) -> dict[str, Any]:
        if asked.seconds is not None and asked.seconds <= 0:
            return forms.fault(Fault("not_run", "there was no time left to start it"))
        if self.asked is not None and asked.tool == self.asked.name:
            return await self.asked.call(asked, self._approver(decide), listen)
        try:
            arguments = "" if asked.arguments is None else canonical(dict(asked.arguments))
        except Unreadable as error:
            return forms.fault(Fault("invalid_arguments", f"the arguments cannot be read: {error.reason}", error.hint))
        except RecursionError:
            return forms.fault(Fault("invalid_arguments", "the arguments cannot be read: they are nested too deep"))
        room = self._room_for(asked.tool)
        if room is None:
            return await self._tool(asked, arguments, self._approver(decide), listen)
        place = _Place(room)
        try:
            await place.take()
            approver = self._approver(None if decide is None else place.left_while_asking(decide))
            return await self._tool(asked, arguments, approver, listen)
        finally:
            place.give_up()

    async def _tool(
        self,
        asked: Asked,
        arguments: str,
        approver: Callable[[Approval], Awaitable[Verdict | None]],
        listen: Listen | None,
    ) -> dict[str, Any]:
        tool = self.agent.toolbox.get(asked.tool)
        found = None if tool is None else self._returns(tool)
        patience = PATIENCE if asked.seconds is None else min(asked.seconds, PATIENCE)
        while True:
            running = call(
                self.agent,
                asked.tool,
                arguments,
                context=asked.caller.context,
                session=KeyedSession(asked.session, self._log, self._kept(asked), self._redaction(), patience),
                listen=listen,
                turn=None if asked.key is None else _turn(asked),
                approve=approver,
                principal=asked.caller.principal,
                seconds=asked.seconds,
                offered=self.names,
                whole=found is not None,
            )
            try:
                return forms.result_of(await running.answer(), found)
            except JournalConflictError:
                continue  # somebody else makes the same call: wait for what they get
            except SessionBusyError as error:
                return forms.fault(Fault("outcome_unknown", str(error)))  # what is under way there may yet happen
            except OtherCallError as error:
                return forms.fault(Fault("refused", str(error)))

    def _returns(self, tool: Tool) -> Returned | None:
        """What a tool returns; found out once."""
        known = self._returned.get(tool.name)
        if known is None or known[0] is not tool:
            known = self._returned[tool.name] = (tool, returned(tool))
        return known[1]

    def _room_for(self, name: str) -> asyncio.Semaphore | None:
        """The room for calls of a tool that says how many of them may run at one time."""
        tool = self.agent.toolbox.get(name)
        if tool is None or tool.policy.parallel is None:
            return None
        return self._room.setdefault(name, asyncio.Semaphore(tool.policy.parallel))

    def _approver(self, decide: Decide | None) -> Callable[[Approval], Awaitable[Verdict | None]]:
        async def decided(approval: Approval) -> Verdict | None:
            if approval.tool in self._approved:
                return approval.approve(by=BY_OPERATOR)
            verdict = None if decide is None else await decide(approval)
            if verdict is not None:
                return verdict
            way_out = self._way_out.format(tool=approval.tool)
            return approval.refuse(f"It needs somebody's permission, and this client cannot ask for it. {way_out}")

        return decided

    def _redaction(self) -> Redaction:
        """What is taken out of what is written; made anew when another secret was seen."""
        secrets = self.agent.secrets
        if secrets not in self._redactions:
            self._redactions = {secrets: Redaction(secrets=secrets)}
        return self._redactions[secrets]

    def _kept(self, asked: Asked) -> MemoryOutputs:
        """Where the long results of a caller's conversation are kept."""
        outputs = self._outputs.pop(asked.session, None) or MemoryOutputs()
        self._outputs[asked.session] = outputs
        while len(self._outputs) > MOST_CONVERSATIONS:
            del self._outputs[next(iter(self._outputs))]
        return outputs


class _Place:
    """A call's place among those of its tool that run at one time. Whoever only waits for somebody's word holds none."""

    def __init__(self, room: asyncio.Semaphore) -> None:
        self._room = room
        self._held = self._over = False

    async def take(self) -> None:
        await self._room.acquire()
        self._held = True
        if self._over:
            self._leave()

    def give_up(self) -> None:
        """The call is over."""
        self._over = True
        self._leave()

    def _leave(self) -> None:
        if self._held:
            self._held = False
            self._room.release()

    def left_while_asking(self, decide: Decide) -> Decide:
        """Asks the caller; meanwhile another call may run."""

        async def decided(approval: Approval) -> Verdict | None:
            self._leave()
            verdict = await decide(approval)
            await self.take()
            return verdict

        return decided


def _turn(asked: Asked) -> str:
    """The id of the turn that a key stands for. Each caller has keys of their own."""
    return "k" + hashlib.sha256(f"{asked.caller.id}\n{asked.key}".encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _near(name: str, known: Collection[str]) -> str:
    close = nearest(name, known, most=1)
    return f"; did you mean {close[0]!r}?" if close else f". There are: {', '.join(known) or 'none'}"
