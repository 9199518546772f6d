"""The tables of the queue: Procrastinate's own, and two beside them. Brought up to date here; nothing is read or queued.

`tukang_submitted` holds what was submitted and has not ended: what the turn is asked, and what became of it so far. A row
goes when its turn has finished; a turn that failed for good keeps it. `tukang_workers` says who is behind the number that
Procrastinate gives a worker. Jobs carry the turn's id and nothing that anybody said: they are written to logs.

Postgres only. The embedded default needs none of this.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources

import psycopg

from tukang.workers.connecting import explaining, must_be_postgres

_UPGRADE = 0x74756B03
"""The number of an advisory lock: two processes that upgrade at once do it once."""

_BOOK = "CREATE TABLE IF NOT EXISTS tukang_queue_steps (name TEXT PRIMARY KEY, applied DOUBLE PRECISION NOT NULL)"

_STEPS: dict[str, str] = {
    "tukang 1": """
        CREATE TABLE tukang_submitted (
            turn       TEXT PRIMARY KEY,
            session    TEXT NOT NULL,
            agent      TEXT NOT NULL,
            asked      TEXT NOT NULL,                       -- JSON: the message, and what was said for this turn
            submitted  TIMESTAMPTZ NOT NULL DEFAULT now(),
            job        BIGINT,                              -- Procrastinate's, the last one
            waits      BOOLEAN NOT NULL DEFAULT false,      -- it was let go until somebody decides
            faults     INTEGER NOT NULL DEFAULT 0,          -- tries that ended badly
            why        TEXT,                                -- how the last of these ended
            failed     TIMESTAMPTZ                          -- for good
        );
        CREATE TABLE tukang_workers (
            worker     BIGINT PRIMARY KEY REFERENCES procrastinate_workers ON DELETE CASCADE,
            name       TEXT NOT NULL,
            agents     TEXT[] NOT NULL,
            slots      INTEGER NOT NULL,
            started    TIMESTAMPTZ NOT NULL DEFAULT now()
        );
        -- which of a session's jobs is next is asked for each job that is looked at
        CREATE INDEX tukang_jobs_lock ON procrastinate_jobs (lock, id) WHERE status IN ('todo', 'doing')
    """,
}
"""Our own, by name. A step that was released is never edited; a change is a new step."""


def upgrade(address: str) -> tuple[str, ...]:
    """Bring the queue's tables up to date, in one transaction; returns the names of the steps that were applied now.

    Where Procrastinate is there already, and not by us, its tables are left to whoever made them.

    Args:
        address: `postgresql://…`.

    Raises:
        ConfigurationError: it is no Postgres.
        StoreError: the database cannot do it.
    """
    must_be_postgres(address)
    done: list[str] = []
    with explaining(address), psycopg.connect(address, connect_timeout=10) as connection:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_UPGRADE,))
        connection.execute(_BOOK)
        known = {name for (name,) in connection.execute("SELECT name FROM tukang_queue_steps").fetchall()}
        for name, statements in _wanted(connection, known):
            if statements:
                connection.execute(statements.encode())
                done.append(name)
            connection.execute(
                "INSERT INTO tukang_queue_steps VALUES (%s, extract(epoch FROM clock_timestamp()))", (name,)
            )
    return tuple(done)


def _wanted(connection: psycopg.Connection, known: set[str]) -> Iterator[tuple[str, str]]:
    """The steps that are missing, in order, each with its statements; none where the whole schema has them already."""
    sql = resources.files("procrastinate.sql")
    theirs = sorted(step.name for step in (sql / "migrations").iterdir() if step.name.endswith(".sql"))
    if connection.execute("SELECT to_regclass('procrastinate_jobs')").fetchone() == (None,):
        yield "procrastinate", (sql / "schema.sql").read_text("utf-8")
        yield from ((name, "") for name in theirs)
    elif "procrastinate" in known:
        yield from ((name, (sql / "migrations" / name).read_text("utf-8")) for name in theirs if name not in known)
    yield from ((name, statements) for name, statements in _STEPS.items() if name not in known)


def newest() -> str:
    """The name of the last of our own steps."""
    return list(_STEPS)[-1]
