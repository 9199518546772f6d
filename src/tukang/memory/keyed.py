"""Calls from outside, each under a key of the caller's: run once, and given again as they ended, also after a crash.

A *log* keeps what is written down about each turn: batches of events, numbered. Its one rule (no number is given out twice)
is all that is needed: who comes second sees that somebody else is at it and waits; who died is found out by its time being
over, and fenced off by the next number. What then becomes of the call is the loop's matter, like after any interruption.

What holds over several processes or machines is what the log holds: the one here lives in memory, `keyed_sqlite` in a file,
and `tukang.hosting.dynamodb` in a table.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

import msgspec

from tukang.errors import SessionBusyError
from tukang.loop.events import CallStarted, Event
from tukang.memory.gate import WhenBusy
from tukang.memory.past import MemoryPast
from tukang.memory.redaction import Redaction
from tukang.memory.session import Floor
from tukang.memory.stores.encoding import EventRow, event_of, row_of
from tukang.runtime.journal import JournalConflictError
from tukang.runtime.turn import Left
from tukang.tools.outputs import MemoryOutputs, Outputs
from tukang.tools.tool import Tool

GRACE = 5.0
"""Seconds beyond its time after which a turn is taken to be nobody's any more: clocks of two machines differ."""

PATIENCE = 60.0
"""Seconds to wait for somebody else who makes the same call."""

MOST = 10_000
"""Turns that a log in memory keeps; the oldest go first."""

_FIRST_LOOK, _LONGEST_LOOK = 0.02, 1.0
"""Seconds between two looks at a turn that somebody else runs: twice as long each time."""

_rows = msgspec.json.Decoder(tuple[EventRow, ...])


class Log(Protocol):
    """Where turns are written down that others know by a key."""

    async def read(self, turn: str) -> Sequence[bytes]:
        """All batches of a turn, in order; none where there is no such turn. What was appended before is there."""
        ...

    async def append(self, turn: str, number: int, batch: bytes) -> bool:
        """Write batch number `number`, from 0. False, and nothing written, when there is one of that number already.

        When this returns, the batch must outlive whatever the log is to outlive.
        """
        ...


class MemoryLog:
    """A log that lives as long as the object.

    Args:
        most: turns that are kept.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._turns: dict[str, list[bytes]] = {}

    async def read(self, turn: str) -> Sequence[bytes]:
        return tuple(self._turns.get(turn, ()))

    async def append(self, turn: str, number: int, batch: bytes) -> bool:
        if number and turn not in self._turns:
            return True  # forgotten while it runs: it goes on, and is not begun again because of that
        batches = self._turns.setdefault(turn, [])
        if number != len(batches):
            return False
        batches.append(batch)
        while len(self._turns) > self._most:
            del self._turns[next(iter(self._turns))]
        return True


class KeyedSession:
    """What calls from outside run under: a name for the conversation they belong to, and a log for those with a key.

    It remembers no conversation: that is the caller's.

    Args:
        id: the name.
        log: where turns with an id are written down.
        outputs: where results are kept that are too long to be given whole.
        redaction: what is taken out of everything that is written.
        patience: seconds to wait for somebody else who runs the same turn.
    """

    lasts = True
    messages = ()
    tools: tuple[Tool, ...] = ()

    def __init__(
        self,
        id: str,
        log: Log,
        outputs: Outputs | None = None,
        redaction: Redaction | None = None,
        patience: float = PATIENCE,
    ) -> None:
        self.id = id
        self.past = MemoryPast()
        self._log = log
        self._outputs = outputs or MemoryOutputs()
        self._redaction = redaction or Redaction()
        self._patience = patience

    async def pin(self, turn: str, pinned: bool) -> None:
        """There is nothing to pin."""

    @asynccontextmanager
    async def floor(
        self,
        when_busy: WhenBusy,
        *,
        resume: bool = False,
        turn: str | None = None,
    ) -> AsyncGenerator[Floor]:
        """The right to run a turn; see `tukang.memory.session.Session.floor`. Any number of turns may run at one time.

        Raises:
            SessionBusyError: somebody else runs the turn of that id, and does not end.
        """
        assert not resume, "a call from outside is gone on with by its id"
        if turn is None:
            yield Floor(outputs=lambda _: self._outputs, scope=self.id)
            return
        batches = await self._free(turn, 0.0 if when_busy == "refuse" else self._patience)
        events = tuple(event for batch in batches for event in _read(batch))
        yield Floor(
            journal=lambda one: KeyedJournal(self._log, one, self._redaction, events, len(batches)),
            outputs=lambda _: self._outputs,
            left=Left.of(events) if events else None,
            scope=self.id,
        )

    async def _free(self, turn: str, patience: float) -> Sequence[bytes]:
        """What is written about the turn, once nobody else runs it."""
        until, wait = time.monotonic() + patience, _FIRST_LOOK
        while True:
            batches = await self._log.read(turn)
            events = [event for batch in batches for event in _read(batch)]
            if not events:
                return batches
            left = Left.of(events)
            if left.state.finished or _is_over(left):
                return batches
            if time.monotonic() + wait > until:
                raise SessionBusyError("the same call is still under way: ask again later, with the same key")
            await asyncio.sleep(wait)
            wait = min(wait * 2, _LONGEST_LOOK)


class KeyedJournal:
    """The journal of one turn in a log: the driver's `Journal`.

    Nothing is written before a function is about to run: a call that was refused, or did not fit its tool, leaves its key
    as it was, to be used again.

    Args:
        log: where it is kept.
        turn: the turn's id.
        redaction: what is taken out.
        written: the events that are there already.
        batches: in how many batches.
    """

    def __init__(self, log: Log, turn: str, redaction: Redaction, written: Iterable[Event], batches: int) -> None:
        self._log = log
        self._turn = turn
        self._redaction = redaction
        self._batches = batches
        self._held: list[Event] = []
        self.events: list[Event] = list(written)

    async def append(self, events: Sequence[Event], expected: int) -> None:
        """Write all of `events` or none, with those before them that were not written yet."""
        if expected != len(self.events):
            raise JournalConflictError(f"expected {expected} events of turn {self._turn}, found {len(self.events)}")
        self._held += events
        if self._batches or any(isinstance(event, CallStarted) for event in events):
            rows = [row_of(self._redaction.event(event)) for event in self._held]
            if not await self._log.append(self._turn, self._batches, msgspec.json.encode(rows)):
                raise JournalConflictError(f"somebody else goes on with turn {self._turn}")
            self._batches += 1
            self._held = []
        self.events += events


def _read(batch: bytes) -> list[Event]:
    return [event_of(row) for row in _rows.decode(batch)]


def _is_over(left: Left) -> bool:
    """Whether whoever began or resumed the turn must have ended it by now, or has died."""
    state = left.state
    seconds = state.limits.seconds
    if seconds is None:
        return False
    deciding = (state.limits.deciding or 0.0) if state.waiting else 0.0
    return time.time() > state.now + seconds + deciding + GRACE
