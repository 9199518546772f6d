"""The knowledge on Postgres: a tsvector of our own words for full text, and pgvector for vectors where the server has it.

The words are cut and stemmed before they get here, as on SQLite, so both find the same passages. Postgres ranks by
how often a word stands in a text and not by how rare it is; so the rank is made here, of the rareness of each word
that a passage holds and of the passage's length.

Without pgvector the vectors are kept as bytes and searched in this process, as on SQLite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from tukang.knowledge import schema
from tukang.knowledge.shelf import Scope
from tukang.knowledge.sqlite_shelf import codes_of
from tukang.memory.stores.database import Row
from tukang.memory.stores.errors import StoreError
from tukang.memory.stores.postgres import PostgresDatabase
from tukang.retrieval.codes import Codes, packed

if TYPE_CHECKING:
    from tukang.models.embeddings.base import Matrix

_UPGRADE = 0x74756B04
"""The number of an advisory lock: two processes that upgrade at once do it once."""

_WORDS = 12
_MOST_INDEXED = 2_000
"""Dimensions of a vector that pgvector can index."""


class PostgresShelf(PostgresDatabase):
    """See `Shelf`."""

    def __init__(self, url: str, patience: float) -> None:
        super().__init__(url, patience)
        self._prepared = False
        self._home: str | None = None
        """The schema that pgvector lives in; None where the vectors are bytes."""

    def prepare(self) -> None:
        if self._prepared:
            return
        with self.transaction(write=False):
            there = self.one("SELECT to_regclass('tukang_knowledge_steps')")
            applied = self._applied_steps() if there != (None,) else 0
            if applied < schema.newest():
                raise StoreError(
                    "not_upgraded",
                    f"{self.name} has no tables for documents{' of this form' if applied else ''}.",
                    "Run `tukang db upgrade --knowledge --store ADDRESS`.",
                )
            if applied > schema.newest():
                raise StoreError(
                    "too_new",
                    f"{self.name} keeps documents in the form {applied}; this tukang knows up to {schema.newest()}.",
                    "Use the version that wrote it, or a newer one.",
                )
            self._find_home()
        self._prepared = True

    def upgrade_knowledge(self) -> tuple[int, ...]:
        self.upgrade()
        done: list[int] = []
        with self.transaction():
            self.one("SELECT pg_advisory_xact_lock(:number)", number=_UPGRADE)
            self.change(schema.BOOK)
            applied = self._applied_steps()
            for step in schema.STEPS[applied:]:
                for statement in step.statements("postgres"):
                    self.change(statement)
                if step.number == 1:
                    home = self._extension()
                    self.change(schema.VECTORS_PGVECTOR.format(schema=home) if home else schema.VECTORS_PLAIN)
                self.change(
                    "INSERT INTO tukang_knowledge_steps VALUES (:number, extract(epoch FROM clock_timestamp()))",
                    number=step.number,
                )
                done.append(step.number)
        return tuple(done)

    def _applied_steps(self) -> int:
        return int(cast("Row", self.one("SELECT coalesce(max(number), 0) FROM tukang_knowledge_steps"))[0])

    def _extension(self) -> str | None:
        """The schema of pgvector; installed now if the server has it and we may. None if not."""
        if self.one("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'") is None:
            return None
        self.change("SAVEPOINT pgvector")
        try:
            self.change("CREATE EXTENSION IF NOT EXISTS vector")
        except Exception:  # not allowed, or its library does not load: then without it
            self.change("ROLLBACK TO SAVEPOINT pgvector")
            return None
        return self._schema_of_extension()

    def _schema_of_extension(self) -> str | None:
        row = self.one(
            "SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace "
            "WHERE e.extname = 'vector'"
        )
        return str(row[0]) if row else None

    def _find_home(self) -> None:
        kind = self.one(
            "SELECT format_type(atttypid, NULL) FROM pg_attribute "
            "WHERE attrelid = 'tukang_passage_vectors'::regclass AND attname = 'vector'"
        )
        self._home = self._schema_of_extension() if kind is not None and kind[0] != "bytea" else None

    # ── full text ────────────────────────────────────────────────────────────────────────────────────────────────────

    def add_words_of(self, rows: Sequence[tuple[int, Sequence[str]]]) -> None:
        self.many(
            "INSERT INTO tukang_passage_words VALUES (:passage, array_to_tsvector(:words::text[]), :length)",
            [{"passage": key, "words": sorted(set(words)), "length": len(words)} for key, words in rows],
        )

    def drop_words_of(self, passages: Sequence[int]) -> None:
        """They go with their passages."""

    def by_words(self, scope: Scope, words: Sequence[str], limit: int) -> list[int]:
        weights = self._rareness(words)
        if not weights:
            return []
        values: dict[str, Any] = {f"w_{_letters(at)}": f"'{word}'" for at, (_, word) in enumerate(weights)}
        values |= {f"i_{_letters(at)}": weight for at, (weight, _) in enumerate(weights)}
        terms = " + ".join(
            f":i_{_letters(at)}::float8 * (w.words @@ :w_{_letters(at)}::tsquery)::int" for at in range(len(weights))
        )
        found = self.all(
            f"""
            SELECT w.passage
            FROM tukang_passage_words w JOIN tukang_passages p ON p.key = w.passage
                 JOIN tukang_documents d ON d.key = p.document
            WHERE w.words @@ :query::tsquery AND d.collection = :collection
                  AND (:all::boolean OR p.document = ANY(:documents::bigint[]))
            ORDER BY ({terms}) / (0.75 + 0.25 * w.length / 100.0) DESC, w.passage
            LIMIT :limit
            """,
            query=" | ".join(f"'{word}'" for _, word in weights),
            collection=scope.collection,
            all=scope.documents is None,
            documents=list(scope.documents or ()),
            limit=limit,
            **values,
        )
        return [int(passage) for (passage,) in found]

    def _rareness(self, words: Sequence[str]) -> list[tuple[float, str]]:
        """The words that are there, the rarest first, with what each counts (the idf of BM25)."""
        counted = [
            (
                int(
                    cast(
                        "Row",
                        self.one(
                            "SELECT count(*) FROM tukang_passage_words WHERE words @@ :word::tsquery", word=f"'{word}'"
                        ),
                    )[0]
                ),
                word,
            )
            for word in words
        ]
        total = int(cast("Row", self.one("SELECT count(*) FROM tukang_passage_words"))[0])
        rare = sorted((count, word) for count, word in counted if count)
        return [(math.log(1 + (total - count + 0.5) / (count + 0.5)), word) for count, word in rare[:_WORDS]]

    # ── vectors ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def add_vectors(self, passages: Sequence[int], vectors: Matrix) -> None:
        if self._home is None:
            rows, scales = packed(vectors)
            self.many(
                "INSERT INTO tukang_passage_vectors VALUES (:passage, :scale, :vector)",
                [
                    {"passage": passage, "scale": float(scales[at]), "vector": rows[at].tobytes()}
                    for at, passage in enumerate(passages)
                ],
            )
            return
        if len(passages):
            self._index(vectors.shape[1])
        self.many(
            f"INSERT INTO tukang_passage_vectors VALUES (:passage, :vector::{self._home}.vector)",
            [{"passage": passage, "vector": _literal(vectors[at])} for at, passage in enumerate(passages)],
        )

    def _index(self, dimensions: int) -> None:
        if dimensions <= _MOST_INDEXED:
            self.change(
                f"CREATE INDEX IF NOT EXISTS tukang_near_{dimensions} ON tukang_passage_vectors USING hnsw "
                f"((vector::{self._home}.vector({dimensions})) {self._home}.vector_cosine_ops) "
                f"WHERE {self._home}.vector_dims(vector) = {dimensions}"
            )

    def by_vector(self, scope: Scope, vector: Matrix, limit: int) -> dict[int, float] | None:
        if self._home is None:
            return None
        kind = f"{self._home}.vector({len(vector)})"
        far = f"(v.vector::{kind} OPERATOR({self._home}.<=>) :vector::{kind})"
        self.change("SET LOCAL hnsw.ef_search = 200")
        self.change("SET LOCAL hnsw.iterative_scan = strict_order")  # goes on where a filter leaves too few
        found = self.all(
            f"""
            SELECT v.passage, 1 - {far}
            FROM tukang_passage_vectors v JOIN tukang_passages p ON p.key = v.passage
                 JOIN tukang_documents d ON d.key = p.document
            WHERE {self._home}.vector_dims(v.vector) = {len(vector)} AND d.collection = :collection
                  AND (:all::boolean OR p.document = ANY(:documents::bigint[]))
            ORDER BY {far} LIMIT :limit
            """,
            vector=_literal(vector),
            collection=scope.collection,
            all=scope.documents is None,
            documents=list(scope.documents or ()),
            limit=limit,
        )
        return {int(passage): float(near) for passage, near in found}

    def codes(self, collection: int) -> Codes:
        found = self.all(
            """
            SELECT v.passage, p.document, v.scale, v.vector
            FROM tukang_documents d JOIN tukang_passages p ON p.document = d.key
                 JOIN tukang_passage_vectors v ON v.passage = p.key
            WHERE d.collection = :collection
            """,
            collection=collection,
        )
        return codes_of([(int(a), int(b), float(c), bytes(e)) for a, b, c, e in found])


def _literal(vector: Matrix) -> str:
    return "[" + ",".join(f"{value:.7g}" for value in vector.tolist()) + "]"


def _letters(number: int) -> str:
    """A number as a parameter's name may hold it."""
    return chr(ord("a") + number)
