"""What carries tasks to where they are run: the one interface of all backends.

A backend knows a task's id and nothing of its state, which stands in the store. So it may deliver a job twice, late, or
never: `Runner.run` does nothing twice, and what nobody delivered is found by `Runner.undelivered`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    from tukang.tasks.runner import Runner
    from tukang.tasks.workshop import Caller


class Job(msgspec.Struct, frozen=True):
    """What is carried.

    Args:
        task: the task's id.
        agent: the name of the agent whose function it runs.
        delay: seconds before it may be begun.
    """

    task: str
    agent: str
    delay: float = 0.0


class Backend(Protocol):
    """Carries tasks. Given to an agent as `Agent(tasks=…)`; one that is not given is `Embedded()`."""

    @property
    def name(self) -> str:
        """What stands in the rows of the tasks it carries; who runs tasks of this backend asks for these."""
        ...

    @property
    def remote(self) -> bool:
        """Whether tasks are run by other processes: then a session in memory has none, and a caller has to be JSON."""
        ...

    @property
    def lease(self) -> float:
        """Seconds of silence after which a task is taken from whoever was at it."""
        ...

    @property
    def caller(self) -> Caller | None:
        """Makes the caller's own object of the JSON that was kept of it, where a task is run by another process."""
        ...

    @property
    def redact(self) -> Callable[[str], str] | None:
        """The last word on every text before it is written, where a task is run by another process: what the session's own
        `redact=` is where the call is made."""
        ...

    def noticed(self, here: Runner) -> None:
        """A turn begins in this process that may have long work done in the runner's store. Must not block."""
        ...

    async def carry(self, job: Job, here: Runner) -> None:
        """Have `Runner.run(job.task)` happen soon after the delay: here, or with another runner of the same store elsewhere.

        The task is in the store already. What this raises is warned of, and changes nothing for the call: the job is
        undelivered then.

        Args:
            job: what is to be run.
            here: would run it in this process.
        """
        ...

    async def work(self, runner: Runner, stop: asyncio.Event) -> None:
        """Run the tasks that this backend carries to this process, with the runner, until `stop` is set: what `tukang tasks
        work` does. What is running then may be left in the middle.

        Also here: see to what was lost on its way (`Runner.undelivered`), now and then.

        Raises:
            StoreError: at the start, what it needs cannot be reached. Later it waits for it.
        """
        ...
