"""Who decides about a turn that is kept: here or elsewhere, in any order. The first is heard; nothing else runs a call."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from tests.memory.mortal import World, steps
from tukang import Agent, Limits, tool
from tukang.loop import events
from tukang.memory.decisions import APPROVAL
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import WaitError
from tukang.memory.stores.values import Offer
from tukang.models.scripted import Scripted, call
from tukang.runtime.people import Approval, Edit, Refuse


def asks_once(world: World, **options: Any) -> Agent:
    return world.agent(call("write", x=1), "Selesai.", **options)


async def elsewhere(store: Store, decision: str, **more: Any) -> None:
    """Somebody decides elsewhere about the one thing that waits."""
    (wait,) = await store.waits(APPROVAL, session="budi")
    await store.answer(APPROVAL, wait.key, {"decision": decision, "digest": wait.asked["digest"], **more}, by="ibu")


def decided(answer: Any) -> list[tuple[str, str]]:
    kinds = (events.CallApproved, events.CallRefused, events.CallEdited)
    return [(type(event).__name__, event.by) for event in answer.events if isinstance(event, kinds)]


# ── here ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_decided_here_is_written_down_and_used_up_by_the_start(store: Store) -> None:
    async def work() -> None:
        world = World({"write"})
        chat = asks_once(world).session("budi", store=store)
        answer = await chat.arun("go", approve=lambda asked: asked.approve("murah", by="siti"))
        assert (answer.stopped, steps(answer)) == ("answer", [("write", None)])
        assert decided(answer) == [("CallApproved", "siti")]
        (wait,) = await store.waits(APPROVAL, open_only=False)
        assert (wait.by, wait.answer["decision"], wait.answer["reason"]) == ("siti", "approve", "murah")
        started = next(event for event in answer.events if isinstance(event, events.CallStarted))
        assert wait.consumed == pytest.approx(started.at, abs=1.0)
        assert await store.read(answer.turn) == answer.events

    asyncio.run(work())


@pytest.mark.parametrize("verdict", [Refuse("mahal", "siti"), False])
def test_a_refusal_here_is_written_down_too(store: Store, verdict: Any) -> None:
    async def work() -> None:
        world = World({"write"})
        answer = await asks_once(world).session("budi", store=store).arun("go", approve=lambda _: verdict)
        assert (steps(answer), world.did) == ([("write", "refused")], [])
        (wait,) = await store.waits(APPROVAL, open_only=False)
        assert (wait.answer["decision"], wait.consumed is not None) == ("refuse", True)

    asyncio.run(work())


def test_an_edit_here_permits_what_it_says(store: Store) -> None:
    async def work() -> None:
        world = World({"write"})
        answer = await asks_once(world).session("budi", store=store).arun("go", approve=lambda asked: asked.edit(x=5))
        assert steps(answer) == [("write", None)]
        assert [x for _, x, _ in world.did] == [5]
        assert [kind for kind, _ in decided(answer)] == ["CallEdited", "CallApproved"]
        first, second = await store.waits(APPROVAL, open_only=False)
        assert (first.answer["decision"], second.answer["decision"]) == ("edit", "approve")
        assert first.asked["digest"] != second.asked["digest"] == second.answer["digest"]
        assert first.consumed is not None
        assert second.consumed is not None

    asyncio.run(work())


def test_who_always_edits_to_something_else_is_not_asked_for_ever(store: Store) -> None:
    async def work() -> None:
        world = World({"write"})

        def never_ends(asked: Approval) -> Edit:
            return asked.edit(x=str(asked.arguments["x"] + 1))

        answer = await asks_once(world).session("budi", store=store).arun("go", approve=never_ends)
        assert (steps(answer), world.did) == ([("write", "refused")], [])

    asyncio.run(work())


def test_no_decision_here_leaves_the_turn_waiting_for_one(store: Store) -> None:
    async def work() -> None:
        world = World({"write"})
        agent = asks_once(world)
        waiting = await agent.session("budi", store=store).arun("go", approve=lambda _: None)
        assert (waiting.stopped, [one.tool for one in waiting.waiting]) == ("waiting", ["write"])
        assert (await store.session("budi")).holder is None
        assert world.did == []
        again = await agent.session("budi", store=store).aresume(approve=lambda _: None)
        assert again is not None
        assert again.stopped == "waiting"
        last = await agent.session("budi", store=store).aresume(approve=lambda _: True)
        assert (steps(last), len(world.did)) == ([("write", None)], 1)

    asyncio.run(work())


def test_what_is_decided_here_holds_no_secret_in_the_store(store: Store) -> None:
    async def work() -> None:
        secret = "sk-abcdefghijklmnop1234"
        given: list[str] = []

        @tool(effect="write")
        def kirim(kunci: str) -> str:
            """Kirim."""
            given.append(kunci)
            return "terkirim"

        agent = Agent(Scripted([call("kirim", kunci="x"), "Selesai."]), tools=[kirim])
        chat = agent.session("budi", store=store)
        answer = await chat.arun("go", approve=lambda asked: asked.edit(kunci=secret, reason=f"pakai {secret}"))
        assert given == [secret], "in its own process it runs with the whole of it"
        kept = msgspec.json.encode([await store.waits(APPROVAL, open_only=False), await store.read(answer.turn)])
        assert secret.encode() not in kept

    asyncio.run(work())


# ── elsewhere ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_who_decides_elsewhere_while_somebody_is_asked_here_is_heard(store: Store) -> None:
    async def work() -> None:
        world = World({"write"})
        asked, stopped = asyncio.Event(), asyncio.Event()

        async def thinks(_: Approval) -> bool:
            asked.set()
            try:
                await asyncio.sleep(3600)
            finally:
                stopped.set()
            return False

        turn = asyncio.create_task(asks_once(world).session("budi", store=store).arun("go", approve=thinks))
        await asked.wait()
        await elsewhere(store, "approve")
        answer = await turn
        assert stopped.is_set()
        assert (steps(answer), decided(answer)) == ([("write", None)], [("CallApproved", "ibu")])

    asyncio.run(work())


def test_who_decides_here_a_moment_too_late_is_not_heard(store: Store) -> None:
    async def work() -> None:
        world = World({"write"})

        async def late(asked: Approval) -> Any:
            wait = (await store.waits(APPROVAL))[0]
            answer = {"decision": "refuse", "digest": asked.digest, "reason": "tidak"}
            await store.answer(APPROVAL, wait.key, answer, by="ibu")
            return asked.approve(by="siti")

        answer = await asks_once(world).session("budi", store=store).arun("go", approve=late)
        assert (steps(answer), decided(answer)) == ([("write", "refused")], [("CallRefused", "ibu")])
        assert world.did == []

    asyncio.run(work())


def test_a_decision_that_is_delivered_twice_counts_once(store: Store) -> None:
    async def work() -> None:
        world = World({"write"})
        agent = world.agent(call("write", x=1), call("write", x=2), "Selesai.")
        await agent.session("budi", store=store).arun("go")
        (wait,) = await store.waits(APPROVAL)
        answer = {"decision": "approve", "digest": wait.asked["digest"]}
        await store.answer(APPROVAL, wait.key, answer, by="ibu")
        with pytest.raises(WaitError):
            await store.answer(APPROVAL, wait.key, answer, by="ibu")
        waiting = await agent.session("budi", store=store).aresume()
        assert waiting is not None
        assert (waiting.stopped, [one.arguments for one in waiting.waiting]) == ("waiting", ['{"x":2}'])
        (second,) = await store.waits(APPROVAL)
        await store.answer(APPROVAL, second.key, answer, by="ibu")  # the old permission, for the new call
        last = await agent.session("budi", store=store).aresume()
        assert steps(last) == [("write", None), ("write", "refused")]
        assert [x for _, x, _ in world.did] == [1]

    asyncio.run(work())


def test_an_edit_elsewhere_survives_a_crash_before_it_is_used(store: Store) -> None:
    async def work() -> None:
        world = World({"write"})
        agent = asks_once(world)
        waiting = await agent.session("budi", store=store).arun("go")
        await elsewhere(store, "edit", arguments={"x": 2})
        (first,) = await store.waits(APPROVAL, open_only=False)
        # what the process that goes on writes before it dies: the call was edited, checked, and is asked about again
        lease = await store.take("budi", "test", 60)
        written = await store.read(waiting.turn)
        asked = waiting.waiting[0]
        now = time.time()
        batch: list[events.Event] = [
            events.TurnResumed(at=now),
            events.CallEdited(at=now, call=asked.call_id, digest=asked.digest, arguments='{"x":2}', by="ibu"),
            events.ChecksBegan(at=now, calls=(asked.call_id,)),
            events.CallChecked(at=now, call=asked.call_id, digest="new", arguments='{"x":2}', needs_approval=True),
            events.ApprovalAsked(at=now, calls=(asked.call_id,)),
        ]
        again = {"call": asked.call_id, "tool": "write", "arguments": '{"x":2}', "digest": "new"}
        offer = [Offer(APPROVAL, f"{first.key}.2", again)]
        consume = [(APPROVAL, first.key)]
        await store.append(lease, waiting.turn, batch, len(written), offer=offer, consume=consume)
        await store.release(lease)
        last = await agent.session("budi", store=store).aresume()
        assert (steps(last), [x for _, x, _ in world.did]) == ([("write", None)], [2])

    asyncio.run(work())


# ── nobody ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_nobody_decides_in_time_is_refused_when_the_turn_goes_on(store: Store) -> None:
    async def work() -> None:
        world = World({"write"})
        agent = asks_once(world, limits=Limits(deciding=0.05))
        waiting = await agent.session("budi", store=store).arun("go")
        assert waiting.stopped == "waiting"
        (wait,) = await store.waits(APPROVAL)
        assert wait.expires is not None
        over = await store.until_answered(APPROVAL, wait.key)
        assert over.answered is None
        assert [left.turn for left in await store.open_turns("budi", idle=True)] == [waiting.turn], "it can go on"
        with pytest.raises(WaitError) as late:
            await elsewhere(store, "approve")
        assert late.value.kind == "expired"
        last = await agent.session("budi", store=store).aresume()
        assert (steps(last), world.did) == ([("write", "refused")], [])
        assert last is not None
        (refused,) = [event for event in last.events if isinstance(event, events.CallRefused)]
        assert refused.expired

    asyncio.run(work())


def test_what_nobody_decides_in_time_is_refused_while_somebody_is_asked(store: Store) -> None:
    async def work() -> None:
        world = World({"write"})

        async def never(_: Approval) -> bool:
            await asyncio.sleep(3600)
            return True

        agent = asks_once(world, limits=Limits(deciding=0.05))
        answer = await agent.session("budi", store=store).arun("go", approve=never)
        assert (answer.stopped, steps(answer), world.did) == ("answer", [("write", "refused")], [])

    asyncio.run(work())


def test_a_wait_that_is_not_as_it_should_be_permits_nothing(store: Store) -> None:
    async def work() -> None:
        world = World({"write"})
        agent = asks_once(world)
        await agent.session("budi", store=store).arun("go")
        (wait,) = await store.waits(APPROVAL)
        await store.answer(APPROVAL, wait.key, {"decision": "approve", "digest": wait.asked["digest"]})

        def forge(db: Any) -> None:
            asked: Mapping[str, Any] = {**wait.asked, "digest": "of something else"}
            db.change("UPDATE tukang_waits SET asked = :asked", asked=msgspec.json.encode(asked).decode())

        await store._do(forge)  # type: ignore[attr-defined]
        last = await agent.session("budi", store=store).aresume()
        assert (steps(last), world.did) == ([("write", "refused")], [])

    asyncio.run(work())


def test_a_wait_that_has_gone_permits_nothing_and_the_turn_goes_on(store: Store) -> None:
    async def work() -> None:
        world = World({"write"})
        agent = asks_once(world)
        await agent.session("budi", store=store).arun("go")
        await store._do(lambda db: db.change("DELETE FROM tukang_waits"))  # type: ignore[attr-defined]
        last = await agent.session("budi", store=store).aresume(approve=lambda _: True)
        assert (steps(last), world.did) == ([("write", "refused")], [])

    asyncio.run(work())


def test_waiting_for_an_answer(store: Store) -> None:
    async def work() -> None:
        await asks_once(World({"write"})).session("budi", store=store).arun("go")
        (wait,) = await store.waits(APPROVAL)
        with pytest.raises(WaitError):
            await store.until_answered(APPROVAL, "something else")
        listening = asyncio.create_task(store.until_answered(APPROVAL, wait.key))
        await asyncio.sleep(0.02)
        assert not listening.done()
        await elsewhere(store, "approve")
        assert (await listening).by == "ibu"
        assert (await store.until_answered(APPROVAL, wait.key)).by == "ibu"

    asyncio.run(work())
