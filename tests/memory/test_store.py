"""The journal, the leases and the waits of a store: one suite for both databases."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading

import pytest
from msgspec.structs import replace

from tests.memory.turns import asked, conversation, finished, replied, said, started, whole_turn
from tukang.errors import ConfigurationError, SessionBusyError
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import LeaseLostError, UnknownSessionError
from tukang.runtime.journal import JournalConflictError


def test_a_turn_comes_back_as_it_was_written(store: Store) -> None:
    async def work() -> None:
        lease = await store.take("budi", "here", 60)
        written = await whole_turn(store, lease, "t1", "Berapa harga SSD? \0 \ud83d 😀", "Rp 1.200.000")
        read = await store.read("t1")
        assert read[1:] == tuple(written)[1:]
        assert read[0].trigger.text == "Berapa harga SSD? \0 � 😀"  # type: ignore[union-attr]
        assert await store.read("t1", after=3) == tuple(written)[3:]
        (turn,) = await store.turns("budi")
        assert (turn.id, turn.number, turn.agent, turn.stopped, turn.events) == ("t1", 1, "toko", "answer", 4)
        assert [message.role for message in turn.messages] == ["user", "assistant"]
        with pytest.raises(UnknownSessionError):
            await store.read("t2")

    asyncio.run(work())


def test_a_batch_goes_to_its_place_or_nowhere(store: Store) -> None:
    async def work() -> None:
        lease = await store.take("budi", "here", 60)
        first = [started("t1"), asked()]
        await store.append(lease, "t1", first, 0)
        for expected in (1, 3, 7):
            with pytest.raises(JournalConflictError):
                await store.append(lease, "t1", [replied("a")], expected)
        assert await store.read("t1") == tuple(first)

    asyncio.run(work())


def test_the_same_batch_again_changes_nothing(store: Store) -> None:
    """An append whose answer was lost on the way may be tried again."""

    async def work() -> None:
        lease = await store.take("budi", "here", 60)
        first, second = [started("t1"), asked()], [replied("a")]
        last = [finished()]
        for _ in range(2):
            await store.append(lease, "t1", first, 0)
        for _ in range(2):
            await store.append(lease, "t1", second, 2)
        with pytest.raises(JournalConflictError):
            await store.append(lease, "t1", [replied("b")], 2)
        for _ in range(2):
            await store.append(lease, "t1", last, 3, messages=said("a", "b"))
        with pytest.raises(JournalConflictError, match="finished"):
            await store.append(lease, "t1", [asked()], 4)
        assert await store.read("t1") == (*first, *second, *last)
        assert len(await store.turns("budi")) == 1

    asyncio.run(work())


def test_what_cannot_be_a_batch_is_refused(store: Store) -> None:
    async def work() -> None:
        lease = await store.take("budi", "here", 60)
        for batch, expected, messages in (
            ([], 0, None),
            ([asked()], 0, None),  # a journal begins with TurnStarted
            ([started("other")], 0, None),
            ([started("t1")], 1, None),
            ([started("t1"), finished()], 0, None),  # the messages are missing
            ([started("t1")], 0, said("a", "b")),
        ):
            with pytest.raises(ValueError, match=r"turn (t1|other)"):
                await store.append(lease, "t1", batch, expected, messages=messages)
        assert await store.turns("budi", finished_only=False) == []

    asyncio.run(work())


def test_an_old_lease_cannot_write(store: Store) -> None:
    async def work() -> None:
        slow = await store.take("budi", "slow", 0.0)  # expired at once
        await store.append(slow, "t1", [started("t1")], 0)  # nobody took it: it still may
        fast = await store.take("budi", "fast", 60)
        assert (fast.token, fast.taken_over, fast.open_turn) == (slow.token + 1, True, "t1")
        with pytest.raises(LeaseLostError):
            await store.append(slow, "t1", [asked()], 1)
        with pytest.raises(LeaseLostError):
            await store.renew(slow, 60)
        await store.release(slow)  # does nothing, and takes nothing away
        await store.append(fast, "t1", [asked()], 1)
        assert len(await store.read("t1")) == 2
        with pytest.raises(SessionBusyError):
            await store.take("budi", "third", 60)

    asyncio.run(work())


def test_a_lease_is_held_renewed_and_given_back(store: Store) -> None:
    async def work() -> None:
        lease = await store.take("budi", "one", 0.0)
        lease = await store.renew(lease, 60)
        with pytest.raises(SessionBusyError, match="one"):
            await store.take("budi", "two", 60)
        assert (await store.session("budi")).holder == "one"
        await store.release(lease)
        assert (await store.session("budi")).holder is None
        with pytest.raises(LeaseLostError):
            await store.renew(lease, 60)
        with pytest.raises(LeaseLostError):
            await store.append(lease, "t1", [started("t1")], 0)
        again = await store.take("budi", "two", 60)
        assert not again.taken_over
        assert again.open_turn is None

    asyncio.run(work())


@pytest.mark.parametrize("id", ["", "a\0b", "a\ud800"])
def test_a_session_needs_a_name_that_can_be_written(store: Store, id: str) -> None:
    with pytest.raises(ConfigurationError):
        asyncio.run(store.take(id, "here", 60))


def test_who_waits_gets_the_session_when_it_is_free(store: Store) -> None:
    async def work() -> None:
        first = await store.take("budi", "first", 60)
        waiting = asyncio.create_task(store.take("budi", "second", 60, "wait"))
        other = asyncio.create_task(store.take("budi", "third", 60, "wait"))
        await asyncio.sleep(0)
        await store.release(first)
        done, left = await asyncio.wait([waiting, other], return_when=asyncio.FIRST_COMPLETED, timeout=20)
        assert len(done) == 1
        await store.release(done.pop().result())
        assert (await asyncio.wait_for(left.pop(), 20)).token == first.token + 4, (
            "each taking and giving back raises it"
        )

    asyncio.run(work())


def test_who_waits_gets_a_session_whose_holder_died(store: Store) -> None:
    async def work() -> None:
        await store.take("budi", "dead", 0.2)
        assert (await asyncio.wait_for(store.take("budi", "heir", 60, "wait"), 20)).taken_over

    asyncio.run(work())


def test_another_turn_cannot_begin_before_the_open_one_ended(store: Store) -> None:
    async def work() -> None:
        lease = await store.take("budi", "here", 60)
        await store.append(lease, "t1", [started("t1")], 0)
        with pytest.raises(JournalConflictError, match=r"t1 .* has not finished"):
            await store.append(lease, "t2", [started("t2")], 0)
        other = await store.take("siti", "here", 60)
        with pytest.raises(JournalConflictError, match="another session"):
            await store.append(other, "t1", [asked()], 1)
        await store.append(other, "t2", [started("t2")], 0)  # sessions do not mind each other
        assert [turn.turn for turn in await store.open_turns()] == ["t1", "t2"]

    asyncio.run(work())


def test_one_of_many_that_write_at_once_wins_each_place(store: Store) -> None:
    async def work() -> None:
        lease = await store.take("budi", "here", 60)
        await store.append(lease, "t1", [started("t1")], 0)
        for place in range(1, 6):
            tries = [store.append(lease, "t1", [asked(attempt)], place) for attempt in range(4)]
            results = await asyncio.gather(*tries, return_exceptions=True)
            assert sum(result is None for result in results) == 1
            assert sum(isinstance(result, JournalConflictError) for result in results) == 3
        assert len(await store.read("t1")) == 6

    asyncio.run(work())


_TAKER = """
import asyncio, sys
from tukang.errors import SessionBusyError
from tukang.memory.stores.addresses import store_at

