"""A journal that takes its time: what comes in while something is being written down is heard, and nothing is lost or done
twice, whatever comes in which order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.runtime.turns import turn_of
from tests.sizes import examples
from tukang import Limits, tool
from tukang.conversation import validity
from tukang.loop import events
from tukang.loop.evolve import evolve
from tukang.loop.state import State
from tukang.models.scripted import Scripted, call
from tukang.runtime.driver import Driver
from tukang.runtime.journal import MemoryJournal


class SlowJournal(MemoryJournal):
    """Lets others run while it writes."""

    def __init__(self, chance: Random) -> None:
        super().__init__()
        self._chance = chance

    async def append(self, events: Sequence[events.Event], expected: int) -> None:
        await some_time(self._chance, 4)
        await super().append(events, expected)
        await some_time(self._chance, 2)


async def some_time(chance: Random, most: int) -> None:
    """Let others run, for a while."""
    for _ in range(chance.randint(0, most)):
        await asyncio.sleep(0)


def driver_of(chance: Random, journal: SlowJournal, did: list[tuple[str, int]]) -> Driver:
    def tool_of(effect: Any) -> Any:
        @tool(effect=effect, approval="never", name=effect, description=f"Does a {effect}.")
        async def do(x: int) -> str:
            did.append((effect, x))
            await some_time(chance, 6)
            return f"{effect} {x}"

        return do

    rounds = [
        [call(chance.choice(["read", "read", "write"]), x=number * 9 + place) for place in range(3)]
        for number in (1, 2)
    ]
    model = Scripted([*rounds, "Selesai."], repeat=True)
    return Driver(turn_of(model, [tool_of("read"), tool_of("write")], Limits(seconds=None)), journal)


async def interrupt(driver: Driver, chance: Random) -> None:
    """Something comes from outside, at any time: the deadline, the end of all time, a cancel, or all of them."""
    for kind in chance.sample([events.DeadlineReached, events.TimeExpired, None], chance.randint(0, 3)):
        await some_time(chance, 60)
        if kind is None:
            driver.cancel()
        else:
            driver.post(kind(at=driver.clock()))


async def one_turn(chance: Random) -> None:
    journal, did = SlowJournal(chance), list[tuple[str, int]]()
    driver = driver_of(chance, journal, did)
    running = asyncio.create_task(driver.run())
    interrupting = asyncio.create_task(interrupt(driver, chance))
    state = await asyncio.wait_for(running, 20)
    interrupting.cancel()
    assert state.finished
    assert validity(state.messages) == []
    folded: State | None = None
    for event in journal.events:
        folded = evolve(folded, event)
    assert folded == state
    writes = [one for one in did if one[0] == "write"]
    assert len(writes) == len(set(writes))
    begun = {event.call for event in journal.events if isinstance(event, events.CallStarted)}
    assert len(did) <= len(begun), "nothing is done that was not written down"


@settings(max_examples=examples(200), deadline=None)
@given(st.randoms(use_true_random=True))
def test_whatever_comes_while_something_is_written_down(chance: Random) -> None:
    asyncio.run(one_turn(chance))
