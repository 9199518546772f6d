"""Sees to the tasks of one agent in one store, as long as it runs: begins what is due, takes over what was left, wakes what
is to be woken. What the embedded backend is made of, in an agent's own process or in one that does nothing else.
"""

from __future__ import annotations

import asyncio
import logging
import time

from tukang.memory.stores.errors import StoreError
from tukang.memory.stores.task_values import TaskRow
from tukang.tasks.runner import Runner

logger = logging.getLogger("tukang.tasks")

_AFTER_A_FAULT = 5.0
"""Seconds before a task is looked at again over which something of ours has failed."""


class Attendant:
    """Sees to tasks.

    Args:
        runner: runs them.
        backend: the name of the backend whose tasks they are.
        slots: how many at a time.
    """

    def __init__(self, runner: Runner, backend: str, slots: int) -> None:
        self._runner = runner
        self._backend = backend
        self._slots = slots
        self._nudged = asyncio.Event()
        self._running: dict[str, asyncio.Task[None]] = {}
        self._not_before: dict[str, float] = {}
        self._pending = False

    @property
    def running(self) -> int:
        """How many tasks it is at."""
        return len(self._running)

    def nudge(self) -> None:
        """There is something new. Call it on the event loop it runs on."""
        self._pending = True
        self._nudged.set()

    async def run(self, idle: float | None = None) -> None:
        """See to tasks until this is cancelled, or there were none for so many seconds. What is running then is left in the
        middle, for others to find."""
        busy = time.monotonic()
        try:
            while idle is None or time.monotonic() < busy + idle:
                self._nudged.clear()
                try:
                    wait = await self._look()
                except StoreError as error:
                    logger.warning("tasks cannot be looked at: %s", error)
                    wait = self._runner.lease / 3
                busy = time.monotonic() if self._pending else busy
                await self._until_nudged(wait)
        finally:
            left = list(self._running.values())
            for task in left:
                task.cancel()
            if left:
                await asyncio.wait(left, timeout=2.0)

    async def _look(self) -> float:
        """Begin what there is to be done; returns the seconds until there may be more."""
        wait = self._runner.lease / 3
        now = time.monotonic()
        rows = await self._runner.store.tasks.pending(self._runner.shop.name, self._backend)
        self._pending = bool(rows)
        there = {row.id for row in rows}
        self._not_before = {id: moment for id, moment in self._not_before.items() if id in there}
        for row in rows:
            if row.id in self._running:
                continue
            left = max(_left(row), self._not_before.get(row.id, now) - now)
            if left > 0 or len(self._running) >= self._slots:
                wait = min(wait, left) if left > 0 else wait
                continue
            self._running[row.id] = asyncio.create_task(self._see_to(row.id))
        return wait

    async def _see_to(self, id: str) -> None:
        pause: float | None = None
        try:
            pause = await self._runner.run(id)
        except StoreError as error:
            logger.warning("task %s: %s", id, error)
            pause = _AFTER_A_FAULT
        except Exception:
            logger.exception("task %s", id)
            pause = _AFTER_A_FAULT
        finally:
            self._running.pop(id, None)
            if pause is None:
                self._not_before.pop(id, None)
            else:
                self._not_before[id] = time.monotonic() + pause
            self._nudged.set()

    async def _until_nudged(self, seconds: float) -> None:
        waiting = asyncio.ensure_future(self._nudged.wait())
        await asyncio.wait((waiting,), timeout=seconds)
        waiting.cancel()


def _left(row: TaskRow) -> float:
    """Seconds until something is to be done about a task."""
    if row.state == "running" and row.lease is not None:
        return row.lease - row.now
    if row.state == "queued":
        until = row.due if row.expires is None else min(row.due, row.expires)
        return until - row.now
    return 0.0
