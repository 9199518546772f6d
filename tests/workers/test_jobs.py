"""Whose a job is: what a worker says that was given up changes nothing, and what got lost between two is found again."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager
from procrastinate.tasks import configure_task

from tests.workers.crew import Shop, at_work, until
from tukang.conversation import user
from tukang.memory.stores.addresses import store_at
from tukang.workers import Fleet
from tukang.workers.jobs import Jobs
from tukang.workers.mending import mend
from tukang.workers.queue import Queue, queue_of
from tukang.workers.values import Again, Asked, Done, Failed, Outcome

LONG_AGO = "UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 hour' RETURNING id"


class Two:
    """Two workers as their jobs see them, and one turn that was submitted."""

    def __init__(self, queue: Queue) -> None:
        self.queue = queue
        self.a, self.b = (Jobs(queue, name, ["toko"], 1) for name in "ab")

    async def take(self, who: Jobs) -> Job | None:
        return await who.fetch_job([queue_of("toko")], 0)

    async def taken(self, who: Jobs) -> Job:
        job = await self.take(who)
        assert job is not None
        return job

    async def end(self, who: Jobs, job: Job, outcome: Outcome | None = None) -> None:
        if outcome is not None:
            who.say(job, outcome)
        await who.finish_job(job, Status.SUCCEEDED, False)

    async def rescue(self, tries: int = 5) -> None:
        """B finds that A has been silent for too long."""
        await self.queue.all(LONG_AGO)
        await self.b.rescue(60, tries)

    async def stands(self) -> tuple[str, int, str | None, bool] | None:
        """The turn: how its job stands, its faults, why, whether it has failed. None when it has finished."""
        rows = await self.queue.all(
            "SELECT j.status::text, s.faults, s.why, s.failed IS NOT NULL AS failed "
            "FROM tukang_submitted s LEFT JOIN procrastinate_jobs j ON j.id = s.job"
        )
        return next(((row["status"], row["faults"], row["why"], row["failed"]) for row in rows), None)


@asynccontextmanager
async def two(url: str) -> AsyncGenerator[Two]:
    queue = Queue(url)
    await queue.open()
    try:
        pair = Two(queue)
        await pair.a.register_worker()
        await queue.submit("t-1", "budi", "toko", Asked(user("halo")))
        yield pair
    finally:
        await queue.close()


def test_a_worker_that_was_only_slow_changes_nothing(queue_url: str) -> None:
    async def run() -> None:
        async with two(queue_url) as pair:
            late = await pair.taken(pair.a)
            await pair.rescue()
            await pair.b.register_worker()
            mine = await pair.taken(pair.b)
            for outcome in (Done(), Failed("nothing"), Again(0, "nothing"), None):
                await pair.end(pair.a, late, outcome)
                assert await pair.stands() == ("doing", 1, "its worker died, or was silent for too long", False)
            assert await pair.take(pair.a) is None, "it takes no more turns under its old number"
            await pair.end(pair.b, mine, Done())
            assert await pair.stands() is None
            await pair.a.beat()  # registers anew
            await pair.queue.submit("t-2", "budi", "toko", Asked(user("halo")))
            assert await pair.take(pair.a) is not None

    asyncio.run(run())


def test_a_turn_whose_workers_die_again_and_again_fails(queue_url: str) -> None:
    async def run() -> None:
        async with two(queue_url) as pair:
            await pair.taken(pair.a)
            await pair.rescue(tries=2)
            assert await pair.stands() == ("todo", 1, "its worker died, or was silent for too long", False)
            await pair.a.beat()
            await pair.taken(pair.a)
            await pair.rescue(tries=2)
            assert await pair.stands() == ("failed", 2, "its worker died, or was silent for too long", True)
            await mend(pair.queue, store_at(queue_url))
            await pair.a.beat()
            assert await pair.take(pair.a) is None
            await pair.queue.all("DELETE FROM procrastinate_jobs RETURNING id")  # somebody has tidied up
            assert await pair.queue.retry("t-1")
            await mend(pair.queue, store_at(queue_url))
            assert await pair.take(pair.a) is not None

    asyncio.run(run())


def test_a_job_that_nobody_runs_is_put_back_by_the_worker_that_has_it(queue_url: str) -> None:
    async def run() -> None:
        async with two(queue_url) as pair:
            # the answer to a fetch was lost: the job stands under A, and A knows nothing of it
            await pair.queue.all(
                "SELECT * FROM procrastinate_fetch_job_v2(NULL, (SELECT min(worker) FROM tukang_workers))"
            )
            await pair.a.beat()
            assert (await pair.stands() or "")[0] == "doing", "it could be on its way"
            await pair.a.beat()
            assert await pair.stands() == ("todo", 0, None, False)
            mine = await pair.taken(pair.a)
            for _ in range(3):
                await pair.a.beat()
            assert (await pair.stands() or "")[0] == "doing", "it is being run"
            await pair.end(pair.a, mine)
            assert await pair.stands() == ("todo", 0, None, False), "given up in the middle: no fault of the turn"

    asyncio.run(run())


def test_a_turn_whose_job_is_gone_is_queued_again(queue_url: str) -> None:
    async def run() -> None:
        shop = Shop()
        async with Fleet(queue_url) as fleet:
            turn = await fleet.submit("toko", "budi", "halo")
            queue = Queue(queue_url)
            await queue.open()
            await queue.all("DELETE FROM procrastinate_jobs RETURNING id")
            await queue.close()
            async with at_work(queue_url, shop.agent()):
                assert (await fleet.answer(turn)).text == "Selesai."

    asyncio.run(run())


def test_a_turn_that_was_gone_on_with_elsewhere_leaves_the_queue(queue_url: str) -> None:
    """What waited in the queue was finished by a program of the user's own."""

    async def run() -> None:
        shop = Shop()
        agent = shop.agent()
        async with two(queue_url) as pair:
            store = store_at(queue_url)
            await agent.start("halo", turn="t-1", session=agent.session("budi", store=store).session).answer()
            async with at_work(queue_url, agent):
                await until(lambda: _finished(pair))
            await store.close()
        assert shop.did == [("pesan", "SSD")]

    asyncio.run(run())


