"""A turn that waits for a person in its own process: its clock stands still, and it goes on with the decision."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.runtime.turns import turn_of
from tukang import Limits, tool
from tukang.loop import events
from tukang.models.scripted import Scripted, call
from tukang.runtime.driver import Driver
from tukang.runtime.journal import MemoryJournal


class Told(list[Any]):
    """What a driver told so far. `asked` is set when somebody is asked for permission."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    def take(self, item: Any) -> None:
        self.append(item)
        if isinstance(item, events.ApprovalAsked):
            self.asked.set()


def driver_of(limits: Limits, *, lets_go: bool = False) -> tuple[Driver, Told]:
    """A driver of one turn, and what it told so far."""

    @tool(effect="write")
    def write() -> str:
        """Write."""
        return "written"

    told = Told()
    turn = turn_of(Scripted([call("write"), "Selesai."]), [write], limits)
    return Driver(turn, MemoryJournal(), told.take, lets_go=lets_go), told


def test_the_clock_stands_still_while_a_turn_waits() -> None:
    async def work() -> None:
        running, told = driver_of(Limits(seconds=0.5, reserve=0))
        turn = asyncio.create_task(running.run())
        await told.asked.wait()
        checked = next(one for one in told if isinstance(one, events.CallChecked))
        await asyncio.sleep(0.6)  # longer than the turn may take
        assert not turn.done()
        running.post(events.CallApproved(at=running.clock(), call=checked.call, digest=checked.digest))
        state = await turn
        assert (state.stopped, state.text) == ("answer", "Selesai.")
        assert state.paused >= 0.5

    asyncio.run(work())


def test_it_goes_on_where_the_limits_say_so() -> None:
    async def work() -> None:
        running, _ = driver_of(Limits(seconds=0.05, reserve=0, idle_counts=True))
        state = await running.run()
        assert state.stopped == "seconds"
        assert [one.outcome.fault.kind for one in state.done if one.outcome and one.outcome.fault] == ["not_run"]

    asyncio.run(work())


def test_a_driver_that_lets_go_leaves_nothing_behind() -> None:
    async def work() -> None:
        running, told = driver_of(Limits(), lets_go=True)
        state = await running.run()
        assert state.waiting
        assert not state.finished
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert isinstance(told[-1], events.ApprovalAsked)

    asyncio.run(work())
