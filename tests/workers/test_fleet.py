"""Many machines: workers that are killed at random, and a database that is restarted, lose nothing and do nothing twice."""

from __future__ import annotations

import asyncio
import itertools
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path

import pytest

from tests.postgres import NoPostgresError, PostgresServer, running_server
from tests.workers.fleet_of_processes import TURNS, Came, Workers, judge, meanwhile, submit_all
from tests.workers.shop import ledger
from tukang.loop.events import CallStarted
from tukang.memory.stores.addresses import PATIENCE
from tukang.workers import Fleet
from tukang.workers.fleet import upgrade


async def _proved(
    url: str,
    directory: Path,
    sessions: int,
    happens: Callable[[Workers], Callable[[], None]],
    *,
    each: float,
    pace: float,
    most: float,
    takeover: float = 3.0,
) -> Came:
    """Three workers do all turns of so many sessions while something happens to them again and again."""
    async with Fleet(url) as fleet:
        with Workers(url, directory, pace=pace, takeover=takeover) as workers:
            for _ in range(3):
                workers.start()
            turns = await submit_all(fleet, sessions, random.Random(7))
            try:
                await meanwhile(fleet, turns, each, happens(workers), most)
            except TimeoutError:
                raise AssertionError(f"not in time: {await fleet.status()}\n{workers.logs()}") from None
            came = await judge(fleet, turns, workers.ledger)
            assert came.turns == sessions * TURNS
            assert await workers.stop(fleet) == [0, 0, 0], workers.logs()
        status = await fleet.status()
        assert status.turns == ()
        assert not {worker.name for worker in status.workers} & workers.names, "who stops signs off"
    return came


def _what_happens(server: PostgresServer, what: Iterable[str]) -> Callable[[Workers], Callable[[], None]]:
    """One after the other: a worker is killed (`kill`), or the server is restarted, in good order (`fast`), as after a crash
    (`immediate`), or so late that nobody waits for it (`outage`)."""
    chance, coming = random.Random(7), iter(what)

    def happens(workers: Workers) -> Callable[[], None]:
        def happen() -> None:
            match next(coming, None):
                case "kill":
                    workers.kill(chance.randrange(3))
                case "outage":
                    server.kill()
                    time.sleep(1.5 * PATIENCE)
                    server.start()
                case str(mode):
                    server.stop(mode)
                    server.start()
                case None:
                    pass

        return happen

    return happens


@contextmanager
def _server() -> Iterator[tuple[PostgresServer, str]]:
    """A server that may be restarted, with an empty queue."""
    try:
        with running_server() as server:
            url = server.new_schema()
            asyncio.run(upgrade(url))
            yield server, url
    except NoPostgresError as error:
        pytest.skip(f"no Postgres server: {error}")


@pytest.mark.long
def test_workers_that_are_killed_and_a_database_that_crashes_lose_nothing_and_repeat_nothing(tmp_path: Path) -> None:
    with _server() as (server, url):
        happens = _what_happens(server, ["kill", "immediate", "kill"])
        asyncio.run(_proved(url, tmp_path, 8, happens, each=0.8, pace=0.05, most=60))
    assert len(list(tmp_path.glob("pekerja-*"))) == 5, "both were killed in the middle of it"


@pytest.mark.long
def test_a_worker_that_was_only_slow_cannot_append_afterwards(queue_url: str, tmp_path: Path) -> None:
    """It is stopped in the middle of a write, given up, and woken when another worker has ended the turn."""

    async def run() -> None:
        async with Fleet(queue_url) as fleet:
            with Workers(queue_url, tmp_path, pace=0.2, takeover=1.5) as workers:
                workers.start()
                turn = await fleet.submit("toko", "budi", "SSD")
                started = 0
                async with aclosing(fleet.follow(turn)) as news:
                    async for _, event in news:
                        started += isinstance(event, CallStarted)
                        if started == 2:  # the write, behind a read
                            break
                workers.send(0, signal.SIGSTOP)
                workers.start()
                answer = await fleet.answer(turn)
                assert answer.text == "SSD: tidak diketahui"
                known = await fleet.store.read(turn)

                workers.send(0, signal.SIGCONT)  # whether the write is finished now or stopped: nobody may say so
                second = await fleet.submit("toko", "budi", "HDD")
                assert (await fleet.answer(second)).text == "HDD: jadi"
                assert await fleet.store.read(turn) == known
                assert await workers.stop(fleet) == [0, 0], workers.logs()
            done = Counter((line.tool, line.item) for line in ledger(workers.ledger))
            assert done.pop(("pesan", "SSD"), 1) == 1
            assert done == {("catat", "HDD"): 1, ("catat", "SSD"): 1, ("pesan", "HDD"): 1}

    asyncio.run(run())


_ALWAYS = {
    "killed": itertools.repeat("kill"),
    "killed and restarted": itertools.cycle(["kill", "kill", "fast", "kill", "kill", "immediate"]),
}


@pytest.mark.long
@pytest.mark.parametrize("what", _ALWAYS)
def test_five_hundred_sessions_outlive_what_happens_all_the_time(what: str, tmp_path: Path) -> None:
    begun = time.monotonic()
    with _server() as (server, url):
        happens = _what_happens(server, _ALWAYS[what])
        came = asyncio.run(_proved(url, tmp_path, 500, happens, each=2.5, pace=0.02, most=900, takeover=4.0))
    kills = len(list(tmp_path.glob("pekerja-*"))) - 3
    print(f"{came.turns} turns, {kills} kills, {came.unknown} unknown outcomes, {time.monotonic() - begun:.0f} s")
    assert kills >= 10


@pytest.mark.long
def test_an_outage_that_outlasts_every_patience_loses_nothing(tmp_path: Path) -> None:
    """The database is away for longer than stores and leases wait; turns that were running are gone on with."""
    with _server() as (server, url):
        happens = _what_happens(server, ["outage", "outage"])
        came = asyncio.run(_proved(url, tmp_path, 60, happens, each=3.0, pace=0.06, most=300))
        print(f"{came.turns} turns, {came.unknown} unknown outcomes")
