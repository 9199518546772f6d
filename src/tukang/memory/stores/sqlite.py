"""SQLite, on the standard library: one file, in WAL mode.

One writer at a time, in this process and in others; who waits longer than `patience` gets `locked`. A commit is on the
disk at once only where `sync` asks for it; otherwise a power cut may take the last commits (never half of one), a crash
of the process takes nothing.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import Any

from tukang.memory.stores import migrations
from tukang.memory.stores.database import Row, Wake
from tukang.memory.stores.errors import DuplicateError, StoreError, StoreErrorKind

_LOOK = 0.05
"""Seconds between two looks at whether another process has written."""

_KINDS: dict[int, StoreErrorKind] = {
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_READONLY: "read_only",
    sqlite3.SQLITE_PERM: "denied",
    sqlite3.SQLITE_AUTH: "denied",
    sqlite3.SQLITE_CANTOPEN: "not_found",
    sqlite3.SQLITE_CORRUPT: "corrupt",
    sqlite3.SQLITE_NOTADB: "corrupt",
    sqlite3.SQLITE_IOERR: "unavailable",
}
_SAYS: dict[StoreErrorKind, tuple[str, str | None]] = {
    "locked": (
        "another process has held the file for longer than {patience:g} s.",
        "End its transaction, or give more patience.",
    ),
    "full": ("there is no room left on the disk.", "Free some; nothing was half-written."),
    "read_only": (
        "the file or its directory cannot be written to.",
        "SQLite writes beside the file as well (-wal, -shm).",
    ),
    "denied": ("this user may not open the file.", None),
    "not_found": (
        "the file cannot be opened.",
        "Its directory must be there, and may be read and written by this user.",
    ),
    "corrupt": ("the file is not an SQLite database, or it is damaged.", "Restore it from an export."),
    "unavailable": ("the disk gave an error.", None),
}


class SqliteDatabase:
    """One connection to a file.

    Args:
        path: the file; made when it is not there, its directory is not.
        patience: seconds to wait for another writer.
    """

    for_update = ""

    def __init__(self, path: Path, patience: float) -> None:
        self._path = path
        self._patience = patience
        self._open: sqlite3.Connection | None = None
        self._syncs = False
        self._applied: tuple[int, ...] = ()

    # ── connection and transactions ──────────────────────────────────────────────────────────────────────────────────

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            connection = self._connect()
            try:
                self._prepare(connection)
                self._open = connection
                self._applied = self._upgrade(connection)
            except BaseException:
                self._open = None
                connection.close()
                raise
        return self._open

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=self._patience, isolation_level=None, cached_statements=256)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA synchronous = NORMAL")
        self._syncs = False
        deadline = time.monotonic() + self._patience
        while True:
            try:
                (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            except sqlite3.OperationalError as error:
                # two processes that make the same file: this statement does not wait by itself
                if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                break
        if mode not in ("wal", "memory"):
            raise StoreError("unavailable", f"{self._path}: this file system cannot hold an SQLite file in WAL mode.")

    @contextlib.contextmanager
    def transaction(self, *, write: bool = True, sync: bool = False) -> Generator[None]:
        with self._explaining():
            connection = self._connection
            if write and sync is not self._syncs:
                connection.execute(f"PRAGMA synchronous = {'FULL' if sync else 'NORMAL'}")
                self._syncs = sync
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                yield
                connection.execute("COMMIT")
            except BaseException:
                _roll_back(connection)
                raise

    @contextlib.contextmanager
    def _explaining(self) -> Generator[None]:
        """What SQLite raises comes out as what it means."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._explained(error) from error
        except OSError as error:
            raise StoreError("unavailable", f"{self._path}: {error.strerror or error}.") from error

    def _explained(self, error: sqlite3.Error) -> StoreError:
        if isinstance(error, sqlite3.IntegrityError):
            return DuplicateError(f"{self._path}: {error}.")
        kind = _KINDS.get(_code(error), "unexpected")
        if kind == "not_found" and self._path.exists() and not os.access(self._path, os.R_OK):
            kind = "denied"
        if kind not in _SAYS:
            return StoreError("unexpected", f"{self._path}: SQLite says: {error}.")
        says, hint = _SAYS[kind]
        return StoreError(kind, f"{self._path}: {says.format(patience=self._patience)}", hint)

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    # ── statements ───────────────────────────────────────────────────────────────────────────────────────────────────

    def all(self, sql: str, **values: Any) -> list[Row]:
        return self._connection.execute(sql, values).fetchall()

    def one(self, sql: str, **values: Any) -> Row | None:
        return self._connection.execute(sql, values).fetchone()

    def change(self, sql: str, **values: Any) -> int:
        return self._connection.execute(sql, values).rowcount

    def insert(self, sql: str, **values: Any) -> int:
        return int(self._connection.execute(sql, values).fetchone()[0])

    def many(self, sql: str, rows: Iterable[Mapping[str, Any]]) -> None:
        self._connection.executemany(sql, rows)

    def now(self) -> float:
        return time.time()

    def exclude_forks(self) -> None:
        """A transaction that writes excludes every other one anyway."""

    # ── search ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def add_words(self, turn: int, words: Sequence[str]) -> None:
        self.change("INSERT INTO tukang_words (rowid, words) VALUES (:turn, :words)", turn=turn, words=" ".join(words))

    def drop_words(self, turns: Sequence[int]) -> None:
        self.many("DELETE FROM tukang_words WHERE rowid = :turn", [{"turn": turn} for turn in turns])

    def search(self, session: int, words: Sequence[str], limit: int) -> list[int]:
        found = self.all(
            """
            SELECT h.turn
            FROM tukang_words w JOIN tukang_history h ON h.turn = w.rowid
            WHERE tukang_words MATCH :query AND h.session = :session
            ORDER BY w.rank, h.number DESC
            LIMIT :limit
            """,
            query=" OR ".join(f'"{word}"*' for word in words),
            session=session,
            limit=limit,
        )
        return [turn for (turn,) in found]

    # ── the schema ───────────────────────────────────────────────────────────────────────────────────────────────────

    def upgrade(self) -> tuple[int, ...]:
        with self._explaining():
            connection = self._connection  # opening it has done it
        done, self._applied = self._applied, ()
        return done or self._upgrade(connection)

    def _upgrade(self, connection: sqlite3.Connection) -> tuple[int, ...]:
        known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'tukang_migrations'").fetchone()
        applied = connection.execute("SELECT max(number) FROM tukang_migrations").fetchone()[0] if known else 0
        if applied == migrations.newest():
            return ()
        done: list[int] = []
        with self.transaction(sync=True):
            connection.execute(migrations.BOOK)
            applied = connection.execute("SELECT coalesce(max(number), 0) FROM tukang_migrations").fetchone()[0]
            if applied > migrations.newest():
                raise StoreError(
                    "too_new",
                    f"{self._path} has the schema {applied}; this tukang knows up to {migrations.newest()}.",
                    "Use the version that wrote it, or a newer one.",
                )
            for migration in migrations.MIGRATIONS[applied:]:
                for statement in migration.statements("sqlite"):
                    connection.execute(statement)
                connection.execute("INSERT INTO tukang_migrations VALUES (?, ?)", (migration.number, time.time()))
                done.append(migration.number)
        return tuple(done)

    # ── deleting for good, and other processes ───────────────────────────────────────────────────────────────────────

    def scrub(self) -> None:
        """The words of deleted turns lie in the index until it is rewritten; old pages lie in the log until it is emptied."""
        with self.transaction():
            self.change("INSERT INTO tukang_words (tukang_words) VALUES ('optimize')")
        deadline = time.monotonic() + self._patience
        with self._explaining():
            while self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > deadline:
                    raise StoreError(
                        "locked",
                        f"{self._path}: the session is deleted, but its bytes stay in the log while another process reads.",
                        "They go when the last process has closed the file.",
                    )
                time.sleep(0.01)

    def notify(self, session: int) -> None:
        """Other processes look by themselves."""

    def listen(self, stop: Event, wake: Wake) -> None:
        """A connection of its own sees a new data version for every commit of any other connection, whatever its process."""
        seen: int | None = None
        watcher: sqlite3.Connection | None = None
        while not stop.wait(_LOOK):
            try:
                if watcher is None:
                    watcher = self._connect()
                (version,) = watcher.execute("PRAGMA data_version").fetchone()
            except sqlite3.Error:
                continue  # the readers' own queries will say what is wrong
            if version != seen:
                seen = version
                wake(None)
        if watcher is not None:
            watcher.close()


def _roll_back(connection: sqlite3.Connection) -> None:
    """SQLite has done it already where the disk is full."""
    if connection.in_transaction:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")


def _code(error: sqlite3.Error) -> int:
    """The primary result code."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
