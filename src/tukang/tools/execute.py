"""Runs one checked call: whatever the function does, there is one outcome, in time. No retries, no policy of turns.

What is promised:
* It never takes longer than its time, and a short grace for an async function to clean up, or for a process to be gone. A
  function that does not stop is left behind: a thread cannot be stopped, and a coroutine may swallow its cancellation. A
  process is killed.
* A read that did not end has `timed_out`; anything else had started, so its outcome is unknown.
* No exception of a function gets out, not even `SystemExit`. Cancelling `execute` itself does what cancelling should: it
  raises within the grace, and the function below is cancelled or killed if it can be.
* The event loop is never held up by a plain function, nor by writing down what it returned. For one that ended at once the
  last time it stands still a moment (`MOMENT`), which is less than going away and being called back. Who runs several gives
  way between them.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from tukang.tools import advice
from tukang.tools.context import CallContext, Tell
from tukang.tools.ended import Ended, Raised, Returned, awaited, late, outcome, ran, unfinished
from tukang.tools.failure import words
from tukang.tools.landing import Landing
from tukang.tools.outcome import Outcome, failed
from tukang.tools.threads import Job, Threads
from tukang.tools.tool import Tool

NO_SECRETS: Mapping[str, str] = MappingProxyType({})

GRACE = 0.1
"""Seconds an async function has to end after it was cancelled."""

QUICK = 0.0001
"""Seconds in which a plain function ended the last time, if it is quick."""

MOMENT = 0.0002
"""Seconds that the event loop stands still for a quick function, at most."""

_THREADS = Threads()
"""Idle threads, shared by all calls of the process. It holds nothing of the calls but the names of those left behind."""


async def execute(
    tool: Tool,
    arguments: str,
    context: CallContext,
    seconds: float | None = None,
    secrets: Mapping[str, str] = NO_SECRETS,
) -> Outcome:
    """Run a call.

    Args:
        tool: the tool.
        arguments: the canonical JSON that `check` gave.
        context: handed to the function if it asks for one, with its deadline brought forward to this call's.
        seconds: what is left of the turn; None for no bound. The policy's time-out may be shorter.
        secrets: parameter → secret, for a function that is given some.

    Returns:
        The result, or a fault: `not_run` when there was no time or no room to start, `timed_out`, `outcome_unknown`,
        `nothing_done`, `tool_failed`, or `invalid_arguments` when the arguments do not fit (the tool has changed since they
        were checked).
    """
    policy = tool.policy
    if policy.isolation == "process":
        from tukang.tools import in_process  # only where it is wanted: it needs what not every system has

        return await in_process.execute(_THREADS, tool, arguments, context, seconds, secrets)
    allowed = policy.timeout
    if seconds is not None and (allowed is None or seconds < allowed):
        allowed = seconds
    if allowed is not None and allowed <= 0:
        return failed("not_run", "there was no time left to start it")
    deadline = None if allowed is None else time.monotonic() + allowed
    try:
        positional, named = tool.parameters.bind(arguments, _narrowed(context, deadline))
    except BaseException as error:  # user code validates, too
        return failed("invalid_arguments", f"the arguments do not fit: {words(error)}")
    call = functools.partial(tool.function, *positional, **named, **secrets)
    if tool.signature.is_async:
        ended = await _in_task(call, deadline, context.tell)
    elif _THREADS.full:
        advice.too_many_left_behind(tool.name, _THREADS.abandoned())
        return failed("not_run", "too many earlier calls did not end in their time and are still running")
    else:
        ended = await _in_thread(tool, call, deadline, context.tell)
        if isinstance(ended, Outcome):
            return ended
        if isinstance(ended, Returned):  # a plain function that made a coroutine
            value = ended.value
            ended = await _in_task(lambda: value, deadline, context.tell)
    return late(policy.effect, allowed) if ended is None else _outcome(tool, ended)


def _narrowed(context: CallContext, deadline: float | None) -> CallContext:
    if deadline is None or (context.deadline is not None and context.deadline <= deadline):
        return context
    return msgspec.structs.replace(context, deadline=deadline)


def _outcome(tool: Tool, ended: Ended) -> Outcome:
    return outcome(ended, tool.name, none_is_null=tool.signature.may_return_none)


async def _in_thread(
    tool: Tool, call: Callable[[], Any], deadline: float | None, tell: Tell | None
) -> Outcome | Ended | None:
    """The outcome, written down in the thread as well; or how it ended, if that is to be awaited; None if its time was up."""
    pace = tool.pace
    quick = pace.quick and tell is None
    landing: Landing[Outcome | Ended | None] = Landing(stands=quick)
    context = contextvars.copy_context()

    def whole() -> Outcome | Ended:
        ended = ran(call, tell)
        return ended if unfinished(ended) else _outcome(tool, ended)

    def work() -> None:
        began = time.perf_counter()
        try:
            landed = context.run(whole)
        except BaseException as error:  # of a serializer of the user's
            landed = _outcome(tool, Raised(error))
        pace.quick = time.perf_counter() - began < QUICK
        landing.land_from_thread(landed)

    job = Job(work, tool.name)
    try:
        _THREADS.run(job)
    except RuntimeError as error:
        return failed("not_run", f"the system gives no thread to run it in: {error}")
    if quick and (there := landing.landed_within(MOMENT)):
        return there[0]
    landed = None
    try:
        landed = await landing.landed_by(deadline, None)
    finally:
        if landed is None:
            _THREADS.abandon(job)
    if landed is None:
        advice.left_behind(tool.name)
    return landed


async def _in_task(call: Callable[[], Any], deadline: float | None, tell: Tell | None) -> Ended | None:
    """How it ended; None when its time was up first."""
    landing: Landing[Ended | None] = Landing()
    task = asyncio.create_task(awaited(call, tell))
    task.add_done_callback(lambda done: landing.land(_ended(done)))
    try:
        ended = await landing.landed_by(deadline, None)
    finally:
        if not task.done():
            await _stop(task)
    if ended is None and task.done() and isinstance(last := _ended(task), Returned):
        return last  # it made it while it was being cancelled: then its outcome is known
    return ended


async def _stop(task: asyncio.Task[Ended]) -> None:
    task.cancel()
    await asyncio.wait((task,), timeout=GRACE)
    if not task.done():
        # it swallows its cancellation: asyncio.run would wait for it for ever when the program ends
        asyncio._unregister_task(task)  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]


def _ended(task: asyncio.Task[Ended]) -> Ended:
    if task.cancelled():
        return Raised(RuntimeError("it was cancelled from within"))
    error = task.exception()
    return task.result() if error is None else Raised(error)
