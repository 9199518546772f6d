"""Following events as they are written, in this process and from another, on both databases."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import AsyncIterator
from typing import TypeVar

import pytest

from tests.memory.turns import asked, conversation, finished, replied, said, started
from tukang.loop.events import Event
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import UnknownSessionError
from tukang.memory.stores.values import Position

T = TypeVar("T")


async def _all(reader: AsyncIterator[T]) -> list[T]:
    return [one async for one in reader]


async def _first(reader: AsyncIterator[T], count: int) -> list[T]:
    found: list[T] = []
    async for one in reader:
        found.append(one)
        if len(found) == count:
            break
    await reader.aclose()  # type: ignore[attr-defined]
    return found


def test_readers_from_any_place_see_every_event_once_and_in_order(store: Store) -> None:
    async def work() -> None:
        lease = await store.take("budi", "here", 60)
        written: list[Event] = [started("t1")]
        await store.append(lease, "t1", written, 0)
        readers = [asyncio.create_task(_all(store.follow("t1", after))) for after in (0, 0, 1, 5)]
        leaving = asyncio.create_task(_first(store.follow("t1"), 2))
        for number in range(10):
            batch = [asked(number), replied(str(number))]
            await store.append(lease, "t1", batch, len(written))
            written += batch
        written.append(finished())
        await store.append(lease, "t1", written[-1:], len(written) - 1, messages=said("a", "b"))
        numbered = list(enumerate(written, 1))
        assert await asyncio.wait_for(asyncio.gather(*readers), 20) == [numbered, numbered, numbered[1:], numbered[5:]]
        assert await leaving == numbered[:2]
        assert await _all(store.follow("t1", 20)) == numbered[20:], "one who comes late reads the rest"
        assert await _all(store.follow("t1", 99)) == []
        with pytest.raises(UnknownSessionError):
            await _all(store.follow("t2"))

    asyncio.run(work())


def test_a_session_is_followed_over_its_turns_from_a_position(store: Store) -> None:
    async def work() -> None:
        await conversation(store, "budi", "a")
        reader = asyncio.create_task(_first(store.follow_session("budi"), 8))
        await asyncio.sleep(0)
        lease = await store.take("budi", "here", 60)
        await store.append(lease, "x", [started("x"), asked()], 0)
        await store.append(lease, "x", [replied("b")], 2)
        await store.append(lease, "x", [finished()], 3, messages=said("a", "b"))
        seen = await asyncio.wait_for(reader, 20)
        places = [str(position) for position, _ in seen]
        assert places == ["1.1", "1.2", "1.3", "1.4", "2.1", "2.2", "2.3", "2.4"]
        later = await _first(store.follow_session("budi", Position.parse("1.3")), 2)
        assert later == seen[3:5]
        with pytest.raises(UnknownSessionError):
            await _all(store.follow_session("nobody"))

    asyncio.run(work())


def test_a_follower_of_a_deleted_session_is_told(store: Store) -> None:
    async def work() -> None:
        lease = await store.take("budi", "here", 60)
        await store.append(lease, "t1", [started("t1")], 0)
        await store.release(lease)
        readers = [asyncio.create_task(_all(one)) for one in (store.follow("t1"), store.follow_session("budi"))]
        await asyncio.sleep(0.05)
        await store.delete("budi")
        for reader in readers:
            with pytest.raises(UnknownSessionError):
                await asyncio.wait_for(reader, 20)

    asyncio.run(work())


def test_a_long_session_comes_whole(store: Store) -> None:
    async def work() -> None:
        await conversation(store, "budi", *map(str, range(45)))
        seen = await asyncio.wait_for(_first(store.follow_session("budi"), 180), 20)
        assert [position.turn for position, _ in seen] == [turn for turn in range(1, 46) for _ in range(4)]

    asyncio.run(work())


_WRITER = """
import asyncio, sys
from tests.memory.turns import *
from tukang.memory.stores.addresses import store_at

async def work():
    store = store_at(sys.argv[1])
    lease = await store.take("budi", "other", 60)
    await store.append(lease, "t1", [started("t1")], 0)
    for number in range(1, 30):
        await store.append(lease, "t1", [asked(number)], number)
    await store.append(lease, "t1", [finished()], 30, messages=said("a", "b"))
    await store.close()

asyncio.run(work())
"""


def test_a_turn_of_another_process_is_followed(store: Store, url: str) -> None:
    async def work() -> None:
        lease = await store.take("budi", "here", 60)
        await store.release(lease)
        reader = asyncio.create_task(_first(store.follow_session("budi"), 31))
        await asyncio.sleep(0)
        writer = await asyncio.create_subprocess_exec(sys.executable, "-c", _WRITER, url)
        seen = await asyncio.wait_for(reader, 60)
        assert [position.event for position, _ in seen] == list(range(1, 32))
        assert await writer.wait() == 0

    asyncio.run(work())


def test_the_listener_ends_with_its_last_reader(store: Store) -> None:
    async def work() -> None:
        await store.close()
        others = set(threading.enumerate())
        lease = await store.take("budi", "here", 60)
        await store.append(lease, "t1", [started("t1")], 0)
        readers = [asyncio.create_task(_all(store.follow("t1"))) for _ in range(3)]
        await asyncio.sleep(0.05)
        assert [thread.name for thread in set(threading.enumerate()) - others].count("tukang-watch") == 1
        for reader in readers:
            reader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reader
        await store.close()
        assert not [thread for thread in set(threading.enumerate()) - others if thread.name.startswith("tukang-")]

    asyncio.run(work())


@pytest.mark.parametrize("text", ["", "3", "3.", ".1", "a.b", "1.-1", "1.2.3", " 1.2"])
def test_a_position_is_two_numbers(text: str) -> None:
    with pytest.raises(ValueError, match=r"TURN\.EVENT"):
        Position.parse(text)
    assert Position.parse("3.17") == Position(3, 17) > Position(3, 2) > Position()
