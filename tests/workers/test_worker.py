"""What a worker makes of a turn: answered, waiting, tried again, failed for good; and how it stops."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from tests.workers.crew import TAKEOVER, Shop, at_work, until
from tukang import Agent, tool
from tukang.errors import ConfigurationError
from tukang.loop.events import TurnFinished, TurnResumed
from tukang.memory.decisions import APPROVAL
from tukang.memory.stores.errors import StoreError, UnknownSessionError
from tukang.models.scripted import Scripted, call
from tukang.workers import Fleet, TurnFailedError, Worker


async def _state(fleet: Fleet, turn: str) -> str | None:
    return next((seen.state for seen in (await fleet.status()).turns if seen.turn == turn), None)


async def _gone(fleet: Fleet) -> bool:
    return not (await fleet.status()).turns


def test_turns_of_a_session_are_run_in_their_order_and_read_from_elsewhere(queue_url: str) -> None:
    async def run() -> None:
        shop = Shop()
        async with Fleet(queue_url) as fleet, at_work(queue_url, shop.agent()):
            turns = [await fleet.submit("toko", "budi", f"ke-{number}") for number in range(4)]
            answers = await asyncio.gather(*map(fleet.answer, turns))
            assert [answer.text for answer in answers] == ["Selesai."] * 4
            assert [answer.turn for answer in answers] == turns
            assert [turn.id for turn in await fleet.store.turns("budi")] == turns
            await until(lambda: _gone(fleet))
        assert shop.did == [("pesan", "SSD")] * 4

    asyncio.run(run())


def test_who_follows_sees_the_turn_from_its_beginning_and_may_leave(queue_url: str) -> None:
    async def run() -> None:
        shop = Shop()
        shop.hangs.add("pesan")
        async with Fleet(queue_url) as fleet:
            turn = await fleet.submit("toko", "budi", "halo")
            leaving, staying = aiter(fleet.follow(turn)), asyncio.create_task(fleet.answer(turn))
            async with at_work(queue_url, shop.agent()):
                assert (await anext(leaving))[0] == 1
                await leaving.aclose()
                await shop.began.wait()
                shop.end.set()
                assert (await staying).text == "Selesai."
                events = [event async for _, event in fleet.follow(turn)]
                assert isinstance(events[-1], TurnFinished)
                assert [number async for number, _ in fleet.follow(turn, 3)] == list(range(4, len(events) + 1))

    asyncio.run(run())


def test_a_turn_is_submitted_once(queue_url: str) -> None:
    async def run() -> None:
        shop = Shop()
        async with Fleet(queue_url) as fleet:
            for _ in range(2):
                assert await fleet.submit("toko", "budi", "halo", turn="pesanan-17") == "pesanan-17"
            with pytest.raises(ConfigurationError, match="submitted before, for toko in session 'budi'"):
                await fleet.submit("toko", "siti", "halo", turn="pesanan-17")
            async with at_work(queue_url, shop.agent()):
                await fleet.answer("pesanan-17")
                await until(lambda: _gone(fleet))
                await fleet.submit("toko", "budi", "halo", turn="pesanan-17")  # the answer was lost, perhaps
                await until(lambda: _gone(fleet))
                assert len(await fleet.store.turns("budi")) == 1
        assert shop.did == [("pesan", "SSD")]

    asyncio.run(run())


def test_what_was_said_for_the_turn_arrives_and_secrets_do_not(queue_url: str) -> None:
    async def run() -> None:
        shop = Shop()
        agent = shop.agent([call("lihat", item="SSD"), "Selesai."])
        async with Fleet(queue_url) as fleet:
            turn = await fleet.submit("toko", "budi", "kunciku sk-abcdefghijklmnopqrstuvwx", context={"user": "USR1"})
            refused = await fleet.submit("toko", "siti", "halo", tool_choice="terbang")
            async with at_work(queue_url, agent):
                answer = await fleet.answer(turn)
                assert "sk-abc" not in answer.messages[0].text
                with pytest.raises(TurnFailedError, match="tool_choice 'terbang'"):
                    await fleet.answer(refused)
        assert shop.did == [("lihat", "SSD {'user': 'USR1'}")]

    asyncio.run(run())


def test_a_caller_is_made_of_what_was_submitted(queue_url: str) -> None:
    async def run() -> None:
        shop = Shop()
        agent = shop.agent([call("lihat", item="SSD"), "Selesai."])
        async with Fleet(queue_url) as fleet, at_work(queue_url, agent, callers={"toko": lambda user: f"<{user}>"}):
            await fleet.answer(await fleet.submit(agent, "budi", "halo", context="USR1"))
        assert shop.did == [("lihat", "SSD <USR1>")]

    asyncio.run(run())


def test_what_fails_is_tried_again_and_what_fails_for_good_is_shown_and_can_be_mended(queue_url: str) -> None:
    async def run() -> None:
        broken = True

        def instructions(_: Any) -> str:
            if broken:
                raise LookupError("the catalogue is not there, password=hunter2")
            return "Kamu toko."

        agent = Agent(Scripted(["Selesai."], repeat=True), instructions, name="toko")
        async with Fleet(queue_url) as fleet, at_work(queue_url, agent, tries=2):
            turn = await fleet.submit("toko", "budi", "halo")
            with pytest.raises(TurnFailedError, match="the catalogue is not there") as failed:
                await fleet.answer(turn)
            assert "hunter2" not in str(failed.value)
            (seen,) = (await fleet.status()).turns
            assert (seen.state, seen.faults) == ("failed", 2)
            assert "LookupError" in (seen.why or "")

            broken = False
            assert await fleet.retry(turn)
            assert (await fleet.answer(turn)).text == "Selesai."
            assert not await fleet.retry(turn)

    asyncio.run(run())


def test_turns_for_an_agent_that_nobody_runs_wait_for_it(queue_url: str) -> None:
    async def run() -> None:
        shop = Shop()
        async with Fleet(queue_url) as fleet:
            turn = await fleet.submit("gudang", "budi", "halo")
            async with at_work(queue_url, shop.agent()):
                status = await fleet.status()
                assert status.unserved == ("gudang",)
                assert await _state(fleet, turn) == "queued"
                async with at_work(queue_url, shop.agent(name="gudang")):
                    assert (await fleet.answer(turn)).text == "Selesai."

    asyncio.run(run())


@pytest.mark.parametrize("name", ["a" * 33, "a" * 34, "layanan-pelanggan-" * 5, "tokoé"])
def test_an_agent_may_have_a_long_name(queue_url: str, name: str) -> None:
    async def run() -> None:
        async with Fleet(queue_url) as fleet, at_work(queue_url, Shop().agent(name=name)):
            assert (await fleet.answer(await fleet.submit(name, "budi", "halo"))).text == "Selesai."

    asyncio.run(run())


def test_a_turn_that_waits_holds_nothing_and_goes_on_when_somebody_has_decided(queue_url: str) -> None:
    did: list[int] = []

    @tool(effect="write", approval="ask")
    def bayar(jumlah: int) -> str:
        """Bayar."""
        did.append(jumlah)
        return "dibayar"

    async def run() -> None:
        agent = Agent(Scripted([call("bayar", jumlah=5), "Selesai."]), tools=[bayar], name="toko")
        async with Fleet(queue_url) as fleet, at_work(queue_url, agent):
            turn = await fleet.submit("toko", "budi", "bayar 5")
            answer = await fleet.answer(turn)
            assert (answer.stopped, did) == ("waiting", [])
            await until(lambda: _is(fleet, turn, "waiting"))
            (worker,) = (await fleet.status()).workers
            assert worker.running == 0
            await asyncio.sleep(TAKEOVER / 2)
            assert await _state(fleet, turn) == "waiting", "nobody has decided"

            (wait,) = await fleet.store.waits(APPROVAL, turn=turn)
            await fleet.store.answer(APPROVAL, wait.key, {"decision": "approve", "digest": wait.asked["digest"]}, "ibu")
            await until(lambda: _gone(fleet))
            assert ((await fleet.answer(turn)).text, did) == ("Selesai.", [5])

    asyncio.run(run())


async def _is(fleet: Fleet, turn: str, state: str) -> bool:
    return await _state(fleet, turn) == state


def test_a_worker_that_is_stopped_lets_its_turns_finish(queue_url: str) -> None:
    async def run() -> None:
        shop = Shop()
        shop.hangs.add("pesan")
        async with Fleet(queue_url) as fleet, at_work(queue_url, shop.agent(), grace=20) as worker:
            turn = await fleet.submit("toko", "budi", "halo")
            await shop.began.wait()
            worker.stop()
            later = await fleet.submit("toko", "siti", "halo")
            shop.end.set()
            assert (await fleet.answer(turn)).text == "Selesai."
            await until(lambda: _no_workers(fleet))
            assert await _state(fleet, later) == "queued"

    asyncio.run(run())


def test_a_worker_that_is_stopped_before_it_begins_does_not_begin(queue_url: str) -> None:
    async def run() -> None:
        worker = Worker(queue_url, [Shop().agent()])
        worker.stop()
        await asyncio.wait_for(worker.run(), 5)

    asyncio.run(run())


async def _no_workers(fleet: Fleet) -> bool:
    return not (await fleet.status()).workers


def test_a_worker_that_is_stopped_hands_over_what_does_not_finish(queue_url: str) -> None:
    async def run() -> None:
        shop = Shop()
        shop.hangs.add("pesan")
        script = [call("pesan", item="SSD"), call("pesan", item="HDD"), "Selesai."]
        async with Fleet(queue_url) as fleet:
            async with at_work(queue_url, shop.agent(script), grace=0.4, takeover=60) as worker:
                turn = await fleet.submit("toko", "budi", "halo")
                await shop.began.wait()
                worker.stop()
                await asyncio.sleep(
                    0.3
                )  # past the half in which turns may finish; a write is under way, and is waited for
                shop.end.set()
                await until(lambda: _no_workers(fleet))
            assert shop.did == [("pesan", "SSD")], "nothing new was begun"
            assert await _state(fleet, turn) == "queued"
            async with at_work(queue_url, shop.agent(script), takeover=60):
                answer = await asyncio.wait_for(fleet.answer(turn), 10)  # at once: nobody is taken for dead
        assert [step.fault for step in answer.steps] == [None, None]
        assert shop.did == [("pesan", "SSD"), ("pesan", "HDD")]
        assert sum(isinstance(event, TurnResumed) for event in answer.events) == 1

    asyncio.run(run())


def test_a_worker_that_must_stop_at_once_says_what_nobody_knows(queue_url: str) -> None:
    async def run() -> None:
        shop = Shop()
        shop.hangs.add("pesan")
        async with Fleet(queue_url) as fleet:
            async with at_work(queue_url, shop.agent(), grace=60) as worker:
                turn = await fleet.submit("toko", "budi", "halo")
                await shop.began.wait()
                worker.stop()  # and once more at the end of the block
            shop.hangs.clear()
            async with at_work(queue_url, shop.agent()):
                answer = await fleet.answer(turn)
        assert [step.fault and step.fault.kind for step in answer.steps] == ["outcome_unknown"]
        assert shop.did == [("pesan", "SSD")]

    asyncio.run(run())


def test_what_cannot_work_is_said_before_anything_runs(queue_url: str) -> None:
    shop = Shop()
    with pytest.raises(ConfigurationError, match="two agents are called 'toko'"):
        Worker(queue_url, [shop.agent(), shop.agent()])
    with pytest.raises(ConfigurationError, match="at least one agent"):
        Worker(queue_url, [])
    with pytest.raises(ConfigurationError, match="postgresql://…, not sqlite:…"):
        Worker("sqlite:///tukang.db", [shop.agent()])
    with pytest.raises(ConfigurationError, match="slots and tries are at least 1"):
        Worker(queue_url, [shop.agent()], slots=0)

    async def run() -> None:
        async with Fleet(queue_url) as fleet:
            with pytest.raises(UnknownSessionError):
                await fleet.answer("never-submitted")
            with pytest.raises(ConfigurationError, match="has to be JSON"):
                await fleet.submit("toko", "budi", "halo", context=object())
            with pytest.raises(ConfigurationError, match="can be written down"):
                await fleet.submit("toko", "", "halo")
            with pytest.raises(ConfigurationError, match="1 to 100 characters"):
                await fleet.submit("x" * 101, "budi", "halo")

    asyncio.run(run())


@pytest.mark.parametrize(
    ("change", "kind"), [("rahasia-banget:salah", "denied"), ("/postgres:/tidak_ada", "not_found")]
)
def test_a_database_that_cannot_be_used_is_said_at_once(queue_url: str, change: str, kind: str) -> None:
    before, _, after = change.partition(":")

    async def run() -> None:
        with pytest.raises(StoreError) as error:
            await Worker(queue_url.replace(before, after), [Shop().agent()]).run()
        assert error.value.kind == kind
        assert "rahasia" not in str(error.value)

    asyncio.run(run())


def test_a_database_without_a_queue_says_how_to_make_one(postgres_url: str) -> None:
    async def run() -> None:
        with pytest.raises(StoreError, match="tukang db upgrade --workers") as error:
            async with contextlib.AsyncExitStack() as stack:
                await stack.enter_async_context(Fleet(postgres_url))
        assert error.value.kind == "not_upgraded"

    asyncio.run(run())
