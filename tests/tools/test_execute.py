"""One call, run: one outcome whatever the function does, in time, and nothing that hangs.

No test depends on how long something takes: functions wait for events, and a time-out is either tiny or never reached.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tukang.tools.adopting import as_tool
from tukang.tools.context import CallContext
from tukang.tools.execute import execute
from tukang.tools.outcome import NothingDone, Outcome
from tukang.tools.policy import Policy, ToolEffect
from tukang.tools.signature import Function
from tukang.tools.threads import Threads
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


# ── threads ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def finish(threads: Threads, job: Callable[[], Any]) -> Any:
    """Run a job and wait for it, and for its thread to be idle again or gone."""
    results: list[Any] = []
    done = threading.Event()

    def whole() -> None:
        results.append(job())
        done.set()

    threads.run(whole)
    assert done.wait(LONG)
    return results[0]


def test_threads_are_daemons_and_not_threads_of_asyncio() -> None:
    assert finish(Threads(), lambda: threading.current_thread().daemon)


def test_no_idle_thread_is_kept_when_none_is_wanted() -> None:
    threads = Threads(most_idle=0)
    used = [finish(threads, threading.current_thread) for _ in range(3)]
    for thread in used:
        thread.join(LONG)
        assert not thread.is_alive()
    assert len(set(used)) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_does_not_wait_for_threads_it_does_not_have() -> None:
    threads = Threads()
    finish(threads, lambda: None)
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if finish(threads, lambda: "ok") == "ok" else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


def test_the_policy_stays_data() -> None:
    assert of(lambda_buram, "write", 5).policy == Policy("write", 5)
