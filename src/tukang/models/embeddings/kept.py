"""Vectors that were made once are kept in a file, so that the next start does not make them again.

It is a cache: it may be deleted at any time, and a file that cannot be used costs time and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tukang.models.embeddings.base import Kind, LocalEmbedder, Progress

if TYPE_CHECKING:
    from tukang.models.embeddings.base import Matrix

_BATCH = 32
"""Vectors that are made between two writings: what a killed process may have to make again."""


class Kept:
    """An embedder whose vectors of passages are kept. Questions are not: they do not come again.

    Args:
        embedder: makes what is not there yet.
        path: the file; made with its folder when it is not there.
        progress: told how many of the missing vectors were made.
    """

    def __init__(self, embedder: LocalEmbedder, path: Path, progress: Progress | None = None) -> None:
        self.name = embedder.name
        self.dimensions = embedder.dimensions
        self._embedder = embedder
        self._path = path
        self._progress = progress

    async def embed(self, texts: Sequence[str], kind: Kind) -> Matrix:
        return await asyncio.to_thread(self.vectors, texts, kind)

    def vectors(self, texts: Sequence[str], kind: Kind) -> Matrix:
        """See `LocalEmbedder.vectors`."""
        import numpy as np

        if kind == "query":
            return self._embedder.vectors(texts, kind)
        rows: Matrix = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        keys = [_key(self.name, text) for text in texts]
        with contextlib.closing(self._opened()) as file:
            known = _read(file, keys)
            missing = [at for at, key in enumerate(keys) if len(known.get(key, b"")) != 4 * self.dimensions]
            for at, key in enumerate(keys):
                if len(known.get(key, b"")) == 4 * self.dimensions:
                    rows[at] = np.frombuffer(known[key], dtype="<f4")
            for start in range(0, len(missing), _BATCH):
                several = missing[start : start + _BATCH]
                made = self._embedder.vectors([texts[at] for at in several], kind)
                rows[several] = made
                _write(file, [(keys[at], made[row].astype("<f4").tobytes()) for row, at in enumerate(several)])
                if self._progress is not None:
                    self._progress(start + len(several), len(missing))
        return rows

    def _opened(self) -> sqlite3.Connection:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = sqlite3.connect(self._path, timeout=10, isolation_level=None)
        except (OSError, sqlite3.Error):
            file = sqlite3.connect(":memory:", isolation_level=None)
        with contextlib.suppress(sqlite3.Error):
            file.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"
            )
        return file


def _key(name: str, text: str) -> bytes:
    return hashlib.sha256(f"{name}\0{text}".encode("utf-8", "surrogatepass")).digest()


def _read(file: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    with contextlib.suppress(sqlite3.Error):
        for key in keys:
            row = file.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
            if row is not None:
                found[key] = cast("bytes", row[0])
    return found


def _write(file: sqlite3.Connection, rows: Sequence[tuple[bytes, bytes]]) -> None:
    with contextlib.suppress(sqlite3.Error):  # full, locked, read-only: they are made again next time
        file.execute("BEGIN IMMEDIATE")
        file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        file.execute("COMMIT")
