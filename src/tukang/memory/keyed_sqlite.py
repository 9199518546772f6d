"""A log of keyed calls in an SQLite file: it outlives the process, and holds for all processes that have that file."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

from tukang.errors import ConfigurationError

_TABLE = (
    "CREATE TABLE IF NOT EXISTS tukang_keyed (turn TEXT NOT NULL, number INTEGER NOT NULL, batch BLOB NOT NULL, "
    "PRIMARY KEY (turn, number)) WITHOUT ROWID"
)


class SqliteLog:
    """See `tukang.memory.keyed.Log`. Nothing is opened before the first use.

    Args:
        path: the file; it is made where it is not there.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None

    async def read(self, turn: str) -> Sequence[bytes]:
        return await asyncio.to_thread(self._read, turn)

    async def append(self, turn: str, number: int, batch: bytes) -> bool:
        return await asyncio.to_thread(self._append, turn, number, batch)

    def close(self) -> None:
        """Close the file; it is opened again when it is used again."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

    def _read(self, turn: str) -> Sequence[bytes]:
        with self._lock:
            rows = self._open().execute("SELECT batch FROM tukang_keyed WHERE turn = ? ORDER BY number", (turn,))
            return [bytes(batch) for (batch,) in rows]

    def _append(self, turn: str, number: int, batch: bytes) -> bool:
        with self._lock:
            done = self._open().execute("INSERT OR IGNORE INTO tukang_keyed VALUES (?, ?, ?)", (turn, number, batch))
            return done.rowcount == 1

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            try:
                database = sqlite3.connect(self._path, timeout=30, isolation_level=None, check_same_thread=False)
                database.execute("PRAGMA journal_mode = WAL")
                database.execute("PRAGMA synchronous = FULL")  # what was begun must be known after a power cut
                database.execute(_TABLE)
            except sqlite3.Error as error:
                raise ConfigurationError(f"{self._path} cannot be used to keep calls in: {error}") from error
            self._database = database
        return self._database
