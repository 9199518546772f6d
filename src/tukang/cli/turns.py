"""Runs one turn in the foreground: Ctrl-C ends the turn, not the program. Knows signals and streams, shows nothing."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

from tukang.answer import Answer
from tukang.loop.events import Event
from tukang.runtime.signals import Signal
from tukang.stream import Stream


async def follow(stream: Stream, see: Callable[[Event | Signal], None]) -> Answer | None:
    """Follow a turn to its end.

    The first Ctrl-C cancels the turn, which still ends with an answer; a second one raises at once.

    Returns:
        The answer; None when the turn was cancelled before it had begun.

    Raises:
        TukangError: the turn could not begin.
        KeyboardInterrupt: Ctrl-C came a second time.
    """
    with _on_interrupt(asyncio.get_running_loop(), stream.cancel):
        async for item in stream:
            see(item)
    return stream.answer if stream.answer.events else None


@contextmanager
def _on_interrupt(loop: asyncio.AbstractEventLoop, cancel: Callable[[], object]) -> Generator[None]:
    """Call `cancel` on the first Ctrl-C within the block. Elsewhere than in the main thread, signals are not ours."""
    count = 0

    def handle(_number: int, _frame: FrameType | None) -> None:
        nonlocal count
        count += 1
        if count > 1:
            raise KeyboardInterrupt
        loop.call_soon_threadsafe(cancel)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT) or signal.SIG_DFL
    # The loop's own handler wakes it. Ours alone would not be heard when the signal comes just before the loop goes to
    # sleep: Python runs a handler only when the main thread goes on.
    with contextlib.suppress(NotImplementedError):  # Windows, where a loop does not sleep through it
        loop.add_signal_handler(signal.SIGINT, _woken)
    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        with contextlib.suppress(NotImplementedError):
            loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)


def _woken() -> None:
    """The loop is awake; what is to be done, our own handler does."""
