"""Everything one turn runs on: the live objects that stand behind the values in its journal.

A turn is not a state: it is the model, the tools, and the conversation before. It is put together by the agent and used by
the driver.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from tukang.conversation import Message, ToolCall
from tukang.errors import ConfigurationError
from tukang.grounding.policy import Check
from tukang.loop.events import Event, TurnStarted
from tukang.loop.evolve import evolve
from tukang.loop.state import State
from tukang.models.base import Model, ModelRequest, Settings
from tukang.runtime.cache import ResultCache
from tukang.runtime.desk import Desk
from tukang.runtime.finding import Finder
from tukang.runtime.people import People
from tukang.runtime.vault import Vault
from tukang.tools.contract import Contract
from tukang.tools.hosted import Hosted
from tukang.tools.outputs import Outputs
from tukang.tools.toolbox import Toolbox


class Left(msgspec.Struct, frozen=True):
    """A turn that did not come to its end: its process died, or it was let go to wait.

    Args:
        events: all of its journal.
        state: what they fold to.
        news: what happened since and is not in the journal yet: decisions of people. Their time is when they are heard.
    """

    events: tuple[Event, ...]
    state: State
    news: tuple[Event, ...] = ()

    @property
    def started(self) -> TurnStarted:
        """What the turn began with."""
        first = self.events[0]
        assert isinstance(first, TurnStarted), "a journal begins with TurnStarted"
        return first

    @property
    def waits(self) -> bool:
        """Whether it would do nothing but wait on."""
        return self.state.waiting and not self.news and not self.state.limits.idle_counts

    @classmethod
    def of(cls, events: Sequence[Event], news: Sequence[Event] = ()) -> Left:
        """From the events of its journal, of which there is at least one."""
        state: State | None = None
        for event in events:
            state = evolve(state, event)
        assert state is not None, "a journal begins with TurnStarted"
        return cls(tuple(events), state, tuple(news))


class Turn(msgspec.Struct, frozen=True):
    """What a turn runs on.

    Args:
        started: the event that begins it, less its time: that is the driver's clock's.
        models: who is asked; the next one takes over when one gives up.
        instructions: the system text, rendered for this caller.
        history: the conversation before this turn, valid, as far as it is sent.
        fit: from this turn's messages to those of them that are sent; None for all.
        vault: secrets for functions that need them; None when no tool does.
        offered: what the model is shown of the toolbox, where that is not all of it.
        hosted: the tools on offer that the provider runs.
        people: who decides about calls that need permission. None when decisions come from outside, as events.
        context: the caller's own object, handed to functions that ask for a `CallContext`; never sent to a model.
        outputs: where results that are too long for the model are kept; None when it has no tool to read on with.
        cache: results of earlier turns that may be given again; None when no tool says `cache`.
        tasks: where long work is begun; None when no tool is long.
        finder: finds tools in a toolbox that is too large to be shown whole; None where it is not.
        grounded: the developer's function that says what in an answer is unsupported, where its policy has one.
    """

    started: TurnStarted
    models: tuple[Model, ...]
    toolbox: Toolbox
    instructions: str = ""
    history: Sequence[Message] = ()
    settings: Settings = Settings()
    context: Any = None
    outputs: Outputs | None = None
    cache: ResultCache | None = None
    fit: Callable[[Sequence[Message]], Sequence[Message]] | None = None
    grounded: Check | None = None
    vault: Vault | None = None
    offered: tuple[Contract, ...] | None = None
    hosted: tuple[Hosted, ...] = ()
    people: People | None = None
    tasks: Desk | None = None
    finder: Finder | None = None

    @property
    def offered_names(self) -> frozenset[str] | None:
        """The names of what is offered; None for all of the toolbox."""
        if self.offered is None:
            return None
        return frozenset([contract.name for contract in self.offered])

    def request(
        self,
        state: State | None = None,
        *,
        tool_choice: str = "auto",
        tools_off: bool = False,
        note: str | None = None,
    ) -> ModelRequest:
        """The next request, from the conversation as it stands. Without a state: what the first one will look like.

        It carries no time bound of its own: the driver stops a request when the turn's time is up, and a second clock for
        each request would cost as much as the rules of a whole round.
        """
        own = state.messages if state else (self.started.trigger,)
        messages = [*self.history, *(own if self.fit is None else self.fit(own))]
        if state is not None and (said := state.partial or (state.sent_back.parts if state.sent_back else ())):
            messages.append(Message("assistant", said))
        return ModelRequest(
            instructions=self.instructions,
            messages=messages,
            tools=self._shown(state),
            hosted=self.hosted,
            tool_choice=tool_choice,
            tools_off=tools_off,
            note=note,
            settings=self.settings,
            conversation=_known_as(self.started.session or self.started.turn),
            answer=self.started.returns.tool if self.started.returns else None,
        )

    def _shown(self, state: State | None) -> tuple[Contract, ...]:
        """The tools that the model is shown."""
        menu = state.menu if state else self.started.menu
        offered = self.toolbox.contracts if self.offered is None else self.offered
        return offered if menu is None or self.finder is None else self.finder.contracts(menu, offered)

    async def with_menu(self) -> Turn:
        """This turn, before it begins, with the tools that fit its message on its menu."""
        finder, started = self.finder, self.started
        if finder is None or started.menu is not None:
            return self
        named = [started.tool_choice, *([started.returns.tool] if started.returns else [])]
        menu = await finder.menu(self.toolbox, started.trigger.text, self.history, named)
        return replace(self, started=replace(started, menu=menu))

    async def search(self, query: str) -> Sequence[Contract]:
        """The tools for a query, of those that this caller may use."""
        if self.finder is None:
            return ()
        names = await self.finder.search(query, self.offered_names)
        return [tool.contract for name in names if (tool := self.toolbox.get(name)) is not None]

    def wire_ids(self, state: State | None = None) -> set[str]:
        """The provider ids that the conversation so far has used up."""
        return {
            part.wire_id
            for message in (*self.history, *(state.messages if state else ()))
            for part in message.parts
            if isinstance(part, ToolCall) and part.wire_id is not None
        }


def check_own(started: TurnStarted, agent: str, contracts: Mapping[str, str], answer: str | None) -> None:
    """Whether a turn that was left is this agent's, and is gone on with for the same data.

    Args:
        started: what it began with.
        agent: the name of the agent that is to go on.
        contracts: the digests of that agent's tools, the answer tool's too.
        answer: the name of the answer tool, where data is wanted.

    Raises:
        ConfigurationError: it is not.
    """
    if started.agent != agent:
        raise ConfigurationError(
            f"turn {started.turn} was begun by the agent {started.agent!r}, and this one is {agent!r}: resume it "
            "with that agent, or send a new message, which ends it"
        )
    asked = started.returns
    if asked is None or answer is None:
        same = asked is answer
    else:
        same = asked.tool == answer and started.contracts[answer] == contracts[answer]
    if not same:
        raise ConfigurationError(
            f"turn {started.turn} was begun with {'no' if asked is None else 'another'} returns=: resume it with the same"
        )


@lru_cache(maxsize=256)
def _known_as(name: str) -> str:
    """What a conversation is called towards a provider: the same each round, and nobody's own words."""
    return hashlib.sha256(name.encode()).hexdigest()[:16]
