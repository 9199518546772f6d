"""Procrastinate's worker, as we use it: it fetches, listens, counts slots and stops. What becomes of a job is said elsewhere
(`jobs`), and who is alive as well.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from procrastinate import App
from procrastinate.job_context import JobContext
from procrastinate.worker import Worker

from tukang.workers.jobs import Jobs
from tukang.workers.queue import Queue

_NEVER = 1e6
"""Seconds between things that Procrastinate's worker does by itself, and ours does otherwise or not at all."""


def fetching(
    queue: Queue,
    jobs: Jobs,
    task: str,
    do: Callable[[JobContext, str], Awaitable[None]],
    queues: Sequence[str],
    name: str,
    slots: int,
    takeover: float,
    patience: float | None = None,
) -> Worker:
    """A worker that has not begun.

    Args:
        queue: where its jobs are.
        jobs: what it says and asks about them.
        task: the name of the jobs that it does.
        do: does one; called with what Procrastinate knows of it, and the id it carries.
        queues: the names of the queues it looks into.
        name: what it is called.
        slots: how many jobs at a time.
        takeover: seconds within which others go on with what it did when it dies.
        patience: seconds that its jobs get to end when it is stopped; None for as long as they take.
    """
    app = App(connector=queue.connector)
    app.job_manager = jobs
    app.task(name=task, pass_context=True)(do)
    return Worker(
        app,
        queues=queues,
        name=name,
        concurrency=slots,
        fetch_job_polling_interval=takeover / 6,
        abort_job_polling_interval=_NEVER,
        update_heartbeat_interval=_NEVER,
        stalled_worker_timeout=takeover / 2,
        shutdown_graceful_timeout=patience,
        install_signal_handlers=False,
    )
