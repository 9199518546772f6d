"""The tasks of a store: what may be relied on, and how it is done on an SQL database."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from tukang.memory.stores import tasking
from tukang.memory.stores.database import Database
from tukang.memory.stores.task_values import Move, NewTask, TaskRow
from tukang.memory.stores.watch import Reader, Watch
from tukang.tools.long import TaskState

T = TypeVar("T")


class StoredTasks(Protocol):
    """Tasks, kept: `Store.tasks`. Any method raises `StoreError` when the database cannot do it."""

    async def add(self, new: NewTask) -> TaskRow:
        """Make a task, `queued`; the one of that id where there is one already. It is on the disk when this returns."""
        ...

    async def one(self, id: str) -> TaskRow:
        """A task.

        Raises:
            UnknownTaskError: there is none of that id.
        """
        ...

    async def several(
        self,
        *,
        session: str | None = None,
        agent: str | None = None,
        states: Sequence[TaskState] = (),
        limit: int = 100,
    ) -> list[TaskRow]:
        """Tasks, the last asked for first; `states`: only those that stand so."""
        ...

    async def pending(self, agent: str, backend: str, limit: int = 200) -> list[TaskRow]:
        """An agent's tasks with this backend that are not finished, or whose session is still to be woken; what is due first
        comes first."""
        ...

    async def move(self, row: TaskRow, to: Move) -> TaskRow:
        """Change a task's state, if nobody has since the row was read. It is on the disk when this returns.

        Raises:
            TaskLostError: somebody has, or the task is gone.
        """
        ...

    async def beat(self, row: TaskRow, seconds: float, percent: float | None, message: str) -> float | None:
        """Hold a running task for so many seconds from now, and write down how far it is; returns when its end was asked
        for, if it was.

        Raises:
            TaskLostError: somebody else has it by now, or it is gone.
        """
        ...

    async def ask_to_end(self, row: TaskRow) -> bool:
        """Write down that the end of a running task is wanted; False when its state has changed since."""
        ...

    async def woke(self, id: str) -> None:
        """Write down that its session was woken."""
        ...

    def follow(self, id: str) -> AsyncIterator[TaskRow]:
        """A task as it is now, and whenever it has changed, up to its end.

        Raises:
            UnknownTaskError: there is none of that id, or it was deleted meanwhile.
        """
        ...

    async def watched(self, id: str) -> AbstractContextManager[Reader]:
        """Something to wait with for a change of a task, whoever makes it."""
        ...


class Doing(Protocol):
    """Does work in a transaction that writes; see `tukang.memory.stores.store.SqlStore`."""

    async def __call__(
        self,
        work: Callable[[Database], T],
        *,
        sync: bool = False,
        again: bool = False,
        tell: Callable[[T], int | None] | None = None,
    ) -> T: ...


class Reading(Protocol):
    """Does work in a transaction that reads."""

    async def __call__(self, work: Callable[[Database], T]) -> T: ...


class SqlTasks:
    """Tasks on an SQL database. See `StoredTasks` for what the methods do.

    Args:
        do, read: see `Doing` and `Reading`.
        watch: the store's readers.
    """

    def __init__(self, do: Doing, read: Reading, watch: Watch) -> None:
        self._do = do
        self._read = read
        self._watch = watch

    async def add(self, new: NewTask) -> TaskRow:
        return await self._told(lambda db: tasking.add(db, new), sync=True)

    async def one(self, id: str) -> TaskRow:
        return await self._read(lambda db: tasking.one(db, id))

    async def several(
        self,
        *,
        session: str | None = None,
        agent: str | None = None,
        states: Sequence[TaskState] = (),
        limit: int = 100,
    ) -> list[TaskRow]:
        return await self._read(lambda db: tasking.several(db, session, agent, states, limit))

    async def pending(self, agent: str, backend: str, limit: int = 200) -> list[TaskRow]:
        return await self._read(lambda db: tasking.pending(db, agent, backend, limit))

    async def move(self, row: TaskRow, to: Move) -> TaskRow:
        claim = uuid.uuid4().hex
        return await self._told(lambda db: tasking.move(db, row.id, row.token, to, claim), sync=True)

    async def beat(self, row: TaskRow, seconds: float, percent: float | None, message: str) -> float | None:
        return await self._told(lambda db: tasking.beat(db, row.id, row.token, seconds, percent, message), sync=False)

    async def ask_to_end(self, row: TaskRow) -> bool:
        asked = await self._do(
            lambda db: tasking.ask_to_end(db, row.id, row.token), sync=True, again=True, tell=lambda session: session
        )
        return asked is not None

    async def woke(self, id: str) -> None:
        await self._do(lambda db: tasking.woke(db, id), again=True, tell=lambda session: session)

    async def follow(self, id: str) -> AsyncIterator[TaskRow]:
        seen: TaskRow | None = None
        with await self.watched(id) as reader:
            while seen is None or not seen.final:
                reader.look()
                row = await self.one(id)
                if seen is None or _differs(row, seen):
                    seen = row
                    yield row
                else:
                    await reader.wait()

    async def watched(self, id: str) -> AbstractContextManager[Reader]:
        return self._watch.reader(await self._read(lambda db: tasking.home(db, id)))

    async def _told(self, work: Callable[[Database], tuple[int, T]], *, sync: bool) -> T:
        """Do the work, which gives its session's key and something; wake who follows, and give the something."""
        _, result = await self._do(work, sync=sync, again=True, tell=lambda done: done[0])
        return result


def _differs(row: TaskRow, before: TaskRow) -> bool:
    """Whether there is something new to see: not for a lease that was renewed."""
    return any(
        getattr(row, name) != getattr(before, name)
        for name in ("state", "token", "percent", "message", "cancel", "woken", "abandoned")
    )
