"""Calls from outside under a key: run once, given again as they ended, also after the process that ran them died."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tukang import Agent, Answer, CallContext, Limits, tool
from tukang.calling import AsAsked, OtherCallError, call
from tukang.errors import SessionBusyError
from tukang.loop.events import CallStarted
from tukang.memory import keyed
from tukang.memory.keyed import KeyedSession, Log, MemoryLog
from tukang.memory.keyed_sqlite import SqliteLog
from tukang.runtime.journal import JournalConflictError
from tukang.tools.outcome import NothingDone


class Shop:
    """Tools that count what they did."""

    def __init__(self) -> None:
        self.orders: list[str] = []
        self.open = asyncio.Event()

    def tools(self) -> list[Any]:
        return [
            tool(self.order, effect="write", approval="never"),
            tool(self.look, effect="read"),
            tool(self.slow, effect="write", approval="never"),
            tool(self.again, effect="idempotent", approval="never"),
        ]

    def order(self, n: int, context: CallContext) -> str:
        """Order."""
        if n < 0:
            raise NothingDone("no")
        self.orders.append(context.idempotency_key)
        return f"{len(self.orders)} in {context.session}"

    def look(self, n: int) -> int:
        """Look."""
        self.orders.append(f"looked {n}")
        return n

    async def slow(self, n: int) -> int:
        """Order slowly."""
        self.orders.append("slow")
        await self.open.wait()
        return n

    def again(self, n: int, context: CallContext) -> str:
        """Put."""
        self.orders.append(context.idempotency_key)
        return f"put {n}"


@pytest.fixture(params=["memory", "sqlite"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Log]:
    if request.param == "memory":
        yield MemoryLog()
        return
    made = SqliteLog(tmp_path / "calls.db")
    yield made
    made.close()


def agent(shop: Shop, seconds: float = 30.0) -> Agent:
    return Agent(AsAsked("", ""), tools=shop.tools(), limits=Limits(seconds=seconds))


async def made(
    of: Agent, log: Log, name: str, arguments: str, key: str | None, patience: float = 30.0, **more: Any
) -> Answer[Any]:
    session = KeyedSession("budi", log, patience=patience)
    return await call(of, name, arguments, session=session, turn=key, **more).answer()


async def begun(log: Log) -> None:
    """Wait until the call with the key `k` is written down."""
    while not await log.read("k"):  # noqa: ASYNC110 - a log tells nobody
        await asyncio.sleep(0)


def test_a_key_stands_for_one_call(log: Log) -> None:
    shop = Shop()

    async def go() -> None:
        of = agent(shop)
        first = await made(of, log, "order", '{"n": 1}', "k1")
        second = await made(of, log, "order", '{"n": 1}', "k1")
        other = await made(of, log, "order", '{"n": 1}', "k2")
        assert [one.steps[0].result for one in (first, second, other)] == ["1 in budi", "1 in budi", "2 in budi"]

    asyncio.run(go())
    assert len(shop.orders) == 2
    assert shop.orders[0].startswith("k1-")


def test_without_a_key_nothing_is_remembered(log: Log) -> None:
    shop = Shop()

    async def go() -> None:
        for _ in range(2):
            await made(agent(shop), log, "order", '{"n": 1}', None)

    asyncio.run(go())
    assert len(shop.orders) == 2


def test_a_key_is_not_for_another_call(log: Log) -> None:
    shop = Shop()

    async def go() -> None:
        await made(agent(shop), log, "order", '{"n":1}', "k1")
        for name, arguments in (("order", '{"n":2}'), ("look", '{"n":1}')):
            with pytest.raises(OtherCallError):
                await made(agent(shop), log, name, arguments, "k1")

    asyncio.run(go())
    assert len(shop.orders) == 1


def test_what_never_ran_leaves_its_key_free(log: Log) -> None:
    """A call that did not fit its tool, and one that was refused, can be made again with the same key."""
    shop = Shop()

    async def go() -> None:
        of = agent(shop)
        wrong = await made(of, log, "order", '{"n":"x"}', "k1")
        assert wrong.steps[0].fault is not None
        assert wrong.steps[0].fault.kind == "invalid_arguments"
        assert not await log.read("k1")
        assert (await made(of, log, "order", '{"n":1}', "k1")).steps[0].result == "1 in budi"

    asyncio.run(go())


def test_many_at_the_same_moment_run_it_once(log: Log) -> None:
    shop = Shop()

    async def one(of: Agent) -> str:
        while True:
            try:
                return (await made(of, log, "order", '{"n":1}', "k")).steps[0].result
            except JournalConflictError:
                continue

    async def go() -> list[str]:
        return await asyncio.gather(*[one(agent(shop)) for _ in range(8)])

    assert set(asyncio.run(go())) == {"1 in budi"}
    assert len(shop.orders) == 1


def test_who_comes_second_waits_no_longer_than_they_want_to(log: Log) -> None:
    shop = Shop()

    async def go() -> None:
        first = asyncio.create_task(made(agent(shop), log, "slow", '{"n":1}', "k"))
        await begun(log)
        with pytest.raises(SessionBusyError, match="still under way"):
            await made(agent(shop), log, "slow", '{"n":1}', "k", patience=0.0)
        shop.open.set()
        assert (await first).steps[0].result == "1"
        assert (await made(agent(shop), log, "slow", '{"n":1}', "k")).steps[0].result == "1"

    asyncio.run(go())
    assert shop.orders == ["slow"]


class Dies:
    """A log whose process dies: after so many batches nothing is written any more, and nobody is told."""

    def __init__(self, log: Log, after: int) -> None:
        self._log, self._left = log, after

    async def read(self, turn: str) -> Sequence[bytes]:
        return await self._log.read(turn)

    async def append(self, turn: str, number: int, batch: bytes) -> bool:
        if self._left == 0:
            raise ConnectionError("the machine is gone")
        self._left -= 1
        return await self._log.append(turn, number, batch)


@pytest.mark.parametrize(
    ("name", "after", "ran", "said"),
    [
        ("order", 0, 0, "1 in budi"),  # before anything was written: it had not begun
        ("order", 1, 1, "outcome_unknown"),
        ("look", 1, 2, "1"),
        ("again", 1, 2, "put 1"),
    ],
)
def test_after_a_crash(name: str, after: int, ran: int, said: str, log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    """What had begun and may have happened is not run again, unless that does no harm; from then on that is its outcome."""
    shop = Shop()
    monkeypatch.setattr(keyed, "GRACE", -60.0)  # whoever began it must have ended it by now

    async def go() -> list[str]:
        with pytest.raises(ConnectionError):
            await made(agent(shop), Dies(log, after), name, '{"n":1}', "k")
        told: list[str] = []
        for _ in range(2):
            step = (await made(agent(shop), log, name, '{"n":1}', "k")).steps[0]
            told.append(step.fault.kind if step.fault else step.result)
        return told

    assert asyncio.run(go()) == [said, said]
    assert len(shop.orders) == max(ran, 1)
    if name == "again":
        assert len(set(shop.orders)) == 1, "the same key each time"


def test_who_was_given_up_writes_nothing_any_more(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = Shop()

    async def go() -> None:
        slow = asyncio.create_task(made(agent(shop), log, "slow", '{"n":1}', "k"))
        await begun(log)
        monkeypatch.setattr(keyed, "GRACE", -60.0)
        taken = (await made(agent(shop), log, "slow", '{"n":1}', "k")).steps[0]
        assert taken.fault is not None
        assert taken.fault.kind == "outcome_unknown"
        shop.open.set()
        with pytest.raises(JournalConflictError):
            await slow
        again = (await made(agent(shop), log, "slow", '{"n":1}', "k")).steps[0]
        assert again.fault == taken.fault

    asyncio.run(go())
    assert shop.orders == ["slow"]


def test_a_turn_without_an_end_in_sight_is_waited_for(log: Log) -> None:
    """Whose limits have no bound is never given up: the time says nothing about it."""
    shop = Shop()

    async def go() -> None:
        unbounded = Agent(AsAsked("", ""), tools=shop.tools(), limits=Limits(seconds=None))
        slow = asyncio.create_task(made(unbounded, log, "slow", '{"n":1}', "k"))
        await begun(log)
        with pytest.raises(SessionBusyError):
            await made(unbounded, log, "slow", '{"n":1}', "k", patience=0.0)
        shop.open.set()
        await slow

    asyncio.run(go())


def test_the_intent_is_written_before_the_function_runs(log: Log) -> None:
    seen: list[int] = []

    @tool(effect="write", approval="never")
    async def order(n: int) -> int:
        """Order."""
        batches = await log.read("k")
        rows: list[dict[str, Any]] = [row for batch in batches for row in msgspec.json.decode(batch)]
        seen.append(sum(row["kind"] == CallStarted.__name__ for row in rows))
        return n

    asyncio.run(made(Agent(AsAsked("", ""), tools=[order]), log, "order", '{"n":1}', "k"))
    assert seen == [1]


def test_a_secret_in_a_result_is_not_written(log: Log) -> None:
    @tool(effect="read")
    def look() -> str:
        """Look."""
        return "the key is sk-abcdefghijklmnopqrstuvwxyz123456"

    async def go() -> bytes:
        of = Agent(AsAsked("", ""), tools=[look])
        first = await made(of, log, "look", "", "k")
        assert "sk-abc" in first.steps[0].result
        return b"".join(await log.read("k"))

    assert b"sk-abc" not in asyncio.run(go())


def test_a_log_in_memory_forgets_the_oldest() -> None:
    log = MemoryLog(most=2)

    async def go() -> list[bool]:
        for turn in ("a", "b", "c"):
            await log.append(turn, 0, b"x")
        return [bool(await log.read(turn)) for turn in ("a", "b", "c")]

    assert asyncio.run(go()) == [False, True, True]


def test_a_file_outlives_its_log(tmp_path: Path) -> None:
    shop, path = Shop(), tmp_path / "calls.db"

    def with_log(do: Callable[[Log], Any]) -> Any:
        log = SqliteLog(path)
        try:
            return asyncio.run(do(log))
        finally:
            log.close()

    for _ in range(2):
        answer = with_log(lambda log: made(agent(shop), log, "order", '{"n":1}', "k"))
        assert answer.steps[0].result == "1 in budi"
    assert len(shop.orders) == 1


def test_a_log_takes_each_number_once(log: Log) -> None:
    async def go() -> list[bool]:
        return [await log.append("t", number, b"x") for number in (0, 0, 1, 1)]

    assert asyncio.run(go()) == [True, False, True, False]
