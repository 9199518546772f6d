"""Calls what a user gave us besides tools: a function that decides something. Never on the event loop, if it is a plain one.

It may take its time; who waits for it may stop waiting. A thread cannot be stopped, so a plain function that is not waited
for any more goes on by itself, and is counted (see `threads`).
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Callable
from typing import Any

from tukang.tools.ended import Ended, Raised, Returned
from tukang.tools.failure import words
from tukang.tools.landing import Landing
from tukang.tools.threads import Job, Threads

_THREADS = Threads()


class AsideError(Exception):
    """It was not called, or it ended in something that is no ordinary exception."""


async def aside(function: Callable[..., Any], *arguments: Any) -> Any:
    """What it returns: an async function is awaited here, a plain one is called in a thread with the context variables of
    here.

    Raises:
        AsideError: too many earlier calls are still running; the system gives no thread; or it raised what is no `Exception`.
        Exception: whatever it raises.
    """
    try:
        if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
            return await function(*arguments)
        value = await _in_thread(function, arguments)
        return await value if inspect.isawaitable(value) else value
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise  # it is us who are stopped; else something inside was
        raise AsideError("it was cancelled from within") from error
    except (SystemExit, KeyboardInterrupt) as error:
        raise AsideError(words(error)) from error


async def _in_thread(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    if _THREADS.full:
        raise AsideError("too many earlier calls did not end and are still running")
    landing = Landing[Ended]()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            ended: Ended = Returned(context.run(function, *arguments))
        except BaseException as error:
            ended = Raised(error)
        landing.land_from_thread(ended)

    job = Job(work, getattr(function, "__qualname__", type(function).__qualname__))
    try:
        _THREADS.run(job)
    except RuntimeError as error:
        raise AsideError(f"the system gives no thread to run it in: {error}") from error
    try:
        ended = await landing.landed()
    except asyncio.CancelledError:
        _THREADS.abandon(job)
        raise
    if isinstance(ended, Raised):
        raise ended.error
    return ended.value
