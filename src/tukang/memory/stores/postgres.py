"""Postgres, on psycopg 3 (`pip install 'tukang[postgres]'`).

Several connections, each in a thread of its own. What a transaction wrote is on the server's disk when it returns, unless the
server, the user or the address say otherwise (`synchronous_commit`); where `sync` asks for it, it is, whatever they say. Lock
waits, connecting, and a server that has gone silent are bounded by `patience`.
"""

from __future__ import annotations

import contextlib
import functools
import re
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from threading import Event
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit, urlunsplit

from tukang.memory.stores import migrations
from tukang.memory.stores.database import Row, Wake
from tukang.memory.stores.errors import DuplicateError, StoreError, StoreErrorKind

if TYPE_CHECKING:
    import psycopg

_CHANNEL = "tukang"
_FORKS = 0x74756B01
_UPGRADE = 0x74756B02
"""Numbers of advisory locks: within the database, nobody else should use them."""

_KINDS: tuple[tuple[str, StoreErrorKind], ...] = (
    ("08", "unavailable"),
    ("57P0", "unavailable"),  # shutting down, starting up
    ("57P05", "unavailable"),
    ("53300", "unavailable"),  # too many connections
    ("53100", "full"),
    ("55P03", "locked"),
    ("40", "locked"),  # deadlock
    ("28", "denied"),
    ("42501", "denied"),
    ("3D000", "not_found"),
    ("25006", "read_only"),
    ("42P01", "not_upgraded"),
    ("XX00", "corrupt"),
)
"""The beginning of an SQLSTATE → what it means here."""
_SAYS: dict[StoreErrorKind, str] = {
    "unavailable": "Is the server up, and can it be reached from here?",
    "full": "Free some room on the server; nothing was half-written.",
    "locked": "Another transaction has held the row for too long.",
    "denied": "Check the user, the password and the user's rights.",
    "not_found": "Create the database, or correct its name.",
    "read_only": "This is a standby, or a read-only session.",
    "not_upgraded": "Run `tukang db upgrade --store ADDRESS`.",
}


class PostgresDatabase:
    """One connection to a server.

    Args:
        url: `postgresql://user:password@host:port/database?option=value`, as libpq reads it.
        patience: seconds to wait for the server, and for another transaction.
    """

    for_update = "FOR UPDATE OF s"

    def __init__(self, url: str, patience: float) -> None:
        self._url = url
        self._patience = patience
        self._open: psycopg.Connection[Row] | None = None
        self._sync = ""
        self._checked = False

    # ── connection and transactions ──────────────────────────────────────────────────────────────────────────────────

    @property
    def _connection(self) -> psycopg.Connection[Row]:
        if self._open is None or self._open.closed:
            self._checked = False
            self._open = self._connect()
            self._open.execute(f"SET lock_timeout = {int(self._patience * 1000)}".encode())
            asked = self._open.execute("SHOW synchronous_commit").fetchone()
            # on the server's own disk, at least; a stricter setting is left as it is
            self._sync = "; SET LOCAL synchronous_commit = on" if asked == ("off",) else ""
        return self._open

    def _connect(self) -> psycopg.Connection[Row]:
        import psycopg

        return psycopg.connect(conninfo(self._url, self._patience), autocommit=True)

    @contextlib.contextmanager
    def transaction(self, *, write: bool = True, sync: bool = False) -> Generator[None]:
        with self._explaining():
            connection = self._connection
            if not self._checked:
                self._check(connection)
            begin = "BEGIN" if write else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            connection.execute((begin + (self._sync if sync else "")).encode())
            try:
                yield
            except BaseException:
                _roll_back(connection)
                raise
        try:
            connection.execute("COMMIT")
        except Exception as error:
            raise self._explained(error, uncertain=True) from error

    @contextlib.contextmanager
    def _explaining(self) -> Generator[None]:
        """What the driver raises comes out as what it means."""
        import psycopg

        try:
            yield
        except psycopg.Error as error:
            raise self._explained(error) from error

    def _explained(self, error: Exception, *, uncertain: bool = False) -> StoreError:
        return explained(self.name, error, uncertain=uncertain)

    @property
    def name(self) -> str:
        return without_password(self._url)

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    # ── statements ───────────────────────────────────────────────────────────────────────────────────────────────────

    def all(self, sql: str, **values: Any) -> list[Row]:
        return self._execute(sql, values).fetchall()

    def one(self, sql: str, **values: Any) -> Row | None:
        return self._execute(sql, values).fetchone()

    def change(self, sql: str, **values: Any) -> int:
        return self._execute(sql, values).rowcount

    def insert(self, sql: str, **values: Any) -> int:
        return int(cast("Row", self._execute(sql, values).fetchone())[0])

    def many(self, sql: str, rows: Iterable[Mapping[str, Any]]) -> None:
        self._connection.cursor().executemany(_native(sql), rows)

    def _execute(self, sql: str, values: Mapping[str, Any]) -> psycopg.Cursor[Row]:
        return self._connection.execute(_native(sql), values)

    def now(self) -> float:
        return cast("Row", self.one("SELECT extract(epoch FROM clock_timestamp())::float8"))[0]

    def exclude_forks(self) -> None:
        self.one("SELECT pg_advisory_xact_lock(:number)", number=_FORKS)

    # ── search ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def add_words(self, turn: int, words: Sequence[str]) -> None:
        self.change(
            "INSERT INTO tukang_words (turn, words) VALUES (:turn, array_to_tsvector(:words::text[]))",
            turn=turn,
            words=sorted(set(words)),
        )

    def drop_words(self, turns: Sequence[int]) -> None:
        """They go with their turns."""

    def search(self, session: int, words: Sequence[str], limit: int) -> list[int]:
        found = self.all(
            """
            SELECT h.turn
            FROM tukang_words w JOIN tukang_history h ON h.turn = w.turn
            WHERE w.words @@ :query::tsquery AND h.session = :session
            ORDER BY ts_rank(w.words, :query::tsquery) DESC, h.number DESC
            LIMIT :limit
            """,
            query=" | ".join(f"'{word}':*" for word in words),
            session=session,
            limit=limit,
        )
        return [turn for (turn,) in found]

    # ── the schema ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _check(self, connection: psycopg.Connection[Row]) -> None:
        """Whether the schema is the one this program knows."""
        applied = 0
        if connection.execute("SELECT to_regclass('tukang_migrations')").fetchone() != (None,):
            asked = connection.execute("SELECT coalesce(max(number), 0) FROM tukang_migrations").fetchone()
            applied = cast("Row", asked)[0]
        if applied < migrations.newest():
            found = f"the schema {applied}" if applied else "no schema of tukang"
            raise StoreError(
                "not_upgraded",
                f"{self.name} has {found}; this tukang needs {migrations.newest()}.",
                _SAYS["not_upgraded"],
            )
        if applied > migrations.newest():
            raise StoreError(
                "too_new",
                f"{self.name} has the schema {applied}; this tukang knows up to {migrations.newest()}.",
                "Use the version that wrote it, or a newer one.",
            )
        self._checked = True

    def upgrade(self) -> tuple[int, ...]:
        done: list[int] = []
        with self._explaining(), self._connection.transaction():
            connection = self._connection
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_UPGRADE,))
            connection.execute(migrations.BOOK)
            asked = connection.execute("SELECT coalesce(max(number), 0) FROM tukang_migrations").fetchone()
            for migration in migrations.MIGRATIONS[cast("Row", asked)[0] :]:
                for statement in migration.statements("postgres"):
                    connection.execute(statement.encode())
                connection.execute(
                    "INSERT INTO tukang_migrations VALUES (%s, %s)",
                    (migration.number, time.time()),
                )
                done.append(migration.number)
        with self._explaining():
            self._check(self._connection)
        return tuple(done)

    # ── other processes ──────────────────────────────────────────────────────────────────────────────────────────────

    def scrub(self) -> None:
        """The server's vacuum does it in its own time."""

    def notify(self, session: int) -> None:
        """Behind the commit, not in it: a transaction that notifies holds a lock over the whole server while it commits."""
        with contextlib.suppress(StoreError), self._explaining():
            self._execute("SELECT pg_notify(:channel, :key)", {"channel": _CHANNEL, "key": str(session)})

    def listen(self, stop: Event, wake: Wake) -> None:
        import psycopg

        while not stop.is_set():
            try:
                with self._connect() as connection:
                    connection.execute(f"LISTEN {_CHANNEL}")
                    wake(None)
                    while not stop.is_set():
                        for notice in connection.notifies(timeout=0.25):
                            wake(int(notice.payload) if notice.payload.isdecimal() else None)
                            if stop.is_set():
                                break
            except psycopg.Error:
                stop.wait(1.0)  # the readers' own queries will say what is wrong


