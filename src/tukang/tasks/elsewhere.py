"""Long work seen from anywhere: what there is, how far it is, cancelling it, having it tried again. Runs nothing.

All of it needs no more than the store: `async for task in follow(store_at("sqlite:///tukang.db"), id)`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from tukang.errors import TukangError
from tukang.memory.stores.base import Store
from tukang.memory.stores.task_values import TaskLostError, TaskRow, UnknownTaskError
from tukang.tasks import deciding
from tukang.tools.long import TaskState


class TaskRefusedError(TukangError):
    """It cannot be done with a task that stands as it does."""


async def tasks(
    store: Store,
    *,
    session: str | None = None,
    agent: str | None = None,
    states: Sequence[TaskState] = (),
    limit: int = 100,
) -> list[TaskRow]:
    """Tasks, the last asked for first.

    Raises:
        StoreError: the store cannot be used.
    """
    return await store.tasks.several(session=session, agent=agent, states=states, limit=limit)


async def one(store: Store, id: str) -> TaskRow:
    """A task.

    Raises:
        UnknownTaskError: there is none of that id.
    """
    return await store.tasks.one(id)


def follow(store: Store, id: str) -> AsyncIterator[TaskRow]:
    """A task as it is, and whenever something about it is new, up to its end. Leaving changes nothing.

    Raises:
        UnknownTaskError: there is none of that id, or it was deleted meanwhile.
    """
    return store.tasks.follow(id)


async def cancel(store: Store, id: str) -> TaskRow:
    """Have a task end. One that has not begun ends at once; one that is running is told, and has a few seconds to stop.

    Raises:
        UnknownTaskError: there is none of that id.
        TaskRefusedError: it has ended already.
    """
    while True:
        row = await store.tasks.one(id)
        if row.final:
            raise TaskRefusedError(f"task {id} has ended already: {row.state}")
        if row.state == "running":
            if await store.tasks.ask_to_end(row):
                return await store.tasks.one(id)
            continue
        try:
            return await store.tasks.move(row, deciding.unwanted(row))
        except TaskLostError:
            continue


async def retry(store: Store, id: str) -> TaskRow:
    """Have a task tried again that did not end well, if it may be: a write that may have begun is not, unless it may be
    repeated.

    Who runs the backend's tasks finds it within seconds.

    Raises:
        UnknownTaskError: there is none of that id.
        TaskRefusedError: it has not ended, or ended well, or may have taken effect.
    """
    row = await store.tasks.one(id)
    move = deciding.retried(row)
    if move is None:
        raise TaskRefusedError(f"task {id} ({row.state}) is not tried again: {_why_not(row)}")
    try:
        return await store.tasks.move(row, move)
    except TaskLostError as error:
        raise TaskRefusedError(f"task {id}: somebody else has changed it at the same moment") from error


def _why_not(row: TaskRow) -> str:
    if not row.final:
        return "it has not ended"
    if row.state == "done":
        return "it ended well"
    return f"it may have taken effect, and {row.spec.tool} does not say that it may be repeated (effect='idempotent')"


__all__ = ["TaskRefusedError", "UnknownTaskError", "cancel", "follow", "one", "retry", "tasks"]
