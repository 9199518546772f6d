"""Decisions, edits, expiries, crashes and things delivered twice, in random order, on a real store: no call runs without a
permission for exactly its arguments, none runs twice, and every turn ends."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from random import Random
from typing import Any

import pytest

from tests.memory.mortal import Dead, Mortal, said
from tukang import Agent, Answer, Approval, CallContext, TukangError, tool
from tukang.conversation import validity
from tukang.loop import events
from tukang.memory.decisions import APPROVAL
from tukang.memory.stored import StoredSession
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import WaitError
from tukang.models.scripted import Scripted, call

LEASE = 0.05
SCRIPT = (
    [call("tulis", x=1), call("ulang", x=2), call("tulis", x=3)],
    [call("tulis", x=1), call("ulang", x=4), call("tulis", x=5)],
    "Selesai.",
)


class Schedule:
    """One turn, and everything that may happen to it, as chance has it."""

    def __init__(self, store: Store, chance: Random) -> None:
        self.store = store
        self.chance = chance
        self.did: list[tuple[str, str, int, str]] = []
        self.answers: list[tuple[str, Any]] = []
        self.agent = Agent(Scripted(lambda request: SCRIPT[said(request)]), tools=self._tools(), name="kerja")

    def _tools(self) -> list[Any]:
        def writing(name: str, effect: Any) -> Any:
            @tool(effect=effect, name=name, description=f"{name}.")
            def write(x: int, context: CallContext) -> str:
                self.did.append((context.call_id, name, x, context.idempotency_key))
                return f"{name} {x}"

            return write

        return [writing("tulis", "write"), writing("ulang", "idempotent")]

    async def run(self) -> Answer[Any]:
        """From its beginning to its end."""
        await self._alive(lambda chat: chat.arun("go"))
        for _ in range(self.chance.randint(0, 12)):
            if not await self.store.open_turns("budi"):
                break
            await self.chance.choice(
                (self.resume, self.asked, self.elsewhere, self.elsewhere, self.again, self.die, self.expire)
            )()
        for _ in range(30):
            if not await self.store.open_turns("budi"):
                break
            await self._alive(lambda chat: chat.aresume(approve=lambda _: True))
        (turn,) = await self.store.turns("budi")
        return Answer(turn.id, "answer", (), None, 0, 0.0, turn.messages, events=await self.store.read(turn.id))  # type: ignore[arg-type]

    async def _alive(self, work: Any, store: Any = None) -> None:
        """Something is done with the session, and may find that it cannot be."""
        with contextlib.suppress(TukangError, Dead):
            await work(self.agent.session("budi", store=store or self.store, lease=LEASE))

    async def resume(self) -> None:
        await self._alive(lambda chat: chat.aresume())

    async def asked(self) -> None:
        """Somebody is here, and answers each as chance has it."""
        await self._alive(lambda chat: chat.aresume(approve=self._verdict))

    def _verdict(self, asked: Approval) -> Any:
        edits = (asked.edit(x=9), asked.edit(x="8"), asked.edit(x="nine"), asked.edit({"y": 1}))
        return self.chance.choice((True, True, False, None, "perhaps", *edits))

    async def elsewhere(self) -> None:
        """Somebody elsewhere answers something, in time or not."""
        if waits := await self.store.waits(APPROVAL, open_only=False):
            wait = self.chance.choice(waits)
            digest = self.chance.choice((wait.asked["digest"], wait.asked["digest"], waits[0].asked["digest"], "else"))
            decision = self.chance.choice(("approve", "approve", "refuse", "edit", "perhaps"))
            arguments = {"x": self.chance.choice((1, 7, "6", "six"))}
            await self._answer(wait.key, {"decision": decision, "digest": digest, "arguments": arguments})

    async def again(self) -> None:
        """An answer is delivered once more, or for something else."""
        if self.answers:
            key, answer = self.chance.choice(self.answers)
            await self._answer(self.chance.choice((key, self.chance.choice(self.answers)[0])), answer)

    async def _answer(self, key: str, answer: Any) -> None:
        self.answers.append((key, answer))
        with contextlib.suppress(WaitError):
            await self.store.answer(APPROVAL, key, answer, by="ibu")

    async def die(self) -> None:
        """The process that goes on dies at one of its next steps."""
        left = self.chance.randint(1, 6)

        def told(name: str) -> None:
            nonlocal left
            left -= name in ("append", "answer", "waits")
            mortal.dead = mortal.dead or left <= 0

        mortal = Mortal(self.store, told)
        approve = self.chance.choice((None, self._verdict))
        await self._alive(lambda chat: chat.aresume(approve=approve), mortal)
        await asyncio.sleep(LEASE)

    async def expire(self) -> None:
        """Whatever still waits has waited too long."""
        await self.store._do(lambda db: db.change("UPDATE tukang_waits SET expires = 1.0 WHERE answered IS NULL"))  # type: ignore[attr-defined]


def permitted(journal: tuple[events.Event, ...], call_id: str) -> bool:
    """Whether each start of a call follows a permission for the digest that it was last checked under."""
    digest, given = "", set[str]()
    for event in journal:
        if isinstance(event, events.CallChecked) and event.call == call_id:
            digest = event.digest
        if isinstance(event, events.CallApproved) and event.call == call_id:
            given.add(event.digest)
        if isinstance(event, events.CallStarted) and event.call == call_id and digest not in given:
            return False
    return True


def checked(journal: tuple[events.Event, ...], call_id: str) -> str | None:
    """The arguments that a call was last checked with."""
    return [one.arguments for one in journal if isinstance(one, events.CallChecked) and one.call == call_id][-1]


SEEDS = [*range(12), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(12, 40))]


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_happens_only_what_was_permitted_runs_and_once(store: Store, seed: int) -> None:
    async def work() -> None:
        schedule = Schedule(store, Random(seed))
        answer = await schedule.run()
        assert answer.events
        assert isinstance(answer.events[-1], events.TurnFinished), "it ends"
        assert validity(await StoredSession("budi", store).read()) == []
        for call_id, _, x, _ in schedule.did:
            assert permitted(answer.events, call_id)
            assert checked(answer.events, call_id) == f'{{"x":{x}}}'
        times = Counter(call_id for call_id, name, _, _ in schedule.did if name == "tulis")
        assert all(count == 1 for count in times.values()), times
        same = Counter((name, x) for _, name, x, _ in schedule.did if name == "tulis")
        assert all(count == 1 for count in same.values()), "the same is not done twice in a turn"
        keys = {(name, x): key for _, name, x, key in schedule.did}
        assert all(keys[name, x] == key for _, name, x, key in schedule.did), "an attempt has one key"
        waits = await store.waits(APPROVAL, open_only=False)
        started = [one.call for one in answer.events if isinstance(one, events.CallStarted)]
        for call_id in started:
            said = [wait.answer for wait in waits if wait.asked["call"] == call_id and wait.consumed is not None]
            digest = [
                one.digest for one in answer.events if isinstance(one, events.CallChecked) and one.call == call_id
            ]
            assert said[-1]["decision"] == "approve", "it was used by the start"
            assert said[-1]["digest"] == digest[-1], "and somebody meant exactly this"

    asyncio.run(work())
