"""Random schedules of deliveries, ends, deaths, slow processes, cancels and retries: what may not be repeated is begun once,
and what a task's row says is true of what its function did.

The store is real, with a clock that the schedule moves; the processes are played, the runners in them are the real ones.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.memory.mortal import Mortal
from tests.sizes import examples
from tukang import Agent, CallContext, NothingDone, tool
from tukang.memory.stores.base import Store
from tukang.memory.stores.sqlite import SqliteDatabase
from tukang.memory.stores.store import SqlStore
from tukang.memory.stores.task_values import NewTask, TaskRow, TaskSpec
from tukang.models.scripted import Scripted
from tukang.tasks import elsewhere
from tukang.tasks.runner import Runner
from tukang.tasks.workshop import Workshop
from tukang.tools.long import Long
from tukang.tools.policy import Policy, ToolEffect

LEASE = 1000.0
ID = "t1"

EFFECTS: tuple[ToolEffect, ...] = ("read", "idempotent", "write", "unknown")
ACTIONS = (
    *("deliver 0", "deliver 1", "return", "raise", "nothing", "die 0", "die 1", "silence", "later", "cancel", "retry"),
)


class _Clocked(SqliteDatabase):
    """A database whose clock can be moved."""

    moved = 0.0

    def now(self) -> float:
        return time.time() + _Clocked.moved


class _MortalTasks:
    """The tasks of a store, as a process sees them that may die."""

    def __init__(self, store: Store) -> None:
        self.tasks: Any = Mortal(store.tasks)  # type: ignore[arg-type]


class _World:
    """One task, its function, and two processes that are delivered it."""

    def __init__(self, effect: ToolEffect, attempts: int) -> None:
        _Clocked.moved = 0.0
        self.store = SqlStore("memory", lambda patience: _Clocked(Path(":memory:"), patience), 1, 1.0)
        self.effect: ToolEffect = effect
        self.attempts = attempts if effect in ("read", "idempotent") else 1
        self.began = 0
        self.ended: list[str] = []
        self.keys: set[str] = set()
        self.open: list[asyncio.Future[str]] = []
        self.processes = [self._process() for _ in range(2)]
        self.delivered: list[tuple[int, asyncio.Task[float | None]]] = []

    def _process(self) -> tuple[Runner, _MortalTasks]:
        @tool(name="kerja", effect=self.effect, long=True, approval="never")
        async def kerja(context: CallContext) -> str:
            """Works."""
            self.began += 1
            self.keys.add(context.idempotency_key)
            end: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            self.open.append(end)
            how = await end
            self.ended.append(how)
            if how == "raise":
                raise RuntimeError("no")
            if how == "nothing":
                raise NothingDone("nothing was done")
            return "done"

        seen = _MortalTasks(self.store)
        agent = Agent(Scripted([]), tools=[kerja], name="gudang")
        return Runner(Workshop(agent), seen, lease=LEASE, grace=0.0), seen  # type: ignore[arg-type]

    async def begin(self) -> None:
        policy = Policy(self.effect, long=Long(attempts=self.attempts, backoff=10.0))
        await self.store.tasks.add(
            NewTask(ID, "budi", "gudang", "embedded", TaskSpec("kerja", "{}", "c", "key", policy), 5e4)
        )

    async def do(self, action: str) -> None:
        what, _, number = action.partition(" ")
        match what:
            case "deliver":
                runner, _ = self.processes[int(number)]
                self.delivered.append((int(number), asyncio.create_task(runner.run(ID))))
            case "die":
                self.processes[int(number)][1].tasks.dead = True
                self.processes[int(number)] = self._process()
                for process, task in self.delivered:
                    if process == int(number):
                        task.cancel()
                self.delivered = [one for one in self.delivered if one[0] != int(number)]
            case "silence":
                _Clocked.moved += LEASE + 1
            case "later":
                _Clocked.moved += 20
            case "cancel" | "retry":
                with suppress(elsewhere.TaskRefusedError):
                    await (elsewhere.cancel if what == "cancel" else elsewhere.retry)(self.store, ID)
            case _:
                ready = [one for one in self.open if not one.done()]
                if ready:
                    ready[0].set_result(what)
        await self.settle()

    async def settle(self) -> None:
        """Let all that is under way come to where it waits."""
        for _ in range(8):
            await self.store.tasks.several()
            await asyncio.sleep(0)

    async def row(self) -> TaskRow:
        """The task, as it is while its function does not move."""
        while True:
            before = self.began, len(self.ended)
            row = await self.store.tasks.one(ID)
            if before == (self.began, len(self.ended)):
                return row

    async def close(self) -> None:
        for _, task in self.delivered:
            task.cancel()
        await asyncio.gather(*(task for _, task in self.delivered), return_exceptions=True)
        await self.store.close()


async def _played(effect: ToolEffect, attempts: int, schedule: Sequence[str]) -> None:
    world = _World(effect, attempts)
    try:
        await world.begin()
        before = await world.row()
        for action in schedule:
            await world.do(action)
            row = await world.row()
            _true(world, row)
            if before.final and action != "retry":
                assert row.token == before.token, "what has ended stays as it ended"
            before = row
        for _ in range(30):  # whatever came before, with a process that lives it comes to an end
            row = await world.row()
            if row.final:
                break
            for action in ("silence", "deliver 0", "return"):
                await world.do(action)
                _true(world, await world.row())
        assert (await world.row()).final
    finally:
        await world.close()


def _true(world: _World, row: TaskRow) -> None:
    repeats = world.effect in ("read", "idempotent")
    # a retry of what certainly did nothing is the only way to a second beginning
    assert repeats or world.began <= 1 + world.ended.count("nothing")
    assert world.began <= row.attempts
    assert world.keys <= {"key"}, "all attempts have the one key"
    if row.state == "done":
        assert "return" in world.ended
    if row.state in ("cancelled", "expired") and not repeats:
        assert world.began == world.ended.count("nothing"), "it may have taken effect"
    if row.state == "failed" and not repeats:
        assert world.ended[-1:] in (["raise"], ["nothing"])
    if row.state == "unknown":
        assert world.effect != "read"


@settings(max_examples=examples(60))
@given(st.sampled_from(EFFECTS), st.integers(1, 3), st.lists(st.sampled_from(ACTIONS), max_size=14))
@example("write", 1, ["deliver 0", "silence", "deliver 1", "return", "retry", "deliver 1"])
@example("write", 1, ["deliver 0", "nothing", "retry", "deliver 1", "return"])
@example(
    "read", 2, ["deliver 0", "deliver 0", "deliver 1", "die 0", "silence", "deliver 1", "raise", "later", "return"]
)
@example("idempotent", 3, ["deliver 0", "raise", "deliver 1", "later", "deliver 0", "cancel"])
def test_whatever_happens_a_tasks_row_is_true(effect: ToolEffect, attempts: int, schedule: list[str]) -> None:
    asyncio.run(_played(effect, attempts, schedule))
