"""What a call says while it runs: a signal for readers, nothing for the model."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from tukang import Agent, CallContext, tool
from tukang.answer import Answer
from tukang.loop import events
from tukang.models.scripted import Scripted, call
from tukang.runtime.signals import Progress, Signal


def follow(function: Callable[..., Any], **arguments: Any) -> tuple[list[Any], Answer[Any]]:
    """The progress signals and the events of a turn that makes one call, in order, and its answer."""

    async def play() -> tuple[list[Any], Answer[Any]]:
        agent = Agent(Scripted([[call(function.__name__, **arguments)], "selesai"]), tools=[function])
        stream = agent.stream("mulai")
        seen: list[Any] = [item async for item in stream]
        return seen, stream.answer

    return asyncio.run(play())


def told(seen: list[Any]) -> list[tuple[float | None, str]]:
    return [
        (item.delta.percent, item.delta.message)
        for item in seen
        if isinstance(item, Signal) and isinstance(item.delta, Progress)
    ]


def test_progress_streams_while_the_call_runs_and_the_model_sees_none_of_it() -> None:
    @tool(effect="read")
    def unduh(berkas: str, context: CallContext) -> str:
        """Unduh."""
        context.progress(0, f"mulai {berkas}")
        context.progress(50.5)
        context.progress(None, "hampir")
        return "ok"

    seen, answer = follow(unduh, berkas="a")
    assert told(seen) == [(0, "mulai a"), (50.5, ""), (None, "hampir")]
    assert answer.steps[0].result == "ok"
    place = {type(item).__name__: number for number, item in enumerate(seen)}
    first = next(n for n, item in enumerate(seen) if isinstance(item, Signal) and isinstance(item.delta, Progress))
    assert place["CallStarted"] < first < place["CallFinished"]
    signals = [item for item in seen if isinstance(item, Signal)]
    assert [signal.number for signal in signals] == list(range(len(signals)))
    progress = next(signal for signal in signals if isinstance(signal.delta, Progress))
    assert (progress.round, progress.attempt) == (1, 0)
    assert progress.delta == Progress(answer.steps[0].call_id, "unduh", 0, "mulai a")
    assert not any(isinstance(event, Signal) for event in answer.events)


def test_an_async_function_tells_too() -> None:
    @tool(effect="read")
    async def unduh(context: CallContext) -> str:
        """Unduh."""
        context.progress(10, "a")
        await asyncio.sleep(0)
        context.progress(90, "b")
        return "ok"

    assert told(follow(unduh)[0]) == [(10, "a"), (90, "b")]


def test_nobody_listens_and_nothing_happens() -> None:
    @tool(effect="read")
    def unduh(context: CallContext) -> str:
        """Unduh."""
        context.progress(10, "a")
        return "ok"

    answer = Agent(Scripted([[call("unduh")], "ya"]), tools=[unduh]).run("mulai")
    assert answer.steps[0].result == "ok"


def test_what_is_told_after_the_end_is_not_heard() -> None:
    """A thread that was left behind goes on talking; nobody hears it."""
    go_on, has_told = threading.Event(), threading.Event()

    @tool(effect="read", timeout=0.05)
    def macet(context: CallContext) -> str:
        """Macet."""
        context.progress(1, "sebelum")
        go_on.wait(10)
        context.progress(99, "sesudah")
        has_told.set()
        return "ok"

    async def play() -> list[Any]:
        seen: list[Any] = []

        def listen(item: Any) -> None:
            seen.append(item)
            if isinstance(item, events.CallFinished):
                go_on.set()

        await Agent(Scripted([[call("macet")], "ya"]), tools=[macet]).start("mulai", listen=listen).answer()
        await asyncio.to_thread(has_told.wait, 10)
        await asyncio.sleep(0)
        return seen

    seen = asyncio.run(play())
    assert has_told.is_set()
    assert told(seen) == [(1, "sebelum")]


# ── generators ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_a_generator_yields_is_progress_and_what_it_returns_is_the_result() -> None:
    @tool(effect="read")
    def hitung(sampai: int) -> Iterator[Any]:
        """Hitung."""
        for n in range(sampai):
            yield {"sampai": n}
        return "selesai"

    seen, answer = follow(hitung, sampai=2)
    assert told(seen) == [(None, '{"sampai":0}'), (None, '{"sampai":1}')]
    assert answer.steps[0].result == "selesai"


def test_without_a_return_value_the_list_of_what_was_yielded_is_the_result() -> None:
    @tool(effect="read")
    def baris() -> Iterator[str]:
        """Baris."""
        yield "satu"
        yield "dua"

    @tool(effect="read")
    async def baris_async() -> AsyncIterator[Any]:
        """Baris."""
        yield "satu"
        await asyncio.sleep(0)
        yield 2

    @tool(effect="read")
    def kosong() -> Iterator[str]:
        """Kosong."""
        yield from ()

    @tool(effect="read")
    def terbungkus() -> Any:
        """Bukan generator, tetapi mengembalikannya."""
        return (n for n in (1, 2))

    for function, result, messages in (
        (baris, '["satu","dua"]', ["satu", "dua"]),
        (baris_async, '["satu",2]', ["satu", "2"]),
        (kosong, "[]", []),
        (terbungkus, "[1,2]", ["1", "2"]),
    ):
        seen, answer = follow(function)
        assert answer.steps[0].result == result
        assert [message for _, message in told(seen)] == messages


@pytest.mark.parametrize("is_async", [False, True])
def test_a_generator_that_raises_has_failed_and_is_closed(is_async: bool) -> None:
    closed: list[bool] = []

    @tool(effect="read")
    def gagal() -> Iterator[int]:
        """Gagal."""
        try:
            yield 1
            raise ValueError("rusak")
        finally:
            closed.append(True)

    @tool(effect="read")
    async def gagal_async() -> AsyncIterator[int]:
        """Gagal."""
        try:
            yield 1
            raise ValueError("rusak")
        finally:
            closed.append(True)

    seen, answer = follow(gagal_async if is_async else gagal)
    fault = answer.steps[0].fault
    assert fault is not None
    assert (fault.kind, fault.message) == ("tool_failed", "ValueError: rusak")
    assert told(seen) == [(None, "1")]
    assert closed == [True]


def test_an_async_generator_is_closed_when_its_time_is_up() -> None:
    closed: list[bool] = []

    @tool(effect="read", timeout=0.05)
    async def lama() -> AsyncIterator[int]:
        """Lama."""
        try:
            yield 1
            await asyncio.Event().wait()
        finally:
            closed.append(True)

    _, answer = follow(lama)
    assert answer.steps[0].fault is not None
    assert answer.steps[0].fault.kind == "timed_out"
    assert closed == [True]


def test_a_long_yield_is_shortened_and_an_unwritable_one_is_judged_at_the_end() -> None:
    @tool(effect="read")
    def panjang() -> Iterator[Any]:
        """Panjang."""
        yield "x" * 5000
        yield object()
        return "ok"

    seen, answer = follow(panjang)
    assert [len(message) for _, message in told(seen)] == [1001]
    assert answer.steps[0].result == "ok"


def test_a_lazy_map_is_run_to_its_end() -> None:
    @tool(effect="read")
    def kode() -> Any:
        """Kode."""
        return map(str.upper, ["a", "b"])

    seen, answer = follow(kode)
    assert answer.steps[0].result == '["A","B"]'
    assert told(seen) == [(None, "A"), (None, "B")]


def test_an_exception_that_is_returned_is_a_fault_like_one_that_is_raised() -> None:
    @tool(effect="read")
    def gagal() -> Any:
        """Gagal."""
        return ValueError("stok habis")

    fault = follow(gagal)[1].steps[0].fault
    assert fault is not None
    assert (fault.kind, fault.message) == ("tool_failed", "ValueError: stok habis")
