"""The backend that is there when nothing is said: tasks are run in the agent's own process, over the session's own store.

They run in the thread that synchronous calls use too, which lives as long as the process; the loop of whoever asked may end
before. When the process dies, any other process of an agent of that name goes on with them: one that has a turn in the same
store, or `tukang tasks work`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from tukang.runtime.facade import in_background
from tukang.tasks.attending import Attendant
from tukang.tasks.backend import Job
from tukang.tasks.runner import LEASE, Runner
from tukang.tasks.workshop import Caller

NAME = "embedded"
SLOTS = 4

IDLE = 300.0
"""Seconds without a task after which a store is not looked at any more, until there is a turn again."""


class Embedded:
    """Runs tasks in this process: `Agent(tasks=Embedded(slots=8))`.

    Args:
        slots: how many at a time, of one agent in one store.
        caller: see `Caller`.
        redact: see `Backend.redact`.
        lease: seconds after which a task is taken from a process that has died over it.
    """

    name = NAME
    remote = False

    def __init__(
        self,
        *,
        slots: int = SLOTS,
        caller: Caller | None = None,
        redact: Callable[[str], str] | None = None,
        lease: float = LEASE,
    ) -> None:
        self.slots = slots
        self.caller = caller
        self.redact = redact
        self.lease = lease
        self._attendants: dict[tuple[int, Runner], tuple[Attendant, asyncio.Task[None]]] = {}
        self._at_work: dict[tuple[int, Runner], tuple[Attendant, asyncio.AbstractEventLoop]] = {}

    def noticed(self, here: Runner) -> None:
        """See to what is there of processes that died, from now on."""
        if not self._told(here):
            in_background(lambda: self._attend(here))

    async def carry(self, job: Job, here: Runner) -> None:  # noqa: ARG002
        """Have it begun here."""
        if not self._told(here):
            await asyncio.wrap_future(in_background(lambda: self._attend(here)))

    def _told(self, runner: Runner) -> bool:
        """Tell whoever works on a store in this process that there is something new, so that not two see to it; whether
        somebody does."""
        there = self._at_work.get((os.getpid(), runner))
        if there is None:
            return False
        attendant, loop = there
        try:
            loop.call_soon_threadsafe(attendant.nudge)
        except RuntimeError:  # its loop is closed
            return False
        return True

    async def _attend(self, runner: Runner) -> None:
        key = (os.getpid(), runner)
        if key not in self._attendants:
            attendant = Attendant(runner, self.name, self.slots)
            attending = asyncio.create_task(attendant.run(idle=IDLE))
            attending.add_done_callback(lambda _: self._attendants.pop(key, None))
            self._attendants[key] = (attendant, attending)
        self._attendants[key][0].nudge()

    async def work(self, runner: Runner, stop: asyncio.Event) -> None:
        """See to the tasks of the store, on the loop of whoever calls this."""
        await runner.store.tasks.pending(runner.shop.name, self.name, 1)  # to raise what it raises
        key, attendant = (os.getpid(), runner), Attendant(runner, self.name, self.slots)
        self._at_work[key] = (attendant, asyncio.get_running_loop())
        attending = asyncio.create_task(attendant.run())
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait((attending, stopping), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._at_work.pop(key, None)
            for task in (attending, stopping):
                task.cancel()
            await asyncio.wait((attending, stopping))

    @property
    def running(self) -> int:
        """How many tasks this process is at."""
        seeing = [attendant for attendant, _ in (*self._attendants.values(), *self._at_work.values())]
        return sum(attendant.running for attendant in seeing)
