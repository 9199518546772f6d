"""From any thread to the event loop, in order, and never more than the loop can take: what hurries too much loses its oldest.

For progress, which is no fact: a function that tells it in a tight loop must not hold up everybody else.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

MOST = 100
"""Things that may wait for the loop at one time."""


def handed_over(take: Callable[[T], None], most: int = MOST) -> Callable[[T], None]:
    """A function that may be called from any thread, and has `take` called on the event loop that is running now.

    Args:
        take: called for each thing, in the order given.
        most: things that may wait; the oldest make room for the newest.
    """
    loop = asyncio.get_running_loop()
    waiting: deque[T] = deque(maxlen=most)
    called = False

    def take_all() -> None:
        nonlocal called
        called = False  # before looking: what comes from now on calls again
        for _ in range(len(waiting)):
            take(waiting.popleft())

    def give(thing: T) -> None:
        nonlocal called
        waiting.append(thing)
        if not called:
            called = True
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
                loop.call_soon_threadsafe(take_all)

    return give
