"""One call, run: one outcome whatever the function does, in time, and nothing that hangs.

No test depends on how long something takes: functions wait for events, and a time-out is either tiny or never reached.
"""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, model_serializer

from tukang.errors import ToolWarning
from tukang.tools import execute as execute_module
from tukang.tools.adopting import as_tool
from tukang.tools.context import CallContext
from tukang.tools.execute import execute
from tukang.tools.outcome import NothingDone, Outcome, OutcomeUnknown
from tukang.tools.policy import Policy, ToolEffect
from tukang.tools.signature import Function
from tukang.tools.threads import Job, Threads
from tukang.tools.tool import Tool, tool

CONTEXT = CallContext(call_id="t1.r1.c1", idempotency_key="key", session="budi", context={"user": "USR042"})
SOON = 0.02
LONG = 60.0
NEVER = 3600.0

variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")


def run(made: Tool, arguments: str = "{}", seconds: float | None = LONG) -> Outcome:
    return asyncio.run(execute(made, arguments, CONTEXT, seconds))


def of(function: Function, effect: ToolEffect = "read", timeout: float | None = None) -> Tool:
    return as_tool(tool(effect=effect, timeout=timeout)(function))


def fault(outcome: Outcome) -> tuple[str, str]:
    assert outcome.fault is not None, outcome
    assert outcome.text == outcome.fault.as_text()
    return outcome.fault.kind, outcome.fault.message


def until(holds: Callable[[], bool]) -> bool:
    """Wait until something holds, as it will very soon."""
    end = time.monotonic() + LONG
    while not (held := holds()) and time.monotonic() < end:
        time.sleep(0.001)
    return held


# ── results ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_sync_function_runs_in_a_thread_of_its_own() -> None:
    def f(n: int) -> dict[str, Any]:
        return {"n": n, "thread": threading.current_thread() is not threading.main_thread()}

    assert run(of(f), '{"n":1}').text == '{"n":1,"thread":true}'


def test_an_async_function_is_awaited_in_the_loop() -> None:
    async def f(n: int) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"n": n, "main": threading.current_thread() is threading.main_thread()}

    assert run(of(f), '{"n":1}').text == '{"n":1,"main":true}'


class Dipanggil:
    async def __call__(self, n: int) -> int:
        return n


async def nanti(n: int) -> int:
    await asyncio.sleep(0)
    return n


def test_async_callables_in_disguise_are_awaited_too() -> None:
    def plain(n: int) -> Any:
        return nanti(n)

    for function in (Dipanggil(), plain):
        assert run(as_tool(function), '{"n":7}').text == "7"


def test_the_context_reaches_the_function_with_its_own_deadline() -> None:
    def f(context: CallContext) -> list[Any]:
        left = context.seconds_left()
        assert left is not None
        return [context.call_id, context.idempotency_key, context.session, context.context, 0 < left <= 5]

    assert run(of(f, timeout=5)).text == '["t1.r1.c1","key","budi",{"user":"USR042"},true]'


def test_without_any_bound_the_deadline_stays_open() -> None:
    def f(context: CallContext) -> str:
        return str(context.seconds_left())

    assert run(of(f), seconds=None).text == "None"


def test_context_variables_are_seen_and_not_changed() -> None:
    def f() -> str:
        seen = variable.get()
        variable.set("changed")
        return seen

    async def both() -> list[str]:
        variable.set("mine")
        texts = [(await execute(of(function), "{}", CONTEXT, LONG)).text for function in (f, nanti_variable)]
        return [*texts, variable.get()]

    assert asyncio.run(both()) == ["mine", "mine", "mine"]


async def nanti_variable() -> str:
    seen = variable.get()
    variable.set("changed")
    return seen


def test_ten_blocking_functions_run_at_once() -> None:
    together = threading.Barrier(10)

    def f() -> str:
        together.wait(LONG)  # passes only when all ten are here
        return "ok"

    async def ten() -> list[Outcome]:
        return await asyncio.gather(*(execute(of(f), "{}", CONTEXT, LONG) for _ in range(10)))

    assert [outcome.text for outcome in asyncio.run(ten())] == ["ok"] * 10


