"""Kills a turn's process at one point, has other processes go on, and looks whether everything is as it has to be.

What is looked at stands outside of what was killed: the ledger that the tools wrote, and the store as others read it.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal

import msgspec

from tests.crash.judges import Court
from tests.crash.program import ANOTHER, QUESTION, Came, Line, Task
from tukang import Message
from tukang.conversation import validity
from tukang.loop.events import CallFinished, CallStarted, Event
from tukang.loop.evolve import evolve
from tukang.loop.state import State
from tukang.memory.decisions import APPROVAL
from tukang.memory.stores.addresses import store_at
from tukang.memory.stores.base import Store

ONCE = ("tulis", "bayar")
"""The tools that must never be done twice."""

AGAIN = ("ulang", "bayar_ulang")
"""The tools that may be done again with the same key."""


class Programs:
    """The process that forks the processes that are killed."""

    def __enter__(self) -> Programs:
        command = [sys.executable, "-m", "tests.crash.program"]
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait(60)
        assert self._server.stdout is not None
        self._server.stdout.close()

    def do(self, task: Task) -> Came:
        """Do a task in a process of its own, and say what came of it."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(msgspec.json.encode(task) + b"\n")
        self._server.stdin.flush()
        came = msgspec.json.decode(self._server.stdout.readline(), type=Came)
        assert came.error is None, f"{task}: {came.error}"
        return came


class Case(msgspec.Struct, frozen=True):
    """One death: at which point, in which of a turn's processes, and how the session goes on afterwards."""

    stage: int
    point: str
    then: Literal["resume", "another"]

    def __str__(self) -> str:
        return f"{self.stage}: {self.point}, then {self.then}"


class Left(msgspec.Struct, frozen=True):
    """What a death left behind: the calls that had finished, and how often each call's function has had its effect."""

    finished: frozenset[str]
    done: Counter[str]


