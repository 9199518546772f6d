"""A turn that was left in the middle goes on from its store: after a crash, after waiting, or because another one begins."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tests.memory.mortal import LEASE, Dead, Mortal, World, dies_in, said, steps
from tukang import Agent, Answer, ConfigurationError, Limits, tool
from tukang.conversation import validity
from tukang.loop import events
from tukang.memory.decisions import APPROVAL
from tukang.memory.session import NothingToResumeError
from tukang.memory.stored import StoredSession
from tukang.memory.stores.base import Store
from tukang.models.scripted import Says, Scripted, call
from tukang.runtime.signals import Signal


async def is_well(store: Store, answer: Answer[Any] | None) -> None:
    """The turn ended, and the conversation is one that any provider takes."""
    assert answer is not None
    assert await store.open_turns("budi") == []
    assert await store.read(answer.turn) == answer.events
    assert validity(await StoredSession("budi", store).read()) == []


# ── after a crash ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("effect", "times", "fault"), [("read", 2, None), ("idempotent", 2, None), ("write", 1, "outcome_unknown")]
)
def test_a_turn_whose_process_died_goes_on(store: Store, effect: str, times: int, fault: str | None) -> None:
    async def work() -> None:
        world = World()
        other = "idempotent" if effect != "idempotent" else "write"
        agent = world.agent([call(other, x=7)], [call(effect, x=1), call(other, x=9)], "Selesai.")
        await dies_in(effect, agent, store, world)
        assert world.keys(other, 7) != []
        answer = await agent.session("budi", store=store).aresume()
        assert steps(answer) == [(other, None), (effect, fault), (other, None)]
        assert answer is not None
        assert (answer.text, answer.stopped) == ("Selesai.", "answer")
        assert len(world.keys(other, 7)) == 1, "finished calls are not run again"
        assert len(world.keys(effect)) == times
        assert len(set(world.keys(effect))) == 1, "the same key each time"
        await is_well(store, answer)

    asyncio.run(work())


def test_a_request_that_was_under_way_is_asked_again(store: Store) -> None:
    async def work() -> None:
        model = Scripted([Says(text=("Sele",), silent=True), "Selesai."])
        mortal = Mortal(store)
        stream = Agent(model).session("budi", store=mortal, lease=LEASE).stream("go")  # type: ignore[arg-type]
        with contextlib.suppress(Dead):
            async for item in stream:
                if isinstance(item, Signal):
                    mortal.dead = True
                    stream.cancel()
        resumed = Agent(model).session("budi", store=store).resume_stream()
        items = [item async for item in resumed if not isinstance(item, Signal)]
        assert resumed.answer.text == "Selesai."
        assert tuple(items) == resumed.answer.events, "who follows is told what was before, too"
        assert model.requests[0].messages == model.requests[1].messages
        await is_well(store, resumed.answer)

    asyncio.run(work())


def test_a_turn_may_be_left_more_than_once(store: Store) -> None:
    async def work() -> None:
        world = World()
        agent = world.agent(call("idempotent", x=1), call("write", x=1), "Selesai.")
        await dies_in("idempotent", agent, store, world)
        for _ in range(2):
            world.hangs.add("idempotent")
            world.began.clear()
            mortal = Mortal(store)
            going = asyncio.create_task(agent.session("budi", store=mortal, lease=LEASE).aresume())  # type: ignore[arg-type]
            await world.began.wait()
            mortal.dead = True
            going.cancel()
            await asyncio.wait([going])
        world.hangs.clear()
        answer = await agent.session("budi", store=store).aresume()
        assert steps(answer) == [("idempotent", None), ("write", None)]
        assert len(world.keys("idempotent")) == 4
        assert len(set(world.keys("idempotent"))) == 1
        await is_well(store, answer)

    asyncio.run(work())


def test_there_may_be_nothing_to_go_on_with(store: Store) -> None:
    async def work() -> None:
        agent = World().agent("Selesai.")
        chat = agent.session("budi", store=store)
        assert await chat.aresume() is None
        assert await store.sessions() == [], "looking makes no session"
        await chat.arun("go")
        assert await chat.aresume() is None
        assert await agent.session("budi").aresume() is None
        with pytest.raises(NothingToResumeError, match="'budi' has no turn"):
            async for _ in chat.resume_stream():
                pass

    asyncio.run(work())
    assert World().agent("Selesai.").session("budi", store=store).resume() is None


def test_a_turn_goes_on_with_its_own_agent(store: Store) -> None:
    async def work() -> None:
        world = World()
        await dies_in("write", world.agent(call("write", x=1), "Selesai."), store, world)
        with pytest.raises(ConfigurationError, match="by the agent 'pekerja', and this one is 'lain'"):
            await Agent(Scripted([]), name="lain").session("budi", store=store).aresume()
        with pytest.raises(ConfigurationError, match="with no returns="):
            await world.agent("Selesai.").session("budi", store=store).aresume(returns=int)

    asyncio.run(work())


def test_the_limits_it_began_with_hold_and_time_down_does_not_count(store: Store) -> None:
    async def work() -> None:
        world = World()
        limits = Limits(rounds=1, seconds=50)
        await dies_in("read", world.agent(call("read", x=1), "Terpaksa.", limits=limits), store, world)
        await _pass(store, 3600.0)
        answer = await world.agent(call("read", x=1), "Terpaksa.").session("budi", store=store).aresume()
        assert answer is not None
        assert (answer.stopped, answer.text, steps(answer)) == ("rounds", "Terpaksa.", [("read", None)])
        assert answer.seconds < 60

    asyncio.run(work())


def test_time_down_counts_where_the_limits_say_so(store: Store) -> None:
    async def work() -> None:
        world = World()
        limits = Limits(seconds=50, idle_counts=True)
        agent = world.agent(call("write", x=1), "Selesai.", limits=limits)
        await dies_in("write", agent, store, world)
        await _pass(store, 3600.0)
        answer = await agent.session("budi", store=store).aresume()
        assert answer is not None
        assert (answer.stopped, steps(answer)) == ("seconds", [("write", "outcome_unknown")])
        await is_well(store, answer)

    asyncio.run(work())


async def _pass(store: Store, seconds: float) -> None:
    """Make what is in the store so much older."""
    (left,) = await store.open_turns("budi")
    aged = [replace(event, at=event.at - seconds) for event in await store.read(left.turn)]
    texts = [(left.turn, number, msgspec.json.encode(event).decode()) for number, event in enumerate(aged)]

    def age(db: Any) -> None:
        rows = [{"turn": turn, "number": number, "data": data} for turn, number, data in texts]
        turn = "(SELECT key FROM tukang_turns WHERE id = :turn)"
        db.many(f"UPDATE tukang_events SET data = :data WHERE number = :number AND turn = {turn}", rows)

    await store._do(age)  # type: ignore[attr-defined]


# ── another message ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("effect", "fault"), [("read", "cancelled"), ("idempotent", "outcome_unknown"), ("write", "outcome_unknown")]
)
def test_the_next_message_ends_what_was_left_and_runs_nothing_of_it(store: Store, effect: str, fault: str) -> None:
    async def work() -> None:
        world = World()
        agent = world.agent([call(effect, x=1), call("write", x=2)], "Selesai.")
        await dies_in(effect, agent, store, world)
        model = Scripted(["Baru."])
        answer = await Agent(model).session("budi", store=store).arun("halo?")
        assert answer.text == "Baru."
        assert len(world.did) == 1
        left, last = await store.turns("budi")
        assert (left.stopped, last.stopped) == ("cancelled", "answer")
        results = [result for message in left.messages for result in message.results]
        assert [msgspec.json.decode(result.text)["error"]["kind"] for result in results] == [fault, "not_run"]
        assert list(model.requests[0].messages) == [*left.messages, last.messages[0]]
        await is_well(store, answer)

    asyncio.run(work())


# ── secrets ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _keeping(world: World, *script: Any) -> Agent:
    """An agent that can also keep a word, idempotently."""

    @tool(effect="idempotent", approval="never")
    def simpan(kata: str) -> str:
        """Keep a word."""
        world.did.append((kata, 0, ""))
        return "disimpan"

    return Agent(Scripted(lambda request: script[said(request)]), tools=[*world.tools(), simpan])


def _veiled(text: str) -> str:
    return text.replace("sesam", "[kata]")


def test_a_call_that_lost_its_arguments_is_not_run_and_says_so(store: Store) -> None:
    async def work() -> None:
        world = World()
        agent = _keeping(world, [call("write", x=1), call("simpan", kata="sesam")], "Selesai.")
        await dies_in("write", agent, store, world, redact=_veiled)
        answer = await agent.session("budi", store=store).aresume()
        assert steps(answer) == [("write", "outcome_unknown"), ("simpan", "not_run")]
        assert answer is not None
        assert "held a secret" in answer.steps[1].result
        assert len(world.did) == 1
        await is_well(store, answer)

    asyncio.run(work())


def test_in_its_own_process_a_call_runs_with_all_its_arguments(store: Store) -> None:
    world = World()
    chat = _keeping(world, call("simpan", kata="sesam"), "Selesai.").session("budi", store=store, redact=_veiled)
    assert steps(chat.run("buka sesam")) == [("simpan", None)]
    assert world.did == [("sesam", 0, "")]
    assert [message.text for message in chat.messages] == ["buka [kata]", "", "", "Selesai."]
    assert chat.messages[1].calls[0].redacted


# ── waiting ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def decided(store: Store, decision: str, **more: Any) -> None:
    """Somebody decides about the one thing that is waited for."""
    (wait,) = await store.waits(APPROVAL, session="budi")
    answer = {"decision": decision, "digest": wait.asked["digest"], **more}
    await store.answer(APPROVAL, wait.key, answer, by="ibu")


def test_a_turn_that_waits_is_let_go_and_goes_on_when_somebody_has_decided(store: Store) -> None:
    async def work() -> None:
        world = World({"write"})
        agent = world.agent([call("read", x=7), call("write", x=1), call("read", x=8)], "Selesai.")
        answer = await agent.session("budi", store=store).arun("go")
        assert (answer.stopped, answer.text, steps(answer)) == ("waiting", "", [("read", None)])
        assert [(one.tool, one.arguments) for one in answer.waiting] == [("write", '{"x":1}')]
        assert validity(answer.messages) == []
        info = await store.session("budi")
        assert (info.holder, info.open_turn) == (None, answer.turn), "it holds nothing"
        assert await store.open_turns("budi", idle=True) == []

        again = await agent.session("budi", store=store).aresume()
        assert again is not None
        assert (again.stopped, again.waiting, again.events) == ("waiting", answer.waiting, answer.events)
        assert await store.read(answer.turn) == answer.events, "asking whether it may go on leaves no trace"

        await decided(store, "approve")
        assert [left.turn for left in await store.open_turns("budi", idle=True)] == [answer.turn]
        last = await agent.session("budi", store=store).aresume()
        assert steps(last) == [("read", None), ("write", None), ("read", None)]
        assert last is not None
        assert (last.text, last.turn) == ("Selesai.", answer.turn)
        assert len(world.keys("write")) == 1
        (wait,) = await store.waits(APPROVAL, open_only=False)
        started = next(
            event for event in last.events if isinstance(event, events.CallStarted) and event.call == wait.asked["call"]
        )
        approved = next(event for event in last.events if isinstance(event, events.CallApproved))
        assert (wait.consumed, approved.by) == (pytest.approx(started.at, abs=1.0), "ibu")
        await is_well(store, last)

    asyncio.run(work())


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"decision": "refuse", "reason": "terlalu mahal"}, "terlalu mahal"),
        ({"decision": "approve", "digest": "another"}, "not about these arguments"),
        ({"decision": "perhaps"}, "could not be read"),
        ("yes", "could not be read"),
    ],
)
def test_anything_but_a_permission_for_exactly_this_is_a_refusal(store: Store, answer: Any, reason: str) -> None:
    async def work() -> None:
        world = World({"write"})
        agent = world.agent(call("write", x=1), "Selesai.")
        await agent.session("budi", store=store).arun("go")
        (wait,) = await store.waits(APPROVAL)
        given = {"digest": wait.asked["digest"], **answer} if isinstance(answer, dict) else answer
        await store.answer(APPROVAL, wait.key, given)
        last = await agent.session("budi", store=store).aresume()
        assert steps(last) == [("write", "refused")]
        assert last is not None
        assert reason in last.steps[0].result
        assert world.did == []
        (wait,) = await store.waits(APPROVAL, open_only=False)
        assert wait.consumed is not None
        await is_well(store, last)

    asyncio.run(work())


def test_who_edits_permits_exactly_what_they_wrote(store: Store) -> None:
    async def work() -> None:
        world = World({"write"})
        agent = world.agent(call("write", x=1), "Selesai.")
        await agent.session("budi", store=store).arun("go")
        await decided(store, "edit", arguments={"x": 2}, reason="dua saja")
        last = await agent.session("budi", store=store).aresume()
        assert steps(last) == [("write", None)]
        assert (world.keys("write", 1), len(world.keys("write", 2))) == ([], 1)
        assert last is not None
        approved = next(event for event in last.events if isinstance(event, events.CallApproved))
        checked = [event for event in last.events if isinstance(event, events.CallChecked)]
        assert (approved.by, approved.reason, approved.digest) == ("ibu", "dua saja", checked[1].digest)
        assert '{"x":2}' in last.messages[2].results[0].text, "the model is told that it was edited"
        assert all(wait.consumed is not None for wait in await store.waits(APPROVAL, open_only=False))
        await is_well(store, last)

    asyncio.run(work())


def test_an_edit_that_is_not_what_would_run_is_asked_about_again(store: Store) -> None:
    async def work() -> None:
        world = World({"write"})
        agent = world.agent(call("write", x=1), "Selesai.")
        await agent.session("budi", store=store).arun("go")
        await decided(store, "edit", arguments={"x": "2"})  # read as the number 2
        second = await agent.session("budi", store=store).aresume()
        assert second is not None
        assert [one.arguments for one in second.waiting] == ['{"x":2}']
        await decided(store, "approve")
        last = await agent.session("budi", store=store).aresume()
        assert steps(last) == [("write", None)]
        assert (world.keys("write", 1), len(world.keys("write", 2))) == ([], 1)
        await is_well(store, last)

    asyncio.run(work())


def test_several_calls_are_decided_in_any_order_and_may_start_together(store: Store) -> None:
    async def work() -> None:
        world = World({"write", "read"})
        agent = world.agent([call("write", x=1), call("read", x=2), call("read", x=3)], "Selesai.")
        await agent.session("budi", store=store).arun("go")
        for number in (2, 1):
            wait = (await store.waits(APPROVAL))[number]
            await store.answer(APPROVAL, wait.key, {"decision": "approve", "digest": wait.asked["digest"]})
            waiting = await agent.session("budi", store=store).aresume()
            assert waiting is not None
            assert waiting.stopped == "waiting"
        assert world.did == [], "what stands before them is not decided"
        assert all(wait.consumed is None for wait in await store.waits(APPROVAL, open_only=False))
        await decided(store, "approve")
        last = await agent.session("budi", store=store).aresume()
        assert steps(last) == [("write", None), ("read", None), ("read", None)]
        assert all(wait.consumed is not None for wait in await store.waits(APPROVAL, open_only=False))
        await is_well(store, last)

    asyncio.run(work())


def test_a_permission_survives_a_crash_and_is_used_once(store: Store) -> None:
    async def work() -> None:
        world = World({"write"})
        agent = world.agent(call("write", x=1), call("write", x=1), "Selesai.")
        await agent.session("budi", store=store).arun("go")
        await decided(store, "approve")
        world.hangs.add("write")
        mortal = Mortal(store)
        going = asyncio.create_task(agent.session("budi", store=mortal, lease=LEASE).aresume())  # type: ignore[arg-type]
        await world.began.wait()
        mortal.dead = True
        going.cancel()
        await asyncio.wait([going])
        (wait,) = await store.waits(APPROVAL, open_only=False)
        assert wait.consumed is not None
        last = await agent.session("budi", store=store).aresume()
        assert steps(last) == [("write", "outcome_unknown")] * 2
        assert len(world.keys("write")) == 1
        await is_well(store, last)

    asyncio.run(work())


def test_time_that_a_turn_waits_does_not_count(store: Store) -> None:
    async def work() -> None:
        world = World({"write"})
        agent = world.agent(call("write", x=1), "Selesai.", limits=Limits(seconds=50))
        await agent.session("budi", store=store).arun("go")
        await _pass(store, 36_000.0)
        await decided(store, "approve")
        last = await agent.session("budi", store=store).aresume()
        assert last is not None
        assert (last.stopped, steps(last)) == ("answer", [("write", None)])

    asyncio.run(work())


def test_the_next_message_ends_a_turn_that_waits(store: Store) -> None:
    async def work() -> None:
        world = World({"write"})
        agent = world.agent(call("write", x=1), "Selesai.")
        await agent.session("budi", store=store).arun("go")
        answer = await Agent(Scripted(["Baru."])).session("budi", store=store).arun("lupakan")
        assert answer.text == "Baru."
        assert world.did == []
        await is_well(store, answer)

    asyncio.run(work())
