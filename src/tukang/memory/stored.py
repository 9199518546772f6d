"""A session in a store: it outlives the process, and other processes and machines may go on with it.

Who has the floor holds the session's lease. A turn that was left in the middle (its process died, or it waits) is gone on
with, or brought to its end before another one begins: its open calls get their results, and nothing is run.
"""

from __future__ import annotations

import copy
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from tukang.conversation import Message
from tukang.errors import SessionBusyError
from tukang.loop.closing import closed
from tukang.memory.decisions import APPROVAL, decisions
from tukang.memory.gate import Gate, WhenBusy
from tukang.memory.holding import holding
from tukang.memory.journal import StoredJournal
from tukang.memory.outputs import StoredOutputs
from tukang.memory.people import StoredPeople, carry
from tukang.memory.recall import Recalled
from tukang.memory.redaction import Redaction
from tukang.memory.session import LEASE, Floor, NothingToResumeError
from tukang.memory.sight import EVERYTHING, Outlook, Sight
from tukang.memory.stored_past import StoredPast
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import UnknownSessionError
from tukang.memory.stores.values import Lease
from tukang.runtime.facade import wait_for
from tukang.runtime.turn import Left


class StoredSession:
    """A conversation in a store.

    Args:
        id: its name in the store. A session that is not there yet is made with its first turn.
        store: where it is kept.
        redaction: what is taken out of everything that is written.
        lease: seconds after which others may go on with it when this process has died.
        sight: what of it a turn is shown; None for everything.
    """

    lasts = True

    def __init__(
        self,
        id: str,
        store: Store,
        *,
        redaction: Redaction | None = None,
        lease: float = LEASE,
        sight: Sight | None = None,
    ) -> None:
        self.id = id
        self.store = store
        self._redaction = redaction or Redaction()
        self.past = StoredPast(store, id, self._redaction)
        self._seconds = lease
        self._sight = sight or Sight(EVERYTHING)
        self._patient = False
        self.tools = self._sight.tools(self.past)
        self._gate = Gate(f"session {id!r}")  # so that turns of this process come in the order they were asked for

    @property
    def messages(self) -> tuple[Message, ...]:
        """All that was said in finished turns, oldest first. Reads the store, and waits for it."""
        return wait_for(self.read, _nothing)

    async def read(self) -> tuple[Message, ...]:
        """All that was said in finished turns, oldest first."""
        turns = await self.store.turns(self.id)
        return tuple(message for turn in turns for message in turn.messages)

    def patient(self) -> StoredSession:
        """The same session for who has time: where a turn was left in the middle, another one is refused
        (`SessionBusyError`), and does not end that one."""
        other = copy.copy(self)
        other._patient = True
        return other

    async def pin(self, turn: str, pinned: bool) -> None:
        """Have a turn always sent, or no more."""
        await self._sight.pin(self.past, turn, pinned)

    @asynccontextmanager
    async def floor(
        self, when_busy: WhenBusy, *, resume: bool = False, turn: str | None = None
    ) -> AsyncGenerator[Floor]:
        """Take the floor; see `tukang.memory.session.Session.floor`.

        Raises:
            LeaseLostError: another process has taken the session over meanwhile.
            StoreError: the store cannot be used.
        """
        async with self._gate.enter(when_busy):
            if resume and not await self.store.open_turns(self.id):
                raise self._nothing_left()
            async with holding(self.store, self.id, self._seconds, when_busy) as lease:
                left = await self._left(lease.open_turn) if lease.open_turn else None
                if resume and left is None:  # somebody else has brought it to its end
                    raise self._nothing_left()
                if left is not None and not resume and left.state.turn != turn:
                    if self._patient:
                        raise SessionBusyError(f"session {self.id!r} has a turn that was left in the middle")
                    await self._close(lease, left)
                    left = None
                if left is None and turn is not None:
                    left = await self._ended(turn)
                yield self._floor(lease, left, await self._sight.over(self.past))

    def _floor(self, lease: Lease, left: Left | None, view: Outlook) -> Floor:
        written = left.events if left else ()
        return Floor(
            view.history,
            journal=lambda turn: StoredJournal(self.store, lease, turn, self._redaction, written),
            outputs=lambda turn: Recalled(
                StoredOutputs(self.store, lease, turn, self._redaction), self.past, view.running
            ),
            fit=view.fit,
            left=left,
            lets_go=True,
            people=lambda approver: StoredPeople(self.store, self._redaction, approver),
            store=self.store,
            redaction=self._redaction,
            scope=self.id,
        )

    async def _left(self, turn: str) -> Left:
        left = Left.of(await self.store.read(turn))
        waits = await self.store.waits(APPROVAL, turn=turn, open_only=False)
        waits = await carry(self.store, waits, [call for call in left.state.calls if call.status == "waiting"])
        return Left(left.events, left.state, decisions(waits, left.state, time.time()))

    async def _ended(self, turn: str) -> Left | None:
        """The turn of that id, if this session has it: whoever holds the lease and finds it not open finds it finished."""
        try:
            await self.store.turn(turn, self.id)
        except UnknownSessionError:
            return None
        return Left.of(await self.store.read(turn))

    async def _close(self, lease: Lease, left: Left) -> None:
        """Bring a turn to its end without running anything."""
        journal = StoredJournal(self.store, lease, left.state.turn, self._redaction, left.events)
        await journal.append(closed(left.state, time.time(), "the conversation went on without it"), len(left.events))

    def _nothing_left(self) -> NothingToResumeError:
        return NothingToResumeError(f"session {self.id!r} has no turn that was left in the middle")


def _nothing() -> None:
    """Reading a store is not stopped in the middle."""