class Scene:
    """One store, with a session for each death.

    Args:
        url: the store.
        directory: where the ledgers are.
        programs: does the tasks.
        court: judges the conversations.
    """

    def __init__(self, url: str, directory: Path, programs: Programs, court: Court) -> None:
        self.url = url
        self._directory = directory
        self._programs = programs
        self._court = court
        self._runner = asyncio.Runner()
        self._store: Store = store_at(url)
        self._answer = ""
        self._runner.run(self._store.upgrade())

    def close(self) -> None:
        self._runner.run(self._store.close())
        self._runner.close()

    def rehearse(self) -> list[Case]:
        """Let a turn live, and give every death that it could die."""
        cases: list[Case] = []
        came = self._do("begin", "rehearsal")
        for stage in range(10):
            cases += [Case(stage, point, then) for then in ("resume", "another") for point in came.points]
            if came.stopped != "waiting":
                break
            assert self._decide("rehearsal")
            came = self._do("resume", "rehearsal")
        assert came.stopped == "answer"
        self._answer = came.answer or ""
        self._check_done("rehearsal", 1)
        self._check_points(cases)
        return cases

    def kill(self, number: int, case: Case) -> None:
        """Let a turn live up to its death."""
        session = _name(number)
        for stage in range(case.stage):
            came = self._do("begin" if stage == 0 else "resume", session)
            assert came.stopped == "waiting"
            assert self._decide(session)
        came = self._do("resume" if case.stage else "begin", session, case.point)
        assert came.signal == 9, f"{case}: it was not killed there: {came.stopped}"

    def kill_again(self, number: int, point: str) -> bool:
        """Kill who goes on with a turn, too; whether it came to that point."""
        return self._do("resume", _name(number), point).signal == 9

    def left(self, number: int) -> Left:
        """What death has left behind."""
        session = _name(number)
        finished = {event.call for event in self._events(session) if isinstance(event, CallFinished)}
        return Left(frozenset(finished), self._times(session))

    def go_on(self, number: int, case: Case, left: Left) -> None:
        """Let other processes go on after the death, and look whether all is well."""
        session = _name(number)
        began = bool(self._events(session))
        if case.then == "another":
            came = self._do("another", session)
            assert (came.answer, came.stopped) == ("Halo.", "answer"), f"{case}: {came}"
        else:
            self._resume(session, began)
        for call in left.finished:
            assert self._times(session)[call] == left.done[call], f"{case}: {call} had finished, and was run again"
        self._check_done(session, 0 if case.then == "another" else 1)
        self._check_conversation(session, case, 1 + began if case.then == "another" else 1)

    def _resume(self, session: str, began: bool) -> None:
        """Go on until the turn has ended, deciding what it waits for. What never began is said again."""
        for _ in range(10):
            came = self._do("resume", session)
            if came.stopped is None and not began:
                came = self._do("begin", session)
                began = True
            if came.stopped != "waiting":
                break
            assert self._decide(session)
        assert came.stopped in (None, "answer"), f"{session}: {came}"

    def _check_points(self, cases: Sequence[Case]) -> None:
        """There is a point before and after every single event of the turn."""
        written = Counter(type(event).__name__ for event in self._events("rehearsal"))
        for place in ("before", "after"):
            about = f"{place} the row of "
            points = [case.point for case in cases if case.then == "resume" and case.point.startswith(about)]
            assert Counter(point.removeprefix(about).rpartition(" ")[0] for point in points) == written

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _check_done(self, session: str, least: int) -> None:
        """Nothing that must be done once was done twice; what may be done again was, with one key."""
        lines = self._ledger(session)
        once = Counter((line.tool, line.x) for line in lines if line.tool in ONCE)
        assert all(count == 1 for count in once.values()), f"{session}: {once}"
        keys: dict[tuple[str, int], set[str]] = {}
        for line in lines:
            if line.tool in AGAIN:
                keys.setdefault((line.tool, line.x), set()).add(line.key)
        assert all(len(used) == 1 for used in keys.values()), f"{session}: {keys}"
        if least:
            assert len(keys) == 3, f"{session}: an idempotent write is done in the end"
            assert {line.x for line in lines if line.tool == "baca"} == {1, 2, 3, 6, 8, 10, 12}

    def _check_conversation(self, session: str, case: Case, turns: int) -> None:
        kept = self._runner.run(self._store.turns(session, finished_only=False))
        assert len(kept) == turns, f"{case}: {len(kept)} turns"
        assert all(turn.finished for turn in kept), case
        messages = [message for turn in kept for message in turn.messages]
        assert validity(messages) == [], case
        alike = msgspec.json.encode(messages).decode()
        for place, turn in enumerate(kept):
            alike = alike.replace(turn.id, f"turn{place}")
        self._court.judge(messages, alike)
        assert messages[-1].text == ("Halo." if case.then == "another" else self._answer), case
        assert messages[-2 if turns == 1 + 0 and case.then == "another" else 0].text in (QUESTION, ANOTHER)
        self._check_outcomes(session, messages, case)

    def _check_outcomes(self, session: str, messages: Sequence[Message], case: Case) -> None:
        """What the model was told is what happened: done, or not known; and whatever began has ended."""
        times = self._times(session)
        begun = {event.call for event in self._events(session) if isinstance(event, CallStarted)}
        first: dict[tuple[str, str], str] = {}
        for message in messages:
            for call in message.calls:
                first.setdefault((call.name, call.arguments), call.id)
        asked = {call.id: (call.name, call.arguments) for message in messages for call in message.calls}
        for result in (result for message in messages for result in message.results):
            leader = first[asked[result.call_id]]
            if not result.fault:
                assert times[leader] >= 1, f"{case}: {result.name} is said to be done, and was not"
            elif "outcome_unknown" in result.text:
                assert leader in begun, f"{case}: {result.name} is said to have begun"
            else:
                assert result.name == "baca" or times[leader] == 0, f"{case}: {result.name} was done: {result.text}"
        assert set(times) <= begun, f"{case}: something was done that was not written down before"

    def _events(self, session: str) -> list[Event]:
        """The events of all turns of a session; they fold."""
        found: list[Event] = []
        for turn in self._runner.run(self._store.turns(session, finished_only=False)):
            events = self._runner.run(self._store.read(turn.id))
            state: State | None = None
            for event in events:
                state = evolve(state, event)
            found += events
        return found

    def _times(self, session: str) -> Counter[str]:
        return Counter(line.call for line in self._ledger(session))

    def _ledger(self, session: str) -> list[Line]:
        path = self._directory / session
        lines = path.read_bytes().splitlines() if path.exists() else []
        return [msgspec.json.decode(line, type=Line) for line in lines]

    # ── doing ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _do(self, does: Literal["begin", "resume", "another"], session: str, deadly: str | None = None) -> Came:
        return self._programs.do(Task(does, self.url, session, str(self._directory / session), deadly))

    def _decide(self, session: str) -> bool:
        """Somebody permits what is waited for; whether there was anything."""

        async def decide() -> bool:
            waits = await self._store.waits(APPROVAL, session=session)
            for wait in waits:
                permission = {"decision": "approve", "digest": wait.asked["digest"]}
                await self._store.answer(APPROVAL, wait.key, permission, by="ibu")
            return bool(waits)

        return self._runner.run(decide())


def _name(number: int) -> str:
    return f"death-{number}"
