"""Calls in worker processes: what a function gets and gives, and that nothing it does costs more than its one call.

No test depends on how long something takes: a time-out begins when the function does, and functions that never end are waited
for until they say that they have begun.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tools import isolated
from tukang.errors import ToolWarning
from tukang.tools import in_process
from tukang.tools.adopting import as_tool
from tukang.tools.context import CallContext
from tukang.tools.execute import execute
from tukang.tools.outcome import Outcome
from tukang.tools.policy import ToolEffect
from tukang.tools.processes import Processes
from tukang.tools.signature import Function
from tukang.tools.tool import Tool, tool

CONTEXT = CallContext(call_id="t1-1-0", idempotency_key="key", session="budi", context={"user": "USR042"})
SOON = 0.05
LONG = 120.0


def of(function: Function, effect: ToolEffect = "read", **policy: Any) -> Tool:
    return as_tool(tool(effect=effect, isolation="process", **policy)(function))


def run(
    function: Function | Tool, arguments: str = "{}", seconds: float | None = LONG, context: CallContext = CONTEXT
) -> Outcome:
    made = function if isinstance(function, Tool) else of(function)
    return asyncio.run(execute(made, arguments, context, seconds))


def fault(outcome: Outcome) -> tuple[str, str]:
    assert outcome.fault is not None, outcome
    return outcome.fault.kind, outcome.fault.message


def worker() -> int:
    """The process that takes the next call."""
    return int(run(isolated.pid).text)


def is_gone(process: int) -> bool:
    """Whether a process is no more (what is dead and not yet taken note of is no more)."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def until(holds: Callable[[], bool]) -> bool:
    """Wait until something holds, as it will very soon."""
    end = time.monotonic() + LONG
    while not (held := holds()) and time.monotonic() < end:
        time.sleep(0.005)
    return held


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Processes]]:
    """Makes workers of its own for a test."""
    made: list[Processes] = []

    def make(**bounds: int) -> Processes:
        made.append(Processes(**bounds))
        monkeypatch.setattr(in_process, "_PROCESSES", made[-1])
        return made[-1]

    yield make
    for processes in made:
        processes.end()


# ── what goes in and what comes out ──────────────────────────────────────────────────────────────────────────────────


def test_a_function_runs_in_another_process_which_is_used_again() -> None:
    first = worker()
    assert first not in (os.getpid(), os.getppid())
    assert worker() == first


def test_arguments_arrive_as_what_they_are() -> None:
    text = '{"barang":{"kode":"PRD002","jumlah":2,"warna":"biru"},"hari":"2026-02-28","harga":"1.50","jenis":"b"}'
    assert run(isolated.rich, text).text == ('[{"kode":"PRD002","jumlah":2,"warna":"biru"},"2026-03-01","3.00","b",3]')


def test_the_context_arrives_with_its_own_deadline() -> None:
    assert run(of(isolated.told, timeout=5)).text == '["t1-1-0","key","budi",{"user":"USR042"},true]'
    assert run(isolated.unbound, seconds=None).text == "None"


def test_a_schema_and_its_function() -> None:
    schema = {
        "name": "jumlahkan",
        "description": "Jumlahkan.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    }
    add = functools.partial(isolated.add)
    made = as_tool((schema, tool(isolation="process")(add)))
    assert made.policy.isolation == "process"
    assert run(made, '{"a":1,"b":2}').text == "3"


@pytest.mark.parametrize(
    "function",
    [
        isolated.Toko("Bandung").sapa,
        isolated.Toko("Bandung"),
        functools.partial(isolated.Toko.sapa, isolated.Toko("Bandung")),
    ],
)
def test_methods_objects_and_partials(function: Function) -> None:
    assert run(as_tool(tool(name="sapa", isolation="process")(function)), '{"siapa":"Budi"}').text == "Budi di Bandung"


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (isolated.local, '{"titik":{"x":1},"lokal":{"y":2},"hari":"2026-01-02","é":"\N{SNOWMAN}"}'),
        (isolated.awaited, "awaited"),
        (isolated.makes_a_coroutine, "awaited"),
        (isolated.async_steps, '["satu","dua"]'),
        (isolated.nothing, '{"ok":true}'),
        (isolated.prints, "said"),
    ],
)
def test_results_are_written_down_in_the_worker(function: Function, text: str) -> None:
    assert run(function).text == text


def test_an_image_comes_back_as_one() -> None:
    (part,) = run(isolated.image).content
    assert getattr(part, "media_type", None) == "image/png"


def test_progress_comes_back_in_order() -> None:
    said: list[tuple[float | None, str]] = []

    def tell(percent: float | None, message: str) -> None:
        said.append((percent, message))

    context = CallContext(call_id="c", idempotency_key="k", tell=tell)
    assert run(isolated.steps, context=context).text == '["satu","dua"]'
    assert said == [(10, "mulai"), (None, "satu"), (None, "dua")]