def test_a_blocking_function_does_not_stall_the_loop() -> None:
    let_go = threading.Event()

    def f() -> str:
        return "released" if let_go.wait(LONG) else "stalled"

    async def main() -> str:
        running = asyncio.create_task(execute(of(f), "{}", CONTEXT, LONG))
        await asyncio.sleep(0)
        let_go.set()  # only reached while the function blocks
        return (await running).text

    assert asyncio.run(main()) == "released"


# ── failures ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def raising(error: BaseException) -> tuple[Function, Function]:
    def f() -> None:
        raise error

    async def g() -> None:
        raise error

    return f, g


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("stok habis"), "ValueError: stok habis"),
        (RuntimeError("postgres://budi:rahasia@db"), "RuntimeError: postgres://[secret]@db"),
        (SystemExit(1), "SystemExit: 1"),
        (TimeoutError("hulu"), "TimeoutError: hulu"),
        (StopIteration(3), "StopIteration"),
        (StopAsyncIteration("x"), "StopAsyncIteration: x"),
        (BaseException("dasar"), "BaseException: dasar"),
        (ExceptionGroup("g", [OSError("putus")]), "OSError: putus"),
    ],
)
def test_whatever_a_function_raises_becomes_a_fault(error: BaseException, told: str) -> None:
    for function in raising(error):
        kind, message = fault(run(of(function, "write")))
        assert kind == "tool_failed"
        assert told in message


def test_an_interrupt_raised_in_a_thread_is_the_functions_own() -> None:
    assert fault(run(of(raising(KeyboardInterrupt())[0])))[0] == "tool_failed"


def test_a_function_that_cancels_itself_has_failed() -> None:
    assert fault(run(of(raising(asyncio.CancelledError())[1]))) == (
        "tool_failed",
        "RuntimeError: it was cancelled from within",
    )


def test_nothing_done_says_so() -> None:
    for function in raising(NothingDone("stok PRD003 habis", "Tawarkan yang lain.")):
        outcome = run(of(function, "write"))
        assert fault(outcome) == ("nothing_done", "stok PRD003 habis")
        assert outcome.fault is not None
        assert outcome.fault.hint == "Tawarkan yang lain."


def test_what_was_lost_sight_of_is_said_to_be_unknown() -> None:
    for effect in ("write", "read"):
        for function in raising(OutcomeUnknown("the line went dead")):
            kind, message = fault(run(of(function, effect)))
            assert kind == "outcome_unknown"
            assert message == "the line went dead; it had started, and may or may not have taken effect"


class Buram:
    pass


def test_a_result_that_cannot_be_written_is_a_fault_that_says_it_ran() -> None:
    kind, message = fault(run(of(lambda_buram, "write")))
    assert (kind, message) == ("tool_failed", "it ran, but its result cannot be written as JSON: a Buram")


def lambda_buram() -> Any:
    return {"a": Buram()}


def test_none_from_a_function_that_may_return_it_is_null() -> None:
    def cari(id: str) -> dict[str, Any] | None:
        return None if id else {}

    assert run(of(cari), '{"id":"a"}').text == "null"


def test_arguments_that_no_longer_fit_are_a_fault() -> None:
    def f(n: int) -> int:
        return n

    assert fault(run(of(f), '{"n":"x"}'))[0] == "invalid_arguments"
    assert fault(run(of(f), "not json"))[0] == "invalid_arguments"


@pytest.mark.parametrize("seconds", [0, -1.0])
def test_without_time_nothing_is_started(seconds: float) -> None:
    started: list[int] = []

    def f() -> str:
        started.append(1)
        return "x"

    assert fault(run(of(f), seconds=seconds))[0] == "not_run"
    assert started == []


