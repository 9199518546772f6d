"""The world around the loop, made of chance: models, functions, people and clocks that do anything in any order.

It performs effects the way the driver does (recorded before performed) but without time, tasks or I/O, and looks at every
step whether the loop keeps its rules. `choose` is the only source of chance, so Hypothesis can shrink what it finds.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from tukang.conversation import Message, Part, Text, ToolCall, Usage, user, validity
from tukang.loop import effects, events
from tukang.loop.decide import decide
from tukang.loop.effects import begun
from tukang.loop.evolve import evolve
from tukang.loop.limits import Limits
from tukang.loop.limits import reached as limits_reached
from tukang.loop.state import Call, State
from tukang.tools.outcome import HARMLESS, Fault, Outcome, failed
from tukang.tools.policy import Policy

POLICIES = {
    "read": Policy("read"),
    "read2": Policy("read", parallel=1),
    "write": Policy("write"),
    "pay": Policy("idempotent"),
    "plain": Policy("unknown"),
    "poll": Policy("read", repeatable=True),
    "say": Policy("unknown", terminal=True),
}
FAULT = events.ModelFault("overloaded", "busy", retryable=True)
FATAL = events.ModelFault("authentication", "no", hint="set the key")

Choose = Callable[[Sequence[Any]], Any]


def is_object(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except msgspec.DecodeError:
        return False


def digest(name: str, arguments: str) -> str:
    return hashlib.sha256(f"{name} {arguments}".encode()).hexdigest()[:8]


class World:
    """One turn, driven by chance. `approvals` names the tools that may not run without permission; `returns` says that the
    answer is data, and with which tool it is given."""

    def __init__(
        self,
        choose: Choose,
        limits: Limits,
        tool_choice: str = "auto",
        approvals: frozenset[str] = frozenset(),
        returns: events.Returns | None = None,
        grounding: events.Grounding | None = None,
    ):
        self.choose = choose
        self.limits = limits
        self.approvals = approvals
        self.returns = returns
        self.grounding = grounding
        self.time = 1000.0
        # Few tools and few arguments in one turn, so that the same call comes again and again.
        self.models = choose([("one",), ("one",), ("one", "two")])
        self.menu = [choose([*POLICIES]), choose([*POLICIES]), choose([*POLICIES, "invented"])]
        policies: dict[str, Policy] = POLICIES
        self.arguments = ['{"a":1}', '{"a":1}', '{"a":2}', "broken"]
        self.words = ["words", ""]
        if returns is not None:
            self.menu += [returns.tool] * choose([1, 3])
            policies = {**choose([POLICIES, {}]), returns.tool: Policy("read")}
            self.words += ['{"a":1}', "broken", '```json\n{"a":2}\n```', "{broken}"]
            if choose([False, False, True]):  # a model that never gives data that fits
                self.arguments, self.words = ["broken"], choose([["words"], ["words", "{broken}"], ["", "{broken}"]])
        self.policies = policies
        self.journal: list[events.Event] = []
        self.state: State | None = None
        self.asked = False
        self.comparing = False
        self.unchecked: list[str] = []
        self.running: dict[str, Call] = {}
        self.left_behind: list[str] = []
        self.waiting: list[str] = []
        self.approved: set[tuple[str, str]] = set()
        self.decisions: list[events.Event] = []
        self.succeeded: Counter[str] = Counter()
        self.uncertain: Counter[str] = Counter()
        self.requests: list[effects.AskModel] = []
        self.post(
            events.TurnStarted(
                at=self.time,
                turn="t",
                trigger=user("go"),
                limits=limits,
                policies=policies,
                contracts={},
                models=self.models,
                tool_choice=tool_choice,
                returns=returns,
                grounding=grounding,
            )
        )

    # ── the driver's part ────────────────────────────────────────────────────────────────────────────────────────────

    def post(self, event: events.Event) -> None:
        """Fold an event in, and perform what is wanted."""
        self._record(event)
        for _ in range(1000):
            assert self.state is not None
            wanted = decide(self.state)
            if not wanted:
                return
            for effect in wanted:
                self._check(effect)
                self._record(begun(effect, self.time))
                if effect is wanted[-1] and isinstance(effect, effects.AskModel):
                    assert decide(self.state) == (), "nothing more is wanted before something comes of it"
                self._perform(effect)
        raise AssertionError("decide never comes to rest")

    def _record(self, event: events.Event) -> None:
        self.journal.append(event)
        self.state = evolve(self.state, event)

    def _perform(self, effect: effects.Effect) -> None:
        assert self.state is not None
        match effect:
            case effects.AskModel():
                self.asked = True
                self.requests.append(effect)
            case effects.StopModel():
                if self.asked:
                    self.asked = False
                    said = self.choose([(), (Text("half"),)])
                    self.post(events.ModelInterrupted(at=self.tick(), parts=said, usage=Usage(input=1)))
            case effects.CheckCalls(calls):
                self.unchecked += calls
            case effects.CheckAnswer():
                assert self.grounding is not None
                self.comparing = self.grounding.function
                if not self.comparing:
                    self._record(self._compared())
            case effects.AskPerson(calls):
                self.waiting += calls
            case effects.RunCall(call_id):
                self.running[call_id] = self._call(call_id)
            case effects.Settle(call_id):
                if self.running.pop(call_id, None):
                    self.left_behind.append(call_id)
                if call_id in self.waiting:
                    self.waiting.remove(call_id)
            case _:
                pass

    # ── what must hold when something is wanted ──────────────────────────────────────────────────────────────────────

    def _check(self, effect: effects.Effect) -> None:
        state = self.state
        assert state is not None
        match effect:
            case effects.AskModel():
                assert not self.asked, "one request at a time"
                assert not state.calls, "no request while calls are open"
                assert validity(state.messages) == []
                self._check_choice(state, effect)
                assert not state.cancelled
                assert effect.model < len(self.models)
                assert not self.comparing, "no request while an answer is compared"
            case effects.RunCall(call_id):
                self._check_run(state, self._call(call_id))
            case effects.CheckAnswer():
                assert not self.comparing
                assert not self.asked
                assert not state.cancelled
            case effects.SendBack(unsupported):
                assert unsupported
                assert not any(isinstance(event, events.AnswerSentBack) for event in self.journal), "once in a turn"
                assert not state.cancelled
                assert not state.deadline
                assert limits_reached(state) is None
            case effects.Finish(text=text):
                assert text
                assert not self.asked
                assert not self.comparing or state.cancelled or state.expired
            case _:
                pass

    def _check_choice(self, state: State, effect: effects.AskModel) -> None:
        if self.returns is None:
            assert effect.tools_off or state.round < self.limits.rounds
            return
        assert not effect.tools_off, "data is given by a call"
        assert effect.forced or state.round < self.limits.rounds
        if effect.forced or effect.tool_choice == "none" or len(self.policies) == 1:
            assert effect.tool_choice == self.returns.tool

    def _check_run(self, state: State, call: Call) -> None:
        assert call.arguments is not None, "only checked calls run"
        assert self.returns is None or call.name != self.returns.tool, "there is nothing to run"
        assert not state.cancelled
        assert not state.deadline
        assert call.id not in self.running
        others = list(self.running.values())
        assert self.limits.parallel is None or len(others) < self.limits.parallel
        same = sum(other.name == call.name for other in others)
        assert call.policy.parallel is None or same < call.policy.parallel
        assert call.reads or not others, "what may change something runs alone"
        assert all(other.reads for other in others)
        assert all(earlier.done for earlier in state.calls[: call.position] if not (call.reads and earlier.reads))
        if call.name in self.approvals:
            assert (call.id, call.digest) in self.approved, "never without permission for exactly this"
        if not call.policy.repeatable:
            twins = [other for other in state.calls if other.digest == call.digest and other.id != call.id]
            assert not any(other.status == "running" for other in twins)
            if not call.reads:
                assert not self.succeeded[call.digest], "a write that succeeded is never run again"
                if call.policy.effect != "idempotent":
                    assert not self.uncertain[call.digest], "a write that may have happened is never run again"

    def _call(self, call_id: str) -> Call:
        assert self.state is not None
        return next(call for call in self.state.calls if call.id == call_id)

    # ── chance ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def tick(self) -> float:
        self.time += self.choose([0.0, 0.1, 1.0])
        return self.time

    def step(self) -> None:
        """One thing happens, whatever it is."""
        assert self.state is not None
        possible: list[Callable[[], None]] = []
        if self.asked:
            possible += [self.reply, self.reply, self.reply, self.interrupt, self.speak]
        if self.unchecked:
            possible += [self.check] * 3
        if self.comparing and self.state.checking:
            possible += [self.compare] * 3
        if self.running:
            possible += [self.finish] * 3
        if self.left_behind:
            possible.append(self.late)
        if self.waiting:
            possible += [self.decide_one] * 2
        rare = [self.deadline, self.cancel, self.stray]
        if self.decisions:
            possible.append(self.again)
        self.choose(possible * 8 + rare)()

    def settle_down(self) -> None:
        """Let what is under way come to its end, without cancel or deadline."""
        for _ in range(500):
            assert self.state is not None
            if self.state.finished:
                return
            if self.unchecked:
                self.check()
            elif self.running:
                self.finish()
            elif self.waiting:
                self.decide_one()
            elif self.asked:
                self.reply()
            elif self.comparing:
                self.compare()
            else:
                raise AssertionError("the turn waits for nothing")
        raise AssertionError("the turn does not end")

    def reply(self) -> None:
        self.asked = False
        calls = self.choose([0, 1, 1, 1, 2, 3, 4])
        said = self.choose(self.words)
        parts: list[Part] = [Text(said)] if said else []
        for _ in range(calls):
            parts.append(ToolCall("", self.choose(self.menu), self.choose(self.arguments)))
        finish = self.choose(["stop", "calls", "calls", "length", "paused", "filtered", "refused", "unknown"])
        usage = Usage(input=self.choose([1, 20]), output=1, requests=1)
        self.post(events.ModelReplied(at=self.tick(), parts=tuple(parts), finish=finish, usage=usage))

    def interrupt(self) -> None:
        self.asked = False
        said = self.choose([(), (Text("half"),), (Text("half"), ToolCall("", "write", "{"))])
        self.post(events.ModelInterrupted(at=self.tick(), parts=said, error=self.choose([FAULT, FATAL])))

    def speak(self) -> None:
        self.post(events.ReplyBegan(at=self.tick()))

    def check(self) -> None:
        call_id = self.unchecked.pop(self.choose(range(len(self.unchecked))))
        assert self.state is not None
        call = next((call for call in self.state.calls if call.id == call_id), None)
        if call is None:
            return
        fault = None
        if call.name not in self.policies:
            fault = Fault("unknown_tool", "no such tool")
        elif not is_object(call.text):
            fault = Fault("invalid_arguments", "not JSON")
        self.post(
            events.CallChecked(
                at=self.tick(),
                call=call_id,
                digest=digest(call.name, call.text),
                arguments=None if fault else call.text,
                fault=fault,
                needs_approval=call.name in self.approvals,
            )
        )

    def compare(self) -> None:
        self.comparing = False
        self.post(self._compared())

    def _compared(self) -> events.AnswerChecked:
        unsupported, unchecked = self.choose([((), None), (("X1",), None), (("X1", "X2"), None), ((), "it failed")])
        return events.AnswerChecked(at=self.tick(), unsupported=unsupported, unchecked=unchecked)

    def finish(self) -> None:
        call = self.running.pop(self.choose(list(self.running)))
        self._ended(call, self.choose(["ok", "ok", "tool_failed", "nothing_done", "outcome_unknown"]))

    def late(self) -> None:
        call_id = self.left_behind.pop()
        self.post(events.CallFinished(at=self.tick(), call=call_id, outcome=Outcome((Text("late"),))))

    def _ended(self, call: Call, how: str) -> None:
        if how == "ok":
            self.succeeded[call.digest] += 1
            outcome = Outcome((Text(self.choose(["same", f"{call.name} {len(self.journal)}"])),))
        else:
            outcome = failed(how, "went wrong")  # type: ignore[arg-type]
            if how not in HARMLESS:
                self.uncertain[call.digest] += 1
        self.post(events.CallFinished(at=self.tick(), call=call.id, outcome=outcome))

    def decide_one(self) -> None:
        call = self._call(self.waiting.pop(self.choose(range(len(self.waiting)))))
        how = self.choose(["approve", "approve", "approve another digest", "refuse", "expire", "edit"])
        if how == "approve":
            self.approved.add((call.id, call.digest))
            self._decide(events.CallApproved(at=self.tick(), call=call.id, digest=call.digest))
        elif how == "approve another digest":
            self.waiting.append(call.id)
            self._decide(events.CallApproved(at=self.tick(), call=call.id, digest="else"))
        elif how in ("refuse", "expire"):
            expired = how == "expire"
            self._decide(events.CallRefused(at=self.tick(), call=call.id, digest=call.digest, expired=expired))
        else:
            edited = self.choose(['{"a":9}', '{"a":1}', "broken"])
            self._decide(events.CallEdited(at=self.tick(), call=call.id, digest=call.digest, arguments=edited))

    def _decide(self, decision: events.Event) -> None:
        self.decisions.append(decision)
        self.post(decision)

    def again(self) -> None:
        """A decision is delivered once more: to whatever has become of its call since."""
        decision = self.choose(self.decisions)
        waited = set(self.waiting)
        self.post(replace(decision, at=self.tick()))
        assert self.state is not None
        waiting = [call.id for call in self.state.calls if call.status == "waiting"]
        self.waiting = [call for call in self.waiting if call in waiting]
        assert set(waiting) == set(self.waiting), "what waits is known to wait"
        assert set(self.waiting) <= waited

    def deadline(self) -> None:
        assert self.state is not None
        kind = events.TimeExpired if self.state.deadline else events.DeadlineReached
        self.post(kind(at=self.tick()))

    def cancel(self) -> None:
        self.post(events.CancelRequested(at=self.tick()))

    def stray(self) -> None:
        """Events that belong to nothing: they must change nothing that counts."""
        self.post(
            self.choose(
                [
                    events.CallFinished(at=self.time, call="t-99-0", outcome=Outcome((Text("?"),))),
                    events.CallApproved(at=self.time, call="t-99-0", digest="?"),
                    events.CallChecked(at=self.time, call="t-99-0", digest="?"),
                    events.ReplyBegan(at=self.time),
                    *([] if self.comparing else [events.AnswerChecked(at=self.time, unsupported=("?",))]),
                ]
            )
        )


def results_of(messages: Sequence[Message]) -> list[str]:
    return [result.call_id for message in messages for result in message.results]