async def work():
    store = store_at(sys.argv[1])
    taken = 0
    for number in range(20):
        try:
            await store.take(f"s{number}", sys.argv[2], 600)
            taken += 1
        except SessionBusyError:
            pass
    await store.close()
    print(taken)

asyncio.run(work())
"""


def test_two_processes_never_hold_one_session(store: Store, url: str) -> None:
    takers = [
        subprocess.Popen([sys.executable, "-c", _TAKER, url, name], stdout=subprocess.PIPE, text=True)
        for name in ("one", "two")
    ]
    taken = [int(taker.communicate(timeout=60)[0]) for taker in takers]
    assert sum(taken) == 20
    holders = [info.holder for info in asyncio.run(store.sessions())]
    assert [holders.count("one"), holders.count("two")] == taken


def test_a_store_is_used_from_many_loops_and_threads_at_once(store: Store) -> None:
    errors: list[BaseException] = []

    def use(name: str) -> None:
        try:
            asyncio.run(conversation(store, name, "a", "b"))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=use, args=(f"s{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert [info.turns for info in asyncio.run(store.sessions())] == [2] * 6


def test_a_forked_process_makes_connections_of_its_own(store: Store) -> None:
    async def work() -> None:
        ids = await conversation(store, "anak", "a")
        assert [place async for place, _ in store.follow(ids[0])] == [1, 2, 3, 4]
        await store.close()

    asyncio.run(conversation(store, "budi", "a"))
    child = os.fork()
    if child == 0:  # nothing of the test run may go on in here
        try:
            asyncio.run(asyncio.wait_for(work(), 20))
            os._exit(0)
        except BaseException:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert [info.turns for info in asyncio.run(store.sessions())] == [1, 1]
    asyncio.run(conversation(store, "cucu", "a"))


def test_a_closed_store_opens_again(store: Store) -> None:
    async def work() -> None:
        await conversation(store, "budi", "a")
        await store.close()
        assert (await store.session("budi")).turns == 1

    asyncio.run(work())


def test_a_cancelled_append_is_whole_or_absent(store: Store) -> None:
    async def work() -> None:
        lease = await store.take("budi", "here", 60)
        task = asyncio.create_task(store.append(lease, "t1", [started("t1"), asked()], 0))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await store.close()  # waits for what was handed in
        turns = await store.turns("budi", finished_only=False)
        assert [turn.events for turn in turns] in ([], [2])

    asyncio.run(work())


# ── outputs ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_long_results_are_kept_and_read_in_pages(store: Store) -> None:
    async def work() -> None:
        lease = await store.take("budi", "here", 60)
        await store.append(lease, "t1", [started("t1")], 0)
        text = "é😀\0" * 1000
        await store.keep_output(lease, "t1", "t1-1-0", text, 100)
        await store.keep_output(lease, "t1", "t1-1-0", text, 100)
        shown = text.replace("\0", "�")
        for offset in (0, 1, 2950, 3000):
            piece = await store.read_output("budi", "t1-1-0", offset)
            assert piece is not None
            assert (piece.text, piece.start, piece.whole, piece.page) == (
                shown[offset : offset + 101],
                offset,
                3000,
                100,
            )
        assert await store.read_output("siti", "t1-1-0", 0) is None, "another session's"
        with pytest.raises(UnknownSessionError):
            await store.keep_output(lease, "t9", "t9-1-0", text, 100)
        with pytest.raises(LeaseLostError):
            await store.keep_output(replace(lease, token=99), "t1", "t1-1-0", text, 100)

    asyncio.run(work())
