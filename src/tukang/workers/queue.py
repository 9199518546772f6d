"""The queue as everybody sees it: what is submitted, and what is known of it. A turn is a job of Procrastinate's, and a row
that says what it is asked.

Both are written in one transaction; a turn's id is submitted once, however often somebody says it. A session's jobs share a
lock: they are run one after the other, in the order they were submitted.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from typing import Any, LiteralString, TypeVar

import msgspec
import psycopg
from procrastinate.manager import JobManager
from procrastinate.psycopg_connector import PsycopgConnector
from procrastinate.tasks import configure_task

from tukang.errors import ConfigurationError, TukangError
from tukang.memory.stores.encoding import text_of
from tukang.memory.stores.errors import StoreError
from tukang.memory.stores.postgres import conninfo, without_password
from tukang.workers import schema
from tukang.workers.connecting import explaining, must_be_postgres
from tukang.workers.values import Asked, Submitted

T = TypeVar("T")

TASK = "tukang.turn"
PATIENCE = 10.0
"""Seconds to wait for the server, and to go on trying while it cannot be reached."""

_FREE = 3.0
"""Seconds to wait for a connection."""
_LONGEST_NAME = 100
_LONGEST_PLAIN = 63 - len("procrastinate_queue_v1#tukang:")
_FIND = """
    SELECT turn, session, agent, asked, faults, why, failed IS NOT NULL AS failed
    FROM tukang_submitted WHERE turn = %(turn)s
"""


class TurnFailedError(TukangError):
    """The turn is not tried any more. `why` says how the last try ended; `Fleet.retry` has it tried again."""

    def __init__(self, turn: str, why: str) -> None:
        super().__init__(f"turn {turn} failed for good: {why}. When that is mended: tukang worker retry {turn}")
        self.why = why


class Queue:
    """The queue in a Postgres database.

    Args:
        address: `postgresql://user:password@host/database`.
        connections: at most, from one process.
    """

    def __init__(self, address: str, connections: int = 3) -> None:
        must_be_postgres(address)
        self.address = address
        self.name = without_password(address)
        with explaining(address):
            self._conninfo = conninfo(address, PATIENCE)
        self.connector = PsycopgConnector(
            conninfo=self._conninfo,
            min_size=1,
            max_size=connections,
            timeout=_FREE,
            # a pool that tries again by itself waits longer each time; whoever wants something tries again soon enough
            reconnect_timeout=0.0,
            configure=_durable,
        )
        self._manager = JobManager(self.connector)

    async def open(self) -> None:
        """Connect.

        Raises:
            StoreError: the server cannot be reached, or the queue's tables are not there.
        """
        with explaining(self.address):
            # a pool would go on trying with a wrong password
            async with await psycopg.AsyncConnection.connect(self._conninfo) as connection:
                await self._check(connection)
            await self.connector.open_async()

    async def _check(self, connection: psycopg.AsyncConnection[Any]) -> None:
        """Whether the tables are those that this program knows."""
        try:
            sql = "SELECT name FROM tukang_queue_steps WHERE name = %s"
            found = await (await connection.execute(sql, (schema.newest(),))).fetchone()
        except psycopg.errors.UndefinedTable:
            found = None
        if found is None:
            raise StoreError(
                "not_upgraded",
                f"{self.name} has no queue for this tukang.",
                "Run `tukang db upgrade --workers --store ADDRESS`.",
            )

    async def close(self) -> None:
        """Give the connections back."""
        await self.connector.close_async()

    async def all(self, sql: LiteralString, **values: Any) -> list[dict[str, Any]]:
        """The rows of a statement, which is a transaction of its own; tried once."""
        with explaining(self.address):
            return await self.connector.execute_query_all_async(sql, **values)

    async def ask(self, sql: LiteralString, **values: Any) -> list[dict[str, Any]]:
        """The rows of a statement that changes nothing."""
        return await patiently(lambda: self.all(sql, **values))

    async def submit(self, turn: str, session: str, agent: str, asked: Asked) -> None:
        """Queue a turn; the same again changes nothing.

        Raises:
            ConfigurationError: the id is another turn's.
        """
        check_name(agent)
        row = {"turn": turn, "session": session, "agent": agent, "asked": text_of(asked)}
        if await patiently(lambda: self._submit(row)):
            return
        before = await self.submitted(turn)
        if before is not None and (before.session, before.agent) != (session, agent):
            raise ConfigurationError(
                f"turn {turn!r} was submitted before, for {before.agent} in session {before.session!r}"
            )

    async def _submit(self, row: dict[str, str]) -> bool:
        """Whether it was new."""
        with explaining(self.address):
            async with self.connector.pool.connection() as connection:
                new = await connection.execute(
                    """
                    INSERT INTO tukang_submitted (turn, session, agent, asked)
                    VALUES (%(turn)s, %(session)s, %(agent)s, %(asked)s)
                    ON CONFLICT (turn) DO NOTHING
                    RETURNING turn
                    """,
                    row,
                )
                if await new.fetchone() is None:
                    return False
                await self.defer(connection, row["turn"], row["session"], row["agent"])
        return True

    async def defer(self, connection: psycopg.AsyncConnection[Any], turn: str, session: str, agent: str) -> None:
        """Make a job for a turn, in the connection's transaction."""
        deferrer = configure_task(
            name=TASK,
            job_manager=self._manager,
            queue=queue_of(agent),
            lock=f"tukang:{session}",
            connection=connection,
        )
        job = await deferrer.defer_async(turn=turn)
        await connection.execute(
            "UPDATE tukang_submitted SET job = %s, waits = false WHERE turn = %s",
            (job, turn),
        )

    async def submitted(self, turn: str) -> Submitted | None:
        """A turn that was submitted and has not finished."""
        for row in await self.ask(_FIND, turn=turn):
            asked = msgspec.json.decode(row.pop("asked"), type=Asked)
            return Submitted(asked=asked, **row)
        return None

    async def retry(self, turn: str) -> bool:
        """Try a turn again that failed for good; whether there was one."""
        rows = await self.all(
            """
            WITH again AS (
                UPDATE tukang_submitted SET failed = NULL, faults = 0 WHERE turn = %(turn)s AND failed IS NOT NULL
                RETURNING turn, job
            )
            SELECT turn,
                CASE WHEN j.id IS NOT NULL THEN procrastinate_retry_job_v2(j.id, NULL, NULL, NULL, NULL) END,
                CASE WHEN j.id IS NOT NULL THEN
                    pg_notify('procrastinate_queue_v1#' || j.queue_name, '{"type": "job_inserted", "job_id": 0}')
                END
            FROM again LEFT JOIN procrastinate_jobs j ON j.id = again.job AND j.status = 'failed'
            """,
            turn=turn,
        )
        return bool(rows)


