"""Celery carries tasks as a guest: what its broker does changes no task, and the program around it is left as it is."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("celery")

from tests.tasks.brokers import Redis
from tukang import Agent, CallContext, tool
from tukang.errors import ConfigurationError
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import StoreError
from tukang.memory.stores.task_values import TaskRow
from tukang.models.scripted import Scripted, call
from tukang.tasks.backend import Job
from tukang.tasks.celery import Celery, Working, queue_of
from tukang.tasks.runner import Runner
from tukang.tools.long import Long

PASSWORD = "kata-sandi-rahasia"


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Redis]:
    """A Redis that has begun."""
    made = Redis(tmp_path, PASSWORD)
    made.start()
    yield made
    made.stop()


@tool(effect="read", long=Long(attempts=3, backoff=0.2))
def kerja(x: int, context: CallContext) -> str:
    """Works; at 7 it fails once, at 9 until it is cancelled."""
    if x == 7 and len(ran) < 1:
        ran.append(x)
        raise ValueError("once")
    ran.append(x)
    until = time.monotonic() + 30
    while x == 9 and time.monotonic() < until:
        context.stop_if_cancelled()
        time.sleep(0.01)
    return f"done {x}"


ran: list[int] = []


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:  # pyright: ignore[reportUnusedFunction]
    ran.clear()


def made(address: str, *numbers: int, name: str = "gudang", takeover: float = 2.0) -> Agent:
    """An agent whose turns ask for these."""
    script = [said for x in numbers for said in (call("kerja", x=x), "asked")]
    return Agent(Scripted(script), tools=[kerja], name=name, tasks=Celery(address, takeover=takeover))


def runner_of(agent: Agent, store: Store) -> Runner:
    assert agent.tasks is not None
    return agent.tasks.runner(store)


@asynccontextmanager
async def at_work(agent: Agent, store: Store) -> AsyncGenerator[None]:
    """A worker in this process."""
    assert agent.tasks is not None
    stop = asyncio.Event()
    working = asyncio.create_task(agent.tasks.backend.work(agent.tasks.runner(store), stop))
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait_for(working, 10)


async def until(true: Callable[[], Awaitable[Any]]) -> None:
    async with asyncio.timeout(20):
        while not await true():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def all_done(store: Store, count: int) -> bool:
    return [row.state for row in await store.tasks.several()].count("done") == count


def queued(address: str, agent: str) -> int:
    """How many messages wait."""
    import redis

    password, _, path = address.removeprefix("redis+socket://:").partition("@")
    with redis.Redis(unix_socket_path=path, password=password) as client:
        found: Any = client.llen(queue_of(agent))
    return int(found)


@pytest.mark.parametrize(
    "address", ["sqs://x", "localhost:6379", "", "postgresql://:rahasia@x/y", "redis://:rahasia@x:port"]
)
def test_what_is_no_broker_is_refused_without_its_password(address: str) -> None:
    with pytest.raises(ConfigurationError, match="expected redis://") as refused:
        Celery(address)
    assert "rahasia" not in str(refused.value)


@pytest.mark.parametrize("missing", ["celery", "redis"])
def test_without_celery_an_agent_says_what_to_install(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ConfigurationError, match=r"pip install 'tukang\[celery\]'"):
        made("redis://localhost", 1)


def test_nothing_that_is_shown_has_the_password() -> None:
    for address in (f"redis://:{PASSWORD}@127.0.0.1:1/0", f"amqp://u:{PASSWORD}@127.0.0.1:1//"):
        backend = Celery(address)
        assert PASSWORD not in repr(backend) + repr(backend.__dict__.get("_app")) + backend.address
        with pytest.raises(StoreError) as failed:
            backend.send(Job("t", "gudang"))
        told: BaseException | None = failed.value
        assert "127.0.0.1:1" in str(told)
        while told is not None:
            assert PASSWORD not in f"{told!r}{told}{told.__cause__!r}"
            told = told.__cause__


def test_the_broker_given_counts_not_the_one_in_the_environment(broker: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELERY_BROKER_URL", "redis://127.0.0.1:1/0")
    Celery(broker.address).send(Job("t", "gudang"))
    assert queued(broker.address, "gudang") == 1


def test_names_of_agents_are_names_of_queues() -> None:
    names = ["toko", "toko, gudang", "x" * 300, "tokó"]
    queues = [queue_of(name) for name in names]
    assert len(set(queues)) == len(names)
    assert all(len(queue.encode()) <= 255 for queue in queues)


def test_a_child_of_a_process_that_has_sent_sends_as_well(broker: Redis) -> None:
    backend = Celery(broker.address)
    backend.send(Job("t1", "gudang"))
    if (child := os.fork()) == 0:
        try:
            backend.send(Job("t2", "gudang"))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    backend.send(Job("t3", "gudang"))
    assert queued(broker.address, "gudang") == 3


def test_a_task_that_no_broker_took_is_made_and_done_later(
    broker: Redis, kept: Store, caplog: pytest.LogCaptureFixture
) -> None:
    agent = made(broker.address, 1)
    assert agent.tasks is not None
    backend = agent.tasks.backend

    async def work() -> None:
        broker.stop()
        answer = await agent.session("budi", store=kept).arun("go")
        assert answer.steps[0].fault is None
        assert "did not take it" in caplog.text
        with pytest.raises(StoreError, match="broker"):  # a worker says so when it begins
            await backend.work(runner_of(agent, kept), asyncio.Event())
        broker.start()
        async with at_work(agent, kept):
            await until(lambda: all_done(kept, 1))

    asyncio.run(work())
    assert ran == [1]
    assert PASSWORD not in caplog.text


def test_a_worker_is_a_guest_in_its_process(broker: Redis, kept: Store) -> None:
    celery: Any = import_module("celery")
    agent = made(broker.address, 7)
    other = made(broker.address, 3, name="toko")

    def around() -> Any:
        handlers = [
            signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGHUP)
        ]
        loggers = (list(logging.root.handlers), logging.root.level, logging.raiseExceptions)
        return handlers, loggers, sys.stdout, sys.stderr, sys.excepthook, threading.excepthook

    async def work() -> None:
        before = around()
        own = celery.Celery("own")  # the program's
        await agent.session("budi", store=kept).arun("go")
        await other.session("budi", store=kept).arun("go")
        threads = set(threading.enumerate())
        async with at_work(agent, kept):
            await until(lambda: all_done(kept, 1))
            await asyncio.sleep(0.1)
            assert celery.current_app._get_current_object() is own
            assert around() == before
        assert ran == [7, 7], "tried again, and not another agent's"
        assert queued(broker.address, "toko") == 1
        async with at_work(other, kept):  # a second one in the same process has its own functions
            await until(lambda: all_done(kept, 2))
        assert around() == before
        for one in set(threading.enumerate()) - threads:
            if not one.name.startswith(("asyncio", "tukang-tool", "tukang-store")):
                one.join(1)
                assert not one.is_alive(), one.name

    asyncio.run(work())


def test_what_nobody_begins_is_not_sent_again_and_again(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = Celery("redis://nowhere", takeover=60)
    sent: list[int] = []
    down = True
    now = 0.0

    class Lost(Runner):
        async def undelivered(self, backend: str, patience: float) -> list[tuple[str, float]]:  # noqa: ARG002
            return [("t", 30 - now), ("later", 100_000 - now)]

    async def carry(job: Job, here: Runner) -> None:  # noqa: ARG001
        if down:
            raise StoreError("unavailable", "no broker")
        assert job == Job("t", "gudang")
        sent.append(round(now))

    async def work() -> None:
        nonlocal now, down
        agent = made("redis://nowhere", 1)
        working = Working(backend, Lost(runner_of(agent, kept).shop, kept))
        monkeypatch.setattr(backend, "carry", carry)
        monkeypatch.setattr(time, "monotonic", lambda: now)
        for _ in range(600):
            now += 10
            down = now < 200
            with suppress(StoreError):
                await working.carry_lost()

    asyncio.run(work())
    assert sent[:5] == [200, 230, 290, 410, 650], "at once when there is a broker again, then less and less often"
    assert {b - a for a, b in itertools.pairwise(sent[5:])} == {600}


async def _is(true: bool) -> bool:
    return true


@pytest.mark.long
def test_a_worker_goes_on_when_its_broker_was_started_anew(
    broker: Redis, kept: Store, caplog: pytest.LogCaptureFixture
) -> None:
    agent = made(broker.address, 1, 2)

    async def work() -> None:
        async with at_work(agent, kept):
            await agent.session("budi", store=kept).arun("go")
            await until(lambda: all_done(kept, 1))
            broker.stop()
            await agent.session("budi", store=kept).arun("go")
            broker.start()
            await until(lambda: all_done(kept, 2))

    asyncio.run(work())
    assert PASSWORD not in caplog.text


@pytest.mark.long
def test_a_worker_leaves_promptly_what_it_is_at_and_another_goes_on(broker: Redis, kept: Store) -> None:
    agent = made(broker.address, 9)

    async def one() -> TaskRow:
        (row,) = await kept.tasks.several()
        return row

    async def work() -> None:
        await agent.session("budi", store=kept).arun("go")
        async with at_work(agent, kept):
            await until(lambda: _is(ran == [9]))
            began = time.monotonic()
        assert time.monotonic() - began < 6
        row = await one()
        assert (row.state, row.attempts) == ("running", 1), "nobody has noticed yet"
        async with at_work(agent, kept):
            await until(lambda: _is(len(ran) == 2))
            row = await one()
            assert (row.attempts, row.lost) == (2, 1)
            await kept.tasks.ask_to_end(row)
            await until(_ended)

    async def _ended() -> bool:
        return (await one()).state == "cancelled"

    asyncio.run(work())
