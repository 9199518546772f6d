"""An index in memory over some hundreds or thousands of short texts: tools, codes. Full text and vectors, fused by rank.

What is larger, changes, or has to outlive the process is for `tukang.knowledge`.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from tukang.models.embeddings.base import LocalEmbedder
from tukang.retrieval.fusing import fused, places
from tukang.retrieval.words import question_words, spoken, words_of

if TYPE_CHECKING:
    from tukang.models.embeddings.base import Matrix

_DEPTH = 50
"""Places of each ranking that are fused, at least."""

WEIGHT = 1.5
"""How much the ranking by vectors counts, beside 1 for that by full text. Measured in docs/results.md."""

TITLE = 0.5
"""How much the vector of a title is added to that of its text. Measured in docs/results.md."""

By = Literal["both", "text", "vectors"]


class Found(msgspec.Struct, frozen=True):
    """One text that was found.

    Args:
        id: yours.
        score: of the fusion; higher is better, and compares within one search only.
        text_place, vector_place: at which place each of the two rankings has it, from 1; None where it does not.
        strength: how well its words fit beside those of the text whose words fit best, 0 to 1; None where they do not.
        nearness: cosine of its vector and the question's, -1 to 1; None without vectors.
    """

    id: str
    score: float
    text_place: int | None = None
    vector_place: int | None = None
    strength: float | None = None
    nearness: float | None = None


class HybridIndex:
    """Texts under ids, to be found by questions. Built once; it may be searched from any thread.

    Args:
        texts: (id, text); ids are unique.
        embedder: makes the vectors; None for full text alone.
        weight: how much the ranking by vectors counts, beside 1 for that by full text.
        titles: what each text is called, by its id, where it is called something: it counts for more than other words.

    Raises:
        ValueError: two texts have the same id.
    """

    def __init__(
        self,
        texts: Iterable[tuple[str, str]],
        embedder: LocalEmbedder | None = None,
        *,
        weight: float = WEIGHT,
        titles: Mapping[str, str] | None = None,
    ) -> None:
        rows = list(texts)
        self._ids = [id for id, _ in rows]
        self._rows = {id: row for row, id in enumerate(self._ids)}
        if len(self._rows) != len(rows):
            double = next(id for at, id in enumerate(self._ids) if self._rows[id] != at)
            raise ValueError(f"two texts have the id {double!r}")
        self._weight = weight
        self._lock = threading.Lock()
        called = titles or {}
        self._words = _full_text([f"{called.get(id, '')} {text}" for id, text in rows])
        self._embedder = embedder
        self._matrix: Matrix | None = _vectors(embedder, rows, called) if embedder else None

    def __len__(self) -> int:
        return len(self._ids)

    def search(
        self, query: str, limit: int = 10, *, among: Container[str] | None = None, by: By = "both"
    ) -> list[Found]:
        """The texts that fit a question, the best first; none when nothing does.

        Args:
            query: in words. A text whose id is exactly this is always first.
            limit: how many at most.
            among: only texts with these ids.
            by: which of the two rankings to use; `vectors` and `both` fall back to what there is.
        """
        depth = max(_DEPTH, 2 * limit)
        allowed = None if among is None else [row for row, id in enumerate(self._ids) if id in among]
        strong = {} if by == "vectors" and self._matrix is not None else self._by_text(query, depth, allowed)
        near = {} if by == "text" else self._by_vector(query, depth, allowed)
        by_words, by_vector = list(strong), list(near)
        ranking = fused([(1.0, by_words), (self._weight, by_vector)])
        at_text, at_vector = places(by_words), places(by_vector)
        found = [
            Found(self._ids[row], score, at_text.get(row), at_vector.get(row), strong.get(row), near.get(row))
            for row, score in ranking
        ]
        exact = self._rows.get(query.strip())
        if exact is not None and (allowed is None or exact in allowed):
            found.sort(key=lambda one: one.id != query.strip())
        return found[:limit]

    def _by_text(self, query: str, depth: int, allowed: list[int] | None) -> dict[int, float]:
        words = question_words(query)
        if not words:
            return {}
        sought = " OR ".join(f'"{word}"' for word in words)
        with self._lock:
            rows = self._words.execute(
                "SELECT rowid, rank FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?",
                (sought, depth if allowed is None else len(self._ids)),
            ).fetchall()
        kept = range(len(self._ids)) if allowed is None else set(allowed)
        ranking = [(int(row) - 1, float(rank)) for row, rank in rows if int(row) - 1 in kept][:depth]
        best = ranking[0][1] if ranking else -1.0  # of FTS5: less than 0, and the less the better
        return {row: rank / best if best else 1.0 for row, rank in ranking}

    def _by_vector(self, query: str, depth: int, allowed: list[int] | None) -> dict[int, float]:
        if self._embedder is None or self._matrix is None or not query.strip() or not self._ids:
            return {}
        from tukang.retrieval.vectors import nearest

        return nearest(self._matrix, self._embedder.vectors([query], "query")[0], depth, allowed)


def _full_text(texts: list[str]) -> sqlite3.Connection:
    """An FTS5 table in memory, a row for each text, from 1."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5 (words, tokenize = 'unicode61 remove_diacritics 0')")
    connection.executemany(
        "INSERT INTO texts (rowid, words) VALUES (?, ?)",
        ((row, " ".join(words_of(text))) for row, text in enumerate(texts, 1)),
    )
    return connection


def _vectors(embedder: LocalEmbedder, rows: Sequence[tuple[str, str]], titles: Mapping[str, str]) -> Matrix:
    """A vector for each text, with some of its title's."""
    matrix = embedder.vectors([text for _, text in rows], "passage")
    named = [(row, spoken(titles[id])) for row, (id, _) in enumerate(rows) if titles.get(id)]
    if named:
        from tukang.models.embeddings.base import unit_rows

        matrix = matrix.copy()
        matrix[[row for row, _ in named]] += TITLE * embedder.vectors([title for _, title in named], "passage")
        matrix = unit_rows(matrix)
    return matrix