def test_a_result_and_an_argument_larger_than_any_buffer() -> None:
    assert run(isolated.size, '{"n":5000000}').text == "x" * 5_000_000
    assert run(isolated.takes, '{"text":"' + "é" * 2_000_000 + '"}').text == "2000000"


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (isolated.raises, ("tool_failed", "ValueError: postgres://[secret]@db")),
        (isolated.exits, ("tool_failed", "SystemExit: 3")),
        (isolated.did_nothing, ("nothing_done", "stok habis")),
        (isolated.cancels_itself, ("tool_failed", "CancelledError")),
    ],
)
def test_whatever_a_function_raises_becomes_a_fault(function: Function, told: tuple[str, str]) -> None:
    process = worker()
    assert fault(run(of(function, "write"))) == told
    assert worker() == process, "it costs the call, not the worker"


def test_a_result_that_cannot_be_written_is_a_fault_that_says_it_ran() -> None:
    kind, message = fault(run(isolated.unwritable))
    assert kind == "tool_failed"
    assert message.startswith("it ran, but its result cannot be written")


# ── time ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("function", "effect", "kind"),
    [
        (isolated.sleeps, "read", "timed_out"),
        (isolated.sleeps_async, "write", "outcome_unknown"),
        (isolated.holds_the_interpreter, "idempotent", "outcome_unknown"),
        (isolated.matches_for_ever, "unknown", "outcome_unknown"),
    ],
)
def test_a_function_that_never_ends_is_ended(function: Function, effect: ToolEffect, kind: str) -> None:
    process = worker()
    got, message = fault(run(of(function, effect, timeout=SOON)))
    assert got == kind
    assert message.startswith("it did not finish within 0.05 seconds")
    assert is_gone(process), "when it is reported, it has stopped"


def test_the_turns_deadline_ends_it_too() -> None:
    process = worker()
    assert fault(run(of(isolated.sleeps, "write"), seconds=0.5))[0] in ("outcome_unknown", "not_run")
    assert is_gone(process)


@pytest.mark.parametrize("seconds", [0, -1.0])
def test_without_time_nothing_is_started(seconds: float) -> None:
    assert fault(run(isolated.pid, seconds=seconds))[0] == "not_run"


def test_a_call_that_found_no_free_worker_in_time_was_not_run(pool: Callable[..., Processes]) -> None:
    pool(most_busy=1)

    async def main() -> tuple[str, str]:
        begun = asyncio.Event()
        loop = asyncio.get_running_loop()
        context = CallContext(call_id="c", idempotency_key="k", tell=lambda *_: loop.call_soon_threadsafe(begun.set))
        hanging = asyncio.create_task(execute(of(isolated.ignores_signals), "{}", context, None))
        await begun.wait()
        second = await execute(of(isolated.pid, "write"), "{}", CONTEXT, SOON)
        hanging.cancel()
        await asyncio.wait((hanging,))
        return fault(second)

    assert asyncio.run(main()) == ("not_run", "it was not started: there was no time left")


async def started(function: Function) -> tuple[asyncio.Task[Outcome], str]:
    """A call that runs, and what its function said when it had begun."""
    said: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def tell(percent: float | None, message: str) -> None:  # noqa: ARG001
        said.get_loop().call_soon_threadsafe(said.set_result, message)

    context = CallContext(call_id="c", idempotency_key="k", tell=tell)
    running = asyncio.create_task(execute(of(function, "write"), "{}", context, None))
    return running, await said


def test_cancelling_kills_whatever_it_started_even_if_it_does_not_listen() -> None:
    async def main(function: Function) -> list[int]:
        running, said = await started(function)
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
        assert running.cancelled()
        return [int(process) for process in said.split()]

    for function in (isolated.ignores_signals, isolated.hangs_with_children):
        for process in asyncio.run(main(function)):
            assert until(functools.partial(is_gone, process))


# ── crashes ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (isolated.segfaults, "its process was ended by SIGSEGV (Segmentation fault)"),
        (isolated.ends, "its process ended with status 3 before it returned"),
        (isolated.is_killed, "its process was ended by SIGKILL (Killed): most likely there was no memory left"),
    ],
)
def test_a_crash_costs_the_one_call(function: Function, told: str) -> None:
    assert fault(run(of(function, "read"))) == ("tool_failed", told)
    assert run(isolated.add, '{"a":1,"b":2}').text == "3"


def test_the_outcome_of_a_write_that_crashed_is_unknown() -> None:
    kind, message = fault(run(of(isolated.segfaults, "write")))
    assert kind == "outcome_unknown"
    assert message == (
        "its process was ended by SIGSEGV (Segmentation fault); it had started, and may or may not have taken effect"
    )


def test_memory_is_bounded_where_its_author_says_so() -> None:
    small = of(isolated.fills_memory, memory=100)
    process = worker()
    assert run(small, '{"megabytes":20}').text == "20"
    assert worker() == process
    assert fault(run(small, '{"megabytes":400}')) == ("tool_failed", "MemoryError")
    assert until(lambda: is_gone(process)), "what it still holds goes with it"
    assert run(isolated.fills_memory, '{"megabytes":200}').text == "200", "and nobody else is bounded"


