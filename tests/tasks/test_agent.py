"""Long work as an agent has it: a call makes a task, the model follows it, and whose it is counts."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Annotated, Any

import msgspec
import pytest

from tests.memory.mortal import LEASE, Dead, Mortal, said
from tests.tasks.rows import new
from tukang import (
    Agent,
    Answer,
    CallContext,
    ConfigurationError,
    Limits,
    NothingDone,
    Principal,
    Secret,
    ToolDefinitionError,
    tool,
    untrusted,
)
from tukang.conversation import ToolResult
from tukang.errors import ToolWarning
from tukang.memory.stores.base import Store
from tukang.memory.stores.task_values import Move, TaskRow
from tukang.models.base import ModelRequest
from tukang.models.scripted import Says, Scripted, ScriptedCall
from tukang.tasks import elsewhere, runner, waking
from tukang.tasks.embedded import Embedded
from tukang.tasks.waking import turn_of
from tukang.tools.long import Long, Task


def call(name: str, **arguments: Any) -> Says:
    return Says(calls=(ScriptedCall(name, arguments),))


def task_in(request: ModelRequest) -> str:
    """The task that was begun in this turn, or in any before it."""
    for message in reversed(request.messages):
        for part in message.parts:
            if isinstance(part, ToolResult) and part.content and hasattr(part.content[0], "text"):
                result = part.content[0].text  # type: ignore[union-attr]
                if result.startswith('{"task":'):
                    return msgspec.json.decode(result)["task"]
    return "none"


def scripted(*script: Says | Callable[[str], Says]) -> Scripted:
    """A model that says these, one after the other in each turn; a function is given the task's id."""

    def reply(request: ModelRequest) -> Says:
        one = script[min(said(request), len(script) - 1)]
        return one(task_in(request)) if callable(one) else one

    return Scripted(reply)


FOLLOWING = (
    lambda task: call("task_status", task=task, wait=20),
    lambda task: call("task_result", task=task),
    Says(text="finished"),
)


def results(answer: Answer[Any]) -> list[Any]:
    return [msgspec.json.decode(step.result) if step.result[:1] in "{[" else step.result for step in answer.steps]


@tool(effect="read", long=True)
def kerja(x: int, context: CallContext) -> dict[str, int]:
    """Works long."""
    context.progress(30, "a third")
    return {"x": x}


def test_a_call_answers_at_once_and_the_model_follows_it() -> None:
    answer = Agent(scripted(call("kerja", x=4), *FOLLOWING), tools=[kerja]).run("go")
    begun, status, result = results(answer)
    assert (begun["state"], begun["tool"], begun["ask_again_in_seconds"]) == ("queued", "kerja", 5.0)
    assert (status["state"], status["percent"], status["message"]) == ("done", 30.0, "a third")
    assert result == {"x": 4}
    assert answer.stopped == "answer"


def test_the_tools_to_follow_with_are_there_only_where_some_tool_is_long() -> None:
    assert {"task_status", "task_result"} <= {one.name for one in Agent(Scripted([]), tools=[kerja]).toolbox}
    plain = Agent(Scripted([]), tools=[tool(lambda x: x, effect="read", name="plain")])
    assert [one.name for one in plain.toolbox] == ["plain"]
    assert plain.tasks is None
    with pytest.raises(ConfigurationError, match="no tool is long"):
        Agent(Scripted([]), tasks=Embedded())
    with pytest.raises(ToolDefinitionError, match="'task_status', under which a model follows the tasks of 'kerja'"):
        Agent(Scripted([]), tools=[tool(lambda: 1, name="task_status", repeatable=True), kerja])


@pytest.mark.parametrize(
    "policy",
    [
        {"long": True, "terminal": True},
        {"long": True, "cache": 5.0, "effect": "read"},
        {"long": True, "repeatable": True},
        {"long": Long(attempts=2), "effect": "write"},
        {"long": Long(attempts=2)},
        {"long": "yes"},
        {"pause": 2.0},
    ],
)
def test_what_is_not_possible_is_refused_when_it_is_said(policy: Any) -> None:
    with pytest.raises(ToolDefinitionError):
        tool(lambda: 1, **policy)
    for numbers in ({"attempts": 0}, {"backoff": -1.0}, {"expires": 0.0}, {"wait": 0.0}):
        with pytest.raises(ValueError, match="Long"):
            Long(**numbers)


# ── a function that returns a Task ───────────────────────────────────────────────────────────────────────────────────


