"""Runs one checked call in a worker process: `execute`, for tools whose isolation is `process`.

The function gets what it would get in a thread, less what cannot be sent: context variables, and a place to keep long
results. Its time-out begins when it does; starting a worker, or waiting for one, takes only of the turn's time. What the
model reads:

* it did not begin: `not_run`, whatever the reason;
* its time was up, and it is a read: `timed_out`; its process ended otherwise: `tool_failed`;
* it is anything but a read: `outcome_unknown`.
"""

from __future__ import annotations

import contextlib
import pickle
import time
from collections.abc import Mapping
from typing import Any

import msgspec

from tukang.tools import advice
from tukang.tools.context import CallContext
from tukang.tools.ended import late, unknown
from tukang.tools.failure import words
from tukang.tools.frames import Reply, Request
from tukang.tools.landing import Landing
from tukang.tools.outcome import Outcome, failed
from tukang.tools.processes import Errand, Processes
from tukang.tools.threads import Job, Threads
from tukang.tools.tool import Tool
from tukang.tools.workers import KILLING, Lost, module_path

_PROCESSES = Processes()
"""Idle workers, shared by all calls of the program."""

_MARGIN = KILLING + 1.0
"""Seconds after the deadline when a thread that waits for a worker is not waited for any longer. It does not come to that."""


async def execute(
    threads: Threads,
    tool: Tool,
    arguments: str,
    context: CallContext,
    seconds: float | None,
    secrets: Mapping[str, str],
) -> Outcome:
    """As `tukang.tools.execute.execute`; a thread of `threads` waits for the worker."""
    if seconds is not None and seconds <= 0:
        return failed("not_run", "there was no time left to start it")
    deadline = None if seconds is None else time.monotonic() + seconds
    try:
        positional, named = tool.parameters.bind(arguments, _sendable(context))
    except BaseException as error:  # user code validates, too
        return failed("invalid_arguments", f"the arguments do not fit: {words(error)}")
    try:
        request = _encoded(tool, positional, {**named, **secrets})
    except Exception as error:
        advice.warn(f"tool {tool.name!r} was not run: what it needs cannot be sent to its process: {words(error)}")
        return failed("not_run", f"it cannot be sent to its process: {words(error)}")
    timeout = tool.policy.timeout
    said = await _sent(threads, Errand(request, timeout, deadline, context.tell), deadline)
    if isinstance(said, Reply):
        return said.outcome
    return _lost(tool, said, min((bound for bound in (timeout, seconds) if bound is not None), default=None))


def _sendable(context: CallContext) -> CallContext:
    """Without what lives here only. What is cancelled in a process is killed, and need not ask."""
    return msgspec.structs.replace(context, tell=None, outputs=None, tasks=None, cancelling=None)


def _encoded(tool: Tool, positional: list[Any], named: dict[str, Any]) -> bytes:
    """The call as it is sent; raises whatever pickling raises."""
    call = pickle.dumps((tool.function, positional, named), pickle.HIGHEST_PROTOCOL)
    policy, signature = tool.policy, tool.signature
    return msgspec.msgpack.encode(
        Request(
            tool=tool.name,
            call=call,
            path=module_path(),
            contexts=signature.context,
            timeout=policy.timeout,
            memory=policy.memory,
            none_is_null=signature.may_return_none,
        )
    )


async def _sent(threads: Threads, errand: Errand, deadline: float | None) -> Reply | Lost:
    """Have a thread see to the errand. Cancelling this kills the worker that has it."""
    landing = Landing[Reply | Lost]()

    def work() -> None:
        try:
            said = _PROCESSES.run(errand)
        except BaseException as error:
            said = Lost(f"its process was lost: {words(error)}", started=True)
        landing.land_from_thread(said)
        with contextlib.suppress(Exception):
            _PROCESSES.tidy()

    try:
        threads.run(Job(work))
    except RuntimeError as error:
        return Lost(f"the system gives no thread to wait for it in: {error}")
    unheard = Lost("its process does not answer", started=True, late=True)
    try:
        return await landing.landed_by(None if deadline is None else deadline + _MARGIN, unheard)
    finally:
        if landing.empty:
            _PROCESSES.stop(errand)


def _lost(tool: Tool, lost: Lost, allowed: float | None) -> Outcome:
    if not lost.started:
        if not lost.late:
            advice.warn(f"tool {tool.name!r} was not run: {lost.reason}")
        return failed("not_run", f"it was not started: {lost.reason}")
    if lost.late:
        return late(tool.policy.effect, allowed)
    return failed("tool_failed", lost.reason) if tool.policy.effect == "read" else unknown(lost.reason)