def test_a_worker_does_not_outlive_its_guard() -> None:
    async def main() -> tuple[Outcome, int]:
        running, said = await started(isolated.loses_its_guard)
        return await running, int(said)

    outcome, process = asyncio.run(main())
    assert fault(outcome)[0] == "outcome_unknown"
    assert until(lambda: is_gone(process))


# ── what a function starts ───────────────────────────────────────────────────────────────────────────────────────────


def test_a_fork_that_returns_does_not_answer() -> None:
    assert run(isolated.returns_twice).text == "parent"
    assert run(isolated.add, '{"a":1,"b":2}').text == "3"


def test_what_it_leaves_behind_ends_with_its_worker() -> None:
    process = worker()
    left = run(isolated.leaves_behind).text
    for one in (process, *map(int, left.strip("[]").split(","))):
        assert until(functools.partial(is_gone, one))


def test_forking_without_end_is_contained(pool: Callable[..., Processes]) -> None:
    pool(most_processes=8)
    kind, message = fault(run(of(isolated.forks_too_often, "read"), '{"times":100}'))
    assert (kind, message) == ("tool_failed", "it started too many processes, and was ended with all of them")
    assert _below_guards() == 0
    assert run(isolated.add, '{"a":1,"b":2}').text == "3"


def _below_guards() -> int:
    """Processes that belong to workers which are gone: none, when all is well."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    mine = {process for process, parent in parents.items() if parent == os.getpid()}
    workers = {process for process, parent in parents.items() if parent in mine}
    return sum(1 for parent in parents.values() if parent in workers)


# ── before it begins ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_module_that_cannot_be_imported_there_is_told_to_the_developer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hanya_di_sini.py").write_text(
        "import sys\n"
        "if getattr(sys.modules['__main__'], '__file__', '').endswith('guard.py'):\n"
        "    raise RuntimeError('no display')\n"
        "def lihat() -> int: return 1\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import hanya_di_sini  # type: ignore[import-not-found]

    with pytest.warns(ToolWarning, match=r"tool 'lihat' was not run: it cannot be run in a process: RuntimeError"):
        kind, message = fault(run(of(hanya_di_sini.lihat, "write")))
    assert kind == "not_run"
    assert "no display" in message


def test_an_argument_that_cannot_be_sent_after_all_is_told_to_the_developer() -> None:
    class Buka:
        def __reduce__(self) -> Any:
            raise TypeError("a connection stays where it is")

    context = CallContext(call_id="c", idempotency_key="k", context=Buka())
    with pytest.warns(ToolWarning, match="what it needs cannot be sent to its process"):
        kind, message = fault(run(isolated.told, context=context))
    assert (kind, message) == (
        "not_run",
        "it cannot be sent to its process: TypeError: a connection stays where it is",
    )


def test_arguments_that_no_longer_fit_are_a_fault() -> None:
    assert fault(run(isolated.add, '{"a":"x","b":1}'))[0] == "invalid_arguments"


def test_a_worker_that_died_while_it_waited_costs_nothing() -> None:
    process = worker()
    os.kill(process, signal.SIGKILL)
    assert until(lambda: is_gone(process))
    assert worker() != process


# ── many ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_calls_beyond_the_number_of_workers_wait_for_one(pool: Callable[..., Processes]) -> None:
    pool(most_busy=2)

    async def many() -> list[Outcome]:
        calls = (execute(of(isolated.add), f'{{"a":{n},"b":0}}', CONTEXT, LONG) for n in range(100))
        processes = (execute(of(isolated.pid), "{}", CONTEXT, LONG) for _ in range(10))
        return await asyncio.gather(*calls, *processes)

    outcomes = asyncio.run(many())
    assert [outcome.text for outcome in outcomes[:100]] == [str(n) for n in range(100)]
    assert len({outcome.text for outcome in outcomes[100:]}) <= 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_of_the_program_has_workers_of_its_own() -> None:
    process = worker()
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if worker() != process else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert worker() == process


@pytest.mark.long
def test_a_result_of_50_megabytes() -> None:
    assert len(run(isolated.size, '{"n":50000000}').text) == 50_000_000


@pytest.mark.long
def test_a_hundred_calls_at_once_with_all_workers() -> None:
    async def many() -> list[Outcome]:
        return await asyncio.gather(*(execute(of(isolated.pid), "{}", CONTEXT, LONG) for _ in range(100)))

    assert all(outcome.fault is None for outcome in asyncio.run(many()))


@pytest.mark.long
def test_a_thousand_forks_are_contained() -> None:
    outcome = run(of(isolated.forks_too_often, "read"), '{"times":1000}')
    assert fault(outcome)[0] == "tool_failed"
    assert _below_guards() == 0
