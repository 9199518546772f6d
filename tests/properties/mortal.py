"""A world in which the process may die after any event, and the turn goes on from its journal.

What dies with it: requests, checks and functions that were under way. A function may have done its work or not; nobody knows.
What is written down may have lost a secret, as `memory.redaction` does it.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from tests.properties.world import World
from tukang.conversation import ToolCall, Usage
from tukang.loop import effects, events
from tukang.loop.evolve import evolve
from tukang.loop.state import Call, State

SECRET, REMOVED = '{"a":2}', '{"a":"[removed]"}'


class Died(Exception):
    """The process is gone."""


class MortalWorld(World):
    """`dies_at` says with which event the process dies: the so-manieth from now of a kind (of any, where the kind is None).
    While it is None, it lives on.

    `secretive`: whether the arguments `SECRET` are taken out of what is written down.
    """

    dies_at: tuple[type[events.Event] | None, int] | None = None
    secretive = False
    deaths = 0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.finished: set[str] = set()
        self.keys: dict[str, str] = {}
        self.rerun = 0
        super().__init__(*arguments, **options)

    def _record(self, event: events.Event) -> None:
        super()._record(event)
        if isinstance(event, events.CallFinished):
            self.finished.add(event.call)
        if self.dies_at is None:
            return
        kind, left = self.dies_at
        if kind is None or isinstance(event, kind):
            if left <= 1:
                raise Died
            self.dies_at = kind, left - 1

    def _check(self, effect: effects.Effect) -> None:
        super()._check(effect)
        match effect:
            case effects.CheckCalls(calls):
                assert not any(self._call(call_id).redacted for call_id in calls), "what is there is not what was asked"
            case effects.RunCall(call_id, key):
                self._check_again(self._call(call_id), key)
            case _:
                pass

    def _check_again(self, call: Call, key: str) -> None:
        assert call.id not in self.finished, "a finished call is not run again"
        assert not call.redacted, "a call whose arguments are gone is not run"
        if call.begun:
            self.rerun += 1
            assert call.policy.effect in ("read", "idempotent"), "what may have happened is not run again"
            assert call.reads or call.key == key, "the same attempt has the same key"
        if call.policy.effect == "idempotent":
            assert self.keys.setdefault(call.digest, key) == key

    def reply(self) -> None:
        """Mostly a model that works on: a turn that has just begun has little to lose."""
        if self.choose([True, True, True, False]):
            self.asked = False
            parts = [
                ToolCall("", self.choose(self.menu), self.choose(self.arguments))
                for _ in range(self.choose([1, 2, 3, 4]))
            ]
            self.post(events.ModelReplied(at=self.tick(), parts=tuple(parts), finish="calls", usage=Usage(input=1)))
        else:
            super().reply()

    # ── dying and going on ───────────────────────────────────────────────────────────────────────────────────────────

    def come_back(self) -> None:
        """Another process reads the journal and goes on."""
        self.deaths += 1
        self.dies_at = None
        if self.secretive:
            self.journal = [_without_secret(event) for event in self.journal]
        left = self._folded()
        for call in left.calls:
            if call.status == "running" and not call.reads:
                self.uncertain[call.digest] += 1
        self.asked, self.unchecked, self.running, self.left_behind = False, [], {}, []
        self.comparing = False
        self.waiting = [call.id for call in left.calls if call.status == "waiting"]
        self.state = left

    def _folded(self) -> State:
        state: State | None = None
        for event in self.journal:
            state = evolve(state, event)
        assert state is not None
        return state


def _without_secret(event: events.Event) -> events.Event:
    match event:
        case events.ModelReplied(parts=parts):
            return replace(event, parts=tuple(map(_clean, parts)))
        case events.CallChecked(arguments=arguments) | events.CallEdited(arguments=arguments) if arguments == SECRET:
            return replace(event, arguments=REMOVED, redacted=True)
        case _:
            return event


def _clean(part: Any) -> Any:
    if isinstance(part, ToolCall) and part.arguments == SECRET:
        return replace(part, arguments=REMOVED, redacted=True)
    return part
