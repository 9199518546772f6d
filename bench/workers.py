"""Turns per second of a fleet: 1, 2 and 4 worker processes on one Postgres, in one run.

    python -m bench.workers [TURNS]

A turn makes two rounds of calls (two reads, then a write) and answers. Once the model answers at once, so that everything is
tukang's, the store's and the queue's; and once each reply takes a fifth of a second, as little as a real one does: then a
worker is as fast as it has slots, until the machine is full. Each turn has a session of its own; what it writes is on the
disk (the server that is started here has `fsync` on). Each number of workers runs twice, and the better run counts. The
server, the workers and this process share the machine.
"""

from __future__ import annotations

import asyncio
import math
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from tests.postgres import PostgresServer, running_server

from tukang import Agent, tool
from tukang.models.base import ModelEvent, ModelRequest
from tukang.models.scripted import Says, Scripted, ScriptedCall
from tukang.workers import Fleet
from tukang.workers.fleet import upgrade

TURNS = 200
DELAYS = (0.0, 0.2)
"""Seconds that the model takes for a reply."""
WORKERS = (1, 2, 4)
RUNS = 2

Processes = Sequence["subprocess.Popen[bytes]"]


@tool(effect="read")
async def price(product: str) -> str:
    """The price of a product."""
    return f"{product}: 1000"


@tool(effect="write", approval="never")
async def order(product: str) -> str:
    """Order a product."""
    return f"{product} ordered"


_ROUNDS = (
    Says(calls=(ScriptedCall("price", {"product": "A"}), ScriptedCall("price", {"product": "B"}))),
    Says(calls=(ScriptedCall("order", {"product": "A"}),)),
    Says(text="Done."),
)


def _reply(request: ModelRequest) -> Says:
    return _ROUNDS[sum(message.role == "assistant" for message in request.messages)]


class _Model(Scripted):
    """A model that takes its time before it says anything."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        await asyncio.sleep(float(os.environ.get("BENCH_DELAY", "0")))
        async for event in super().stream(request):
            yield event


agent = Agent(_Model(_reply), tools=[price, order], name="shop")


class Rate(msgspec.Struct):
    """Turns per second, and the workers' CPU for a turn, in seconds."""

    turns: float = 0.0
    cpu: float = math.inf


@contextmanager
def _workers(url: str, count: int, delay: float) -> Generator[Processes]:
    command = [sys.executable, "-m", "tukang", "worker", "-a", "bench.workers:agent", "--quiet", "--grace", "0"]
    environment = {**os.environ, "TUKANG_STORE": url, "BENCH_DELAY": str(delay)}
    processes = [subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL) for _ in range(count)]
    try:
        yield processes
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(30)


async def _until(fleet: Fleet, workers: Processes, turns: int) -> None:
    """Wait until all workers are there, and no more than so many turns are left to do."""
    while True:
        if any(worker.poll() is not None for worker in workers):
            raise SystemExit("a worker has ended")
        status = await fleet.status(limit=1)
        if len(status.workers) == len(workers) and sum(status.counts.values()) <= turns:
            return
        await asyncio.sleep(0.02)


async def rate(server: PostgresServer, workers: int, delay: float, turns: int) -> Rate:
    """From the first turn that is submitted to the last that has ended, of workers that have started."""
    url = server.new_schema()
    await upgrade(url)
    async with Fleet(url) as fleet:
        with _workers(url, workers, delay) as processes:
            await _until(fleet, processes, 0)
            begun, idle = time.perf_counter(), _cpu(processes)
            await asyncio.gather(*(fleet.submit(agent, f"s{number}", "Order A, please.") for number in range(turns)))
            await _until(fleet, processes, 0)
            spent, busy = time.perf_counter() - begun, _cpu(processes)
        kept = await fleet.store.sessions(limit=turns + 1)
        if len(kept) != turns or any(session.open_turn for session in kept):
            raise SystemExit("not every turn was answered")
    server.drop_schema(url)
    return Rate(turns / spent, (busy - idle) / turns)


def _cpu(processes: Processes) -> float:
    """Seconds of CPU that these have used so far, as Linux tells."""
    fields = [Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2].split() for process in processes]
    return sum(int(one[11]) + int(one[12]) for one in fields) / os.sysconf("SC_CLK_TCK")


def main(arguments: list[str]) -> None:
    """Measure, and print the figures."""
    turns = int(arguments[0]) if arguments else TURNS
    with running_server() as server:
        server.run("ALTER SYSTEM SET fsync = on")
        server.run("SELECT pg_reload_conf()")
        for delay in DELAYS:
            best = {count: Rate() for count in WORKERS}
            for _ in range(RUNS):
                for count, so_far in best.items():
                    got = asyncio.run(rate(server, count, delay, turns))
                    best[count] = Rate(max(got.turns, so_far.turns), min(got.cpu, so_far.cpu))
            for count, one in best.items():
                print(
                    f"replies of {delay:.1f} s, {count} workers: {one.turns:6.1f} turns per second, "
                    f"{one.turns / best[1].turns:.2f}x; {one.cpu * 1000:4.1f} ms of a worker's CPU per turn"
                )


if __name__ == "__main__":
    main(sys.argv[1:])
