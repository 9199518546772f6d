"""One call of a tool that no model of ours asked for: somebody else's model did, over MCP or through AWS Lambda.

It is a turn of one round like any other, whose "model" says what was asked, and whose tool is terminal. So such a call is
checked, permitted, asked about, timed, run and written down by the one loop; there is no second way to run a function.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from typing import Any

from msgspec.structs import replace

from tukang.agent import Agent
from tukang.conversation import Message, ToolCall, user
from tukang.errors import TukangError
from tukang.loop.events import Event, TurnStarted
from tukang.loop.limits import Limits
from tukang.loop.permissions import Principal
from tukang.memory.session import Floor, Session
from tukang.models.base import ArgumentsDelta, CallBegan, ModelEvent, ModelRequest, ReplyEnded, TextDelta
from tukang.running import Running
from tukang.runtime.people import Approver
from tukang.runtime.signals import Signal
from tukang.runtime.turn import Turn
from tukang.tools.checking import digest
from tukang.tools.policy import Policy

_NOTHING_TO_ADD = "-"
"""What is said when the call did not go well: nobody reads it, because the call's own result is what was wanted."""


DECIDING = 600.0
"""Seconds that a person has to decide about a call from outside, when the agent's limits say nothing: somebody waits."""


class OtherCallError(TukangError):
    """A key was given again, with another call."""


def call(
    agent: Agent,
    tool: str,
    arguments: str = "",
    *,
    context: Any = None,
    session: Session | None = None,
    listen: Callable[[Event | Signal], None] | None = None,
    turn: str | None = None,
    approve: Approver | None = None,
    principal: Principal | None = None,
    seconds: float | None = None,
    offered: Collection[str] | None = None,
    whole: bool = False,
) -> Running[Any]:
    """The call as a turn that asks no model: the one step of its answer is what became of it.

    Args:
        agent: whose tool it is, and whose limits, rules and secrets hold.
        tool, arguments: as they were given; checked like those of any call.
        context, listen, approve, principal: see `Agent.start`.
        session: under whose name it runs, and where it is written down.
        turn: an id of the caller's own, which stands for this one call: it is run once, and given again as it ended. Only
            with a session that lasts.
        seconds: how long it may take, where that is less than the agent's limits say.
        offered: the tools that may be called; None for all that the principal may use.
        whole: give the result whole, however long; otherwise as a model gets it.

    Its answer raises `OtherCallError` when a turn of that id was begun for another call.
    """
    assert turn is None or (session is not None and session.lasts), "only a session that lasts knows turns by their id"
    equipment = agent.equipped(context, None, session, approve)
    asked = AsAsked(tool, arguments)
    started = TurnStarted(
        at=0.0,
        turn=turn or uuid.uuid4().hex[:12],
        trigger=asked.trigger,
        limits=limits_for_one(agent.limits, seconds),
        policies=policies_for_one(equipment.toolbox.policies, tool, whole=whole),
        contracts=equipment.contracts,
        models=(asked.name,),
        agent=agent.name,
        session=session.id if session else None,
        language=agent.language,
        principal=principal,
        rules=agent.rules,
    )

    def made(floor: Floor) -> Turn:
        begun = floor.left.started if floor.left else started
        asked.must_be_of(begun.trigger)
        turn = agent.turn(floor, begun, (asked,), equipment, told="")
        if offered is None:
            return turn
        shown = turn.toolbox.contracts if turn.offered is None else turn.offered
        return replace(turn, offered=tuple([contract for contract in shown if contract.name in offered]))

    return Running(made, session, listen=listen, turn=turn, language=agent.language)


class AsAsked:
    """A model that asks for exactly one call, and then has nothing to add.

    Args:
        tool: the tool's name, as it was given.
        arguments: their JSON, as it was given.
    """

    name = provider = "asked"

    def __init__(self, tool: str, arguments: str) -> None:
        self._tool = tool
        self._arguments = arguments

    @property
    def trigger(self) -> Message:
        """What begins the turn. It tells this call from any other, and holds no argument: those stand in the call."""
        return user(f"{self._tool[:64]} {digest(self._tool, self._arguments)}")

    def must_be_of(self, trigger: Message) -> None:
        """Hold a turn that is gone on with against what is asked now.

        Raises:
            OtherCallError: it was begun for another call.
        """
        if trigger.parts != self.trigger.parts:
            raise OtherCallError("this key was given before, with another tool or other arguments: use a new key")

    async def prepare(self, request: ModelRequest) -> None:
        """There is nothing to load."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """The call; words, once it was made."""
        if any(isinstance(part, ToolCall) for message in request.messages for part in message.parts):
            yield TextDelta(_NOTHING_TO_ADD)
            yield ReplyEnded("stop")
            return
        yield CallBegan(0, self._tool)
        yield ArgumentsDelta(0, self._arguments)
        yield ReplyEnded("calls")


def limits_for_one(limits: Limits, seconds: float | None) -> Limits:
    """An agent's limits, for a turn of one call. Nothing is kept for a forced answer, which takes no time here."""
    bounds = [bound for bound in (limits.seconds, seconds) if bound is not None]
    return Limits(
        rounds=1,
        seconds=min(bounds) if bounds else None,
        calls=1,
        faults=0,
        reserve=0.0,
        attempts=1,
        continuations=0,
        deciding=limits.deciding or DECIDING,
    )


def policies_for_one(policies: Mapping[str, Policy], tool: str, *, whole: bool) -> Mapping[str, Policy]:
    """The policies of a turn that ends with one tool's result.

    Args:
        policies: of the toolbox.
        tool: the tool that is called.
        whole: whether its result is wanted whole, however long it is: by a program, not by a model.
    """
    own = policies.get(tool)
    if own is None or own.long:  # the call of a long one returns a task, after which there is nothing to ask either
        return policies
    return {**policies, tool: replace(own, terminal=True, max_output=None if whole else own.max_output)}
