"""Where a turn has long work begun, and asks how far it is. A task belongs to its session and to whoever the turn was for.

A task's id is made of its call's idempotency key: the same call, after a crash, finds the task it has made.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, cast

import msgspec
from msgspec.structs import replace
from pydantic import BaseModel

from tukang.conversation import Text
from tukang.loop.events import TurnStarted
from tukang.loop.state import Call
from tukang.memory.redaction import Redaction
from tukang.memory.session import Floor
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import StoreError
from tukang.memory.stores.sqlite import SqliteDatabase
from tukang.memory.stores.store import SqlStore
from tukang.memory.stores.task_values import NewTask, TaskLostError, TaskRow, TaskSpec, UnknownTaskError
from tukang.runtime.cache import ResultCache
from tukang.runtime.vault import Vault
from tukang.tasks import deciding
from tukang.tasks.backend import Backend, Job
from tukang.tasks.runner import Runner
from tukang.tasks.waking import MOST_IN_A_ROW, woken_by
from tukang.tasks.workshop import Host, Live, Workshop
from tukang.tools.advice import warn
from tukang.tools.failure import words
from tukang.tools.following import status
from tukang.tools.long import TaskSeen
from tukang.tools.outcome import Outcome, failed


class Tasks:
    """The long work of one agent: `Agent.tasks`.

    Args:
        host: the agent.
        vault: its secrets.
        backend: carries tasks to where they are run.
        cache: results of its reads that may be given again.
    """

    def __init__(self, host: Host, vault: Vault | None, backend: Backend, cache: ResultCache | None = None) -> None:
        self.backend = backend
        self._shop = Workshop(host, vault, backend.caller, backend.redact, cache)
        self._runners: dict[int, Runner] = {}
        self._memory: Store | None = None

    @property
    def unfinished(self) -> int:
        """How many tasks were asked for in this process, are run by it, and have not ended: what it would leave in the
        middle."""
        return len(self._shop.unfinished)

    def runner(self, store: Store) -> Runner:
        """What runs the agent's tasks of a store in this process."""
        if id(store) not in self._runners:
            self._runners[id(store)] = Runner(self._shop, store, lease=self.backend.lease)
        return self._runners[id(store)]

    def at(self, floor: Floor, started: TurnStarted) -> Desk:
        """Where a turn has its long work begun."""
        store = floor.store or self._in_memory()
        # outside a session a task belongs to its turn, and in memory to the very session
        scope = floor.scope or started.turn
        redaction = floor.redaction or Redaction(secrets=self._shop.vault.known if self._shop.vault else ())
        runner = self.runner(store)
        if floor.store is not None:
            self.backend.noticed(runner)
        return Desk(self.backend, runner, scope, redaction, started, kept=floor.store is not None)

    def _in_memory(self) -> Store:
        """A store for sessions that have none: its tasks end with the process."""
        if self._memory is None:
            where = Path(":memory:")
            self._memory = SqlStore("memory", lambda patience: SqliteDatabase(where, patience), 1, 10.0)
        return self._memory