async def _finished(pair: Two) -> bool:
    return await pair.stands() is None


def test_a_job_with_another_in_its_place_does_not_go_back(queue_url: str) -> None:
    async def run() -> None:
        async with two(queue_url) as pair:

            async def another() -> None:
                manager = JobManager(pair.queue.connector)
                task = configure_task(
                    name="tukang.turn", job_manager=manager, queue=queue_of("toko"), queueing_lock="t"
                )
                await task.defer_async(turn="t-9")

            async def jobs() -> Counter[str]:
                rows = await pair.queue.all("SELECT status::text FROM procrastinate_jobs WHERE queueing_lock = 't'")
                return Counter(row["status"] for row in rows)

            await pair.end(pair.a, await pair.taken(pair.a), Done())
            await another()
            await pair.taken(pair.a)
            await another()
            assert await jobs() == {"doing": 1, "todo": 1}
            await pair.rescue()  # A has died over the first
            assert await jobs() == {"todo": 1}

            await pair.a.beat()
            first = await pair.taken(pair.a)
            await another()
            second = await pair.taken(pair.a)
            assert await jobs() == {"doing": 2}
            await pair.rescue()  # over both
            assert await jobs() == {"todo": 1}
            assert first.id != second.id

            await pair.a.beat()
            await pair.end(pair.a, await pair.taken(pair.a), Again(60))
            assert await jobs() == {"todo": 1}, "nothing stands in its way"
            await pair.queue.all("UPDATE procrastinate_jobs SET scheduled_at = NULL RETURNING id")
            held = await pair.taken(pair.a)
            await another()
            await pair.end(pair.a, held, Again(60))
            assert await jobs() == {"todo": 1}, "the newer one is as good"

            stray = await pair.taken(pair.b) if await pair.b.register_worker() else None
            assert stray is not None
            await another()
            pair.b._mine.clear()  # pyright: ignore[reportPrivateUsage]
            for _ in range(2):
                await pair.b.beat()
            assert await jobs() == {"todo": 1}

    asyncio.run(run())
