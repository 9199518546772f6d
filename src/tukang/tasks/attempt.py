"""One attempt at a task: its function runs, its progress is written down, its lease is renewed, its cancellation is heard.

Decides nothing about what follows; writes no state but progress.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from contextlib import nullcontext
from typing import Any

from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import StoreError
from tukang.memory.stores.task_values import TaskLostError, TaskRow
from tukang.memory.stores.watch import Reader
from tukang.runtime.calls import whole_outcome
from tukang.tasks.workshop import Workshop, working
from tukang.tools.context import CallContext
from tukang.tools.failure import words
from tukang.tools.outcome import Outcome, failed

logger = logging.getLogger("tukang.tasks")

OFTEN = 0.25
"""Seconds between two writings of progress: often enough to watch, and no load."""

_LONGEST_MESSAGE = 500


class Attempt:
    """One attempt.

    Args:
        shop: the functions.
        store: where the task is.
        row: the task, held.
        lease: seconds for which it is held each time.
        grace: seconds that the function has to stop after it was cancelled.
    """

    def __init__(self, shop: Workshop, store: Store, row: TaskRow, lease: float, grace: float) -> None:
        self._shop = shop
        self._store = store
        self._row = row
        self._lease = lease
        self._grace = grace
        self._redaction = shop.redaction_of(row.id)
        self._loop = asyncio.get_running_loop()
        self._stir = asyncio.Event()
        self._cancelled = threading.Event()
        self._percent: float | None = None
        self._message = ""
        self._told = False

    async def outcome(self) -> Outcome | None:
        """What came of it; None when it was cancelled, did not stop in its grace, and was stopped.

        Raises:
            TaskLostError: somebody else has taken it meanwhile; the function is stopped.
        """
        work = asyncio.create_task(self._work())
        work.add_done_callback(lambda _: self._stir.set())
        try:
            return await self._watched(work)
        finally:
            self._cancelled.set()  # a thread that is left behind is not stopped, but can look
            await _stop(work)

    async def _work(self) -> Outcome:
        spec = self._row.spec
        tool = self._shop.host.toolbox.get(spec.tool)
        if tool is None:
            return failed("not_run", f"{spec.tool} is not available any more")
        try:
            caller = self._shop.context_of(self._row.id, spec.caller)
        except Exception as error:
            logger.warning("task %s: its caller cannot be made again: %s", self._row.id, words(error))
            return failed("not_run", "whoever it was for cannot be made out any more")
        seconds = self._seconds()
        context: CallContext[Any] = CallContext(
            call_id=spec.call,
            idempotency_key=spec.key,
            session=self._row.session,
            deadline=None if seconds is None else time.monotonic() + seconds,
            context=caller,
            tell=self._tell,
            cancelling=self._cancelled.is_set,
            effect=spec.policy.effect,
        )
        tool = working(tool, context)
        cache = None if spec.policy.effect == "read" else self._shop.cache
        with nullcontext() if cache is None else cache.writing():
            outcome = await whole_outcome(self._shop.vault, tool, spec.policy, spec.arguments, context, seconds)
        return self._redaction.outcome(outcome)

    def _seconds(self) -> float | None:
        row = self._row
        left = None if row.expires is None else max(0.0, row.expires - row.now)
        bounds = [bound for bound in (row.spec.policy.timeout, left) if bound is not None]
        return min(bounds) if bounds else None

    # ── meanwhile ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _watched(self, work: asyncio.Task[Outcome]) -> Outcome | None:
        with await self._store.tasks.watched(self._row.id) as reader:
            hearing = asyncio.create_task(self._hear(reader))
            try:
                beaten, wanted_end = time.monotonic(), math.inf
                while not work.done():
                    self._stir.clear()
                    now = time.monotonic()
                    due = self._told and now >= beaten + OFTEN
                    if due or now >= beaten + self._lease / 3:
                        asked, beaten = await self._beat(), now
                    else:
                        asked = await self._asked_to_end()
                    if asked and wanted_end == math.inf:
                        self._cancelled.set()
                        wanted_end = now + self._grace
                    if now >= wanted_end and not work.done():
                        return None
                    again = OFTEN if self._told else self._lease / 3
                    await _wait(self._stir, min(beaten + again, wanted_end) - time.monotonic())
            finally:
                hearing.cancel()
        if self._told:  # the last it has said
            await self._beat()
        return await work

    async def _hear(self, reader: Reader) -> None:
        """Look up whenever something has changed, whoever changed it."""
        while True:
            reader.look()
            await reader.wait()
            self._stir.set()

    async def _beat(self) -> bool:
        """Say that it is alive, and how far it is; whether its end is wanted."""
        self._told = False
        try:
            message = self._redaction.text(self._message)
            return await self._store.tasks.beat(self._row, self._lease, self._percent, message) is not None
        except StoreError as error:  # it may be there again the next time
            logger.warning("task %s: no sign of life could be given: %s", self._row.id, error)
            return False

    async def _asked_to_end(self) -> bool:
        try:
            row = await self._store.tasks.one(self._row.id)
        except StoreError:
            return False
        if row.token != self._row.token:
            raise TaskLostError(f"task {row.id}: somebody else has it by now")
        return row.cancel is not None

    def _tell(self, percent: float | None, message: str) -> None:
        """What the function says, from whatever thread."""
        if percent is not None and not math.isnan(percent):
            self._percent = min(100.0, max(0.0, float(percent)))
        if message:
            self._message = " ".join(message.split())[:_LONGEST_MESSAGE]
        self._loop.call_soon_threadsafe(self._new)

    def _new(self) -> None:
        if not self._told:
            self._told = True
            self._stir.set()


async def _wait(stir: asyncio.Event, seconds: float) -> None:
    waiting = asyncio.ensure_future(stir.wait())
    await asyncio.wait((waiting,), timeout=max(0.0, seconds))
    waiting.cancel()


async def _stop(work: asyncio.Task[Outcome]) -> None:
    """Have nothing of it left behind that can be stopped."""
    if work.done():
        return
    work.cancel()
    await asyncio.wait((work,), timeout=1.0)