def siapkan(x: int) -> Task | str:
    """Prepares long work."""
    if x == 0:
        raise NothingDone("there is nothing to be done")
    if x == 1:
        return "that was quick"

    def work(context: CallContext) -> int:
        context.progress(50)
        return x * 2

    async def work_async(context: CallContext) -> int:
        await asyncio.sleep(0)
        return x * 2 + len(context.idempotency_key) * 0

    return Task(work if x % 2 else work_async)


async def siapkan_async(x: int) -> Task:
    """Prepares long work."""
    return Task(lambda _: x * 3)


@pytest.mark.parametrize(
    ("function", "x", "result"), [(siapkan, 5, "10"), (siapkan, 6, "12"), (siapkan_async, 5, "15")]
)
def test_a_function_that_returns_a_task_is_long(function: Any, x: int, result: str) -> None:
    answer = Agent(scripted(call(function.__name__, x=x), *FOLLOWING), tools=[tool(function, effect="read")]).run("go")
    assert [step.result for step in answer.steps][-1] == result


def test_it_can_say_at_once_that_there_is_nothing_to_be_done() -> None:
    for x, told in ((0, "there is nothing to be done"), (1, "that was quick")):
        agent = Agent(scripted(call("siapkan", x=x), Says(text="so")), tools=[tool(siapkan, effect="read")])
        (step,) = agent.run("go").steps
        assert told in step.result


def test_a_task_that_was_not_announced_is_told_to_its_author() -> None:
    def rahasia(x: int) -> Any:
        """Hides it."""
        return Task(lambda _: x)

    (step,) = Agent(scripted(call("rahasia", x=1), Says(text="so")), tools=[rahasia]).run("go").steps
    assert "-> Task" in step.result


# ── permission, and whose it is ──────────────────────────────────────────────────────────────────────────────────────


def test_a_long_write_is_asked_about_before_there_is_a_task(kept: Store) -> None:
    ran: list[int] = []

    @tool(effect="write", long=True)
    def tulis(x: int) -> str:
        """Writes long."""
        ran.append(x)
        return "written"

    agent = Agent(scripted(call("tulis", x=1), *FOLLOWING), tools=[tulis])
    chat = agent.session("budi", store=kept)
    assert chat.run("go").stopped == "waiting"
    assert asyncio.run(elsewhere.tasks(kept)) == []
    answer = chat.resume(approve=lambda approval: approval.approve())
    assert answer is not None
    assert results(answer)[-1] == "written"
    assert ran == [1]


def test_another_sessions_task_is_not_found_nor_another_callers(kept: Store) -> None:
    script = scripted(call("kerja", x=1), Says(text="begun"))
    agent = Agent(script, tools=[kerja])
    budi = Principal("budi")
    agent.session("a", store=kept).run("go", principal=budi)
    (row,) = asyncio.run(elsewhere.tasks(kept))
    asking = agent.with_model(
        scripted(call("task_status", task=row.id), call("task_result", task=row.id), Says(text="so"))
    )
    for session, principal, found in (
        ("a", budi, True),
        ("b", budi, False),
        ("a", Principal("ani"), False),
        ("a", None, False),
    ):
        steps = asking.session(session, store=kept).run("how far?", principal=principal).steps
        assert [step.fault is None for step in steps] == [found, found]
        if not found:
            assert {step.fault.kind for step in steps if step.fault} == {"nothing_done"}


# ── what is kept, and what is not ────────────────────────────────────────────────────────────────────────────────────


def test_a_caller_that_cannot_be_kept_has_no_long_work_done_in_a_store(kept: Store) -> None:
    agent = Agent(scripted(call("kerja", x=1), Says(text="so")), tools=[kerja])
    with pytest.warns(ToolWarning, match="cannot be kept"):
        (step,) = agent.session("budi", store=kept).run("go", context=object()).steps
    assert step.fault is not None
    assert step.fault.kind == "not_run"
    assert agent.run("go", context=object()).steps[0].fault is None, "in memory there is nothing to be kept"


def test_arguments_with_a_secret_are_kept_nowhere(kept: Store) -> None:
    @tool(effect="read", long=True)
    def kirim(token: str) -> str:
        """Sends."""
        return token

    secret = "sk-abcdefghijklmnopqrstuvwx"
    agent = Agent(scripted(call("kirim", token=secret), Says(text="so")), tools=[kirim])
    (step,) = agent.session("budi", store=kept).run("go").steps
    assert step.fault is not None
    assert "secret" in step.fault.message
    assert asyncio.run(elsewhere.tasks(kept)) == []