def queue_of(agent: str) -> str:
    """Where an agent's turns are queued: each has a queue of its own, so that who does not run it takes none of them.

    Procrastinate tells of jobs on a channel with the queue's name in it, and Postgres has channels of up to 63 bytes.
    """
    plain = agent.isascii() and len(agent) <= _LONGEST_PLAIN
    return f"tukang:{agent if plain else hashlib.sha256(agent.encode()).hexdigest()[:_LONGEST_PLAIN]}"


def check_name(agent: str) -> None:
    """Whether an agent can have a queue.

    Raises:
        ConfigurationError: it cannot.
    """
    if not agent or len(agent) > _LONGEST_NAME:
        raise ConfigurationError(
            f"an agent that workers run has a name of 1 to {_LONGEST_NAME} characters, not {agent!r}"
        )


async def patiently(work: Callable[[], Awaitable[T]]) -> T:
    """Do something that may be done again, and try again while the database cannot be reached."""
    deadline, pause = time.monotonic() + PATIENCE, 0.05
    while True:
        try:
            return await work()
        except StoreError as error:
            if error.kind != "unavailable" or time.monotonic() + pause > deadline:
                raise
        await asyncio.sleep(pause)
        pause = min(2 * pause, 1.0)


async def _durable(connection: psycopg.AsyncConnection[Any]) -> None:
    """What was accepted is on the server's disk, whatever the server's default is. A stricter setting is left as it is."""
    found = await connection.execute("SHOW synchronous_commit")
    if await found.fetchone() == ("off",):
        await connection.execute("SET synchronous_commit = on")
    await connection.commit()
