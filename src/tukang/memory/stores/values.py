"""The values a store takes and gives out. Values only; what they are for stands in `base`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tukang.conversation import Message
from tukang.loop.limits import StopReason


class Lease(msgspec.Struct, frozen=True):
    """The right to write to a session until somebody else takes it.

    Args:
        session: its id.
        token: the fencing token; each taking has a higher one.
        holder: who took it, for people to read (`host:pid`).
        expires: when it may be taken over, unless it is renewed.
        open_turn: the session's unfinished turn, if there is one: it crashed, or it waits. It must be brought to its end
            before another turn can begin.
        taken_over: whether the holder before let it expire instead of giving it back.
    """

    session: str
    token: int
    holder: str
    expires: float
    open_turn: str | None = None
    taken_over: bool = False


class Position(msgspec.Struct, frozen=True, order=True):
    """A place in a session's events: `event` events of turn number `turn` (and all turns before) lie behind it."""

    turn: int = 0
    event: int = 0

    def __str__(self) -> str:
        """`TURN.EVENT`, such as `3.17`: what a reader over HTTP keeps to go on from."""
        return f"{self.turn}.{self.event}"

    @classmethod
    def parse(cls, text: str) -> Position:
        """The reverse of `str`.

        Raises:
            ValueError: it is not two whole numbers with a dot between.
        """
        turn, dot, event = text.partition(".")
        if not (dot and turn.isdecimal() and event.isdecimal()):
            raise ValueError(f"a position is TURN.EVENT, such as 3.17, not {text!r}")
        return cls(int(turn), int(event))


START = Position()
"""Before everything."""


class SessionInfo(msgspec.Struct, frozen=True):
    """What there is to know of a session without reading it.

    Args:
        turns: how many it has, the open one too.
        agent: the name of the agent that ran its last turn.
        question: the beginning of what its last turn was asked.
        created, updated: when it was made, and when its last turn began or ended.
        open_turn: its unfinished turn, if any.
        holder: who holds its lease now; None when nobody does, or the lease has expired.
        origin: the session it was forked from, as that was called then.
    """

    id: str
    turns: int
    agent: str
    question: str
    created: float
    updated: float
    open_turn: str | None = None
    holder: str | None = None
    origin: str | None = None


class StoredTurn(msgspec.Struct, frozen=True):
    """A turn as it is kept, less its events.

    Args:
        id: the turn's own.
        number: its place in the session it was read from, from 1.
        agent: the name of the agent that ran it.
        started, finished: the times of its first and its last event; `finished` is None while it is open.
        stopped: why it ended; None while it is open.
        events: how many there are.
        messages: what it added to the conversation, the trigger first; empty while it is open.
    """

    id: str
    number: int
    agent: str
    started: float
    events: int
    finished: float | None = None
    stopped: StopReason | None = None
    messages: tuple[Message, ...] = ()


class OpenTurn(msgspec.Struct, frozen=True):
    """A turn that has not finished.

    Args:
        session, turn, number, agent, started: which, and since when.
        updated: when its last event was written.
        events: how many there are.
        holder: who holds the session's lease; None when nobody does, or it has expired: then nobody is running the turn.
        waits: how many waits it has offered that nobody has answered, and somebody still may. With `holder` None and `waits`
        0 it can go on.
    """

    session: str
    turn: str
    number: int
    agent: str
    started: float
    updated: float
    events: int
    holder: str | None
    waits: int


class Hit(msgspec.Struct, frozen=True):
    """A turn that a search found. `excerpt` is the place in it, at most some 300 characters."""

    turn: str
    number: int
    started: float
    excerpt: str


class Kept(msgspec.Struct, frozen=True):
    """A value kept with a session: the summary of its older part, what is pinned.

    Args:
        name: what it is; one value for each name.
        upto: the number of the last turn it knows of. A fork takes along what knows of no turn that the fork does not have.
        data: JSON.
    """

    name: str
    upto: int
    data: Any


class Offer(msgspec.Struct, frozen=True):
    """Something that a turn will wait for: an approval, a long task.

    Args:
        kind: what kind of thing: `approval`, `task`.
        key: which one; unique within its kind for ever, so that nothing answers twice.
        asked: what there is to decide or to do, JSON.
        expires: after this it cannot be answered any more; None for never.
    """

    kind: str
    key: str
    asked: Any = None
    expires: float | None = None


class Wait(msgspec.Struct, frozen=True):
    """An offer as it stands now.

    Args:
        session, turn: whose it is.
        answer: what was decided or came of it, JSON; only with `answered`.
        by: who answered.
        answered: when; None while it is open.
        consumed: when a turn used the answer; None before that. It is used once.
    """

    kind: str
    key: str
    session: str
    turn: str
    asked: Any
    created: float
    expires: float | None = None
    answer: Any = None
    by: str = ""
    answered: float | None = None
    consumed: float | None = None


class Deleted(msgspec.Struct, frozen=True):
    """What deleting a session has done: `turns` are gone; `shared` remain, because these other sessions hold them too."""

    turns: int
    shared: Mapping[str, int]
