"""How a fleet stands, in two questions to the database. Changes nothing."""

from __future__ import annotations

from typing import LiteralString

import msgspec

from tukang.workers.queue import Queue
from tukang.workers.values import Status, TurnSeen, TurnState, WorkerSeen

_WORKERS: LiteralString = """
    SELECT coalesce(w.name, 'worker ' || p.id) AS name, coalesce(w.agents, '{}') AS agents, coalesce(w.slots, 0) AS slots,
        (SELECT count(*) FROM procrastinate_jobs j WHERE j.worker_id = p.id AND j.status = 'doing') AS running,
        extract(epoch FROM coalesce(w.started, p.last_heartbeat))::float8 AS started,
        extract(epoch FROM now() - p.last_heartbeat)::float8 AS silent
    FROM procrastinate_workers p JOIN tukang_workers w ON w.worker = p.id
    ORDER BY p.id
"""

_TURNS: LiteralString = """
    WITH seen AS (
        SELECT s.turn, s.session, s.agent, s.faults, s.why, w.name AS worker,
            CASE WHEN s.failed IS NOT NULL THEN 'failed'
                WHEN j.status = 'doing' THEN 'running'
                WHEN s.waits THEN 'waiting'
                ELSE 'queued' END AS state,
            extract(epoch FROM s.submitted)::float8 AS submitted,
            extract(epoch FROM now() - p.last_heartbeat)::float8 AS silent,
            CASE WHEN j.status = 'todo' AND j.scheduled_at > now()
                THEN extract(epoch FROM j.scheduled_at)::float8 END AS due
        FROM tukang_submitted s
        LEFT JOIN procrastinate_jobs j ON j.id = s.job
        LEFT JOIN procrastinate_workers p ON p.id = j.worker_id AND j.status = 'doing'
        LEFT JOIN tukang_workers w ON w.worker = p.id
    ), numbered AS (
        SELECT *, count(*) OVER (PARTITION BY state) AS many,
            row_number() OVER (PARTITION BY state ORDER BY submitted, turn) AS number
        FROM seen
    )
    SELECT * FROM numbered WHERE number <= %(limit)s OR number = 1 ORDER BY submitted, turn
"""

_UNSERVED: LiteralString = """
    SELECT DISTINCT s.agent FROM tukang_submitted s JOIN procrastinate_jobs j ON j.id = s.job AND j.status = 'todo'
    WHERE NOT EXISTS (SELECT FROM tukang_workers w WHERE s.agent = ANY(w.agents))
    ORDER BY s.agent
"""

_STATES: tuple[TurnState, ...] = ("queued", "running", "waiting", "failed")


async def look(queue: Queue, limit: int) -> Status:
    """How it stands now, with `limit` turns of each state."""
    workers = await queue.ask(_WORKERS)
    rows = await queue.ask(_TURNS, limit=limit)
    many: dict[TurnState, int] = {row["state"]: row["many"] for row in rows}
    unserved = await queue.ask(_UNSERVED)
    return Status(
        store=queue.name,
        workers=tuple(msgspec.convert(row, WorkerSeen) for row in workers),
        counts={state: many.get(state, 0) for state in _STATES},
        turns=tuple(msgspec.convert(row, TurnSeen) for row in rows if row["number"] <= limit),
        unserved=tuple(row["agent"] for row in unserved),
    )
