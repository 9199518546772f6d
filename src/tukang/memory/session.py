"""A conversation that goes on over several turns, one turn at a time.

A session gives out its floor: the right to run one turn, with what that turn needs to know and where it is written down. Who
has the floor runs a turn; what an agent is stands elsewhere. The session here lives in memory, as long as the object; one
that outlives the process is in `stored`.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Protocol

import msgspec

from tukang.conversation import Message, validity
from tukang.errors import ConfigurationError, TukangError
from tukang.memory.gate import Gate, WhenBusy
from tukang.memory.past import MemoryPast, Past, split
from tukang.memory.recall import Recalled
from tukang.memory.sight import EVERYTHING, Sight
from tukang.runtime.journal import Journal, MemoryJournal
from tukang.runtime.people import Approver, Nobody, People, Present
from tukang.runtime.turn import Left
from tukang.tools.outputs import MemoryOutputs, Outputs
from tukang.tools.tool import Tool

if TYPE_CHECKING:
    from tukang.memory.redaction import Redaction
    from tukang.memory.stores.base import Store

LEASE = 15.0
"""Seconds after which others may go on with a session when its process has died. It renews the lease thrice in that."""


class NothingToResumeError(TukangError):
    """The session has no turn that was left in the middle."""


class Floor(msgspec.Struct, frozen=True):
    """The right to run one turn of a session.

    Args:
        history: the conversation before the turn.
        journal: from the turn's id to where its events are written.
        outputs: from the turn's id to where results are kept that are too long for the model.
        left: the turn to go on with, where that was asked for; or the turn that was asked for, which has finished.
        lets_go: whether a turn that only waits for somebody may leave, and go on later.
        finished: takes a finished turn's id, and what it added to the conversation.
        fit: from the running turn's messages to those of them that are sent; None for all.
        people: from a function that decides about calls, if there is one, to whom the turn can ask.
        store, redaction: where the session is kept, and what is taken out of what is written there; None in memory.
        scope: what belongs to this session and to no other, is kept under this name; empty outside a session.
    """

    history: Sequence[Message] = ()
    journal: Callable[[str], Journal] = lambda _: MemoryJournal()
    outputs: Callable[[str], Outputs] = lambda _: MemoryOutputs()
    left: Left | None = None
    lets_go: bool = False
    finished: Callable[[str, Sequence[Message]], None] = lambda _turn, _messages: None
    fit: Callable[[Sequence[Message]], Sequence[Message]] | None = None
    people: Callable[[Approver | None], People] = lambda approver: Present(approver) if approver else Nobody()
    store: Store | None = None
    redaction: Redaction | None = None
    scope: str = ""


class Session(Protocol):
    """A conversation."""

    @property
    def id(self) -> str:
        """The caller's name for it."""
        ...

    @property
    def lasts(self) -> bool:
        """Whether it stands in a store, where a turn can be gone on with."""
        ...

    @property
    def messages(self) -> tuple[Message, ...]:
        """All that was said, oldest first. Between turns it is always valid."""
        ...

    @property
    def past(self) -> Past:
        """Its finished turns, to look back on."""
        ...

    @property
    def tools(self) -> tuple[Tool, ...]:
        """What its turns get beside the agent's own tools, to look back with."""
        ...

    async def pin(self, turn: str, pinned: bool) -> None:
        """Have a turn always sent, or no more; see `tukang.memory.sight.Sight.pin`."""
        ...

    def floor(
        self, when_busy: WhenBusy, *, resume: bool = False, turn: str | None = None
    ) -> AbstractAsyncContextManager[Floor]:
        """Take the floor, for the length of the block.

        Args:
            when_busy: what to do when another turn has it.
            resume: go on with the turn that was left in the middle, instead of beginning another one.
            turn: the id of the turn that is about to begin, where others know it: if it has begun or finished already, it is
                `Floor.left`. Only of a session that `lasts`.

        Raises:
            SessionBusyError: another turn has it, and `when_busy` is `refuse`.
            NothingToResumeError: `resume`, and there is no such turn.
        """
        ...


class MemorySession:
    """A conversation in memory.

    Args:
        id: the caller's name for it.
        messages: what was said before, if anything; must be valid (see `tukang.conversation.validity`).
        sight: what of it a turn is shown; None for everything.

    Raises:
        ConfigurationError: the messages are not a valid conversation; it says where.
    """

    lasts = False

    def __init__(self, id: str, messages: Iterable[Message] = (), *, sight: Sight | None = None) -> None:
        self.id = id
        self.past = MemoryPast()
        self._gate = Gate(f"session {id!r}")
        self._outputs = MemoryOutputs()
        self._scope = f"{id}~{uuid.uuid4().hex[:12]}"
        self._sight = sight or Sight(EVERYTHING)
        self.tools = self._sight.tools(self.past)
        self._messages: tuple[Message, ...] = ()
        messages = tuple(messages)
        self._check(messages)
        for number, turn in enumerate(split(messages), 1):
            self._add(f"given{number}", turn)

    @property
    def messages(self) -> tuple[Message, ...]:
        """All that was said, oldest first. Between turns it is always valid."""
        return self._messages

    def _add(self, turn: str, messages: Sequence[Message]) -> None:
        self._check(messages)
        self._messages = (*self._messages, *messages)
        self.past.add(turn, time.time(), messages)

    def _check(self, messages: Sequence[Message]) -> None:
        if faults := validity(messages):
            raise ConfigurationError(f"session {self.id!r} cannot take these messages: {'; '.join(faults)}")

    async def pin(self, turn: str, pinned: bool) -> None:
        """Have a turn always sent, or no more."""
        await self._sight.pin(self.past, turn, pinned)

    @asynccontextmanager
    async def floor(
        self, when_busy: WhenBusy, *, resume: bool = False, turn: str | None = None
    ) -> AsyncGenerator[Floor]:
        """Take the floor; see `Session.floor`."""
        assert turn is None, "who starts a turn knows that this session does not last"
        async with self._gate.enter(when_busy):
            if resume:
                raise NothingToResumeError(f"session {self.id!r} lives in memory: its turns end where they began")
            view = await self._sight.over(self.past)
            outputs = Recalled(self._outputs, self.past, view.running)
            yield Floor(view.history, outputs=lambda _: outputs, finished=self._add, fit=view.fit, scope=self._scope)
