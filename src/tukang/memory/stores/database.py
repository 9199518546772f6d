"""What the two databases have in common, as the store's own statements see it: one connection, used by one thread.

Statements are written once, with parameters as `:name`. What differs between the databases is here as a method or an
attribute with a name, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from threading import Event
from typing import Any, Protocol

Row = tuple[Any, ...]

Wake = Callable[[int | None], None]
"""Tells readers that the session with this key has changed; None: some session has."""


class Database(Protocol):
    """One connection, opened when it is first used and again after it broke."""

    for_update: str
    """Behind a query: lock the session's row until the end of the transaction, where that is not so anyway."""

    def transaction(self, *, write: bool = True, sync: bool = False) -> AbstractContextManager[None]:
        """All or nothing. What the database raises in it comes out as `StoreError`.

        Args:
            write: whether something will be written; without it, all queries see one moment.
            sync: return only when it is on the disk.

        Raises:
            StoreError: with `uncertain` if the end of the transaction may have been reached although the answer did not come.
        """
        ...

    def all(self, sql: str, **values: Any) -> list[Row]:
        """The rows of a query."""
        ...

    def one(self, sql: str, **values: Any) -> Row | None:
        """The first row, if there is one."""
        ...

    def change(self, sql: str, **values: Any) -> int:
        """Run a statement; returns how many rows it changed."""
        ...

    def insert(self, sql: str, **values: Any) -> int:
        """Run an `INSERT … RETURNING key`; returns the key."""
        ...

    def many(self, sql: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Run a statement for each row."""
        ...

    def now(self) -> float:
        """The store's clock."""
        ...

    def exclude_forks(self) -> None:
        """Until the end of the transaction, no other one forks, imports or deletes sessions."""
        ...

    def add_words(self, turn: int, words: Sequence[str]) -> None:
        """Make a turn's words searchable."""
        ...

    def drop_words(self, turns: Sequence[int]) -> None:
        """Make turns unsearchable."""
        ...

    def search(self, session: int, words: Sequence[str], limit: int) -> list[int]:
        """The keys of turns of a session that hold words that begin like these, the best first."""
        ...

    def upgrade(self) -> tuple[int, ...]:
        """Apply the migrations that are not applied yet; returns their numbers."""
        ...

    def scrub(self) -> None:
        """After a deletion: overwrite what was deleted, where the database does not do that by itself."""
        ...

    def notify(self, session: int) -> None:
        """Tell other processes that a session has changed. Best effort: readers look again by themselves too."""
        ...

    def listen(self, stop: Event, wake: Wake) -> None:
        """Call `wake` whenever another process has changed something, until `stop` is set. Raises nothing."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...