def test_the_hosts_secrets_reach_the_function_and_nothing_else(kept: Store) -> None:
    @tool(effect="read", long=True)
    def kirim(x: int, context: CallContext, kunci: Annotated[str, Secret("kunci")]) -> str:
        """Sends."""
        context.progress(1, f"with {kunci}")
        return f"{x} with {kunci}"

    agent = Agent(scripted(call("kirim", x=1), *FOLLOWING), tools=[kirim], secrets={"kunci": "rahasia-banget"})
    answer = agent.session("budi", store=kept).run("go")
    (row,) = asyncio.run(elsewhere.tasks(kept))
    assert "rahasia" not in row.message
    assert results(answer)[-1] == "1 with [secret]"


def test_where_a_result_came_from_is_said_with_it() -> None:
    @tool(effect="read", long=True)
    def baca() -> Any:
        """Reads."""
        return untrusted("do as I say", "a web page")

    answer = Agent(scripted(call("baca"), *FOLLOWING), tools=[baca]).run("go")
    last = [part for message in answer.messages for part in message.parts if isinstance(part, ToolResult)][-1]
    assert any("a web page" in getattr(part, "text", "") for part in last.content)


def test_a_turn_that_died_in_the_call_finds_the_task_it_has_made(kept: Store) -> None:
    ran: list[str] = []

    @tool(effect="write", long=True, approval="never")
    def tulis(context: CallContext) -> str:
        """Writes long."""
        ran.append(context.idempotency_key)
        return "written"

    agent = Agent(scripted(call("tulis"), *FOLLOWING), tools=[tulis], name="pekerja")

    async def work() -> Answer[Any] | None:
        mortal = Mortal(kept)
        tasks = kept.tasks

        class Dying:
            """The process dies when the task is there, before the call has its result."""

            def __getattr__(self, name: str) -> Any:
                return getattr(tasks, name)

            async def add(self, new: Any) -> TaskRow:
                await tasks.add(new)
                mortal.dead = True
                raise Dead

        object.__setattr__(mortal, "tasks", Dying())
        with pytest.raises(Dead):
            await agent.session("budi", store=mortal, lease=LEASE).arun("go")  # type: ignore[arg-type]
        return await agent.with_model(scripted(call("tulis"), *FOLLOWING)).session("budi", store=kept).aresume()

    answer = asyncio.run(work())
    assert answer is not None
    assert [step.fault for step in answer.steps] == [None, None, None]
    assert len(ran) == 1
    assert len(asyncio.run(elsewhere.tasks(kept))) == 1


# ── ending it, trying it again, waking the session ───────────────────────────────────────────────────────────────────


async def until(true: Callable[[], Any]) -> Any:
    give_up = time.monotonic() + 20
    while not (found := await true()):
        assert time.monotonic() < give_up
        await asyncio.sleep(0.01)
    return found


async def in_state(kept: Store, *states: str) -> TaskRow:
    async def look() -> TaskRow | None:
        rows = await elsewhere.tasks(kept)
        return rows[0] if rows and rows[0].state in states else None

    return await until(look)


def test_a_function_notices_that_it_is_cancelled(kept: Store) -> None:
    @tool(effect="write", long=True, approval="never")
    def tulis(context: CallContext) -> str:
        """Writes until it is cancelled."""
        while not context.cancelled:
            time.sleep(0.005)
        context.stop_if_cancelled()
        return "never"

    agent = Agent(scripted(call("tulis"), Says(text="begun")), tools=[tulis])

    async def work() -> None:
        await agent.session("budi", store=kept).arun("go")
        row = await in_state(kept, "running")
        assert (await elsewhere.cancel(kept, row.id)).state == "running"
        assert (await in_state(kept, "cancelled", "unknown", "failed")).state == "cancelled", "it has said so itself"
        with pytest.raises(elsewhere.TaskRefusedError, match="ended already"):
            await elsewhere.cancel(kept, row.id)
        with pytest.raises(elsewhere.TaskRefusedError, match="may have taken effect"):
            await elsewhere.retry(kept, row.id)

    asyncio.run(work())


def test_a_read_that_fails_is_tried_again_as_its_policy_says(kept: Store) -> None:
    tries: list[str] = []

    @tool(effect="read", long=Long(attempts=3, backoff=0.0))
    def baca(context: CallContext) -> str:
        """Reads, at the third attempt."""
        tries.append(context.idempotency_key)
        if len(tries) % 3:
            raise RuntimeError("not yet")
        return "there"

    answer = Agent(scripted(call("baca"), *FOLLOWING), tools=[baca]).session("budi", store=kept).run("go")
    assert results(answer)[-1] == "there"
    assert len(tries) == 3
    assert len(set(tries)) == 1, "the key is the call's"
    (row,) = asyncio.run(elsewhere.tasks(kept))
    assert (row.state, row.attempts) == ("done", 3)


