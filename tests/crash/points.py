"""Fault points: places in a process where a test kills it. Counted by name, so that each is met again in another process.

The product knows nothing of them: they are put around its parts here, in the process that is to be killed.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any

from tukang.loop import effects
from tukang.memory.stores import waiting, writing
from tukang.models.base import ModelEvent, ModelRequest
from tukang.models.scripted import Script, Scripted
from tukang.runtime.driver import Driver


class Points:
    """Says each point that is met, and kills this process at one of them.

    Args:
        deadly: the name of a point, with the how-manieth it is: `before append CallStarted 3`. None to live on.
    """

    def __init__(self, deadly: str | None) -> None:
        self._deadly = deadly
        self._met: Counter[str] = Counter()
        self.names: list[str] = []

    def meet(self, name: str) -> None:
        """Be at a point. From any thread."""
        self._met[name] += 1
        self.names.append(f"{name} {self._met[name]}")
        if self.names[-1] == self._deadly:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, name: str, whole: Callable[..., Any]) -> Callable[..., Any]:
        """A function with a point before and behind it."""

        def met(*arguments: Any, **options: Any) -> Any:
            self.meet(f"before {name}")
            result = whole(*arguments, **options)
            self.meet(f"after {name}")
            return result

        return met


class Watched:
    """A store with points around what changes it."""

    def __init__(self, store: Any, points: Points) -> None:
        self._store = store
        self._points = points

    def __getattr__(self, name: str) -> Any:
        whole = getattr(self._store, name)
        if name not in ("take", "append", "release"):
            return whole

        async def met(*arguments: Any, **options: Any) -> Any:
            what = "+".join(type(event).__name__ for event in arguments[2]) if name == "append" else ""
            self._points.meet(f"before {name} {what}".strip())
            result = await whole(*arguments, **options)
            self._points.meet(f"after {name} {what}".strip())
            return result

        return met


class WatchedModel(Scripted):
    """A scripted model with points in its replies."""

    def __init__(self, script: Script, points: Points) -> None:
        super().__init__(script)
        self._points = points

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self._points.meet("model asked")
        async for event in super().stream(request):
            yield event
            self._points.meet(f"model said {type(event).__name__}")


def put(points: Points) -> None:
    """Put points into the transaction of an append (before and after every single event, offer and answer), and around what
    the driver performs. For the rest of this process."""
    one_by_one = writing.add_events

    def add_events(db: Any, turn: int, first: int, events: Any) -> None:
        for number, event in enumerate(events, first):
            points.meet(f"before the row of {event.kind}")
            one_by_one(db, turn, number, [event])
            points.meet(f"after the row of {event.kind}")

    offer = points.around("offering", waiting.offer)
    offered = waiting.offer
    performed = Driver._perform  # pyright: ignore[reportPrivateUsage]

    def perform(self: Driver, state: Any, effect: effects.Effect) -> Any:
        points.meet(f"before performing {type(effect).__name__}")
        work = performed(self, state, effect)
        points.meet(f"after performing {type(effect).__name__}")
        return work

    writing.add_events = add_events
    waiting.offer = lambda db, turn, offers, at: (offer if offers else offered)(db, turn, offers, at)
    waiting.consume = points.around("consuming", waiting.consume)
    Driver._perform = perform  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
