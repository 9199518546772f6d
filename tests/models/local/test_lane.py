"""A lane does jobs one after the other, for any event loop, and stops when nobody listens."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from tukang.errors import ModelError
from tukang.models.local.engine import Completed, Job, Piece, Slot
from tukang.models.local.lane import Lane

Emit = Callable[[Piece | Completed], bool]


def job(prompt: str = "x") -> Job:
    return Job(Slot.DECIDE, prompt, 1)


class Counting:
    """Says numbers until nobody wants more, or until `most`."""

    def __init__(self, most: int = 3) -> None:
        self.most = most
        self.said = 0
        self.done: list[str] = []
        self.stopped = threading.Event()
        self.closed = threading.Event()

    def __call__(self, job: Job, emit: Emit) -> None:
        for number in range(self.most):
            self.said += 1
            if not emit(Piece(f"{number} ")):
                self.stopped.set()
                return
        self.done.append(job.prompt)
        emit(Completed("stop", output=self.most))

    def close(self) -> None:
        self.closed.set()


async def text_of(lane: Lane, one: Job) -> str:
    pieces = [item async for item in lane.run(one)]
    assert isinstance(pieces[-1], Completed)
    return "".join(item.text for item in pieces if isinstance(item, Piece))


def test_jobs_come_out_in_order_whoever_asks() -> None:
    worker = Counting()
    lane = Lane("test", worker)

    async def both() -> list[str]:
        return await asyncio.gather(*(text_of(lane, job(str(number))) for number in range(5)))

    assert asyncio.run(both()) == ["0 1 2 "] * 5
    assert asyncio.run(text_of(lane, job("later"))) == "0 1 2 "  # another event loop, the same lane
    assert worker.done == ["0", "1", "2", "3", "4", "later"]
    assert lane.stop()


def test_leaving_early_stops_the_work() -> None:
    worker = Counting(10**9)
    lane = Lane("test", worker)

    async def first() -> None:
        stream = lane.run(job())
        async for _ in stream:
            break
        await stream.aclose()

    asyncio.run(first())
    assert worker.stopped.wait(10)
    assert lane.stop()


def test_a_withdrawn_job_in_line_never_starts() -> None:
    began, go_on = threading.Event(), threading.Event()
    seen: list[str] = []

    class Waiting(Counting):
        def __call__(self, job: Job, emit: Emit) -> None:
            seen.append(job.prompt)
            began.set()
            go_on.wait(10)
            super().__call__(job, emit)

    lane = Lane("test", Waiting())

    async def run() -> None:
        first = asyncio.create_task(text_of(lane, job("first")))
        await asyncio.to_thread(began.wait, 10)
        second = asyncio.create_task(text_of(lane, job("second")))
        await asyncio.sleep(0)  # it gets in line
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        go_on.set()
        await first

    asyncio.run(run())
    asyncio.run(text_of(lane, job("third")))
    assert seen == ["first", "third"]
    assert lane.stop()


def test_a_fault_is_raised_where_it_was_asked_and_the_lane_goes_on() -> None:
    class Failing(Counting):
        def __call__(self, job: Job, emit: Emit) -> None:
            if job.prompt == "bad":
                raise ValueError("broke")
            if job.prompt == "refused":
                raise ModelError("bad_request", "no")
            super().__call__(job, emit)

    lane = Lane("test", Failing())
    for prompt, kind in (("bad", "unexpected"), ("refused", "bad_request")):
        with pytest.raises(ModelError) as caught:
            asyncio.run(text_of(lane, job(prompt)))
        assert caught.value.kind == kind
    assert asyncio.run(text_of(lane, job("good"))) == "0 1 2 "
    assert lane.stop()


def test_a_stopped_lane_refuses_and_lets_go() -> None:
    worker = Counting()
    lane = Lane("test", worker)
    asyncio.run(text_of(lane, job()))
    assert lane.stop()
    assert worker.closed.is_set()
    with pytest.raises(ModelError, match="closed"):
        asyncio.run(text_of(lane, job()))


def test_whoever_waits_when_a_lane_stops_is_told() -> None:
    lane = Lane("test", Counting(10**9))

    async def run() -> None:
        stream = lane.run(job())
        await anext(stream)
        stopping = asyncio.create_task(asyncio.to_thread(lane.stop))
        with pytest.raises(ModelError, match="closed"):
            async for _ in stream:
                pass
        assert await stopping

    asyncio.run(run())
