"""Where the events of a turn are written before they count.

A journal takes events in batches, each at the sequence number it expects: a second writer fails, it never interleaves. What
is here keeps them in memory; durable journals are stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tukang.errors import TukangError
from tukang.loop.events import Event


class JournalConflictError(TukangError):
    """Somebody else has written to this journal."""


class Journal(Protocol):
    """The ordered events of one turn. `events` is all of it so far."""

    events: list[Event]

    async def append(self, events: Sequence[Event], expected: int) -> None:
        """Write all of `events` or none, as numbers `expected`, `expected + 1`, …

        Raises:
            JournalConflictError: the journal does not hold exactly `expected` events.
        """
        ...


class MemoryJournal:
    """A journal that lives as long as the object. `events` is all of it, in order."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    async def append(self, events: Sequence[Event], expected: int) -> None:
        if expected != len(self.events):
            raise JournalConflictError(f"expected {expected} events in the journal, found {len(self.events)}")
        self.events += events
