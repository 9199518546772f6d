"""Synchronous use: the same driver, in one thread that runs an event loop for the whole process.

So `run()` also works where a loop is already running (a notebook), and connections are shared between calls. There is no
second copy of anything: a synchronous call waits for the asynchronous one.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

_PATIENCE = 5.0
"""Seconds a cancelled turn may take to end. It needs milliseconds; this is for a machine that is very busy."""


def wait_for(work: Callable[[], Coroutine[Any, Any, T]], cancel: Callable[[], None]) -> T:
    """Run `work()` in the portal thread and wait for it.

    On Ctrl-C, `cancel` is called in the portal thread, the turn is given time to end well, and then `KeyboardInterrupt`
    goes on its way.

    Raises:
        RuntimeError: called from the portal thread itself, which would wait for itself for ever.
    """
    loop, thread = _portal(os.getpid())
    if threading.current_thread() is thread:
        raise RuntimeError("run() was called from inside a turn, which would wait for itself; use `await arun()` there")
    future = asyncio.run_coroutine_threadsafe(work(), loop)
    try:
        return future.result()
    except KeyboardInterrupt:
        loop.call_soon_threadsafe(cancel)
        with contextlib.suppress(Exception):
            future.result(_PATIENCE)
        raise


def in_background(work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
    """Begin `work()` in the portal thread, whoever's loop this is. It goes on when that loop has ended."""
    loop, _ = _portal(os.getpid())
    return asyncio.run_coroutine_threadsafe(work(), loop)


@functools.cache
def _portal(_process: int) -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
    """The loop and its thread, made on first use; a forked process makes its own. A daemon: the program can always exit."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=_serve, args=(loop,), name="tukang", daemon=True)
    thread.start()
    return loop, thread


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop for good. What a caller's code exits with ends that caller's turn, and not everybody's loop."""
    while True:
        with contextlib.suppress(SystemExit, KeyboardInterrupt):  # asyncio has given it to the task it belongs to
            loop.run_forever()
