"""Runs one task: takes it, runs its function, says meanwhile that it is alive and how far it is, writes down what came of it.

The same for every backend. Whoever was delivered a job calls `run`; two who are delivered the same run it once.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time

from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import StoreError
from tukang.memory.stores.task_values import Move, TaskLostError, TaskRow, UnknownTaskError
from tukang.tasks import deciding
from tukang.tasks.attempt import Attempt
from tukang.tasks.waking import wake
from tukang.tasks.workshop import Workshop
from tukang.tools.outcome import Outcome

logger = logging.getLogger("tukang.tasks")

LEASE = 15.0
"""Seconds of silence after which a task is taken from whoever was at it. They give a sign of life thrice in that."""

GRACE = 5.0
"""Seconds that a function has to stop after it was cancelled."""

PATIENCE = 60.0
"""Seconds to go on trying to write down what came of a task while the database cannot be reached."""


_PAUSE = 0.5


class Runner:
    """Runs the tasks of one agent in one store.

    Args:
        shop: the agent's functions.
        store: where the tasks are.
        lease, grace: see `LEASE` and `GRACE`.
    """

    def __init__(self, shop: Workshop, store: Store, *, lease: float = LEASE, grace: float = GRACE) -> None:
        self.shop = shop
        self.store = store
        self.lease = lease
        self.grace = grace
        self.holder = f"{socket.gethostname()}:{os.getpid()}"

    async def run(self, task: str) -> float | None:
        """Do what there is to be done about a task now: run it, give up for whoever died over it, end it when its time is
        over, wake its session. May be called by anybody, as often as they like.

        Returns:
            Seconds after which there is more to be done (a retry, somebody who may turn out to be dead): deliver the job
            again then. None when there is nothing.

        Raises:
            StoreError: the store cannot be used. Deliver the job again later.
        """
        while True:
            try:
                row = await self.store.tasks.one(task)
            except UnknownTaskError:
                self.shop.unfinished.discard(task)
                return None
            try:
                left = await self._step(row)
            except (TaskLostError, UnknownTaskError) as error:  # taken over, or deleted with its session
                logger.info("%s", error)
                continue
            if left is not None:
                return left or None

    async def _step(self, row: TaskRow) -> float | None:
        """One step; 0 when there is nothing to be done any more, None when to look again."""
        if row.final:
            self.shop.unfinished.discard(row.id)
        if row.agent != self.shop.name or (row.final and not row.wakes):
            self.shop.live.pop(row.id, None)
            return 0.0
        if row.final:
            return 0.0 if await wake(self.shop, self.store, row) else self.lease / 3
        if row.abandoned:
            given_up = await self.store.tasks.move(row, deciding.given_up(row))
            logger.warning("task %s: %s was silent for too long; %s", row.id, row.holder, given_up.state)
            return None
        if row.state == "running":
            assert row.lease is not None, "who runs a task holds it"
            return max(row.lease - row.now, 0.05)
        if row.late:
            await self.store.tasks.move(row, deciding.overdue(row))
            return None
        if row.due > row.now:
            return row.due - row.now
        held = await self.store.tasks.move(row, Move("running", row.outcome, lease=self.lease, holder=self.holder))
        await self._attempt(held)
        return None

    async def _attempt(self, row: TaskRow) -> None:
        attempt = Attempt(self.shop, self.store, row, self.lease, self.grace)
        outcome = await attempt.outcome()
        deadline = time.monotonic() + PATIENCE
        while True:  # what could not be written for long is found out by others, as after a death
            try:
                moved = await self._written(row, outcome)
                break
            except StoreError:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(_PAUSE)
        logger.info("task %s (%s): %s", row.id, row.spec.tool, moved.state)

    async def _written(self, row: TaskRow, outcome: Outcome | None) -> TaskRow:
        """Write down what came of it."""
        now = await self.store.tasks.one(row.id)  # whether its end was asked for, and what time it is there
        if now.token != row.token:
            raise TaskLostError(f"task {row.id}: somebody else has it by now")
        return await self.store.tasks.move(
            now, deciding.stopped(now) if outcome is None else deciding.ended(now, outcome)
        )

    async def undelivered(self, backend: str, patience: float) -> list[tuple[str, float]]:
        """(task, seconds) of what nobody has done anything about for so many seconds although it was time, and of what is
        left of that time for the others: what was lost on its way."""
        found: list[tuple[str, float]] = []
        for row in await self.store.tasks.pending(self.shop.name, backend):
            since = row.lease if row.state == "running" else row.finished if row.final else row.due
            found.append((row.id, max(0.0, (since or row.now) + patience - row.now)))
        return found
