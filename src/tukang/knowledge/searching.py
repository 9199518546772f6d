"""One search: full text and vectors, fused, and the passages they stand for. In a transaction, so that all is of one
moment."""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import TYPE_CHECKING

import msgspec

from tukang.knowledge import keeping
from tukang.knowledge.shelf import Scope, Shelf
from tukang.knowledge.values import Hit, Where
from tukang.retrieval.fusing import fused, places
from tukang.retrieval.hybrid import WEIGHT
from tukang.retrieval.words import question_words

if TYPE_CHECKING:
    from tukang.models.embeddings.base import Matrix
    from tukang.retrieval.codes import Codes

DEPTH = 50
"""Places of each ranking that are fused, at least."""


class Asked(msgspec.Struct, frozen=True):
    """A search.

    Args:
        name: of the collection.
        embedder: whose vectors.
        query: in words.
        vector: its vector.
        limit: how many passages are wanted.
        where: which documents.
    """

    name: str
    embedder: str
    query: str
    vector: Matrix
    limit: int
    where: Where | None


class Nearby:
    """The vectors of a collection in this process, as long as its revision is the same."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: tuple[int, int, Codes] | None = None

    def codes(self, shelf: Shelf, collection: int, revision: int) -> Codes:
        """The vectors at this revision, read when they are not at hand."""
        with self._lock:
            if self._known is None or self._known[:2] != (collection, revision):
                self._known = (collection, revision, shelf.codes(collection))
            return self._known[2]


def search(shelf: Shelf, nearby: Nearby, asked: Asked) -> list[Hit]:
    """The passages that fit, the best first."""
    found = keeping.scope(shelf, asked.name, asked.embedder, asked.where)
    if found is None or found[0].documents == ():
        return []
    scope, revision = found
    depth = max(DEPTH, 2 * asked.limit)
    by_words = shelf.by_words(scope, question_words(asked.query), depth)
    near = _near(shelf, nearby, scope, revision, asked.vector, depth)
    ranking = fused([(1.0, by_words), (WEIGHT, list(near))])[: asked.limit]
    at_words, at_vector = places(by_words), places(list(near))
    told = keeping.passages(shelf, [key for key, _ in ranking])
    hits: list[Hit] = []
    for key, score in ranking:
        if key in told:
            passage, name, title, source, data = told[key]
            hits.append(
                Hit(
                    text=passage.text,
                    document=name,
                    title=title,
                    heading=passage.heading,
                    page=passage.page,
                    score=score,
                    text_place=at_words.get(key),
                    vector_place=at_vector.get(key),
                    nearness=near.get(key),
                    data=data,
                    passage=key,
                    source=source,
                )
            )
    return hits


def unknown(shelf: Shelf, name: str, embedder: str, words: Collection[str]) -> frozenset[str]:
    """Those of some words that stand in no document of a collection."""
    found = keeping.scope(shelf, name, embedder, None)
    return frozenset(words if found is None else (one for one in words if not shelf.by_words(found[0], (one,), 1)))


def _near(shelf: Shelf, nearby: Nearby, scope: Scope, revision: int, vector: Matrix, depth: int) -> dict[int, float]:
    near = shelf.by_vector(scope, vector, depth)
    if near is None:
        near = nearby.codes(shelf, scope.collection, revision).nearest(vector, depth, scope.documents)
    return near
