"""Long work over Procrastinate: a task's id is a job in the store's own Postgres, and any worker of the agent runs it.

    agent = Agent(…, tools=[…], tasks=Procrastinate("postgresql://…"))

and on as many machines as there are, `tukang tasks work module:agent --store postgresql://…`. What is true of a task stands
in its row; the job may be done twice, or lost, and changes nothing about it.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import suppress

from procrastinate.exceptions import AlreadyEnqueued
from procrastinate.job_context import JobContext
from procrastinate.manager import JobManager
from procrastinate.tasks import configure_task

from tukang.errors import ConfigurationError
from tukang.memory.stores.errors import StoreError
from tukang.runtime.facade import in_background
from tukang.tasks.backend import Job
from tukang.tasks.runner import Runner
from tukang.tasks.workshop import Caller
from tukang.workers.connecting import explaining
from tukang.workers.fetching import fetching
from tukang.workers.jobs import Jobs
from tukang.workers.queue import Queue, patiently, queue_of
from tukang.workers.values import Again, Done

logger = logging.getLogger("tukang.tasks")

NAME = "procrastinate"
LONG_TASK = "tukang.task"

_AFTER_A_FAULT = 2.0
_STOPPING = 1.0
"""Seconds that tasks get to end when their worker is stopped; what has not ended then goes on elsewhere."""


class Procrastinate:
    """Carries tasks through the queue of the workers (`tukang db upgrade --workers`).

    Args:
        address: `postgresql://user:password@host/database`, the one that the sessions are kept in.
        slots: how many tasks at a time, of one worker.
        takeover: seconds within which a task goes on elsewhere whose worker died, or that was lost on its way.
        caller: see `tukang.tasks.workshop.Caller`.
        redact: see `tukang.tasks.backend.Backend.redact`.

    Raises:
        ConfigurationError: it is no Postgres.
    """

    name = NAME
    remote = True

    def __init__(
        self,
        address: str,
        *,
        slots: int = 4,
        takeover: float = 30.0,
        caller: Caller | None = None,
        redact: Callable[[str], str] | None = None,
    ) -> None:
        self.caller = caller
        self.redact = redact
        self.lease = takeover / 2
        self._address = address
        self._slots = slots
        self._takeover = takeover
        self._queues: dict[int, asyncio.Task[Queue]] = {}
        Queue(address)  # to raise what is wrong with the address now

    def noticed(self, here: Runner) -> None:
        """Workers see to what is there."""

    async def carry(self, job: Job, here: Runner) -> None:
        """Queue a job. Where there is one for the task already that was not begun, that is enough."""
        self._must_be_one_store(here)
        await asyncio.wrap_future(in_background(lambda: self._carry(job)))

    async def _carry(self, job: Job) -> None:
        """On the one loop that the connections belong to."""
        opening = self._queues.setdefault(os.getpid(), asyncio.ensure_future(self._opened()))
        try:
            queue = await asyncio.shield(opening)
        except BaseException:
            self._queues.pop(os.getpid(), None)
            raise
        await patiently(lambda: _queued(queue, job))

    async def _opened(self) -> Queue:
        queue = Queue(self._address, connections=1)
        await queue.open()
        return queue

    def _must_be_one_store(self, runner: Runner) -> None:
        if runner.store.name != Queue(self._address).name:
            raise ConfigurationError(
                f"the tasks are in {runner.store.name}, and Procrastinate would carry them in {Queue(self._address).name}: "
                "give it the address of the store that the sessions are kept in"
            )

    async def work(self, runner: Runner, stop: asyncio.Event) -> None:
        """Run tasks of the runner's agent until `stop` is set."""
        self._must_be_one_store(runner)
        await _Working(self, runner).run(stop)

    @property
    def connected(self) -> Queue:
        """A queue of one's own, not opened yet."""
        return Queue(self._address)

    @property
    def slots(self) -> int:
        """How many tasks at a time, of one worker."""
        return self._slots

    @property
    def takeover(self) -> float:
        """Seconds within which what was lost is carried again."""
        return self._takeover


class _Working:
    """A worker of tasks."""

    def __init__(self, backend: Procrastinate, runner: Runner) -> None:
        self._runner = runner
        self._takeover = backend.takeover
        self._queue = backend.connected
        agent = runner.shop.name
        name = f"{runner.holder} (tasks)"
        # under another name than the agent's: this worker runs none of its turns
        self._jobs = Jobs(self._queue, name, [f"{agent} (tasks)"], backend.slots, LONG_TASK)
        queues = [tasks_queue_of(agent)]
        self._worker = fetching(
            self._queue, self._jobs, LONG_TASK, self._try, queues, name, backend.slots, backend.takeover, _STOPPING
        )

    async def run(self, stop: asyncio.Event) -> None:
        await patiently(self._queue.open)
        with explaining(self._queue.address):
            working = asyncio.create_task(self._worker.run())
        others = [asyncio.create_task(self._beat()), asyncio.create_task(stop.wait())]
        try:
            await asyncio.wait((working, others[1]), return_when=asyncio.FIRST_COMPLETED)
            self._worker.stop()
            await working
        finally:
            for task in others:
                task.cancel()
            await asyncio.wait(others)
            await self._queue.close()

    async def _try(self, context: JobContext, turn: str) -> None:
        """One delivery. Nothing is said where this is stopped in the middle: then the job goes back."""
        pause: float | None = _AFTER_A_FAULT
        try:
            pause = await self._runner.run(turn)
        except StoreError as error:
            logger.warning("task %s: %s", turn, error)
        except Exception:
            logger.exception("task %s", turn)
        self._jobs.say(context.job, Done() if pause is None else Again(pause))

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._takeover / 6)
            try:
                await self._jobs.beat()
                await self._jobs.rescue(self._takeover / 2, 1)  # a job may be done again however often
                for task, left in await self._runner.undelivered(NAME, self._takeover / 2):
                    if left <= 0:
                        await _queued(self._queue, Job(task, self._runner.shop.name))
            except StoreError as error:
                logger.warning("no heartbeat: %s", error)


async def _queued(queue: Queue, job: Job) -> None:
    deferrer = configure_task(
        name=LONG_TASK,
        job_manager=JobManager(queue.connector),
        queue=tasks_queue_of(job.agent),
        queueing_lock=f"tukang:task:{job.task}",
        schedule_in={"seconds": round(job.delay)} if job.delay > 0 else None,
    )
    with explaining(queue.address), suppress(AlreadyEnqueued):
        await deferrer.defer_async(turn=job.task)  # the name under which `Jobs` looks for what a job carries


def tasks_queue_of(agent: str) -> str:
    """Where an agent's tasks are queued: apart from its turns, so that neither takes the other's slots."""
    return queue_of(f"{agent}:tasks")
