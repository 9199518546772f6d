"""The knowledge on SQLite: FTS5 for full text, and vectors as bytes in a table, searched in this process (`retrieval.codes`).

So it works where Python's `sqlite3` can load no extensions, and the file is whole by itself.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tukang.knowledge import schema
from tukang.knowledge.shelf import Scope
from tukang.memory.stores.errors import StoreError
from tukang.memory.stores.sqlite import SqliteDatabase
from tukang.retrieval.codes import Codes, packed

if TYPE_CHECKING:
    from pathlib import Path

    from tukang.models.embeddings.base import Matrix

_RANKED = 4_000
"""Passages that are ranked for a question, about. The rarest of its words are looked for, up to so many passages that
hold them: what is held by more says little, and ranking all that hold it is what a search over many passages would
spend its time on."""

_LEAST_WORDS = 2
"""Words that are looked for however many passages hold them, unless more than `_RANKED` hold each."""

_FORGET = "INSERT INTO tukang_passage_words (tukang_passage_words, rank) VALUES ('secure-delete', 1)"
"""What is deleted goes from the index at once, and not when the index is next rewritten."""

_WORDS = 12
"""Words of a question that are looked for: the rarest."""


class SqliteShelf(SqliteDatabase):
    """See `Shelf`."""

    def __init__(self, path: Path, patience: float) -> None:
        super().__init__(path, patience)
        self._name = str(path)
        self._prepared = False

    def prepare(self) -> None:
        if not self._prepared:
            self.upgrade_knowledge()

    def upgrade_knowledge(self) -> tuple[int, ...]:
        done: list[int] = []
        with self.transaction(write=False):
            known = self.one("SELECT 1 FROM sqlite_master WHERE name = 'tukang_knowledge_steps'")
            applied = self._applied_steps() if known else 0
        if applied < schema.newest():
            with self.transaction(sync=True):
                self.change(schema.BOOK)
                applied = self._applied_steps()
                for step in schema.STEPS[applied:]:
                    for statement in step.statements("sqlite"):
                        self.change(statement)
                    if step.number == 1 and sqlite3.sqlite_version_info >= (3, 42):
                        self.change(_FORGET)
                    self.change(
                        "INSERT INTO tukang_knowledge_steps VALUES (:number, :at)", number=step.number, at=time.time()
                    )
                    done.append(step.number)
        if applied > schema.newest():
            raise StoreError(
                "too_new",
                f"{self._name} keeps documents in the form {applied}; this tukang knows up to {schema.newest()}.",
                "Use the version that wrote it, or a newer one.",
            )
        self._prepared = True
        return tuple(done)

    def _applied_steps(self) -> int:
        row = self.one("SELECT coalesce(max(number), 0) FROM tukang_knowledge_steps")
        return int(row[0]) if row else 0

    # ── full text ────────────────────────────────────────────────────────────────────────────────────────────────────

    def add_words_of(self, rows: Sequence[tuple[int, Sequence[str]]]) -> None:
        self.many(
            "INSERT INTO tukang_passage_words (rowid, words) VALUES (:passage, :words)",
            [{"passage": passage, "words": " ".join(words)} for passage, words in rows],
        )

    def drop_words_of(self, passages: Sequence[int]) -> None:
        self.many("DELETE FROM tukang_passage_words WHERE rowid = :passage", [{"passage": one} for one in passages])

    def by_words(self, scope: Scope, words: Sequence[str], limit: int) -> list[int]:
        telling = self._telling(words)
        if not telling:
            return []
        # CROSS JOIN: the words are asked first, and each passage that holds one is looked up; never the other way round
        within, where = "", ""
        if scope.documents is not None:
            within = "CROSS JOIN tukang_passages p ON p.key = w.rowid"
            where = "AND p.document IN (SELECT value FROM json_each(:documents))"
        elif not scope.alone:
            within = (
                "CROSS JOIN tukang_passages p ON p.key = w.rowid CROSS JOIN tukang_documents d ON d.key = p.document"
            )
            where = "AND d.collection = :collection"
        found = self.all(
            f"SELECT w.rowid FROM tukang_passage_words w {within} WHERE tukang_passage_words MATCH :query {where} "
            "ORDER BY w.rank LIMIT :limit",
            query=" OR ".join(f'"{word}"' for word in telling),
            documents=json.dumps(scope.documents),
            collection=scope.collection,
            limit=limit,
        )
        return [int(passage) for (passage,) in found]

    def _telling(self, words: Sequence[str]) -> list[str]:
        """The words to look for: the rarest, as far as `_RANKED` goes."""
        counted: list[tuple[int, str]] = []
        for word in words:
            row = self.one(
                "SELECT count(*) FROM "
                "(SELECT 1 FROM tukang_passage_words WHERE tukang_passage_words MATCH :word LIMIT :most)",
                word=f'"{word}"',
                most=_RANKED + 1,
            )
            if row is not None and row[0]:
                counted.append((int(row[0]), word))
        chosen: list[str] = []
        ranked = 0
        for count, word in sorted(counted):
            ranked += count
            if chosen and ranked > _RANKED and (len(chosen) >= _LEAST_WORDS or count > _RANKED):
                break
            chosen.append(word)
        return chosen[:_WORDS]

    # ── vectors ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def add_vectors(self, passages: Sequence[int], vectors: Matrix) -> None:
        rows, scales = packed(vectors)
        self.many(
            "INSERT INTO tukang_passage_vectors VALUES (:passage, :scale, :vector)",
            [
                {"passage": passage, "scale": float(scales[at]), "vector": rows[at].tobytes()}
                for at, passage in enumerate(passages)
            ],
        )

    def by_vector(self, scope: Scope, vector: Matrix, limit: int) -> dict[int, float] | None:  # noqa: ARG002
        return None

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
        return codes_of(found)


def codes_of(rows: Sequence[tuple[int, int, float, bytes]]) -> Codes:
    """Rows of (passage, document, scale, bytes) as vectors in memory."""
    size = len(rows[0][3]) if rows else 0
    whole = np.frombuffer(b"".join(row[3] for row in rows), dtype=np.int8).reshape(len(rows), size)
    return Codes(
        np.fromiter((row[0] for row in rows), dtype=np.int64, count=len(rows)),
        np.fromiter((row[1] for row in rows), dtype=np.int64, count=len(rows)),
        whole,
        np.fromiter((row[2] for row in rows), dtype=np.float32, count=len(rows)),
    )