class Desk:
    """Where one turn has long work begun; see `tukang.runtime.long.Desk`.

    Args:
        backend: carries it.
        runner: would run it here.
        scope: the name of the session it belongs to.
        redaction: what is taken out of what is written.
        started: what the turn began with.
        kept: whether the session is in a store.
    """

    def __init__(
        self, backend: Backend, runner: Runner, scope: str, redaction: Redaction, started: TurnStarted, *, kept: bool
    ) -> None:
        self._backend = backend
        self._runner = runner
        self._tasks = runner.store.tasks
        self._scope = scope
        self._redaction = redaction
        self._started = started
        self._kept = kept

    async def begin(self, call: Call, key: str, context: Any) -> Outcome:
        """Make the task of a call, or find it; what the model is told. Never raises what a store raises."""
        new = self._new(call, key, context)
        if isinstance(new, Outcome):
            return new
        if not self._backend.remote:
            self._runner.shop.live[new.id] = Live(context, self._redaction)
        try:
            row = await self._tasks.add(await self._bounded(new))
            if row.spec.key != key or row.session != self._scope:
                return failed("not_run", "its task could not be made: the id is another task's")
            row = await self._again(row, call)
            if not row.final and not self._backend.remote:
                self._runner.shop.unfinished.add(row.id)
        except StoreError as error:
            if error.uncertain:
                return failed(
                    "outcome_unknown", "it is not known whether its task was made", "Do not ask for it again."
                )
            return failed("not_run", "its task could not be written down")
        try:
            await self._backend.carry(Job(row.id, row.agent), self._runner)
        except Exception as error:
            warn(f"task {row.id} was made, but the backend {self._backend.name!r} did not take it: {words(error)}")
        return Outcome((Text(msgspec.json.encode(status(_seen(row))).decode()),))

    async def _bounded(self, new: NewTask) -> NewTask:
        """The task, knowing how many turns in a row tasks have started; it starts no further one where that is enough."""
        by = woken_by(self._started.turn)
        if by is None or not new.spec.long.wake:
            return new
        try:
            count = (await self._tasks.one(by)).spec.wakes_before + 1
        except UnknownTaskError:
            return new
        spec = replace(new.spec, wakes_before=count)
        if count >= MOST_IN_A_ROW:
            warn(
                f"tool {spec.tool!r}: {count} turns in a row were started by tasks; the end of task {new.id} starts none"
            )
            spec = _unwaking(spec)
        return replace(new, spec=spec)

    async def _again(self, row: TaskRow, call: Call) -> TaskRow:
        """A task that had failed, whose call is asked for again: it is tried again, where that may be."""
        if not row.final or row.spec.call == call.id or (move := deciding.retried(row)) is None:
            return row
        try:
            return await self._tasks.move(row, move)
        except TaskLostError:
            return await self._tasks.one(row.id)

    def _new(self, call: Call, key: str, context: Any) -> NewTask | Outcome:
        assert call.arguments is not None, "a call that runs was checked"
        arguments = self._redaction.arguments(call.arguments)
        if arguments != call.arguments and self._kept:
            return failed(
                "not_run",
                f"{call.name} takes long, and its arguments hold a secret, which is not kept",
                "Ask for it without the secret, or say that it cannot be done.",
            )
        if self._backend.remote and self._redaction.hook is not None and self._backend.redact is None:
            warn(
                f"tool {call.name!r} is long, and was not run: its session has redact=, which whoever runs its task has not "
                f"got: give it to the backend {self._backend.name!r} as well (redact=…)"
            )
            return failed("not_run", "what its task says could not be kept as its session wants it")
        caller, reason = _as_json(context)
        if reason is None and self._kept and self._redaction.value(caller) != caller:
            reason = "it holds a secret"
        if reason is not None and (self._kept or self._backend.remote):
            warn(
                f"tool {call.name!r} is long, and was not run: the context of the run cannot be kept with its task: {reason}"
            )
            return failed("not_run", "whom it is for cannot be kept with its task")
        # the effect of this very call; see `Policy.reads_when`
        policy = replace(call.policy, effect=call.effect, reads_when={})
        spec = TaskSpec(
            tool=call.name,
            arguments=call.arguments,
            call=call.id,
            key=key,
            policy=policy,
            principal=self._started.principal,
            caller=None if reason is not None else caller,
            language=self._started.language,
        )
        if spec.long.wake and not self._kept:
            warn(f"tool {call.name!r} says Long(wake=True), and its session is in memory: nothing is woken there")
            spec = _unwaking(spec)
        name = f"t{hashlib.sha256(key.encode()).hexdigest()[:11]}"
        return NewTask(name, self._scope, self._started.agent, self._backend.name, spec, spec.long.expires)

    async def look(self, id: str, seconds: float = 0.0) -> TaskSeen | None:
        """A task of this session and caller; see `tukang.tools.long.Tasks`."""
        try:
            row = await self._tasks.one(id)
            if not self._mine(row):
                return None
            if not row.final and seconds > 0:
                row = await self._until(row, seconds)
        except UnknownTaskError:
            return None
        return _seen(row)

    async def _until(self, row: TaskRow, seconds: float) -> TaskRow:
        """The task as it is at its end, or after so many seconds."""
        news = self._tasks.follow(row.id)
        try:
            async with asyncio.timeout(seconds):
                async for latest in news:
                    row = latest
        except TimeoutError:
            pass
        finally:
            await cast("_Closable", news).aclose()
        return row

    def _mine(self, row: TaskRow) -> bool:
        principal = self._started.principal
        whose = row.spec.principal
        same = (whose.id if whose else None) == (principal.id if principal else None)
        return row.session == self._scope and row.agent == self._started.agent and same


def _unwaking(spec: TaskSpec) -> TaskSpec:
    return replace(spec, policy=replace(spec.policy, long=replace(spec.long, wake=False)))


class _Closable(Protocol):
    async def aclose(self) -> None: ...


def _seen(row: TaskRow) -> TaskSeen:
    return TaskSeen(row.id, row.spec.tool, row.state, row.percent, row.message, row.spec.long.wait, row.outcome)


def _as_json(context: Any) -> tuple[Any, str | None]:
    """The caller's own object as JSON has it; or why it cannot be."""
    try:
        if isinstance(context, BaseModel):
            return context.model_dump(mode="json"), None
        if isinstance(context, Mapping):
            context = dict(cast("Mapping[Any, Any]", context))
        return msgspec.json.decode(msgspec.json.encode(context)), None
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        return None, words(error)