# ── time-outs ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("effect", "kind"),
    [
        ("read", "timed_out"),
        ("write", "outcome_unknown"),
        ("idempotent", "outcome_unknown"),
        ("unknown", "outcome_unknown"),
    ],
)
@pytest.mark.parametrize("bound", ["policy", "turn"])
def test_a_function_that_is_too_slow(effect: ToolEffect, kind: str, bound: str) -> None:
    let_go = threading.Event()

    def f() -> None:
        let_go.wait(LONG)

    async def g() -> None:
        await asyncio.sleep(NEVER)

    timeout, seconds = (SOON, LONG) if bound == "policy" else (LONG, SOON)
    for function in (f, g):
        got, message = fault(run(of(function, effect, timeout), seconds=seconds))
        assert got == kind
        assert message.startswith("it did not finish within 0.02 seconds")
    let_go.set()


def test_an_async_function_may_clean_up_when_its_time_is_over() -> None:
    cleaned: list[str] = []

    async def f() -> None:
        try:
            await asyncio.sleep(NEVER)
        finally:
            await asyncio.sleep(0)
            cleaned.append("closed")

    assert fault(run(of(f), seconds=SOON))[0] == "timed_out"
    assert cleaned == ["closed"]


def test_a_result_that_comes_while_it_is_being_cancelled_counts() -> None:
    async def f() -> str:
        try:
            await asyncio.sleep(NEVER)
        except asyncio.CancelledError:
            return "jadi"
        return "never"

    assert run(of(f, "write"), seconds=SOON).text == "jadi"


def test_an_async_function_that_swallows_cancellation_is_left_behind() -> None:
    async def f() -> None:
        while True:
            try:
                await asyncio.sleep(NEVER)
            except asyncio.CancelledError:
                continue

    async def main() -> tuple[str, str]:
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        return fault(await execute(of(f, "write"), "{}", CONTEXT, SOON))

    assert asyncio.run(main())[0] == "outcome_unknown"


def test_a_plain_function_that_makes_a_slow_coroutine_is_bound_too() -> None:
    def f() -> Any:
        return asyncio.sleep(NEVER)

    assert fault(run(as_tool(f), seconds=SOON))[0] == "outcome_unknown"


# ── cancelling ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_cancelling_reaches_an_async_function() -> None:
    async def main() -> bool:
        started, cancelled = asyncio.Event(), asyncio.Event()

        async def f() -> None:
            started.set()
            try:
                await asyncio.sleep(NEVER)
            finally:
                cancelled.set()

        running = asyncio.create_task(execute(of(f), "{}", CONTEXT, None))
        await started.wait()
        running.cancel()
        await asyncio.wait((running,))
        await cancelled.wait()
        return running.cancelled()

    assert asyncio.run(main())


def test_cancelling_leaves_a_function_behind_that_swallows_it() -> None:
    async def main() -> bool:
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        started = asyncio.Event()

        async def f() -> None:
            while True:
                started.set()
                try:
                    await asyncio.sleep(NEVER)
                except asyncio.CancelledError:
                    continue

        running = asyncio.create_task(execute(of(f), "{}", CONTEXT, None))
        await started.wait()
        running.cancel()
        await asyncio.wait((running,))
        return running.cancelled()

    assert asyncio.run(main())


def test_cancelling_does_not_wait_for_a_thread() -> None:
    started, let_go = threading.Event(), threading.Event()

    def f() -> None:
        started.set()
        let_go.wait(LONG)

    async def main() -> tuple[bool, bool]:
        running = asyncio.create_task(execute(of(f), "{}", CONTEXT, None))
        await asyncio.to_thread(started.wait, LONG)
        running.cancel()
        await asyncio.wait((running,))
        return running.cancelled(), let_go.is_set()

    assert asyncio.run(main()) == (True, False)
    let_go.set()


# ── the program can always end ───────────────────────────────────────────────────────────────────────────────────────

