"""A knowledge on each of the databases, empty, for one test; with an embedder that is quick and counts what it is asked."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.postgres import PostgresServer
from tukang.knowledge import Knowledge
from tukang.models.embeddings.base import Kind, unit_rows
from tukang.retrieval.words import question_words

FILES = Path(__file__).parent / "files"


class Bag:
    """An embedder whose vectors say which words a text has, and nothing else. `asked` holds all passages it was given."""

    dimensions = 512

    def __init__(self, name: str = "bag") -> None:
        self.name = name
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str], kind: Kind) -> Any:
        if kind == "passage":
            self.asked += texts
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for at, text in enumerate(texts):
            for word in question_words(text):
                digest = hashlib.md5(word.encode(), usedforsecurity=False).digest()
                rows[at, int.from_bytes(digest[:4]) % self.dimensions] += 1
        return unit_rows(rows)


@pytest.fixture
def bag() -> Bag:
    return Bag()


@pytest.fixture(params=["sqlite", "pgvector", "postgres without pgvector"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/tukang.db"
    server: PostgresServer = request.getfixturevalue("postgres_server")
    if request.param == "pgvector":
        _install(server)
    else:
        monkeypatch.setattr("tukang.knowledge.postgres_shelf.PostgresShelf._extension", lambda _self: None)
    return request.getfixturevalue("postgres_url")


def _install(server: PostgresServer) -> None:
    """Once for the server, where a test's own schema does not take it away again."""
    import psycopg

    try:
        server.run("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    except psycopg.Error as error:
        pytest.skip(f"this Postgres has no pgvector: {error}")


@pytest.fixture
def make(store: str) -> Iterator[Callable[..., Knowledge]]:
    """Makes a knowledge on this database; all are closed at the end."""
    made: list[Knowledge] = []

    def one(embedder: Any = None, **more: Any) -> Knowledge:
        made.append(Knowledge(store, embedder=embedder or Bag(), **more))
        if len(made) == 1:
            made[0].upgrade()
        return made[-1]

    yield one
    for knowledge in made:
        knowledge._wait(knowledge.aclose)  # pyright: ignore[reportPrivateUsage]


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Callable[..., Knowledge]]:
    """Makes a knowledge in a file: for what does not differ between databases."""
    made: list[Knowledge] = []

    def one(embedder: Any = None, **more: Any) -> Knowledge:
        made.append(Knowledge(f"sqlite:///{tmp_path}/tukang.db", embedder=embedder or Bag(), **more))
        return made[-1]

    yield one
    for knowledge in made:
        knowledge._wait(knowledge.aclose)  # pyright: ignore[reportPrivateUsage]


__all__ = ["FILES", "Bag"]
