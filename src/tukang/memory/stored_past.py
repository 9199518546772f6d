"""The past of a session in a store: read as far as a window needs it, and no turn twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tukang.memory.past import AT_FIRST, PastTurn
from tukang.memory.redaction import Redaction
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import UnknownSessionError
from tukang.memory.stores.values import Hit, Kept, StoredTurn


class StoredPast:
    """`tukang.memory.past.Past` of a session in a store.

    The newest turns stay here from one turn to the next: finished turns do not change, and what an adapter has encoded of
    their messages is good again. What another process has added meanwhile is read.

    Args:
        store: where it is kept.
        session: its id there.
        redaction: what is taken out of a value before it is kept.
    """

    def __init__(self, store: Store, session: str, redaction: Redaction) -> None:
        self._store = store
        self._session = session
        self._redaction = redaction
        self._newest: list[PastTurn] = []

    async def newest(self, enough: Callable[[Sequence[PastTurn]], bool], after: int = 0) -> Sequence[PastTurn]:
        """The newest turns, read in ever larger pieces until they are enough."""
        turns = await self._known()
        count = max(AT_FIRST, len(turns))
        if not turns:
            turns = await self._read(last=count, after=after)
        while turns and turns[0].number > after + 1 and not enough(_behind(turns, after)):
            count *= 2
            turns = await self._read(last=count, after=after)
        while len(turns) > AT_FIRST and enough(_behind(turns[len(turns) // 2 :], after)):
            turns = turns[len(turns) // 2 :]  # no more is kept here than a window needs
        shown = _behind(turns, after)
        self._newest = shown or turns[-1:]
        return shown

    async def _known(self) -> list[PastTurn]:
        """What was read before and what has come since; nothing when the session is not the one it was."""
        if not self._newest:
            return []
        last = self._newest[-1]
        new = await self._read(after=last.number - 1)
        return [*self._newest, *new[1:]] if new and new[0].id == last.id else []

    async def _read(self, *, last: int | None = None, after: int = 0) -> list[PastTurn]:
        return [_past(turn) for turn in await self._store.turns(self._session, last=last, after=after)]

    async def turn(self, id: str) -> PastTurn | None:
        """One turn of this session."""
        for turn in self._newest:
            if turn.id == id:
                return turn
        try:
            found = await self._store.turn(id, self._session)
        except UnknownSessionError:
            return None
        return None if found.finished is None else _past(found)

    async def of_call(self, call: str) -> PastTurn | None:
        """The turn whose id is in the call's (see `tukang.loop.state.call_id`)."""
        return await self.turn(call.rsplit("-", 2)[0])

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        """The store's own search."""
        return await self._store.search(self._session, query, limit)

    async def kept(self) -> Mapping[str, Kept]:
        """What is kept."""
        return await self._store.kept(self._session)

    async def keep(self, kept: Kept, replaces: Kept | None) -> None:
        """Keep a value, less its secrets, in place of another."""
        await self._store.keep(self._session, Kept(kept.name, kept.upto, self._redaction.value(kept.data)), replaces)


def _past(turn: StoredTurn) -> PastTurn:
    return PastTurn(turn.id, turn.number, turn.started, turn.messages)


def _behind(turns: Sequence[PastTurn], after: int) -> list[PastTurn]:
    return [turn for turn in turns if turn.number > after]
