"""What was said in a session before the turn that runs: its finished turns, as a window and a search look at them.

The protocol, and the past of a session in memory. That of a session in a store is in `stored_past`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from tukang.conversation import Message
from tukang.memory.stores.values import Hit, Kept
from tukang.memory.stores.words import excerpt, words_of, words_of_turn
from tukang.runtime.journal import JournalConflictError

AT_FIRST = 32
"""Turns that are looked at first; twice as many each time when these are not enough."""


class PastTurn(msgspec.Struct, frozen=True):
    """A finished turn. `number` is its place in the session, from 1; `started` is seconds since the epoch."""

    id: str
    number: int
    started: float
    messages: tuple[Message, ...]


class Past(Protocol):
    """The finished turns of one session, and what is kept with it. Only who has the floor reads or writes it."""

    async def newest(self, enough: Callable[[Sequence[PastTurn]], bool], after: int = 0) -> Sequence[PastTurn]:
        """The newest turns behind number `after`, oldest first: as many as are enough, or more, or all there are."""
        ...

    async def turn(self, id: str) -> PastTurn | None:
        """One turn; None when the session has no such turn."""
        ...

    async def of_call(self, call: str) -> PastTurn | None:
        """The turn in which a call was asked for, by the call's id; None when the session has no such call."""
        ...

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        """Turns that hold words of the query, the best first; see `tukang.memory.stores.base.Store.search`."""
        ...

    async def kept(self) -> Mapping[str, Kept]:
        """What is kept with the session, by name."""
        ...

    async def keep(self, kept: Kept, replaces: Kept | None) -> None:
        """Keep a value in place of another.

        Raises:
            JournalConflictError: another value is there: somebody was faster.
        """
        ...


class MemoryPast:
    """The past of a session in memory."""

    def __init__(self) -> None:
        self._turns: list[PastTurn] = []
        self._kept: dict[str, Kept] = {}

    def add(self, id: str, started: float, messages: Sequence[Message]) -> None:
        """One more turn."""
        self._turns.append(PastTurn(id, len(self._turns) + 1, started, tuple(messages)))

    async def newest(self, enough: Callable[[Sequence[PastTurn]], bool], after: int = 0) -> Sequence[PastTurn]:
        """The newest turns, however many they are: looking at them costs as much as is looked at."""
        count = AT_FIRST
        while count < len(self._turns) - after and not enough(self._turns[max(after, len(self._turns) - count) :]):
            count *= 2
        return self._turns[max(after, len(self._turns) - count) :]

    async def turn(self, id: str) -> PastTurn | None:
        """One turn."""
        return next((turn for turn in self._turns if turn.id == id), None)

    async def of_call(self, call: str) -> PastTurn | None:
        """The turn of a call."""
        return next((turn for turn in self._turns if _asked(turn, call)), None)

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        """Turns with most of the words first; among equals the newest."""
        wanted = list(dict.fromkeys(words_of(query)))
        found: list[tuple[int, int]] = []
        for place, turn in enumerate(self._turns):
            words = set(words_of_turn(turn.messages))
            if count := sum(any(word.startswith(one) for word in words) for one in wanted):
                found.append((count, place))
        best = [self._turns[place] for _, place in sorted(found, reverse=True)[:limit]]
        return [Hit(turn.id, turn.number, turn.started, excerpt(turn.messages, wanted)) for turn in best]

    async def kept(self) -> Mapping[str, Kept]:
        """What is kept."""
        return self._kept

    async def keep(self, kept: Kept, replaces: Kept | None) -> None:
        """Keep a value in place of another."""
        if self._kept.get(kept.name) != replaces:
            raise JournalConflictError(f"another value was kept as {kept.name!r} meanwhile")
        self._kept[kept.name] = kept


def _asked(turn: PastTurn, call: str) -> bool:
    return any(asked.id == call for message in turn.messages for asked in message.calls)


def split(messages: Iterable[Message]) -> list[list[Message]]:
    """A conversation in turns: each begins where the user speaks after somebody else."""
    turns: list[list[Message]] = []
    before = ""
    for message in messages:
        if not turns or (message.role == "user" and before != "user"):
            turns.append([])
        turns[-1].append(message)
        before = message.role
    return turns