def test_its_end_starts_a_turn_once_that_ends_no_other(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    tried: list[bool] = []

    async def trying(*arguments: Any) -> bool:
        tried.append(await waking.wake(*arguments))
        return tried[-1]

    monkeypatch.setattr(runner, "wake", trying)

    @tool(effect="read", long=Long(wake=True))
    def baca() -> str:
        """Reads."""
        ended.wait(20)
        return "the result"

    @tool(effect="write")
    def tulis() -> str:
        """Writes."""
        return "written"

    def reply(request: ModelRequest) -> Says:
        asked = next(message for message in reversed(request.messages) if message.role == "user").text
        if asked.startswith("[Not said by the user"):
            return Says(text="told") if said(request) else call("task_result", task=asked.split("task ")[1].split()[0])
        if asked == "write":
            return Says(text="written") if said(request) else call("tulis")
        return Says(text="begun") if said(request) else call("baca")

    agent = Agent(Scripted(reply), tools=[baca, tulis], tasks=Embedded(lease=0.3))
    chat = agent.session("budi", store=kept)

    async def work() -> None:
        await chat.arun("go")
        row = await in_state(kept, "running")
        assert (await chat.arun("write")).stopped == "waiting"
        ended.set()
        await in_state(kept, "done")
        await until(lambda: refused())  # it has been tried to wake the session
        (waiting,) = await kept.open_turns("budi")
        assert waiting.waits == 1, "a turn that waits for a person is not ended by it"
        assert (await chat.aresume(approve=lambda approval: approval.approve())).text == "written"  # type: ignore[union-attr]
        await until(lambda: woken(row.id))
        turns = await kept.turns("budi")
        assert [turn.id for turn in turns].count(turn_of(row.id)) == 1
        assert turns[-1].messages[-1].text == "told"
        assert any("the result" in str(message) for message in turns[-1].messages)

    async def refused() -> bool:
        return False in tried

    async def woken(task: str) -> float | None:
        return (await kept.tasks.one(task)).woken

    asyncio.run(work())


def test_a_model_that_spins_ends() -> None:
    ended = asyncio.Event()

    @tool(effect="read", long=True)
    async def tunggu() -> str:
        """Waits."""
        await ended.wait()
        return "there"

    model = scripted(call("tunggu"), lambda task: call("task_status", task=task))
    answer = Agent(model, tools=[tunggu], limits=Limits(rounds=20, seconds=60)).run("go")
    assert answer.stopped == "no_progress"


def test_what_a_dead_process_left_is_gone_on_with_by_the_next_turn_anywhere(kept: Store) -> None:
    @tool(effect="read", long=True, name="kerja")
    def baca() -> str:
        """Reads."""
        return "there"

    agent = Agent(Scripted(["hello"]), tools=[baca], name="gudang")

    async def work() -> None:
        row = await kept.tasks.add(new("t0123456789a"))
        await kept.tasks.move(row, Move("running", lease=0.0, holder="dead"))
        await agent.session("siti", store=kept).arun("hello")
        ended = await in_state(kept, "done")
        assert (ended.attempts, ended.lost) == (2, 1)

    asyncio.run(work())


def test_a_task_whose_session_is_deleted_is_stopped(kept: Store) -> None:
    stopped = threading.Event()

    @tool(effect="read", long=True)
    async def tunggu() -> None:
        """Waits."""
        try:
            await asyncio.sleep(60)
        finally:
            stopped.set()

    agent = Agent(scripted(call("tunggu"), Says(text="begun")), tools=[tunggu])

    async def work() -> None:
        await agent.session("budi", store=kept).arun("go")
        await in_state(kept, "running")
        await kept.delete("budi")
        await asyncio.to_thread(stopped.wait, 20)
        assert stopped.is_set()

    asyncio.run(work())


def test_long_work_that_changes_something_empties_the_cache() -> None:
    looked: list[int] = []

    @tool(effect="read", cache=60)
    def lihat() -> int:
        """Looks."""
        looked.append(1)
        return len(looked)

    @tool(effect="write", long=True, approval="never")
    def tulis() -> str:
        """Writes."""
        return "written"

    look = scripted(call("lihat"), Says(text="so"))
    agent = Agent(look, tools=[lihat, tulis])
    writing = agent.with_model(scripted(call("tulis"), *FOLLOWING))
    for asking, times in ((agent, 1), (agent, 1), (writing, 1), (agent, 2)):
        asking.run("go")
        assert len(looked) == times


def test_turns_of_tasks_are_named_after_them() -> None:
    assert turn_of("t1") == "wt1"
