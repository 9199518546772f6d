"""Work outside its turn: what its process has not got, what its function does to it, and a store that is away at its end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.memory.mortal import said
from tests.tasks.test_agent import call, scripted, until
from tukang import Agent, CallContext, tool
from tukang.errors import ToolWarning
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import StoreError
from tukang.memory.stores.task_values import TaskRow
from tukang.models.base import ModelRequest
from tukang.models.scripted import Says, Scripted
from tukang.tasks import elsewhere, runner
from tukang.tasks.backend import Backend, Job
from tukang.tasks.embedded import Embedded
from tukang.tasks.runner import Runner
from tukang.tasks.waking import MOST_IN_A_ROW
from tukang.tools.long import Long


class Remote:
    """A backend whose tasks are run by nobody, until a test does."""

    name = "remote"
    remote = True
    lease = 5.0
    caller = None

    def __init__(self, redact: Callable[[str], str] | None = None) -> None:
        self.redact = redact

    def noticed(self, here: Runner) -> None: ...

    async def carry(self, job: Job, here: Runner) -> None: ...

    async def work(self, runner: Runner, stop: asyncio.Event) -> None: ...


def masked(text: str) -> str:
    return text.replace("3174", "[NIK]")


@tool(effect="read", long=Long(wake=True))
def cari(x: int, context: CallContext) -> str:
    """Looks for somebody."""
    context.progress(10, f"looking at 3174 {x}")
    return f"found 3174 {x}"


def begins(tool: str) -> Scripted:
    """A model that has a task made when it is asked something, and tells of it when it is woken."""

    def reply(request: ModelRequest) -> Says:
        asked = next(message for message in reversed(request.messages) if message.role == "user").text
        return Says(text="it is 3174") if said(request) or asked.startswith("[Not") else call(tool, x=1)

    return Scripted(reply)


def test_what_a_session_has_taken_out_is_taken_out_of_its_tasks_and_of_the_turn_they_wake(kept: Store) -> None:
    backends: tuple[Backend, ...] = (Embedded(), Remote(masked))
    for backend in backends:
        agent = Agent(begins("cari"), tools=[cari], tasks=backend, name=backend.name)

        async def work(agent: Agent = agent, backend: Backend = backend) -> TaskRow:
            chat = agent.session(backend.name, store=kept, redact=masked)
            await chat.arun("go")
            (row,) = await elsewhere.tasks(kept, session=backend.name)
            if backend.remote:
                other = Agent(begins("cari"), tools=[cari], tasks=backend, name=backend.name)
                assert other.tasks is not None
                await other.tasks.runner(kept).run(row.id)

            async def woken() -> TaskRow | None:
                latest = await elsewhere.one(kept, row.id)
                return latest if latest.woken else None

            return await until(woken)

        row = asyncio.run(work())
        assert row.outcome is not None
        assert (row.state, row.outcome.text, row.message) == ("done", "found [NIK] 1", "looking at [NIK] 1")
        turns = asyncio.run(kept.turns(backend.name))
        assert len(turns) == 2
        assert "3174" not in str(turns)


def test_nobody_runs_elsewhere_what_they_could_not_keep_as_its_session_wants_it(kept: Store) -> None:
    agent = Agent(scripted(call("cari", x=1), Says(text="no")), tools=[cari], tasks=Remote())
    with pytest.warns(ToolWarning, match="give it to the backend 'remote' as well"):
        answer = agent.session("budi", store=kept, redact=masked).run("go")
    assert answer.steps[0].fault is not None
    assert answer.steps[0].fault.kind == "not_run"
    assert not asyncio.run(elsewhere.tasks(kept))
    assert agent.tasks is not None
    assert agent.session("siti", store=kept).run("go").steps[0].fault is None
    assert not agent.tasks.runner(kept).shop.live, "what others run is not remembered here"


def test_what_came_of_it_is_written_down_when_the_store_is_there_again(
    kept: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_PAUSE", 0.01)
    ended = threading.Event()
    away: list[str] = []

    class Away:
        def __getattr__(self, name: str) -> Any:
            whole = getattr(kept.tasks, name)

            async def sent(*arguments: Any) -> Any:
                if ended.is_set() and len(away) < 20:
                    away.append(name)
                    raise StoreError("unavailable", "away")
                return await whole(*arguments)

            return sent

    class Store2:
        tasks = Away()
        name = kept.name

    @tool(effect="write", long=True, approval="never")
    def tulis() -> str:
        """Writes."""
        ended.set()
        return "written"

    agent = Agent(scripted(call("tulis"), Says(text="asked")), tools=[tulis], tasks=Remote())

    async def work() -> TaskRow:
        await agent.session("budi", store=kept).arun("go")
        (row,) = await elsewhere.tasks(kept)
        assert agent.tasks is not None
        await Runner(agent.tasks.runner(kept).shop, Store2()).run(row.id)  # type: ignore[arg-type]
        return await elsewhere.one(kept, row.id)

    assert asyncio.run(work()).state == "done"
    assert "one" in away


def test_one_sees_to_a_store_in_a_process_that_works_on_it(kept: Store) -> None:
    most = [0, 0]

    @tool(effect="read", long=Long(wake=True))
    async def baca(x: int) -> str:  # noqa: ARG001
        """Reads."""
        most[0] += 1
        most[1] = max(most)
        await asyncio.sleep(0.02)
        most[0] -= 1
        return "read"

    backend = Embedded(slots=1)
    agent = Agent(begins("baca"), tools=[baca], tasks=backend)

    async def work() -> None:
        assert agent.tasks is not None
        stop = asyncio.Event()
        working = asyncio.create_task(backend.work(agent.tasks.runner(kept), stop))
        await asyncio.sleep(0)  # it is at work
        await asyncio.gather(*(agent.session(f"s{n}", store=kept).arun("go") for n in range(4)))

        async def woken() -> bool:
            return all(row.woken for row in await elsewhere.tasks(kept))

        await until(woken)
        stop.set()
        await working

    asyncio.run(work())
    assert most == [0, 1], "one slot is one slot, whoever begins what"


def test_a_model_that_begins_a_task_whenever_it_is_woken_is_left_alone_in_the_end(kept: Store) -> None:
    # it asks for another one in each turn
    agent = Agent(scripted(call("cari", x=1), Says(text="again")), tools=[cari])

    async def alone() -> bool:
        rows = await elsewhere.tasks(kept)
        return all(row.final and not row.wakes for row in rows) and len(await kept.turns("budi")) > MOST_IN_A_ROW

    async def work() -> None:
        await agent.session("budi", store=kept).arun("go")
        await until(alone)
        assert len(await kept.turns("budi")) == 1 + MOST_IN_A_ROW
        await agent.session("budi", store=kept).arun("go")  # somebody is there again
        await until(twice)

    async def twice() -> bool:
        return len(await kept.turns("budi")) == 2 * (1 + MOST_IN_A_ROW)

    with pytest.warns(ToolWarning, match="10 turns in a row"):
        asyncio.run(work())


def test_a_function_whose_time_is_over_notices_it(kept: Store) -> None:
    stopped = threading.Event()

    @tool(effect="read", long=Long(expires=0.1))
    def tunggu(context: CallContext) -> None:
        """Waits."""
        try:
            while not stopped.wait(0.01):
                context.stop_if_cancelled()
        finally:
            stopped.set()

    agent = Agent(scripted(call("tunggu"), Says(text="asked")), tools=[tunggu])

    async def expired() -> bool:
        return (await elsewhere.tasks(kept))[0].state == "expired"

    async def work() -> None:
        await agent.session("budi", store=kept).arun("go")
        await until(expired)

    with pytest.warns(ToolWarning, match="thread cannot be stopped"):
        asyncio.run(work())
    assert stopped.wait(5)


def test_a_flood_of_progress_holds_nobody_up(kept: Store) -> None:
    count = 20_000

    @tool(effect="read", long=True)
    def hitung(context: CallContext) -> str:
        """Counts."""
        for n in range(count):
            context.progress(100 * n / count, f"{n} " + "x" * 1000)
        return "counted"

    agent = Agent(scripted(call("hitung"), Says(text="asked")), tools=[hitung])

    async def done() -> bool:
        return (await elsewhere.tasks(kept))[0].final

    async def work() -> None:
        await agent.session("budi", store=kept).arun("go")
        await until(done)
        (row,) = await elsewhere.tasks(kept)
        assert row.state == "done"
        assert row.message.startswith(f"{count - 1} ")
        assert len(row.message) <= 500
        assert row.token < 10, "what it says is no change of state"

    asyncio.run(work())
