"""Real worker processes, killed at random, and the judge of what came of the turns that were submitted to them.

What is judged stands outside of what was killed: the ledger that the tools wrote, and the store as another process reads it.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

import msgspec

from tests.workers.shop import Line, ledger
from tukang.conversation import validity
from tukang.loop.evolve import evolve
from tukang.loop.state import State
from tukang.memory.stores.errors import StoreError
from tukang.workers import Fleet

TURNS = 3
"""Of each session."""

_PROGRAM = (sys.executable, "-m", "tukang")


class Workers:
    """Worker processes on one store.

    Args:
        url: the store.
        directory: where the ledger and the logs are.
        pace: seconds that each step of a turn takes.
        takeover: seconds within which a dead worker's turns go on.
        slots: turns at a time, each.
    """

    def __init__(self, url: str, directory: Path, *, pace: float, takeover: float = 3.0, slots: int = 4) -> None:
        self.ledger = directory / "ledger"
        self.kills = 0
        self._options = ("--takeover", str(takeover), "--slots", str(slots), "--tries", "100", "--grace", "4")
        self._directory = directory
        self._environment = {**os.environ, "LEDGER": str(self.ledger), "PACE": str(pace), "TUKANG_STORE": url}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._number = 0

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait()

    def start(self) -> None:
        """Start one more."""
        self._number += 1
        name = f"pekerja-{self._number}"
        with (self._directory / name).open("wb") as log:
            self._processes[name] = subprocess.Popen(
                [*_PROGRAM, "worker", "-a", "tests.workers.shop:agent", "--name", name, *self._options],
                env=self._environment,
                cwd=Path(__file__).parents[2],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def kill(self, which: int) -> None:
        """SIGKILL one, and start another."""
        process = self._processes.pop(sorted(self._processes)[which])
        assert process.poll() is None, f"a worker ended by itself:\n{self.logs()}"
        process.kill()
        process.wait()
        self.kills += 1
        self.start()

    def send(self, which: int, number: int) -> None:
        """Send one a signal."""
        self._processes[sorted(self._processes)[which]].send_signal(number)

    async def stop(self, fleet: Fleet) -> list[int]:
        """Stop all of them with SIGTERM once they run, and wait; returns their exit codes."""
        async with asyncio.timeout(30):
            while not self._processes.keys() <= {worker.name for worker in (await fleet.status()).workers}:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        for process in self._processes.values():
            process.terminate()
        return [process.wait(30) for process in self._processes.values()]

    @property
    def names(self) -> set[str]:
        """Of those that were not killed."""
        return set(self._processes)

    def logs(self) -> str:
        """The end of what each said."""
        said = [path.read_text()[-2000:] for path in sorted(self._directory.glob("pekerja-*"))]
        return "\n----\n".join(said[-6:])


class Came(msgspec.Struct, frozen=True):
    """What came of it: turns, those of them in which a call's outcome was not known, and writes in the ledger."""

    turns: int
    unknown: int
    written: int


async def submit_all(fleet: Fleet, sessions: int, chance: random.Random) -> dict[str, list[str]]:
    """Submit every session's turns, in a random order of sessions; returns each session's turns in their order."""
    order = [f"sesi-{number}" for number in range(sessions)] * TURNS
    chance.shuffle(order)
    turns: dict[str, list[str]] = defaultdict(list)
    for session in order:
        turns[session].append(await fleet.submit("toko", session, f"{session}/{len(turns[session]) + 1}"))
    return turns


async def meanwhile(
    fleet: Fleet, turns: Mapping[str, list[str]], each: float, do: Callable[[], None], most: float
) -> None:
    """Do something again and again until all turns have been answered.

    Args:
        each: seconds between.
        most: seconds that it may take.
    """
    async with asyncio.timeout(most):
        answers = asyncio.gather(*(_answered(fleet, turn) for session in turns.values() for turn in session[-1:]))
        while not answers.done():
            await asyncio.wait([answers], timeout=each)
            if not answers.done():
                do()
        await answers


async def _answered(fleet: Fleet, turn: str) -> None:
    """Wait for an answer, also while the database is away for longer than anybody waits."""
    while True:
        try:
            await fleet.answer(turn)
            return
        except StoreError as error:
            if error.kind != "unavailable":
                raise
            await asyncio.sleep(0.2)


async def judge(fleet: Fleet, turns: Mapping[str, list[str]], path: Path) -> Came:
    """Whether every turn was answered once, none was lost, and nothing was written twice."""
    lines = defaultdict[str, list[Line]](list)
    for line in ledger(path):
        lines[line.item].append(line)
    unknown = 0
    for session, ids in turns.items():
        kept = await fleet.store.turns(session, finished_only=False)
        assert [turn.id for turn in kept] == ids, f"{session}: each turn once, in the order they were submitted"
        messages = [message for turn in kept for message in turn.messages]
        assert validity(messages) == []
        assert [m.text for m in messages if m.role == "user"] == [f"{session}/{n}" for n in range(1, TURNS + 1)]
        for turn in kept:
            item = turn.messages[0].text
            assert turn.stopped == "answer", f"{turn.id}: {turn.stopped}"
            said = turn.messages[-1].text
            _check_ledger(item, said, lines.pop(item, []))
            unknown += said != f"{item}: jadi"
            state: State | None = None
            for event in await fleet.store.read(turn.id):
                state = evolve(state, event)
            assert state is not None
            assert state.finished
    assert not lines, f"written, and nobody asked for it: {lines}"
    return Came(sum(map(len, turns.values())), unknown, len(ledger(path)))


def _check_ledger(item: str, said: str, lines: list[Line]) -> None:
    times = Counter(line.tool for line in lines)
    assert times["pesan"] <= 1, f"{item}: written twice"
    if said == f"{item}: jadi":
        assert times["pesan"] == 1, f"{item}: said to be done, and was not"
    else:
        assert said == f"{item}: tidak diketahui"
    keys = {(line.call, line.key) for line in lines if line.tool == "catat"}
    assert len(keys) == 1, f"{item}: an idempotent write is done, and again only with its own key: {keys}"
