"""What the two databases have in common as the knowledge sees it: a store's `Database`, and full text and vectors on it.

Statements stand in `keeping`; what differs between SQLite and Postgres is here as a method with a name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec

from tukang.memory.stores.database import Database

if TYPE_CHECKING:
    from tukang.models.embeddings.base import Matrix
    from tukang.retrieval.codes import Codes


class Scope(msgspec.Struct, frozen=True):
    """What is searched.

    Args:
        collection: the key of one.
        documents: only these of it; None for all.
        alone: whether it is the only collection there is, so that nothing has to be left out.
    """

    collection: int
    documents: tuple[int, ...] | None = None
    alone: bool = False


class Shelf(Database, Protocol):
    """One connection, as the knowledge uses it. All but `prepare` and `upgrade_knowledge` are for use in a transaction."""

    def prepare(self) -> None:
        """Have the tables, or say that they are missing. Called before each transaction; costs nothing when it was done.

        Raises:
            StoreError: `not_upgraded`, `too_new`, or the database cannot do it.
        """
        ...

    def upgrade_knowledge(self) -> tuple[int, ...]:
        """Apply the steps that are not applied yet; returns their numbers."""
        ...

    def add_words_of(self, rows: Sequence[tuple[int, Sequence[str]]]) -> None:
        """Make passages searchable by their words."""
        ...

    def drop_words_of(self, passages: Sequence[int]) -> None:
        """Make them unsearchable. Called before they are deleted."""
        ...

    def by_words(self, scope: Scope, words: Sequence[str], limit: int) -> list[int]:
        """The keys of passages that hold one of the words at least, the best first."""
        ...

    def add_vectors(self, passages: Sequence[int], vectors: Matrix) -> None:
        """Keep the vectors of passages."""
        ...

    def by_vector(self, scope: Scope, vector: Matrix, limit: int) -> dict[int, float] | None:
        """Passage → nearness, the nearest first; None where the database cannot search vectors itself."""
        ...

    def codes(self, collection: int) -> Codes:
        """All vectors of a collection, to be searched in this process: where `by_vector` is None."""
        ...
