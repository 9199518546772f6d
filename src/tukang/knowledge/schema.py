"""The tables of the knowledge, as numbered steps. A step that was released is never edited; a change is a new step.

They stand beside those of the sessions, in the same file or database, and have a book of their own: who keeps no
documents has none of them. SQLite takes the steps when documents are first asked for; Postgres when `tukang db
upgrade --knowledge` says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from tukang.memory.stores.migrations import Migration

BOOK = (
    "CREATE TABLE IF NOT EXISTS tukang_knowledge_steps (number INTEGER PRIMARY KEY, applied DOUBLE PRECISION NOT NULL)"
)

STEPS: Sequence[Migration] = (
    Migration(
        1,
        both="""
            CREATE TABLE tukang_collections (
                key        $key,
                name       TEXT NOT NULL UNIQUE,
                embedder   TEXT NOT NULL,                 -- whose vectors these are
                revision   $integer NOT NULL DEFAULT 0    -- goes up with each change
            );

            CREATE TABLE tukang_documents (
                key        $key,
                collection $integer NOT NULL REFERENCES tukang_collections ON DELETE CASCADE,
                source     TEXT NOT NULL,
                name       TEXT NOT NULL,
                title      TEXT NOT NULL,
                digest     TEXT NOT NULL,                 -- of the file, and of what was said about it
                pages      $integer,
                unread     TEXT NOT NULL,                 -- JSON: numbers of pages
                data       TEXT NOT NULL,                 -- JSON: name to value
                added      $real NOT NULL,
                UNIQUE (collection, source)
            );

            CREATE TABLE tukang_passages (
                key        $key,
                document   $integer NOT NULL REFERENCES tukang_documents ON DELETE CASCADE,
                number     $integer NOT NULL,             -- in the document, from 0
                digest     TEXT NOT NULL,
                heading    TEXT NOT NULL,
                page       $integer,
                text       TEXT NOT NULL
            );
            CREATE INDEX tukang_passages_document ON tukang_passages (document, number)
        """,
        sqlite="""
            CREATE TABLE tukang_passage_vectors (
                passage    INTEGER PRIMARY KEY REFERENCES tukang_passages ON DELETE CASCADE,
                scale      REAL NOT NULL,
                vector     BLOB NOT NULL                  -- a signed byte for each dimension, times the scale
            );
            CREATE VIRTUAL TABLE tukang_passage_words
                USING fts5 (words, tokenize = 'unicode61 remove_diacritics 0')
        """,
        postgres="""
            CREATE TABLE tukang_passage_words (
                passage    BIGINT PRIMARY KEY REFERENCES tukang_passages ON DELETE CASCADE,
                words      TSVECTOR NOT NULL,
                length     INTEGER NOT NULL
            );
            CREATE INDEX tukang_passage_words_found ON tukang_passage_words USING gin (words)
        """,
    ),
)

VECTORS_PLAIN = """
    CREATE TABLE tukang_passage_vectors (
        passage BIGINT PRIMARY KEY REFERENCES tukang_passages ON DELETE CASCADE,
        scale   DOUBLE PRECISION NOT NULL,
        vector  BYTEA NOT NULL
    )
"""
"""On a Postgres without pgvector."""

VECTORS_PGVECTOR = """
    CREATE TABLE tukang_passage_vectors (
        passage BIGINT PRIMARY KEY REFERENCES tukang_passages ON DELETE CASCADE,
        vector  {schema}.vector NOT NULL
    )
"""
"""On one with it."""


def newest() -> int:
    """The number of the last step this program knows."""
    return STEPS[-1].number
