"""One thread with an event loop, for all connections of the program to other servers.

So there is one connection to a server, whoever uses it: a synchronous call, a web server's loop, a notebook, a turn in the
portal thread. The transports' contexts are entered and left on the loop they live on, whatever becomes of the loop of a
caller; and what a server does to this loop, it does to no turn.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import contextlib
import functools
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

PARTING = 5.0
"""Seconds that connections get to end when the program does. A server that hears the end of its input needs a moment."""


def wait(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run `work()` there, and wait for it in this thread.

    Raises:
        RuntimeError: called from that thread itself, which would wait for itself for ever.
    """
    loop, thread = _home(os.getpid())
    if threading.current_thread() is thread:
        raise RuntimeError("this would wait for itself: it was called from what a server had asked for; await instead")
    future = asyncio.run_coroutine_threadsafe(work(), loop)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


async def there(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run `work()` there, and await it here. Cancelling this cancels that, and does not wait for it."""
    loop, _ = _home(os.getpid())
    if asyncio.get_running_loop() is loop:
        return await work()
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work(), loop))


def begin(work: Callable[[], Coroutine[Any, Any, Any]]) -> concurrent.futures.Future[Any]:
    """Run `work()` there, and do not wait."""
    loop, _ = _home(os.getpid())
    return asyncio.run_coroutine_threadsafe(work(), loop)


@functools.cache
def _home(process: int) -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
    """The loop and its thread, made on first use; a forked process makes its own. A daemon: the program can always exit."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="tukang-mcp", daemon=True)
    thread.start()
    atexit.register(_part, process, loop)
    return loop, thread


def _part(process: int, loop: asyncio.AbstractEventLoop) -> None:
    """When the program ends: have every connection end, and give that a moment. What is left then hears of the end itself."""
    if os.getpid() != process:
        return
    with contextlib.suppress(Exception, concurrent.futures.TimeoutError):
        asyncio.run_coroutine_threadsafe(_ended(), loop).result(PARTING)


async def _ended() -> None:
    mine = asyncio.current_task()
    left = [task for task in asyncio.all_tasks() if task is not mine and task.get_name().startswith(CONNECTION)]
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left, timeout=PARTING)


CONNECTION = "mcp-connection:"
"""What the names of the tasks begin with that hold a connection."""
