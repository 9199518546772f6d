"""Turns that nobody will run any more are queued again: those that waited and may go on now, and those whose job is gone.

A turn that was submitted, has not failed and has no job must be one that waits. Everything else here follows from that.
"""

from __future__ import annotations

import logging
from typing import Any, LiteralString

from tukang.memory.stores.base import Store
from tukang.workers.connecting import explaining
from tukang.workers.queue import Queue

logger = logging.getLogger("tukang.workers")

_JOBLESS: LiteralString = """
    SELECT turn, session, agent, waits FROM tukang_submitted s
    WHERE failed IS NULL AND NOT EXISTS (
        SELECT FROM procrastinate_jobs j WHERE j.id = s.job AND j.status IN ('todo', 'doing')
    )
"""
_ONE: LiteralString = f"{_JOBLESS} AND turn = %(turn)s FOR UPDATE SKIP LOCKED"


async def mend(queue: Queue, store: Store) -> None:
    """Queue again what can go on.

    Raises:
        StoreError: the database cannot be reached.
    """
    jobless = await queue.all(_JOBLESS)
    if not jobless:
        return
    # finished elsewhere, decided, or lost: whatever it is, the next try finds out
    still = {turn.turn for turn in await store.open_turns() if turn.waits or turn.holder}
    for row in jobless:
        if not (row["waits"] and row["turn"] in still):
            await _requeue(queue, row)


async def _requeue(queue: Queue, row: dict[str, Any]) -> None:
    with explaining(queue.address):
        async with queue.connector.pool.connection() as connection:
            found = await connection.execute(_ONE, {"turn": row["turn"]})
            if await found.fetchone() is not None:  # else another worker was faster
                await queue.defer(connection, row["turn"], row["session"], row["agent"])
                logger.info("turn %s: queued again", row["turn"])
