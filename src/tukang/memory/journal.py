"""The journal of a turn in a store: the driver's `Journal`, under a lease.

It takes secrets out, says which batches must be on the disk before the driver goes on, what the turn waits for and which
answer it uses, and gives the store the turn's messages when it ends. It decides nothing about the turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tukang.loop.events import CallFinished, CallStarted, Event, TurnFinished, TurnStarted
from tukang.loop.evolve import evolve
from tukang.loop.state import State
from tukang.memory.decisions import Asked
from tukang.memory.redaction import Redaction
from tukang.memory.stores.base import Store
from tukang.memory.stores.values import Lease, Offer


class StoredJournal:
    """The journal of one turn.

    The messages that are kept with a finished turn are the fold of the events as they were written, so they hold no
    secret that the events do not hold. `events` is all of the journal so far: what was written before as it was read, and
    what was appended here as it came.

    Args:
        store: where it is kept.
        lease: the right to write to the session.
        turn: the turn's id.
        redaction: what is taken out.
        written: the events that are in the store already, when the turn goes on.
    """

    def __init__(
        self, store: Store, lease: Lease, turn: str, redaction: Redaction, written: Iterable[Event] = ()
    ) -> None:
        self._store = store
        self._lease = lease
        self._turn = turn
        self._redaction = redaction
        self._asked = Asked()
        self._state: State | None = None
        self.events: list[Event] = []
        for event in written:
            self._state = evolve(self._state, event)
            self._asked.offered(self._state, event)
            self._asked.used(event)
            self.events.append(event)

    async def append(self, events: Sequence[Event], expected: int) -> None:
        """Write all of `events` or none; see `tukang.memory.stores.base.Store.append`.

        A batch that begins or ends the turn, starts anything but a read, or says how such a call ended, is on the disk
        when this returns.
        """
        written = [self._redaction.event(event) for event in events]
        state, sync = self._state, False
        offer: list[Offer] = []
        consume: list[tuple[str, str]] = []
        for event in written:
            state = evolve(state, event)
            sync = sync or _must_last(state, event)
            offer += self._asked.offered(state, event)
            consume += self._asked.used(event)
        finished = state is not None and isinstance(written[-1], TurnFinished)
        await self._store.append(
            self._lease,
            self._turn,
            written,
            expected,
            sync=sync,
            messages=state.messages if state is not None and finished else None,
            offer=offer,
            consume=consume,
        )
        self._state = state
        self.events += events


def _must_last(state: State, event: Event) -> bool:
    """Whether losing this event to a power cut could repeat or forget something outside."""
    if isinstance(event, CallStarted | CallFinished):
        return any(call.id == event.call and not call.reads for call in (*state.calls, *state.done))
    return isinstance(event, TurnStarted | TurnFinished)
