"""What ends elsewhere comes back to the loop once, and a loop that is gone is no fault."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from tukang.tools.landing import Landing


def test_the_first_that_lands_counts_from_whatever_thread() -> None:
    async def main() -> str:
        landing = Landing[str]()
        assert landing.empty
        threading.Thread(target=landing.land_from_thread, args=("first",)).start()
        assert await landing.landed() == "first"
        landing.land("second")
        assert not landing.empty
        return await landing.landed_by(None, "never")

    assert asyncio.run(main()) == "first"


def test_a_deadline_that_is_over_gives_the_other_thing() -> None:
    async def main() -> str:
        return await Landing[str]().landed_by(time.monotonic() - 1, "late")

    assert asyncio.run(main()) == "late"


def test_who_stops_waiting_leaves_it_empty_and_what_lands_then_is_no_fault() -> None:
    async def main() -> Landing[str]:
        landing = Landing[str]()
        task = asyncio.create_task(landing.landed())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        landing.land("too late")
        assert landing.empty
        return landing

    asyncio.run(main()).land_from_thread("the loop is closed")
