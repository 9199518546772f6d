"""The one place that performs effects.

One inbox. Each event in it is folded into the state, and `decide` says what is wanted next. What is wanted is written down
before it is done. A deadline, a cancel or a decision of a person that comes while calls are running is an event like any
other.

What takes its time runs in a task. The task brings the event that it ends in, folds it in itself, and goes on with the next
thing that is wanted; what is wanted beside that gets a task of its own. So the reads of a reply run together, and in a turn
that does one thing after the other no task has to wake another. Events are folded in one at a time, in the order they came,
whoever brought them.

The driver decides nothing; if you look for why something happens, look in `tukang.loop.decide`.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextvars import copy_context
from functools import partial

import msgspec
from msgspec.structs import replace

from tukang.loop import effects, events
from tukang.loop.decide import decide
from tukang.loop.evolve import evolve
from tukang.loop.state import Call, State
from tukang.runtime.asking import Request
from tukang.runtime.calls import notice_reuse, run_call
from tukang.runtime.checks import check_call, check_with_function
from tukang.runtime.grounding import check_answer, compare, takes_time
from tukang.runtime.hurrying import handed_over
from tukang.runtime.journal import Journal
from tukang.runtime.people import Decision, People
from tukang.runtime.signals import Delta, Progress, Signal
from tukang.runtime.turn import Left, Turn
from tukang.tools.context import Tell

Listener = Callable[[events.Event | Signal], None]


FOLDING = "inbox"
"""The name of work that is nothing but folding events in. No effect is called so: nothing that is folded in can stop it."""


_RECORDS = frozenset({effects.EndRound, effects.SendBack, effects.Finish})
"""Effects of which the record is all there is to do."""

_AWAITED = frozenset({effects.AskModel, effects.RunCall})
"""Effects that take their time, always."""

_INSTANT = 0.01
"""Seconds that are no time."""


class Work(msgspec.Struct, frozen=True):
    """Something that takes its time and ends in an event. The name is what it is stopped by."""

    name: str
    do: Callable[[], Awaitable[events.Event | None]]


class Driver:
    """Runs one turn, once.

    Args:
        turn: what it runs on.
        journal: where events are written before they count.
        listen: is told every event and signal, in order, at once; it must not block or raise.
        left: the turn as it was left, when it does not begin but goes on.
        lets_go: whether `run` returns when the turn only waits for somebody, so that it can go on elsewhere later.
    """

    def __init__(
        self,
        turn: Turn,
        journal: Journal,
        listen: Listener | None = None,
        left: Left | None = None,
        *,
        lets_go: bool = False,
    ) -> None:
        self._turn = turn
        self._journal = journal
        self._listen = listen
        self._inbox: deque[events.Event] = deque()
        self._folder: asyncio.Task[None] | None = None  # who is at the inbox
        self._running: dict[str, asyncio.Task[None]] = {}
        self._timers: dict[type[events.Event], asyncio.TimerHandle] = {}
        self._request: Request | None = None
        self._signals = 0
        self._left = left
        self._lets_go = lets_go
        self._leaving = self._at_once = False
        self._given_way = 0.0  # when all others last had their turn for certain
        self._written = len(left.events) if left else 0
        self.state: State | None = left.state if left else None
        self._wire_ids = turn.wire_ids(self.state)
        now = time.time() if self.state is None else max(time.time(), self.state.now)
        self._epoch = now - time.monotonic()

    async def run(self) -> State:
        """Run the turn. Returns the state it ends in: finished, or waiting if it is let go then, or in the middle after
        `leave`. Whatever happens, nothing of the turn is left running."""
        self._context = copy_context()
        self._loop = asyncio.get_running_loop()
        self._end: asyncio.Future[State] = self._loop.create_future()
        at = self.clock()
        first = replace(self._turn.started, at=at) if self._left is None else events.TurnResumed(at=at)
        self._inbox.append(first)
        self._start(Work(FOLDING, _nothing))
        if self._left is not None:
            self._inbox.extend([replace(event, at=at) for event in self._left.news])
            self._ask_again(self._left)
        used = 0.0 if self._left is None else evolve(self.state, first).seconds_used(at)
        limits = self._turn.started.limits
        self._mind(limits.seconds_for_work, events.DeadlineReached, used)
        self._mind(limits.seconds, events.TimeExpired, used)
        try:
            return await self._end
        finally:
            for timer in self._timers.values():
                timer.cancel()
            await self._abandon()
            # it knows this driver: without it nothing of the turn has to wait for the garbage collector
            self._request = None

    async def _go_on(self, work: Work | None) -> None:
        """The loop: do something, fold in what came of it, and go on with what is wanted then."""
        me = asyncio.current_task(self._loop)
        assert me is not None
        try:
            while work is not None:
                self._running[work.name] = me
                event = await work.do()
                if self.state is not None and len(self.state.calls) > 1:
                    # Others may go on, and what has come is heard, before the next call.
                    await asyncio.sleep(0)
                if self._running.get(work.name) is me:
                    del self._running[work.name]
                if event is not None:
                    self._inbox.append(event)
                if self.clock() > self._given_way + _INSTANT:
                    # A model that is here may answer without waiting for anything: a deadline, a cancel, others still count.
                    await asyncio.sleep(0)
                    self._given_way = self.clock()
                work = await self._fold_in(me)
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            # a journal that fails, a mistake of ours: the turn cannot go on
            if not self._end.done():
                self._end.set_exception(error)

    async def _fold_in(self, me: asyncio.Task[None]) -> Work | None:
        """Fold in what is in the inbox, one event after the other, and have done what is wanted because of it.

        Returns the last thing that is wanted, for the caller to do itself. None if there is nothing, or if another task is at
        the inbox: then that one sees to it.
        """
        if self._folder is not None:
            return None
        self._folder = me
        following: Work | None = None
        try:
            while self._inbox and not self._end.done():
                self.state, wanted = await self._step(self.state, self._inbox.popleft())
                if self._end.done():  # given up while it was written down
                    break
                for effect in wanted:
                    if work := self._perform(self.state, effect):
                        if following is not None:
                            self._start(following)
                        following = work
                if self._inbox and following is not None:
                    self._start(following)
                    following = None
                if self.state.finished or (self._leaving and self._may_leave(self.state)):
                    self._end.set_result(self.state)
            if self._lets_go and self.state is not None:  # also when somebody was asked, and has not decided
                self._let_go(self.state)
        finally:
            self._folder = None
        return following

    async def _step(self, state: State | None, event: events.Event) -> tuple[State, list[effects.Effect]]:
        """Fold one event in, and write it down together with all that is wanted because of it.

        A check changes nothing and takes no time: it is made on the spot, and what it found is written down with the rest.
        Only one that a function of the user's has a part in is made like anything else that is wanted.
        """
        state = evolve(state, event)
        batch: list[events.Event] = [event]
        wanted: list[effects.Effect] = []
        now = self.clock()
        while not self._leaving and (more := decide(state)):
            for effect in more:
                began = effects.begun(effect, now)
                batch.append(began)
                state = evolve(state, began)
                if type(effect) in _AWAITED:
                    wanted.append(effect)
                elif type(effect) is effects.CheckCalls:
                    for call in [call for call_id in effect.calls if (call := state.call(call_id))]:
                        if checked := check_call(self._turn, state, call, now):
                            batch.append(checked)
                            state = evolve(state, checked)
                        else:
                            wanted.append(effects.CheckCalls((call.id,)))
                elif type(effect) is effects.CheckAnswer and not takes_time(self._turn, state):
                    batch.append(check_answer(self._turn, state, now))
                    state = evolve(state, batch[-1])
                elif type(effect) not in _RECORDS:
                    wanted.append(effect)
            if type(more[-1]) in _AWAITED and len(state.calls) < 2:
                break  # nothing more is wanted before something comes of it
        await self._journal.append(batch, self._written)
        self._written += len(batch)
        if self._listen is not None:
            for written in batch:
                self._listen(written)
        return state, wanted

    def _let_go(self, state: State) -> None:
        """End the run where the turn only waits, and nobody here is about to decide."""
        if state.waiting and not self._end.done() and not any(call.id in self._running for call in state.calls):
            self._end.set_result(state)

    def post(self, event: events.Event) -> None:
        """Put an event into the inbox. Call it on the driver's own event loop."""
        self._inbox.append(event)
        self._loop.call_soon(self._see_to_it)

    def _see_to_it(self) -> None:
        """Have the inbox seen to, unless whoever posted has come to it meanwhile, or somebody is at it anyway."""
        if self._inbox and self._folder is None:
            self._start(Work(FOLDING, _nothing))

    def cancel(self, reason: str = "") -> None:
        """Ask the turn to end now. It still ends well: every call answered, what was said is kept."""
        self.post(events.CancelRequested(at=self.clock(), reason=reason))

    def leave(self, *, at_once: bool = False) -> None:
        """Let go of the turn without ending it, so that it can go on elsewhere. Nothing new begins; a function that must not
        be run twice may end first, unless it is to be `at_once`."""
        self._leaving, self._at_once = True, at_once
        if self.state is not None and self._folder is None and self._may_leave(self.state) and not self._end.done():
            self._end.set_result(self.state)

    def _may_leave(self, state: State) -> bool:
        """Whether the turn may be left, if it is to be: nothing is under way whose end nobody else could find out."""
        return self._at_once or not any(call.status == "running" and not call.reads for call in state.calls)

    def clock(self) -> float:
        """Seconds since the epoch, never going back within a turn."""
        return self._epoch + time.monotonic()

    # ── performing ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _perform(self, state: State, effect: effects.Effect) -> Work | None:
        """Do what takes no time; give back what does."""
        match effect:
            case effects.AskModel():
                return self._ask(state, effect)
            case effects.RunCall(call_id, key):
                call = state.call(call_id)
                assert call is not None, "only a call of the round is run"
                tell = None if self._listen is None else self._progress(call_id, call.name, call.round)
                seconds = self._seconds_left(state)
                return Work(call_id, partial(run_call, self._turn, call, key, seconds, self.clock, tell))
            case effects.StopModel():
                if self._request is not None and (event := self._request.stop()):
                    self._inbox.append(event)
                self._stop("model")
            case effects.Settle(call_id, _, source):
                self._stop(call_id)
                if source is not None:
                    call = next(call for call in (*state.calls, *state.done) if call.id == call_id)
                    notice_reuse(self._turn.toolbox, call, source)
            case effects.CheckCalls((call_id,)):  # what was not checked on the spot, one at a time
                call = next(call for call in state.calls if call.id == call_id)
                seconds = self._seconds_left(state)
                return Work(call_id, partial(check_with_function, self._turn, call, seconds, self.clock))
            case effects.AskPerson(calls):
                self._ask_people([call for call in state.calls if call.id in calls])
            case effects.CheckAnswer():
                return Work("answer", partial(compare, self._turn, state, self.clock))
            case effects.CheckCalls() | effects.EndRound() | effects.SendBack() | effects.Finish():
                pass
        return None

    def _ask(self, state: State, effect: effects.AskModel) -> Work:
        request = self._turn.request(
            state,
            tool_choice=effect.tool_choice,
            tools_off=effect.tools_off,
            note=effect.note,
        )

        self._request = Request(
            self._turn.models[effect.model],
            request,
            post=self.post,
            stream=partial(self._signal, state.round + 1, effect.attempt) if self._listen else None,
            clock=self.clock,
            wire_ids=self._wire_ids,
        )
        return Work("model", partial(self._request.send, effect.wait))

    def _ask_people(self, calls: Sequence[Call]) -> None:
        """Have each decided about, in whatever order that comes; where nobody can, the decision comes from outside, as an
        event."""
        if self._turn.people is not None:
            for call in calls:
                self._start(Work(call.id, partial(self._decided, self._turn.people, call)))

    async def _decided(self, people: People, call: Call) -> events.Event | None:
        assert self.state is not None, "somebody is asked within a turn"
        decision = await people.decide(self.state, call)
        return None if decision is None else replace(decision, at=self.clock())

    def _ask_again(self, left: Left) -> None:
        """What a turn waited for when it was left, and nobody has decided since."""
        decided = {event.call for event in left.news if isinstance(event, Decision)}
        waiting = [call for call in left.state.calls if call.status == "waiting" and call.id not in decided]
        self._ask_people(waiting)

    def _signal(self, round: int, attempt: int, delta: Delta) -> None:
        if self._listen is not None:
            self._listen(Signal(self._signals, round, attempt, delta))
            self._signals += 1

    def _progress(self, call: str, tool: str, round: int) -> Tell:
        """What a running call tells, from whatever thread, as a signal; nothing once it has its result."""

        def signal(progress: Progress) -> None:
            if call in self._running:
                self._signal(round, 0, progress)

        give = handed_over(signal)
        return lambda percent, message: give(Progress(call, tool, percent, message))

    def _start(self, work: Work) -> None:
        self._running[work.name] = self._loop.create_task(self._go_on(work), context=self._context.copy())

    def _stop(self, name: str) -> None:
        if task := self._running.pop(name, None):
            task.cancel()

    def _seconds_left(self, state: State) -> float | None:
        """Seconds until the time for work is over."""
        bound = state.limits.seconds_for_work
        return None if bound is None else max(0.0, bound - state.seconds_used(self.clock()))

    def _mind(
        self,
        bound: float | None,
        event: type[events.DeadlineReached | events.TimeExpired],
        used: float | None = None,
    ) -> None:
        """Post the event when so many seconds of the turn are used. Time that does not count puts it off."""
        if bound is None:
            return
        state = self.state
        if used is None:
            used = bound if state is None else state.seconds_used(self.clock())
        left = bound - used
        if left <= _INSTANT:
            self.post(event(at=self.clock()))
            return
        wait = left if state is None or not state.waiting else max(left, 1.0)
        self._timers[event] = self._loop.call_later(wait, self._mind, bound, event)

    async def _abandon(self) -> None:
        """Cancel what is still running, and give it a moment; what does not listen is left behind, never joined."""
        under_way = (*self._running.values(), self._folder)
        left = [task for task in under_way if task is not None and not task.done()]
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=1.0)


async def _nothing() -> None:
    """What is done for an event that came from outside: it has happened, and is in the inbox."""
