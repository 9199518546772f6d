"""How a function ended, and the outcome that makes of it: the part of running a call that is the same in a task, a thread and
a worker process.

Runs the function it is given and what that returns, where it stands; where that is, and for how long, is decided elsewhere.
No exception of a function gets out of here, not even `SystemExit`.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import msgspec

from tukang.tools.context import Tell
from tukang.tools.failure import words
from tukang.tools.finding import Found
from tukang.tools.json_text import unicode
from tukang.tools.long import TaskCancelled
from tukang.tools.outcome import NothingDone, Outcome, OutcomeUnknown, failed
from tukang.tools.policy import ToolEffect
from tukang.tools.result import Unwritable, content
from tukang.tools.untrusted import Untrusted
from tukang.tools.yielding import drained, drained_async, yields, yields_async


class Returned(msgspec.Struct, frozen=True):
    """It returned, or a generator came to its end."""

    value: Any


class Raised(msgspec.Struct, frozen=True):
    """It raised."""

    error: BaseException


Ended = Returned | Raised

_PLAIN = frozenset([dict, list, tuple, str, int, float, bool, type(None)])
"""What most functions return. It is nothing to await, and that is known without asking what else it can do."""


def ran(call: Callable[[], Any], tell: Tell | None) -> Ended:
    """Call, and go through a generator to its end."""
    try:
        value = call()
        return Returned(drained(value, tell) if yields(value) else value)
    except BaseException as error:
        return Raised(error)


def unfinished(ended: Ended) -> bool:
    """Whether what was returned has yet to be awaited: the function was plain, but made a coroutine or an async generator."""
    if not isinstance(ended, Returned) or type(ended.value) in _PLAIN:
        return False
    return inspect.isawaitable(ended.value) or yields_async(ended.value)


async def awaited(call: Callable[[], Awaitable[Any] | AsyncGenerator[Any, Any]], tell: Tell | None) -> Ended:
    """Call, and await what that gives. Cancelling it cancels what it awaits, and goes on its way."""
    try:
        value: Any = call()
        return Returned(await drained_async(value, tell) if yields_async(value) else await value)
    except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        return Raised(error)


def outcome(ended: Ended, tool: str, *, none_is_null: bool) -> Outcome:
    """What the model reads of it.

    Args:
        ended: how it ended.
        tool: its name, for a warning.
        none_is_null: see `result.content`.
    """
    if isinstance(ended, Returned) and not isinstance(ended.value, BaseException):
        value, origin, found = ended.value, None, ()
        if isinstance(value, Found):
            value, found = value.value, value.names
        if isinstance(value, Untrusted):
            value, origin = value.value, value.origin
        try:
            return Outcome(content(value, tool, none_is_null=none_is_null), origin=origin, found=found)
        except Unwritable as error:
            return failed("tool_failed", f"it ran, but its result cannot be written as JSON: {error}")
        except BaseException as error:  # a serializer of the user's
            return failed("tool_failed", f"it ran, but its result cannot be written: {words(error)}")
    error = ended.value if isinstance(ended, Returned) else ended.error  # one that is returned is as good as raised
    if isinstance(error, NothingDone):
        hint = None if error.hint is None else unicode(str(error.hint))
        return failed("nothing_done", unicode(str(error.message)), hint)
    if isinstance(error, OutcomeUnknown):
        return unknown(unicode(error.message))
    if isinstance(error, TaskCancelled):
        return failed("cancelled", "it was cancelled, and has stopped")
    return failed("tool_failed", words(error))


def late(effect: ToolEffect, allowed: float | None) -> Outcome:
    """The outcome of a function that had started and did not end in its time.

    Args:
        effect: its tool's.
        allowed: the seconds it had.
    """
    message = f"it did not finish within {allowed:.3g} seconds"
    return failed("timed_out", message) if effect == "read" else unknown(message)


def unknown(message: str) -> Outcome:
    """The outcome of a function that is no read, had started, and of which no more is known."""
    return failed(
        "outcome_unknown",
        f"{message}; it had started, and may or may not have taken effect",
        "Do not repeat it. Find out what happened, or tell the user that it is not known.",
    )
