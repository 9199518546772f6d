"""A turn whose store fails: the caller is told clearly, nothing is half-written, and the session can be used afterwards."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest

from tests.memory.mortal import World, steps
from tukang.conversation import validity
from tukang.loop.evolve import evolve
from tukang.loop.state import State
from tukang.memory.stored import StoredSession
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import StoreError
from tukang.models.scripted import call


class Failing:
    """A store whose disk is full from some append on, until it is mended."""

    def __init__(self, store: Store, appends: int) -> None:
        self._store = store
        self._left: float = appends
        self.failed = 0

    def mend(self) -> None:
        self._left = float("inf")

    def __getattr__(self, name: str) -> Any:
        whole = getattr(self._store, name)
        if name not in ("append", "take", "renew", "release") or not inspect.iscoroutinefunction(whole):
            return whole

        async def done(*arguments: Any, **options: Any) -> Any:
            self._left -= name == "append"
            if self._left < 0 and name != "take":
                self.failed += 1
                raise StoreError("full", "tukang.db: there is no room left on the disk.")
            return await whole(*arguments, **options)

        return done


def agent_of(world: World) -> Any:
    return world.agent([call("read", x=1), call("write", x=2)], call("idempotent", x=3), "Selesai.")


@pytest.mark.parametrize("how", ["resume", "message"])
def test_a_disk_that_fills_up_at_any_point(store: Store, how: str) -> None:
    async def work() -> None:
        appends = 0
        while True:
            world, name = World(), f"budi-{how}-{appends}"
            failing: Any = Failing(store, appends)
            chat = agent_of(world).session(name, store=failing, lease=0.05)
            failed: StoreError | None = None
            try:
                await chat.arun("go")
            except StoreError as error:
                failed = error
            if failed is None:
                break
            assert failed.kind == "full"
            assert "no room left" in str(failed)
            await _is_whole(store, name)
            failing.mend()
            answer = await chat.aresume() if how == "resume" else None
            if answer is None:
                answer = await chat.arun("go")
            assert answer.text == "Selesai."
            assert len(world.keys("write", 2)) <= (1 if how == "resume" else 2), "a turn writes once"
            assert await store.open_turns(name) == []
            assert validity(await StoredSession(name, store).read()) == []
            appends += 1
        assert appends >= 8, "each of the turn's appends failed once"

    asyncio.run(work())


async def _is_whole(store: Store, session: str) -> None:
    """What is in the store folds, and begins with what begins a turn."""
    for left in await store.open_turns(session):
        state: State | None = None
        for event in await store.read(left.turn):
            state = evolve(state, event)
        assert state is not None
        assert not state.finished


@pytest.mark.parametrize(
    ("pragma", "mended", "kind"),
    [("max_page_count = 1", "max_page_count = 100000", "full"), ("query_only = ON", "query_only = OFF", "read_only")],
)
def test_sqlite_itself_fails_in_the_middle(tmp_path: Any, pragma: str, mended: str, kind: str) -> None:
    from tukang.memory.stores.addresses import store_at

    async def work() -> None:
        store = store_at(f"sqlite:///{tmp_path}/tukang.db")
        world = World()
        world.hangs.add("write")
        # a result that does not fit into what is left of the file
        agent = world.agent([call("write", x=1), call("read", x=2)], "Selesai. " * 2000, "Selesai.")
        chat = agent.session("budi", store=store, lease=0.2)
        running = asyncio.create_task(chat.arun("go"))
        await world.began.wait()
        await _pragma(store, pragma)
        world.end.set()
        with pytest.raises(StoreError) as failed:
            await running
        assert failed.value.kind == kind
        await _pragma(store, mended)
        world.hangs.clear()
        answer = await chat.aresume()
        assert answer is not None
        assert answer.text.startswith("Selesai.")
        assert steps(answer)[1] == ("read", None)
        assert len(world.keys("write")) == 1
        await store.close()

    asyncio.run(work())


async def _pragma(store: Any, pragma: str) -> None:
    await store._lane.run(lambda db: db._connection.execute(f"PRAGMA {pragma}"))
