"""Jobs as a worker handles them: Procrastinate's own manager, made to bear a database that goes away and workers that were
only slow.

Whose job it is counts, not who says something about it: what becomes of a job is written only while it stands under this
worker's number and with the same number of tries. A worker that was given up and comes back late changes nothing.

Nothing that Procrastinate's worker calls raises when the database cannot be reached, except the first registration: it would
end. What could not be said is found out at the next beat: a job that stands under this worker, and that it is not running,
is put back.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable, Sequence
from typing import Any, LiteralString

from procrastinate.connector import BaseConnector
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager, NotificationCallback
from psycopg.errors import ForeignKeyViolation

from tukang.memory.stores.errors import StoreError
from tukang.workers.connecting import FAULTS, explain, explaining
from tukang.workers.queue import PATIENCE, TASK, Queue, patiently
from tukang.workers.values import Again, Done, Failed, Outcome, Waits

logger = logging.getLogger("tukang.workers")

_MINE: LiteralString = """
    WITH mine AS MATERIALIZED (
        SELECT id, lock, queue_name FROM procrastinate_jobs
        WHERE id = %(job)s AND status = 'doing' AND attempts = %(attempts)s AND worker_id = %(worker)s
        FOR UPDATE
    ), noted AS (
"""
_NEXT: LiteralString = """
    , (
        SELECT pg_notify('procrastinate_queue_v1#' || n.queue_name, '{"type": "job_inserted", "job_id": 0}')
        FROM procrastinate_jobs n WHERE n.lock = mine.lock AND n.status = 'todo' AND n.id <> mine.id LIMIT 1
    )
    FROM mine
"""
"""Procrastinate tells of new jobs only. That a session's next turn may be run now has to be told as well."""


def _back(whose: LiteralString, when: LiteralString = "NULL") -> LiteralString:
    """A job goes back to the queue. One that has another in its place is simply finished: of those with the same queueing
    lock one may wait, and it does the same."""
    return f"""
        CASE WHEN EXISTS (
            SELECT FROM procrastinate_jobs this JOIN procrastinate_jobs other USING (queueing_lock)
            WHERE this.id = {whose}.id AND other.id <> this.id
                AND (other.status = 'todo' OR (other.status = 'doing' AND other.id > this.id))
        ) THEN procrastinate_finish_job_v1({whose}.id, 'succeeded', true)
        ELSE procrastinate_retry_job_v2({whose}.id, {when}, NULL, NULL, NULL) END
    """


_DONE: LiteralString = (
    _MINE
    + "DELETE FROM tukang_submitted WHERE turn = %(turn)s AND EXISTS (SELECT FROM mine))"
    + "SELECT procrastinate_finish_job_v1(id, 'succeeded', true)"
    + _NEXT
)
_WAITS: LiteralString = (
    _MINE
    + "UPDATE tukang_submitted SET waits = true, faults = 0 WHERE turn = %(turn)s AND EXISTS (SELECT FROM mine))"
    + "SELECT procrastinate_finish_job_v1(id, 'succeeded', true)"
    + _NEXT
)
_FAILED: LiteralString = (
    _MINE
    + """
        UPDATE tukang_submitted SET faults = faults + 1, why = %(why)s, failed = now()
        WHERE turn = %(turn)s AND EXISTS (SELECT FROM mine)
    )
    SELECT procrastinate_finish_job_v1(id, 'failed', false)
    """
    + _NEXT
)
_AGAIN: LiteralString = (
    _MINE
    + """
        UPDATE tukang_submitted SET faults = faults + (%(why)s::text IS NOT NULL)::int, why = coalesce(%(why)s, why)
        WHERE turn = %(turn)s AND EXISTS (SELECT FROM mine)
    )
    SELECT
    """
    + _back("mine", "now() + %(pause)s * interval '1 second'")
    + """
        , pg_notify('procrastinate_queue_v1#' || queue_name, '{"type": "job_inserted", "job_id": 0}')
    FROM mine
    """
)

_SILENT: LiteralString = "SELECT * FROM procrastinate_prune_stalled_workers_v1(%(seconds)s)"
_RESCUE: LiteralString = (
    """
    WITH dead AS MATERIALIZED (
        SELECT id, queue_name, args ->> 'turn' AS turn FROM procrastinate_jobs
        WHERE status = 'doing' AND worker_id IS NULL AND task_name = %(kind)s
        FOR UPDATE SKIP LOCKED
    ), noted AS (
        UPDATE tukang_submitted s SET
            faults = faults + 1,
            why = 'its worker died, or was silent for too long',
            failed = CASE WHEN faults + 1 >= %(tries)s THEN now() END
        FROM dead WHERE s.turn = dead.turn
        RETURNING s.turn, s.failed
    )
    SELECT dead.turn, noted.failed IS NOT NULL AS failed,
        CASE WHEN noted.failed IS NOT NULL THEN procrastinate_finish_job_v1(id, 'failed', false) ELSE
    """
    + _back("dead")
    + """
        END,
        pg_notify('procrastinate_queue_v1#' || queue_name, '{"type": "job_inserted", "job_id": 0}')
    FROM dead LEFT JOIN noted ON noted.turn = dead.turn
    """
)
_NOT_HERE: LiteralString = """
    SELECT id FROM procrastinate_jobs
    WHERE status = 'doing' AND worker_id = %(worker)s AND id <> ALL(%(mine)s::bigint[])
"""
_PUT_BACK: LiteralString = (
    """
    WITH mine AS MATERIALIZED (
        SELECT id FROM procrastinate_jobs
        WHERE status = 'doing' AND worker_id = %(worker)s AND id = ANY(%(jobs)s::bigint[])
        FOR UPDATE
    )
    SELECT
    """
    + _back("mine")
    + "FROM mine"
)
_BEAT: LiteralString = "UPDATE procrastinate_workers SET last_heartbeat = now() WHERE id = %(worker)s RETURNING id"
_NAME: LiteralString = """
    INSERT INTO tukang_workers (worker, name, agents, slots) VALUES (%(worker)s, %(name)s, %(agents)s, %(slots)s)
    RETURNING worker
"""


class Jobs(JobManager):
    """What a worker says and asks about jobs.

    Args:
        queue: where they are.
        name: what the worker is called.
        agents: the names of the agents it runs.
        slots: how many turns it runs at a time.
        kind: the name of the jobs it does, and takes over from workers that died.
    """

    def __init__(self, queue: Queue, name: str, agents: Sequence[str], slots: int, kind: str = TASK) -> None:
        connector: BaseConnector = queue.connector
        super().__init__(connector)
        self._queue = queue
        self._kind = kind
        self._about = {"name": name, "agents": list(agents), "slots": slots}
        self._number: int | None = None
        self._signed_on = False
        self._mine: set[int] = set()
        self._missed: set[int] = set()
        self._said: dict[int, Outcome] = {}

    def say(self, job: Job, outcome: Outcome) -> None:
        """What became of a try; written when Procrastinate finishes the job."""
        assert job.id is not None
        self._said[job.id] = outcome

    # ── what Procrastinate's worker calls ────────────────────────────────────────────────────────────────────────────

    async def register_worker(self) -> int:
        number = await patiently(self._registered)
        self._number, self._signed_on = number, True
        return number

    async def _registered(self) -> int:
        with explaining(self._queue.address):
            number = await super().register_worker()
        await self._queue.all(_NAME, worker=number, **self._about)
        return number

    async def prune_stalled_workers(self, seconds_since_heartbeat: float) -> list[int]:  # noqa: ARG002
        return []  # `rescue` does it, at every beat

    async def unregister_worker(self, worker_id: int) -> None:  # noqa: ARG002
        number, self._number, self._signed_on = self._number, None, False
        if number is not None:
            try:
                await super().unregister_worker(number)
            except FAULTS as error:
                self._note("could not sign off", error)

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:  # noqa: ARG002
        if self._number is None:
            return None
        try:
            job = await super().fetch_job(queues, self._number)
        except FAULTS as error:
            if isinstance(error.__cause__, ForeignKeyViolation):
                self._number = None  # given up by the others; the next beat registers anew
            self._note("could not look for turns", error)
            return None
        if job is not None and job.id is not None:
            self._mine.add(job.id)
        return job

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:  # noqa: ARG002
        """Write what became of a try, as it was said; the status that Procrastinate makes of it does not count.

        Where nothing was said, the try was given up in the middle: somebody else is to go on.
        """
        assert job.id is not None
        outcome = self._said.pop(job.id, Again())
        deadline, pause = time.monotonic() + 2 * PATIENCE, 0.1
        try:
            while True:
                try:
                    await self._settle(job, outcome)
                    return
                except StoreError as error:
                    if time.monotonic() > deadline:
                        logger.warning("turn %s: %s; it goes back to the queue", job.task_kwargs["turn"], error)
                        return
                    await asyncio.sleep(pause)
                    pause = min(2 * pause, 2.0)
        finally:
            self._mine.discard(job.id)

    async def listen_for_jobs(
        self, *, on_notification: NotificationCallback, queues: Iterable[str] | None = None
    ) -> None:
        while True:
            try:
                await super().listen_for_jobs(on_notification=on_notification, queues=queues)
            except FAULTS as error:
                self._note("cannot hear of new turns", error)
            await asyncio.sleep(1.0)

    # ── what the worker does at each beat ────────────────────────────────────────────────────────────────────────────

    async def beat(self) -> None:
        """Say that this worker is alive, and put back what stands under it and is not being run. A worker that was given up
        registers anew.

        Raises:
            StoreError: the database cannot be reached.
        """
        number = self._number
        if number is not None and not await self._queue.all(_BEAT, worker=number) and self._number == number:
            self._number = None
        if not self._signed_on:
            return
        if self._number is None:
            logger.warning("%s was given up, and registers anew", self._about["name"])
            self._number = await self._registered()
        rows = await self._queue.all(_NOT_HERE, worker=self._number, mine=list(self._mine))
        missed = {row["id"] for row in rows}
        if stray := missed & self._missed:  # one that is just being fetched is missed only once
            logger.warning("put back: jobs %s", sorted(stray))
            await self._queue.all(_PUT_BACK, worker=self._number, jobs=list(stray))
        self._missed = missed

    async def rescue(self, silence: float, tries: int) -> None:
        """Give up workers that have been silent for so long, and queue their turns again; a turn that lost so many tries has
        failed.

        Raises:
            StoreError: the database cannot be reached.
        """
        if await self._queue.all(_SILENT, seconds=silence):
            logger.warning("a worker has been silent for %.1f s", silence)
        for row in await self._queue.all(_RESCUE, tries=tries, kind=self._kind):
            logger.warning("turn %s: its worker died; %s", row["turn"], "failed" if row["failed"] else "queued again")

    async def _settle(self, job: Job, outcome: Outcome) -> None:
        whose: dict[str, Any] = {
            "job": job.id,
            "attempts": job.attempts,
            "worker": job.worker_id,
            "turn": job.task_kwargs["turn"],
        }
        match outcome:
            case Done():
                written = await self._queue.all(_DONE, **whose)
            case Waits():
                written = await self._queue.all(_WAITS, **whose)
            case Failed(why):
                written = await self._queue.all(_FAILED, why=why, **whose)
            case Again(pause, why):
                written = await self._queue.all(_AGAIN, why=why, pause=pause, **whose)
        if not written:
            logger.warning("turn %s: another worker has it now", whose["turn"])

    def _note(self, what: str, error: BaseException) -> None:
        logger.warning("%s: %s", what, explain(self._queue.address, error.__cause__ or error))
