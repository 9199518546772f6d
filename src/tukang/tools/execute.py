"""Runs one checked call: whatever the function does, there is one outcome, in time. No retries, no policy of turns.

What is promised:
* It never takes longer than its time, and a short grace for an async function to clean up. A function that does not stop is
  left behind: a thread cannot be stopped, and a coroutine may swallow its cancellation.
* A read that was left behind has `timed_out`; anything else had started, so its outcome is unknown.
* No exception of a function gets out, not even `SystemExit`. Cancelling `execute` itself does what cancelling should: it
  raises within the grace, and the function below is cancelled if it can be.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from tukang.tools.context import CallContext
from tukang.tools.failure import words
from tukang.tools.json_text import unicode
from tukang.tools.outcome import NothingDone, Outcome, failed
from tukang.tools.result import Unwritable, content
from tukang.tools.threads import Threads
from tukang.tools.tool import Tool

GRACE = 0.1
"""Seconds an async function has to end after it was cancelled."""

_THREADS = Threads()
"""Idle threads, shared by all calls of the process. The only thing kept between calls, and it holds nothing of them."""


class _Returned(msgspec.Struct, frozen=True):
    value: Any


class _Raised(msgspec.Struct, frozen=True):
    error: BaseException


_Ended = _Returned | _Raised


async def execute(tool: Tool, arguments: str, context: CallContext, seconds: float | None = None) -> Outcome:
    """Run a call.

    Args:
        tool: the tool.
        arguments: the canonical JSON that `check` gave.
        context: handed to the function if it asks for one, with its deadline brought forward to this call's.
        seconds: what is left of the turn; None for no bound. The policy's time-out may be shorter.

    Returns:
        The result, or a fault: `not_run` when there was no time to start, `timed_out`, `outcome_unknown`, `nothing_done`,
        `tool_failed`, or `invalid_arguments` when the arguments do not fit (the tool has changed since they were checked).
    """
    bounds = [bound for bound in (tool.policy.timeout, seconds) if bound is not None]
    allowed = min(bounds) if bounds else None
    if allowed is not None and allowed <= 0:
        return failed("not_run", "there was no time left to start it")
    deadline = None if allowed is None else time.monotonic() + allowed
    try:
        positional, named = tool.parameters.bind(arguments, _narrowed(context, deadline))
    except Exception as error:  # user code validates, too
        return failed("invalid_arguments", f"the arguments do not fit: {words(error)}")
    ended = await _run(tool, functools.partial(tool.function, *positional, **named), deadline)
    return _late(tool, allowed) if ended is None else _outcome(tool, ended)


def _narrowed(context: CallContext, deadline: float | None) -> CallContext:
    if deadline is None or (context.deadline is not None and context.deadline <= deadline):
        return context
    return msgspec.structs.replace(context, deadline=deadline)


def _outcome(tool: Tool, ended: _Ended) -> Outcome:
    if isinstance(ended, _Returned):
        try:
            return Outcome(content(ended.value, tool.name, none_is_null=tool.signature.may_return_none))
        except Unwritable as error:
            return failed("tool_failed", f"it ran, but its result cannot be written as JSON: {error}")
        except Exception as error:  # a serializer of the user's
            return failed("tool_failed", f"it ran, but its result cannot be written: {words(error)}")
    error = ended.error
    if isinstance(error, NothingDone):
        return failed(
            "nothing_done", unicode(str(error.message)), None if error.hint is None else unicode(str(error.hint))
        )
    return failed("tool_failed", words(error))


def _late(tool: Tool, allowed: float | None) -> Outcome:
    message = f"it did not finish within {allowed:.3g} seconds"
    if tool.policy.effect == "read":
        return failed("timed_out", message)
    return failed(
        "outcome_unknown",
        f"{message}; it had started, and may or may not have taken effect",
        "Do not repeat it. Find out what happened, or tell the user that it is not known.",
    )


async def _run(tool: Tool, call: Callable[[], Any], deadline: float | None) -> _Ended | None:
    """How the call ended; None when its time was up first."""
    if tool.signature.is_async:
        return await _in_task(call, deadline)
    ended = await _in_thread(call, deadline)
    if isinstance(ended, _Returned) and inspect.isawaitable(ended.value):  # a plain function that made a coroutine
        return await _in_task(lambda: ended.value, deadline)
    return ended


async def _in_thread(call: Callable[[], Any], deadline: float | None) -> _Ended | None:
    loop = asyncio.get_running_loop()
    landing: asyncio.Future[_Ended | None] = loop.create_future()
    context = contextvars.copy_context()

    def job() -> None:
        try:
            ended: _Ended = _Returned(context.run(call))
        except BaseException as error:
            ended = _Raised(error)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_land, landing, ended)

    _THREADS.run(job)
    return await _landed(landing, deadline)


async def _in_task(call: Callable[[], Awaitable[Any]], deadline: float | None) -> _Ended | None:
    landing: asyncio.Future[_Ended | None] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(_contained(call))
    task.add_done_callback(lambda done: _land(landing, _ended(done)))
    try:
        ended = await _landed(landing, deadline)
    finally:
        if not task.done():
            await _stop(task)
    if ended is None and task.done() and isinstance(last := _ended(task), _Returned):
        return last  # it made it while it was being cancelled: then its outcome is known
    return ended


async def _stop(task: asyncio.Task[_Ended]) -> None:
    task.cancel()
    await asyncio.wait((task,), timeout=GRACE)
    if not task.done():
        # it swallows its cancellation: asyncio.run would wait for it for ever when the program ends
        asyncio._unregister_task(task)  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]


async def _landed(landing: asyncio.Future[_Ended | None], deadline: float | None) -> _Ended | None:
    if deadline is None:
        return await landing
    timer = asyncio.get_running_loop().call_later(deadline - time.monotonic(), _land, landing, None)
    try:
        return await landing
    finally:
        timer.cancel()


def _land(landing: asyncio.Future[_Ended | None], ended: _Ended | None) -> None:
    if not landing.done():
        landing.set_result(ended)


async def _contained(call: Callable[[], Awaitable[Any]]) -> _Ended:
    try:
        return _Returned(await call())
    except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        return _Raised(error)


def _ended(task: asyncio.Task[_Ended]) -> _Ended:
    if task.cancelled():
        return _Raised(RuntimeError("it was cancelled from within"))
    error = task.exception()
    return task.result() if error is None else _Raised(error)
