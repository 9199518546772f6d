"""The one place that performs effects.

One inbox. Every effect runs beside the others and posts its events to the inbox; each event is folded into the state, and
`decide` says what is wanted next. What is wanted is written down before it is done. A deadline, a cancel or a decision of a
person that comes while calls are running is an event like any other.

The driver decides nothing; if you look for why something happens, look in `tukang.loop.decide`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine

from msgspec.structs import replace

from tukang.loop import effects, events
from tukang.loop.decide import decide
from tukang.loop.evolve import evolve
from tukang.loop.state import State
from tukang.runtime.asking import Request
from tukang.runtime.calls import check_call, run_call
from tukang.runtime.journal import Journal
from tukang.runtime.signals import Delta, Signal
from tukang.runtime.turn import Turn

Listener = Callable[[events.Event | Signal], None]


class Driver:
    """Runs one turn, once.

    Args:
        turn: what it runs on.
        journal: where events are written before they count.
        listen: is told every event and signal, in order, at once; it must not block or raise.
    """

    def __init__(self, turn: Turn, journal: Journal, listen: Listener | None = None) -> None:
        self._turn = turn
        self._journal = journal
        self._listen = listen
        self._inbox: asyncio.Queue[events.Event] = asyncio.Queue()
        self._running: dict[str, asyncio.Task[None]] = {}
        self._request: Request | None = None
        self._wire_ids = turn.wire_ids()
        self._signals = 0
        self._written = 0
        self._epoch = time.time() - time.monotonic()
        self.state: State | None = None

    async def run(self) -> State:
        """The loop. Returns the finished state; whatever happens, nothing of the turn is left running."""
        self.post(replace(self._turn.started, at=self.clock()))
        timers = self._timers()
        try:
            while True:
                self.state = await self._step(self.state, await self._inbox.get())
                if self.state.finished:
                    return self.state
        finally:
            for timer in timers:
                timer.cancel()
            await self._abandon()

    async def _step(self, state: State | None, event: events.Event) -> State:
        """Fold one event in, write it down together with all that is wanted because of it, then do that."""
        state = evolve(state, event)
        batch: list[events.Event] = [event]
        wanted: list[effects.Effect] = []
        while more := decide(state):
            for effect in more:
                batch.append(effects.begun(effect, self.clock()))
                state = evolve(state, batch[-1])
            wanted += more
        await self._journal.append(batch, self._written)
        self._written += len(batch)
        if self._listen is not None:
            for written in batch:
                self._listen(written)
        for effect in wanted:
            self._perform(state, effect)
        return state

    def post(self, event: events.Event) -> None:
        """Put an event into the inbox. Call it on the driver's own event loop."""
        self._inbox.put_nowait(event)

    def cancel(self, reason: str = "") -> None:
        """Ask the turn to end now. It still ends well: every call answered, what was said is kept."""
        self.post(events.CancelRequested(at=self.clock(), reason=reason))

    def clock(self) -> float:
        """Seconds since the epoch, never going back within a turn."""
        return self._epoch + time.monotonic()

    # ── performing ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _perform(self, state: State, effect: effects.Effect) -> None:
        match effect:
            case effects.AskModel():
                self._ask(state, effect)
            case effects.StopModel():
                if self._request is not None:
                    self._request.stop()
                self._stop("model")
            case effects.CheckCalls(calls):
                for call in state.calls:
                    if call.id in calls:
                        self.post(check_call(self._turn.toolbox, call, self.clock()))
            case effects.RunCall(call_id, key):
                call = next(call for call in state.calls if call.id == call_id)
                self._start(call_id, run_call(self._turn, call, key, self._seconds_left(state), self.post, self.clock))
            case effects.Settle(call_id):
                self._stop(call_id)
            case effects.AskPerson() | effects.EndRound() | effects.Finish():
                pass  # the record is all there is to do: a decision comes from outside, like any event

    def _ask(self, state: State, effect: effects.AskModel) -> None:
        request = self._turn.request(
            state,
            tool_choice=effect.tool_choice,
            tools_off=effect.tools_off,
            note=effect.note,
        )

        def stream(delta: Delta) -> None:
            if self._listen is not None:
                self._listen(Signal(self._signals, state.round + 1, effect.attempt, delta))
                self._signals += 1

        self._request = Request(
            self._turn.models[effect.model],
            request,
            post=self.post,
            stream=stream,
            clock=self.clock,
            wire_ids=self._wire_ids,
        )
        self._start("model", self._request.send(effect.wait))

    def _start(self, name: str, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._running[name] = task
        task.add_done_callback(lambda done: self._running.pop(name, None) if self._running.get(name) is done else None)

    def _stop(self, name: str) -> None:
        if task := self._running.pop(name, None):
            task.cancel()

    def _seconds_left(self, state: State) -> float | None:
        """Seconds until the time for work is over."""
        bound = state.limits.seconds_for_work
        return None if bound is None else max(0.0, state.started + bound - self.clock())

    def _timers(self) -> list[asyncio.TimerHandle]:
        limits = self._turn.started.limits
        if limits.seconds is None or limits.seconds_for_work is None:
            return []
        later = asyncio.get_running_loop().call_later
        return [
            later(limits.seconds_for_work, lambda: self.post(events.DeadlineReached(at=self.clock()))),
            later(limits.seconds, lambda: self.post(events.TimeExpired(at=self.clock()))),
        ]

    async def _abandon(self) -> None:
        """Cancel what is still running, and give it a moment; what does not listen is left behind, never joined."""
        left = list(self._running.values())
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=1.0)
