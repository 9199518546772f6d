"""What turns wait for: offered, answered and consumed, each once, on both databases."""

from __future__ import annotations

import asyncio

import pytest

from tests.memory.turns import asked, replied, started
from tukang.loop import events
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import WaitError
from tukang.memory.stores.values import Lease, Offer


async def _waiting(store: Store) -> Lease:
    lease = await store.take("budi", "here", 60)
    offer = [Offer("approval", "t1-1-0", {"tool": "beli", "jumlah": 2})]
    await store.append(lease, "t1", [started("t1"), asked()], 0, offer=offer)
    await store.append(lease, "t1", [replied("a")], 2, offer=offer)  # the same turn may say it again
    return lease


def test_a_wait_is_offered_answered_and_consumed_once(store: Store) -> None:
    async def work() -> None:
        lease = await _waiting(store)
        (wait,) = await store.waits("approval", session="budi")
        assert (wait.key, wait.turn, wait.asked, wait.answered) == ("t1-1-0", "t1", {"tool": "beli", "jumlah": 2}, None)
        assert (await store.open_turns("budi"))[0].waits == 1
        start = [events.CallStarted(at=5.0, call="t1-1-0", key="k")]
        with pytest.raises(WaitError) as failed:
            await store.append(lease, "t1", start, 3, consume=[("approval", "t1-1-0")])
        assert failed.value.kind == "unanswered"
        answered = await store.answer("approval", "t1-1-0", {"approved": True}, by="siti")
        assert (answered.answer, answered.by) == ({"approved": True}, "siti")
        with pytest.raises(WaitError) as failed:
            await store.answer("approval", "t1-1-0", {"approved": False}, by="andi")
        assert failed.value.kind == "answered"
        await store.append(lease, "t1", start, 3, sync=True, consume=[("approval", "t1-1-0")])
        await store.append(lease, "t1", start, 3, sync=True, consume=[("approval", "t1-1-0")])  # the answer was lost
        with pytest.raises(WaitError) as failed:
            await store.append(lease, "t1", [asked()], 4, consume=[("approval", "t1-1-0")])
        assert failed.value.kind == "consumed"
        assert len(await store.read("t1")) == 4, "a batch that consumes nothing is not written"
        assert await store.waits() == []
        (wait,) = await store.waits(key="t1-1-0", open_only=False)
        assert wait.consumed == 5.0

    asyncio.run(work())


def test_nobody_consumes_what_another_session_waits_for(store: Store) -> None:
    async def work() -> None:
        await _waiting(store)
        await store.answer("approval", "t1-1-0", True)
        other = await store.take("siti", "here", 60)
        batch = [started("t2"), asked()]
        with pytest.raises(WaitError) as failed:
            await store.append(other, "t2", batch, 0, consume=[("approval", "t1-1-0")])
        assert failed.value.kind == "unknown"
        with pytest.raises(WaitError):
            await store.append(other, "t2", batch, 0, offer=[Offer("approval", "t1-1-0")])
        assert await store.turns("siti", finished_only=False) == []

    asyncio.run(work())


def test_an_expired_wait_cannot_be_answered(store: Store) -> None:
    async def work() -> None:
        lease = await store.take("budi", "here", 60)
        await store.append(lease, "t1", [started("t1")], 0, offer=[Offer("approval", "x", expires=1.0)])
        with pytest.raises(WaitError) as failed:
            await store.answer("approval", "x", True)
        assert failed.value.kind == "expired"
        with pytest.raises(WaitError) as failed:
            await store.answer("approval", "y", True)
        assert failed.value.kind == "unknown"

    asyncio.run(work())


def test_of_many_that_answer_at_once_one_is_heard(store: Store) -> None:
    async def work() -> None:
        await _waiting(store)
        tries = [store.answer("approval", "t1-1-0", number) for number in range(8)]
        results = await asyncio.gather(*tries, return_exceptions=True)
        heard = [result for result in results if not isinstance(result, BaseException)]
        assert len(heard) == 1
        assert (await store.waits(open_only=False))[0].answer == heard[0].answer

    asyncio.run(work())


def test_a_turn_that_waits_holds_nothing_and_goes_on_elsewhere(store: Store) -> None:
    async def work() -> None:
        lease = await _waiting(store)
        await store.release(lease)
        await store.close()
        assert await store.open_turns(idle=True) == [], "it waits"
        await store.answer("approval", "t1-1-0", True)
        (idle,) = await store.open_turns(idle=True)
        assert (idle.session, idle.turn, idle.events, idle.holder) == ("budi", "t1", 3, None)
        again = await store.take("budi", "elsewhere", 60)
        assert again.open_turn == "t1"
        assert await store.open_turns(idle=True) == [], "somebody runs it"

    asyncio.run(work())
