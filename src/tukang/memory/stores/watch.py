"""Readers that wait for something to change in a store: woken by this process at once, by others through a listener.

The listener is a thread that runs while there is somebody to wake. A reader looks again by itself after a while, so that
a lost message costs time and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Generator

from tukang.memory.stores.database import Wake

_AGAIN = 5.0
"""Seconds after which a reader looks again without having been woken."""


class Reader:
    """One that waits. `topic` is the key of the session it cares for; None for any."""

    def __init__(self, topic: int | None) -> None:
        self.topic = topic
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()

    def look(self) -> None:
        """What is read from now on is new: a change from here on wakes the next `wait`."""
        self._woken.clear()

    async def wait(self, seconds: float = _AGAIN) -> None:
        """Wait for a change since the last `look`, or for so long."""
        with contextlib.suppress(TimeoutError):
            # not `asyncio.wait_for`: until Python 3.12 that loses a cancellation that comes at the same moment as the wake
            async with asyncio.timeout(min(seconds, _AGAIN)):
                await self._woken.wait()

    def wake(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._woken.set)


class Watch:
    """The readers of one store.

    Args:
        listen: blocks and calls its second argument with the key of what changed, until its first is set.
    """

    def __init__(self, listen: Callable[[threading.Event, Wake], None]) -> None:
        self._listen = listen
        self._lock = threading.Lock()
        self._fresh()

    def _fresh(self) -> None:
        self._process = os.getpid()
        self._readers: set[Reader] = set()
        self._stop: threading.Event | None = None
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def reader(self, topic: int | None = None) -> Generator[Reader]:
        """A reader, as long as the block."""
        reader = Reader(topic)
        with self._lock:
            if self._process != os.getpid():  # forked: the listener has stayed behind
                self._fresh()
            self._readers.add(reader)
            if self._stop is None:
                self._stop = threading.Event()
                arguments = (self._stop, self.wake)
                self._thread = threading.Thread(target=self._listen, args=arguments, name="tukang-watch", daemon=True)
                self._thread.start()
        try:
            yield reader
        finally:
            with self._lock:
                self._readers.discard(reader)
                if not self._readers:
                    self._still()

    def _still(self) -> None:
        if self._stop is not None:
            self._stop.set()
            self._stop = None

    def wake(self, topic: int | None) -> None:
        """Wake who cares for this topic. From any thread."""
        with self._lock:
            readers = [reader for reader in self._readers if topic is None or reader.topic in (None, topic)]
        for reader in readers:
            reader.wake()

    async def close(self) -> None:
        """Wait for the listener to end, if nobody reads."""
        with self._lock:
            ending = self._thread if self._stop is None else None
        if ending is not None:
            await asyncio.to_thread(ending.join)