def conninfo(url: str, patience: float) -> str:
    """An address with what is added where it says nothing itself: a server that has gone silent is noticed in this time."""
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    defaults = {
        "connect_timeout": max(2, round(patience)),
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "tcp_user_timeout": max(2000, int(patience * 1000)),
        "application_name": "tukang",
    }
    given = conninfo_to_dict(url)
    return make_conninfo(url, **{name: value for name, value in defaults.items() if name not in given})


def explained(name: str, error: BaseException, *, uncertain: bool = False) -> StoreError:
    """What an error of the driver's means.

    Args:
        name: the address, without a password.
        error: as it was raised.
        uncertain: whether it came while something was being committed.
    """
    import psycopg

    said = " ".join(str(error).split()).rstrip(".")
    said += "" if said.endswith("?") else "."  # the driver may end with a question
    if isinstance(error, psycopg.errors.UniqueViolation | psycopg.errors.ForeignKeyViolation):
        return DuplicateError(f"{name}: {said}")
    kind = _kind(error)
    return StoreError(kind, f"{name}: {said}", _SAYS.get(kind), uncertain=uncertain and kind == "unavailable")


def without_password(url: str) -> str:
    """An address as it may be shown."""
    parts = urlsplit(url)
    user, at, place = parts.netloc.rpartition("@")
    query = re.sub(r"(?i)(password=)[^&]*", r"\1***", parts.query)
    return urlunsplit((parts.scheme, f"{user.partition(':')[0]}{at}{place}", parts.path, query, ""))


def _kind(error: BaseException) -> StoreErrorKind:
    import psycopg

    state = getattr(error, "sqlstate", None)
    if state is None:
        if isinstance(error, psycopg.OperationalError):
            return _kind_of_refusal(str(error))
        return "unexpected"
    for beginning, kind in _KINDS:
        if state.startswith(beginning):
            return kind
    return "unexpected"


def _kind_of_refusal(said: str) -> StoreErrorKind:
    """A connection that was not made has no SQLSTATE: the driver gives the server's sentence only."""
    if re.search(r"password|authentication|no pg_hba.conf entry|role .* does not exist|permission denied", said):
        return "denied"
    if re.search(r"database .* does not exist", said):
        return "not_found"
    return "unavailable"


@functools.lru_cache(maxsize=256)
def _native(sql: str) -> bytes:
    """A statement with parameters in the driver's own notation."""
    return re.sub(r"(?<!:):([a-z_]+)", r"%(\1)s", sql.replace("%", "%%")).encode()


def _roll_back(connection: psycopg.Connection[Row]) -> None:
    with contextlib.suppress(Exception):
        connection.execute("ROLLBACK")