PROGRAM = """
    import asyncio, time
    from tukang.tools.adopting import as_tool
    from tukang.tools.context import CallContext
    from tukang.tools.execute import execute

    def hung():
        time.sleep(3600)

    async def stubborn():
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                pass

    async def main():
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        context = CallContext(call_id="a", idempotency_key="b")
        for function in (hung, stubborn):
            print((await execute(as_tool(function), "{}", context, 0.05)).fault.kind)

    asyncio.run(main())
    print("over")
"""


def test_the_program_ends_although_functions_hang() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)], capture_output=True, text=True, timeout=LONG, check=False
    )
    assert (done.returncode, done.stdout.split()) == (0, ["outcome_unknown", "outcome_unknown", "over"]), done.stderr


# ── what a developer is told ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_function_that_goes_on_in_its_thread_is_told_to_the_developer() -> None:
    let_go = threading.Event()

    def lambat() -> None:
        let_go.wait(LONG)

    with pytest.warns(ToolWarning, match=r"tool 'lambat' did not end in its time.*isolation=\"process\""):
        assert fault(run(of(lambat), seconds=SOON))[0] == "timed_out"
    let_go.set()


def test_functions_that_hang_are_counted_and_after_too_many_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = Threads(most_abandoned=2)
    monkeypatch.setattr(execute_module, "_THREADS", threads)
    let_go = threading.Event()
    ran: list[int] = []

    def lambat() -> None:
        let_go.wait(LONG)

    def cepat() -> str:
        ran.append(1)
        return "ok"

    async def nanti() -> str:
        return "ok"

    for _ in range(2):
        assert fault(run(of(lambat), seconds=SOON))[0] == "timed_out"
    with pytest.warns(
        ToolWarning, match=r"tool 'cepat' was not run: 2 functions .* still run in threads: 'lambat' \(2\)"
    ):
        kind, message = fault(run(of(cepat, "write")))
    assert (kind, message) == ("not_run", "too many earlier calls did not end in their time and are still running")
    assert ran == []
    assert run(of(nanti)).text == "ok", "an async function needs no thread"
    let_go.set()
    assert until(lambda: not threads.full)
    assert run(of(cepat)).text == "ok"


def test_a_cancelled_function_is_counted_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = Threads(most_abandoned=1)
    monkeypatch.setattr(execute_module, "_THREADS", threads)
    started, let_go = threading.Event(), threading.Event()

    def f() -> None:
        started.set()
        let_go.wait(LONG)

    async def main() -> None:
        running = asyncio.create_task(execute(of(f), "{}", CONTEXT, None))
        await asyncio.to_thread(started.wait, LONG)
        running.cancel()
        await asyncio.wait((running,))

    asyncio.run(main())
    assert threads.full
    assert threads.abandoned() == {"f": 1}
    let_go.set()
    assert until(lambda: not threads.full)


def test_when_the_system_gives_no_thread_nothing_was_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(_: Job) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(execute_module._THREADS, "run", none_left)
    kind, message = fault(run(of(lambda_buram, "write")))
    assert (kind, message) == ("not_run", "the system gives no thread to run it in: can't start new thread")


# ── the loop ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_result_is_written_down_beside_the_loop() -> None:
    thread: list[threading.Thread] = []

    class Berat(BaseModel):
        n: int

        @model_serializer
        def berat(self) -> dict[str, int]:
            thread.append(threading.current_thread())
            return {"n": self.n}

    def f() -> Any:
        return Berat(n=1)

    assert run(of(f)).text == '{"n":1}'
    assert thread
    assert threading.main_thread() not in thread


def test_whatever_writing_a_result_raises_is_a_fault() -> None:
    class Keluar(BaseModel):
        @model_serializer
        def keluar(self) -> str:
            raise SystemExit(4)

    def f() -> Any:
        return Keluar()

    assert fault(run(of(f)))[0] == "tool_failed"


def test_the_policy_stays_data() -> None:
    assert of(lambda_buram, "write", 5).policy == Policy("write", 5)
