"""What ends elsewhere comes back to the event loop, whether the loop stands there for a moment or not."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from tukang.tools.adopting import as_tool
from tukang.tools.context import CallContext
from tukang.tools.execute import execute
from tukang.tools.landing import Landing

LONG = 60.0
CONTEXT: CallContext[Any] = CallContext(call_id="t-1-0", idempotency_key="t-1-0")


def test_what_lands_within_the_moment_is_there_at_once() -> None:
    async def main() -> None:
        landing: Landing[str] = Landing(stands=True)
        landing.land_from_thread("thing")
        assert landing.landed_within(LONG) == ["thing"]
        await asyncio.sleep(0)
        assert landing.empty, "it does not land a second time"

    asyncio.run(main())


def test_what_is_late_lands_on_the_loop() -> None:
    async def main() -> str:
        landing: Landing[str] = Landing(stands=True)
        assert landing.landed_within(0.0) == []
        threading.Thread(target=landing.land_from_thread, args=("thing",)).start()
        async with asyncio.timeout(LONG):
            return await landing.landed()

    assert asyncio.run(main()) == "thing"


def test_nothing_is_lost_when_the_moment_ends_just_then() -> None:
    async def one() -> None:
        landing: Landing[str] = Landing(stands=True)
        threading.Thread(target=landing.land_from_thread, args=("thing",)).start()
        if not landing.landed_within(0.00001):
            async with asyncio.timeout(LONG):
                assert await landing.landed() == "thing"

    async def main() -> None:
        for _ in range(200):
            await one()

    asyncio.run(main())


def test_a_function_is_stood_for_only_once_it_was_quick_and_never_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tukang.tools.execute.QUICK", LONG)  # whatever this machine is like
    wanted, given = threading.Event(), threading.Event()

    def ask(wait: bool = False) -> str:
        """Ask."""
        if wait:
            wanted.set()
            assert given.wait(LONG)
        return "answer"

    async def give() -> None:
        await asyncio.to_thread(wanted.wait, LONG)
        given.set()

    async def main() -> None:
        tool = as_tool(ask)
        assert not tool.pace.quick
        assert (await execute(tool, "{}", CONTEXT)).text == "answer"
        assert tool.pace.quick
        assert (await execute(tool, "{}", CONTEXT)).text == "answer"
        giving = asyncio.create_task(give())  # needs the loop, while the function runs
        assert (await execute(tool, '{"wait":true}', CONTEXT)).text == "answer"
        await giving

    asyncio.run(main())


def test_one_that_was_slow_is_not_stood_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tukang.tools.execute.QUICK", -1.0)

    def ask() -> str:
        """Ask."""
        return "answer"

    async def main() -> None:
        tool = as_tool(ask)
        tool.pace.quick = True
        await execute(tool, "{}", CONTEXT)
        assert not tool.pace.quick

    asyncio.run(main())
