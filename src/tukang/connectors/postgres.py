"""Reads a Postgres database, and cannot write it: with a role that has no right to, in a read-only transaction, through a
cursor that takes nothing but a query, and rolled back at the end.

A statement is sent by the extended protocol, which takes one statement, as the query of a subselect of a cursor: the server's
own grammar allows a SELECT there, and neither COMMIT, SET, DO, CALL, COPY nor a WITH that writes. A transaction that is
read-only and has begun to read cannot be made another. What one query set, locked or announced is gone with its connection,
which is its own.

What a value may be is bounded before it leaves the server: everything comes as text, cut there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tukang.connectors import postgres_role
from tukang.connectors.postgres_schema import tables_of
from tukang.connectors.postgres_values import column_sql, value_of
from tukang.connectors.values import Bounds, Refused, Rows, Stop, Table
from tukang.errors import ConfigurationError
from tukang.memory.stores.postgres import conninfo, without_password
from tukang.secrets import Remover
from tukang.tools.advice import warn

if TYPE_CHECKING:
    import psycopg
    from psycopg.pq.abc import PGconn, PGresult

_BATCH = 100
_CANCELED = "57014"
"""What the server calls a statement that was stopped."""

_LOCKS = 1.0
"""Seconds to wait for a lock: a reader waits only for who changes the table itself."""


class PostgresReader:
    """A database.

    Args:
        url: `postgresql://…`, as libpq reads it.
        bounds: of each query.
        only: the tables that may be read, with or without their schema; None for all that the role may.
        any_role: take a role that could do more than read.
    """

    kind = "PostgreSQL"
    placeholder = "$1"

    def __init__(self, url: str, bounds: Bounds, only: Sequence[str] | None, *, any_role: bool) -> None:
        from psycopg.conninfo import conninfo_to_dict

        self.name = without_password(url)
        self._url, self._bounds, self._any_role = url, bounds, any_role
        self._only = None if only is None else frozenset(name if "." in name else f"public.{name}" for name in only)
        self._remover = Remover([str(conninfo_to_dict(url).get("password") or "")], in_errors=True)

    # ── the schema ───────────────────────────────────────────────────────────────────────────────────────────────────

    def tables(self) -> tuple[Table, ...]:
        try:
            with self._begun(Stop()) as connection:
                if found := self._complaint(connection.pgconn):
                    raise ConfigurationError(f"{self.name}: {found}")
                return tables_of(lambda sql: _all(connection.pgconn, sql), self._only)
        except Refused as error:
            raise ConfigurationError(f"{self.name}: {error.message}") from error

    def _complaint(self, connection: PGconn) -> str:
        """What is wrong with the role, for the developer."""
        if not self._any_role:
            found = postgres_role.complaint(
                [(row[0] or "", row[1] or "") for row in _all(connection, postgres_role.STATEMENT)]
            )
            if found:
                database = (connection.db or b"").decode()
                return f"its role may do more than read: {found}. {postgres_role.advice(database)}"
        if self._only is None:
            return ""
        readable = {row[0] or "" for row in _all(connection, postgres_role.READABLE)}
        if missing := self._only - readable:
            return f"its role may not read {', '.join(sorted(missing))}, or there is no such table"
        if others := sorted(readable - self._only):
            return (
                f"its role may read more than the tables that are named: {', '.join(others[:5])}. Which tables a role reads, "
                "only its rights can bound: REVOKE SELECT on the others, or name them, or leave tables out"
            )
        return ""

    # ── a query ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def query(self, sql: str, parameters: Sequence[Any], stop: Stop) -> Rows:
        with self._begun(stop) as connection:
            if found := self._complaint(connection.pgconn):
                warn(f"{self.name}: {found}")
                raise Refused("the database cannot be used: its role has other rights than this tool takes")
            try:
                return self._rows(connection.pgconn, sql, [_parameter(value) for value in parameters], stop)
            except _ServerError as error:
                raise self._refused(error, stopped=stop.asked) from error

    def _rows(self, connection: PGconn, sql: str, parameters: Sequence[bytes | None], stop: Stop) -> Rows:
        if "\0" in sql:
            raise Refused("there is a NUL character in it")
        _checked(connection, connection.prepare(b"asked", sql.encode()))
        described = _checked(connection, connection.describe_prepared(b"asked"))
        if not described.nfields:
            raise Refused("it is not a query", "Send one SELECT: nothing else is possible here.")
        if described.nparams != len(parameters):
            raise Refused(f"it has {described.nparams} parameters, and {len(parameters)} values were given for them")
        names = [(described.fname(at) or b"").decode("utf-8", "replace") for at in range(described.nfields)]
        types = [described.ftype(at) for at in range(described.nfields)]
        kinds = [described.param_type(at) for at in range(described.nparams)]
        kept = ", ".join(column_sql(f"c{at}", oid, self._bounds.value) for at, oid in enumerate(types))
        columns = ", ".join(f"c{at}" for at in range(len(types)))
        # the line's end keeps a comment at the end of the query from taking in what follows
        cursor = f"DECLARE tukang NO SCROLL CURSOR FOR SELECT {kept} FROM (\n{sql}\n) AS asked ({columns})"
        _checked(connection, connection.exec_params(cursor.encode(), list(parameters), list(kinds)))
        rows, wanted = Rows(names, self._bounds), True
        while wanted:
            if stop.asked:
                raise _ServerError(_CANCELED, "it was stopped", None)
            fetched = _checked(connection, connection.exec_params(f"FETCH {_BATCH} FROM tukang".encode(), None))
            for row in _rows_of(fetched):
                wanted = rows.add([value_of(text, oid) for text, oid in zip(row, types, strict=True)])
                if not wanted:
                    break
            wanted = wanted and fetched.ntuples == _BATCH
        return rows

    def _refused(self, error: _ServerError, *, stopped: bool) -> Refused:
        message = self._remover.text(error.message)
        if error.state == _CANCELED or stopped:
            return Refused(
                f"it was stopped after {self._bounds.seconds:g} seconds",
                "Ask for less: filter, or count before you list.",
            )
        if error.state == "55P03":
            return Refused(
                "a table is being changed by somebody else, and was not free in time", "Try again a little later."
            )
        if error.state in ("25006", "0A000", "42601"):
            return Refused(message, error.hint or "Send one SELECT: nothing else is possible here.")
        of_schema = error.state in ("42P01", "42703", "42702", "3F000")
        return Refused(message, error.hint, of_schema=of_schema)

    # ── the connection ───────────────────────────────────────────────────────────────────────────────────────────────

    @contextlib.contextmanager
    def _begun(self, stop: Stop) -> Generator[psycopg.Connection[Any]]:
        """A connection in a transaction that can only read. What was done on it is undone, and nothing of it stays."""
        import psycopg

        try:
            connection = psycopg.connect(conninfo(self._url, self._bounds.seconds), autocommit=True)
        except psycopg.Error as error:
            raise Refused(
                f"the database cannot be reached: {self._remover.text(' '.join(str(error).split()))}"
            ) from None
        try:
            stop.by(lambda: _cancel(connection))
            _all(connection.pgconn, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            _all(connection.pgconn, _settings(self._bounds.seconds))
            yield connection
        except _ServerError as error:
            raise Refused(self._remover.text(error.message)) from None
        finally:
            stop.by(None)
            with contextlib.suppress(Exception):
                connection.pgconn.exec_(b"ROLLBACK")
                connection.pgconn.exec_(b"DISCARD ALL")  # for whoever gets this connection of a pool's next
            connection.close()


def _cancel(connection: psycopg.Connection[Any]) -> None:
    with contextlib.suppress(Exception):  # then the server's own bound ends it
        connection.cancel_safe(timeout=5.0)


def _settings(seconds: float) -> str:
    """The bounds as the server keeps them, as far as it knows them."""
    milliseconds = max(1, int(seconds * 1000))
    wanted = {
        "statement_timeout": milliseconds,
        "lock_timeout": min(milliseconds, int(_LOCKS * 1000)),
        "idle_in_transaction_session_timeout": milliseconds + 2000,
        "client_connection_check_interval": 1000,
    }
    names = " UNION ALL ".join(f"SELECT '{name}', '{value}ms'" for name, value in wanted.items())
    return (
        f"SELECT set_config(w.name, w.value, true) FROM ({names}) AS w (name, value) "
        "JOIN pg_catalog.pg_settings s ON s.name = w.name"
    )


class _ServerError(Exception):
    """What the server said, in its parts."""

    def __init__(self, state: str, message: str, hint: str | None) -> None:
        super().__init__(message)
        self.state, self.message, self.hint = state, message, hint


def _checked(connection: PGconn, result: PGresult) -> PGresult:
    """The result, if it is one."""
    from psycopg.pq import DiagnosticField, ExecStatus

    if result.status in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK):
        return result
    state = result.error_field(DiagnosticField.SQLSTATE)
    message = result.error_field(DiagnosticField.MESSAGE_PRIMARY) or connection.error_message
    hint = result.error_field(DiagnosticField.MESSAGE_HINT)
    words = " ".join(message.decode("utf-8", "replace").split())
    raise _ServerError((state or b"").decode(), words, hint.decode("utf-8", "replace") if hint else None)


def _all(connection: PGconn, sql: str) -> list[list[str | None]]:
    """What a statement of ours brings, as text."""
    return list(_rows_of(_checked(connection, connection.exec_params(sql.encode(), None))))


def _rows_of(result: PGresult) -> Iterator[list[str | None]]:
    for row in range(result.ntuples):
        values = [result.get_value(row, at) for at in range(result.nfields)]
        yield [None if value is None else value.decode("utf-8", "replace") for value in values]


def _parameter(value: Any) -> bytes | None:
    if value is None:
        return None
    return (str(value).lower() if isinstance(value, bool) else str(value)).encode()
