"""Progress reaches the event loop from any thread, in order, and cannot hold it up."""

from __future__ import annotations

import asyncio
import threading

from tukang.runtime.hurrying import handed_over


def test_everything_arrives_in_order_while_the_loop_keeps_up() -> None:
    async def main() -> list[int]:
        taken: list[int] = []
        give = handed_over(taken.append)

        def tell(start: int) -> None:
            for n in range(start, start + 20):
                give(n)

        for start in (0, 20, 40):
            await asyncio.to_thread(tell, start)
        await asyncio.sleep(0)
        return taken

    assert asyncio.run(main()) == list(range(60))


def test_what_hurries_too_much_loses_its_oldest() -> None:
    async def main() -> list[int]:
        taken: list[int] = []
        give = handed_over(taken.append, most=3)
        for n in range(1000):  # the loop cannot run meanwhile
            give(n)
        await asyncio.sleep(0)
        give(1000)
        await asyncio.sleep(0)
        return taken

    assert asyncio.run(main()) == [997, 998, 999, 1000]


def test_a_loop_that_is_closed_hears_nothing_and_nobody_fails() -> None:
    async def main() -> threading.Thread:
        give = handed_over(lambda _: None)
        return threading.Thread(target=lambda: [give(n) for n in range(3)])

    late = asyncio.run(main())
    late.start()
    late.join(10)
    assert not late.is_alive()
