"""Reads an SQLite file, and cannot write it: opened read-only, held to reading, and asked about every step of a statement.

Three walls, each of which holds by itself: the file is opened with `mode=ro`, `query_only` is on, and an authorizer allows
selecting, reading and a list of functions, and nothing else, so neither ATTACH nor PRAGMA nor VACUUM INTO nor an extension.
Each query has a connection of its own, so that nothing of one is there for the next.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from tukang.connectors.sqlite_functions import FUNCTIONS, LONGEST, install
from tukang.connectors.values import Bounds, Column, Refused, Rows, Stop, Table
from tukang.errors import ConfigurationError

_STEPS = 5_000
"""Of SQLite's machine, between two looks at the clock: well under a millisecond."""

_PATIENCE = 1.0
"""Seconds to wait for who is just writing."""

_COUNTING = 0.5
"""Seconds that counting the rows of all tables may take; what is not counted by then is not told."""

_LIMITS = (
    (sqlite3.SQLITE_LIMIT_LENGTH, LONGEST),
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000),
    (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
    (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
    (sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 1),
)
_HIDDEN = ("sqlite_dbpage", "sqlite_dbdata", "sqlite_dbptr", "sqlite_stmt", "dbstat")
_OWN = ("json_each", "json_tree")
"""Tables that are none: they read their argument."""


class SqliteReader:
    """A file.

    Args:
        path: where it is.
        bounds: of each query.
        only: the tables that may be read; None for all. What a view reads counts as well.
    """

    kind = "SQLite"
    placeholder = "?"

    def __init__(self, path: Path, bounds: Bounds, only: Sequence[str] | None) -> None:
        self.name = f"sqlite:///{path}"
        self._path, self._bounds = path, bounds
        self._only = None if only is None else frozenset(name.lower() for name in only)
        self._virtual: tuple[str, ...] = ()
        self._shadows: frozenset[str] = frozenset()

    # ── the schema ───────────────────────────────────────────────────────────────────────────────────────────────────

    def tables(self) -> tuple[Table, ...]:
        if not self._path.is_file():
            raise ConfigurationError(f"{self.name} is not a file")
        try:
            with self._opened() as connection:
                found = tuple(self._tables(connection))
        except sqlite3.Error as error:
            raise ConfigurationError(f"{self.name} cannot be read: {error}") from error
        if missing := (self._only or frozenset()) - {table.name.lower() for table in found}:
            raise ConfigurationError(f"{self.name} has no table {', '.join(map(repr, sorted(missing)))}")
        for table in found:
            self._must_be_readable(table)
        return found

    def _tables(self, connection: sqlite3.Connection) -> Iterator[Table]:
        until = time.monotonic() + _COUNTING
        listed = connection.execute("SELECT name, type FROM pragma_table_list WHERE schema = 'main' ORDER BY name")
        kinds = listed.fetchall()
        self._shadows = frozenset(_shadows(kinds, self._only or ()))
        self._virtual = tuple(name for name, kind in kinds if kind == "virtual" and self._readable(name.lower()))
        for name, kind in kinds:
            wanted = self._only is None or name.lower() in self._only
            if name.startswith("sqlite_") or kind == "shadow" or not wanted:
                continue
            columns = tuple(_columns(connection, name))
            view = kind == "view"
            rows = None if view else _counted(connection, name, until)
            yield Table(name, columns, "view" if view else "table", rows)

    def _must_be_readable(self, table: Table) -> None:
        """Of a view that was named: whether what it reads was named as well."""
        if self._only is None or table.kind != "view":
            return
        with self._opened() as connection:
            connection.set_authorizer(self._allowed)
            try:
                connection.execute(f"EXPLAIN SELECT * FROM {_quoted(table.name)}")
            except sqlite3.Error as error:
                raise ConfigurationError(
                    f"{self.name}: the view {table.name!r} cannot be read with these tables: {error}. Name the tables "
                    "that it reads, too"
                ) from error

    # ── a query ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def query(self, sql: str, parameters: Sequence[Any], stop: Stop) -> Rows:
        until = time.monotonic() + self._bounds.seconds
        try:
            with self._opened() as connection:
                for name in self._virtual:  # making one is asked about as if it were made anew
                    with contextlib.suppress(sqlite3.Error):
                        connection.execute(f"EXPLAIN SELECT * FROM {_quoted(name)}").close()
                connection.set_authorizer(self._allowed)
                connection.set_progress_handler(lambda: stop.asked or time.monotonic() > until, _STEPS)
                stop.by(connection.interrupt)
                try:
                    return self._rows(connection, sql, parameters)
                finally:
                    stop.by(None)
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
            raise _refused(error, self._bounds) from error

    def _rows(self, connection: sqlite3.Connection, sql: str, parameters: Sequence[Any]) -> Rows:
        cursor = connection.execute(sql, parameters)
        if cursor.description is None:
            raise Refused("there is nothing to run in it", "Send one SELECT.")
        rows = Rows([column[0] for column in cursor.description], self._bounds)
        for row in cursor:
            if not rows.add(row):
                break
        cursor.close()
        return rows

    def _allowed(self, action: int, first: str | None, second: str | None, _base: str | None, _by: str | None) -> int:
        """SQLite asks this about each thing that a statement would do, when it is read. What a view reads is asked about like
        anything else: the name of who asks may be given by the statement itself."""
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            return sqlite3.SQLITE_OK if (second or "").lower() in FUNCTIONS else sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_READ:
            return sqlite3.SQLITE_OK if self._readable((first or "").lower()) else sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_PRAGMA and first == "data_version" and second is None:
            return sqlite3.SQLITE_OK  # asked by full-text tables of themselves
        return sqlite3.SQLITE_DENY

    def _readable(self, table: str) -> bool:
        if table in _HIDDEN or table.startswith("pragma_"):
            return False
        if self._only is None or table in self._only or table in _OWN:
            return True
        return table in self._shadows

    @contextlib.contextmanager
    def _opened(self) -> Generator[sqlite3.Connection]:
        connection = sqlite3.connect(
            f"{self._path.as_uri()}?mode=ro",
            uri=True,
            isolation_level=None,
            timeout=min(_PATIENCE, self._bounds.seconds),
            check_same_thread=False,
            cached_statements=0,
        )
        try:
            for limit, most in _LIMITS:
                connection.setlimit(limit, most)
            connection.execute("PRAGMA query_only = ON")
            install(connection)
            connection.text_factory = _text
            yield connection
        finally:
            connection.close()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _shadows(kinds: Sequence[tuple[str, str]], only: Collection[str]) -> Iterator[str]:
    """The tables that full-text tables among these consist of. Which are such, SQLite says, not their names."""
    whole = [f"{name.lower()}_" for name, kind in kinds if kind == "virtual" and name.lower() in only]
    for name, kind in kinds:
        if kind == "shadow" and any(name.lower().startswith(one) for one in whole):
            yield name.lower()


def _columns(connection: sqlite3.Connection, table: str) -> Iterator[Column]:
    try:
        listed = connection.execute('SELECT name, type, pk, "notnull" FROM pragma_table_info(?)', (table,)).fetchall()
        keys = connection.execute('SELECT "from", "table", "to" FROM pragma_foreign_key_list(?)', (table,)).fetchall()
    except sqlite3.Error:  # a view of what is not there any more, a module that is not here
        return
    refers = {source: f"{target}.{column}" if column else target for source, target, column in keys}
    for name, kind, primary, needed in listed:
        yield Column(name, kind or "", bool(primary), bool(needed), refers.get(name, ""))


def _counted(connection: sqlite3.Connection, table: str, until: float) -> int | None:
    late: Callable[[], bool] = lambda: time.monotonic() > until  # noqa: E731
    connection.set_progress_handler(late, _STEPS)
    try:
        return None if late() else connection.execute(f"SELECT count(*) FROM {_quoted(table)}").fetchone()[0]
    except sqlite3.Error:
        return None
    finally:
        connection.set_progress_handler(None, 0)


def _refused(error: Exception, bounds: Bounds) -> Refused:
    said = str(error)
    if said == "interrupted":
        return Refused(
            f"it was stopped after {bounds.seconds:g} seconds", "Ask for less: filter, or count before you list."
        )
    if "one statement" in said:
        return Refused("there is more than one statement in it", "Send one SELECT at a time.")
    if said.startswith(("not authorized", "access to")) or "prohibited" in said:
        hint = "Only SELECT is possible here, from the tables that are listed, with SQLite's ordinary functions."
        return Refused(said, hint, of_schema="access to" in said)
    if said in ("string or blob too big", "user-defined function raised exception"):
        return Refused(
            f"a value is, or became, larger than {LONGEST} bytes", "Leave out the large column, or ask for a part."
        )
    of_schema = said.startswith(("no such table", "no such column", "ambiguous column"))
    return Refused(said, of_schema=of_schema)
