"""Results of reads that may be given again for a while, in later turns of the same agent, because their author said so.

It holds outcomes by digest; what may go in and when is said by the tool's policy (`cache`, in seconds). Anything that may
change something, begun or ended in any turn of the agent, empties it: a read that ran beside a write is not kept.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Generator

import msgspec

from tukang.tools.outcome import Outcome

MOST = 256
"""Results that one agent keeps; the oldest go first."""


class Cached(msgspec.Struct, frozen=True):
    """A result that was kept. `call` is the call that brought it, `until` the clock's time up to which it holds."""

    outcome: Outcome
    call: str
    until: float


class Reading(msgspec.Struct, frozen=True):
    """A read that begins: how many writes there had been, and when."""

    epoch: int
    at: float


class ResultCache:
    """Results by the digest of their calls. May be used from several event loops.

    Args:
        clock: seconds, from anywhere, never going back.
        most: how many results are kept.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, most: int = MOST) -> None:
        self._clock = clock
        self._most = most
        self._lock = threading.Lock()
        self._kept: dict[str, Cached] = {}
        self._epoch = 0
        self._writing = 0

    def get(self, digest: str) -> Cached | None:
        """The result of an earlier, equal call, if it still holds."""
        found = self._kept.get(digest)
        return found if found is not None and self._clock() < found.until else None

    def reading(self) -> Reading:
        """Say that a read begins; give what comes back to `put`."""
        return Reading(self._epoch, self._clock())

    def put(self, digest: str, outcome: Outcome, call: str, seconds: float, reading: Reading) -> None:
        """Keep the result of a read for so many seconds from its beginning, unless something was written meanwhile."""
        with self._lock:
            if self._writing or reading.epoch != self._epoch:
                return
            self._kept.pop(digest, None)
            if len(self._kept) >= self._most:
                del self._kept[next(iter(self._kept))]
            self._kept[digest] = Cached(outcome, call, reading.at + seconds)

    @contextlib.contextmanager
    def writing(self) -> Generator[None]:
        """Hold this around anything that may change something."""
        self._change(1)
        try:
            yield
        finally:
            self._change(-1)

    def _change(self, step: int) -> None:
        with self._lock:
            self._writing += step
            self._epoch += 1
            self._kept.clear()
