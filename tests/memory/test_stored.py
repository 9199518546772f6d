"""Sessions in a store: an agent's conversation outlives its process, and other processes wait for it or take it over."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.memory.mortal import Mortal, World, steps
from tukang import Agent, ConfigurationError, SessionBusyError, user
from tukang.conversation import validity
from tukang.loop import events
from tukang.memory.stored import StoredSession
from tukang.memory.stores import leasing
from tukang.memory.stores.base import Store
from tukang.memory.stores.database import Database
from tukang.memory.stores.errors import LeaseLostError
from tukang.memory.stores.store import SqlStore
from tukang.memory.stores.values import Lease
from tukang.models.scripted import Says, Scripted, call
from tukang.runtime.signals import Signal


def test_a_conversation_goes_on_in_another_process(store: Store, url: str) -> None:
    model = Scripted(lambda request: f"{len(request.messages)} messages")
    first = Agent(model).session("budi", store=store)
    assert first.run("satu").text == "1 messages"
    assert Agent(model).session("budi", store=url).run("dua").text == "3 messages", (
        "the address is as good as the store"
    )
    assert [message.text for message in first.messages] == ["satu", "1 messages", "dua", "3 messages"]
    assert Agent(model).session("siti", store=store).messages == ()


def test_a_turn_in_a_store_is_the_turn_in_memory(store: Store) -> None:
    world = World()
    agent = world.agent([call("read", x=1), call("write", x=2)], "Selesai.")
    kept = agent.session("budi", store=store).run("go")
    plain = agent.session("budi").run("go")
    assert (kept.text, kept.stopped, steps(kept)) == (plain.text, plain.stopped, steps(plain))
    assert {type(event) for event in kept.events} == {type(event) for event in plain.events}
    (turn,) = asyncio.run(store.turns("budi"))
    assert (turn.messages, turn.id) == (kept.messages, kept.turn)
    assert asyncio.run(store.read(kept.turn)) == kept.events


def test_a_stream_is_the_same_turn(store: Store) -> None:
    async def work() -> None:
        agent = World().agent(call("read", x=1), Says(text=("Sele", "sai.")))
        stream = agent.session("budi", store=store).stream("go")
        items = [item async for item in stream]
        assert stream.answer.text == "Selesai."
        assert tuple(item for item in items if not isinstance(item, Signal)) == await store.read(stream.answer.turn)

    asyncio.run(work())


def test_what_was_said_before_stands_in_the_store(store: Store) -> None:
    with pytest.raises(ConfigurationError, match="stands in the store"):
        Agent(Scripted([])).session("budi", [user("hai")], store=store)


def test_a_long_result_is_read_on_in_a_later_turn(store: Store) -> None:
    from tukang import tool

    @tool(effect="read", max_output=20)
    def buku() -> str:
        """A long text."""
        return "satu dua tiga empat lima enam tujuh delapan"

    def script(request: Any) -> Any:
        handle = next(c.id for message in request.messages for c in message.calls) if len(request.messages) > 1 else ""
        replies = [call("buku"), "Satu.", call("read_more", handle=handle, offset=20), "Dua."]
        return replies[sum(message.role == "assistant" for message in request.messages)]

    agent = Agent(Scripted(script), tools=[buku])
    agent.session("budi", store=store).run("baca")
    answer = agent.session("budi", store=store).run("lagi")
    assert steps(answer) == [("read_more", None)]
    assert "lima enam" in answer.steps[0].result


# ── one turn at a time ───────────────────────────────────────────────────────────────────────────────────────────────


def test_turns_of_one_session_wait_for_each_other_or_are_refused(store: Store) -> None:
    async def work() -> None:
        world = World()
        world.hangs.add("write")
        agent = world.agent(call("write", x=1), "Selesai.")
        one, other = agent.session("budi", store=store), agent.session("budi", store=store)
        first = asyncio.create_task(one.arun("satu"))
        await world.began.wait()
        with pytest.raises(SessionBusyError, match="in the middle of a turn"):
            await other.arun("dua", when_busy="refuse")
        elsewhere = await world.agent("Lain.").session("siti", store=store).arun("sendiri")
        assert elsewhere.text == "Lain.", "sessions do not mind each other"
        more = [asyncio.create_task(chat.arun(text)) for chat, text in ((other, "dua"), (one, "tiga"))]
        await asyncio.sleep(0)
        assert not first.done()
        world.hangs.clear()
        world.end.set()
        await asyncio.gather(first, *more)
        messages = await StoredSession("budi", store).read()
        assert len(messages) == 3 * 4
        assert validity(messages) == []

    asyncio.run(work())


def test_the_lease_is_renewed_while_a_turn_runs_and_given_back_at_its_end(store: Store) -> None:
    async def work() -> None:
        world, renewed = World(), asyncio.Semaphore(0)
        world.hangs.add("write")
        beating = Mortal(store, lambda name: renewed.release() if name == "renew" else None)
        agent = world.agent(call("write", x=1), "Selesai.")
        running = asyncio.create_task(agent.session("budi", store=beating, lease=0.15).arun("go"))  # type: ignore[arg-type]
        await world.began.wait()
        for _ in range(5):  # more often than the lease would last
            await renewed.acquire()
        world.end.set()
        assert (await running).text == "Selesai."
        assert (await store.session("budi")).holder is None
        assert await store.take("budi", "another", 60) is not None

    asyncio.run(work())


def test_who_lost_the_session_stops_with_a_clear_error_and_writes_nothing(store: Store) -> None:
    async def work() -> None:
        world = World()
        world.hangs.add("write")
        agent = world.agent(call("write", x=1), "Selesai.")
        slow = asyncio.create_task(agent.session("budi", store=store, lease=0.3).arun("go"))
        await world.began.wait()
        lease = await taken_over(store, "budi")
        with pytest.raises(LeaseLostError, match="session 'budi' was taken over"):
            await slow  # the heartbeat finds out: the function would never have ended
        assert lease.open_turn is not None
        assert isinstance((await store.read(lease.open_turn))[-1], events.CallStarted)
        assert (await store.session("budi")).holder == "another", "it gives nothing back that it does not have"

    asyncio.run(work())


def test_a_slow_process_cannot_write_when_the_heartbeat_has_not_noticed_yet(store: Store) -> None:
    async def work() -> None:
        world = World()
        world.hangs.add("write")
        agent = world.agent(call("write", x=1), call("write", x=2), "Selesai.")
        slow = asyncio.create_task(agent.session("budi", store=store, lease=600).arun("go"))
        await world.began.wait()
        lease = await taken_over(store, "budi")
        world.end.set()
        with pytest.raises(LeaseLostError, match="may not write"):
            await slow
        assert world.keys("write", 2) == [], "nothing is run that could not be written down"
        assert isinstance((await store.read(lease.open_turn or ""))[-1], events.CallStarted)

    asyncio.run(work())


async def taken_over(store: Store, session: str) -> Lease:
    """Take a session as if its lease had not been renewed in time."""
    assert isinstance(store, SqlStore)

    def take(db: Database) -> Lease:
        db.change("UPDATE tukang_sessions SET expires = 0 WHERE id = :id", id=session)
        return leasing.take(db, session, "another", 600.0, "claim")[1]

    return await store._do(take)  # pyright: ignore[reportPrivateUsage]
