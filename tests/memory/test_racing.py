"""Two processes race to use one permission: exactly one runs the call, however often they race."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.memory.racer import racing_agent
from tukang.loop import events
from tukang.memory.decisions import APPROVAL
from tukang.memory.stores.addresses import store_at
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import WaitError
from tukang.memory.stores.values import Lease
from tukang.runtime.journal import JournalConflictError

times = pytest.mark.parametrize("times", [25, pytest.param(100, marks=pytest.mark.long)])


def _racer(url: str, ledger: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.memory.racer", url, str(ledger)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)


async def _permitted(store: Store, ledger: Path, times: int) -> list[str]:
    """Sessions whose turn waits, and has its permission."""
    agent, sessions = racing_agent(str(ledger)), [f"s{number}" for number in range(times)]
    for session in sessions:
        waiting = await agent.session(session, store=store).arun("bayar")
        assert waiting.stopped == "waiting"
    for wait in await store.waits(APPROVAL):
        await store.answer(APPROVAL, wait.key, {"decision": "approve", "digest": wait.asked["digest"]})
    return sessions


@times
def test_two_processes_use_one_permission_once(url: str, store: Store, tmp_path: Path, times: int) -> None:
    ledger = tmp_path / "ledger"
    sessions = asyncio.run(_permitted(store, ledger, times))
    racers = [_racer(url, ledger) for _ in range(2)]
    try:
        for racer in racers:
            assert racer.stdout is not None
            assert racer.stdout.readline() == "ready\n"
        said: list[tuple[str, ...]] = []
        for number, session in enumerate(sessions):
            for racer in racers if number % 2 else reversed(racers):
                assert racer.stdin is not None
                racer.stdin.write(f"{session}\n")
            said.append(tuple(racer.stdout.readline().strip() for racer in racers if racer.stdout))
    finally:
        for racer in racers:
            assert racer.stdin is not None
            assert racer.stdout is not None
            racer.stdin.close()
            racer.wait(30)
            racer.stdout.close()
    assert Counter(ledger.read_text().splitlines()) == {f"{session} 1": 1 for session in sessions}
    assert all(sorted(one) == ["answer", "nothing"] for one in said), said
    winners = Counter(one.index("answer") for one in said)
    assert len(winners) == 2, "both won some of the time, so they did race"
    waits = asyncio.run(store.waits(APPROVAL, open_only=False))
    assert len([wait for wait in waits if wait.consumed is not None]) == times


@times
def test_of_two_starts_with_one_permission_one_is_written(url: str, store: Store, tmp_path: Path, times: int) -> None:
    """As if the lease protected nothing: both have the same, and write at the same moment."""

    async def work() -> None:
        other = store_at(url)
        await _permitted(store, tmp_path / "ledger", times)
        for wait in await store.waits(APPROVAL, open_only=False):
            lease = await store.take(wait.session, "both", 60)
            expected = len(await store.read(wait.turn))
            wrote = await asyncio.gather(
                *(
                    _starts(one, lease, wait.turn, wait.key, expected, float(at))
                    for at, one in enumerate((store, other), 1)
                )
            )
            assert sorted(wrote) == [False, True]
            starts = [one for one in await store.read(wait.turn) if isinstance(one, events.CallStarted)]
            assert len(starts) == 1
        await other.close()

    asyncio.run(work())


async def _starts(store: Store, lease: Lease, turn: str, key: str, expected: int, at: float) -> bool:
    start = [events.CallStarted(at=at, call=key, key=key)]
    try:
        await store.append(lease, turn, start, expected, sync=True, consume=[(APPROVAL, key)])
    except (WaitError, JournalConflictError):
        return False
    return True
