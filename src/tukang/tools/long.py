"""Long work as its author, its function and a model see it: how it may be run, what a function returns to have it run, and
what becomes of it. Values only; who keeps tasks and who runs them stands in `tukang.tasks`.

A call of a long tool makes a **task** and returns its id at once; what the function does is done outside the turn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol

import msgspec

from tukang.tools.outcome import Outcome

TaskState = Literal["queued", "running", "done", "failed", "cancelled", "expired", "unknown"]
"""How a task stands.

* `queued`: it waits to be begun, for the first time or again.
* `running`: its function has begun, and somebody says regularly that they are at it.
* `done`: its function returned.
* `failed`: it raised, and is not tried again.
* `cancelled`: somebody did not want it any more, and it is certain that nothing goes on.
* `expired`: it was not begun, or not finished, in time; nothing was changed.
* `unknown`: it had begun, and nobody knows whether it took effect.
"""

FINAL: frozenset[TaskState] = frozenset({"done", "failed", "cancelled", "expired", "unknown"})
"""The states that a task stays in, unless somebody has it tried again."""

STATUS, RESULT = "task_status", "task_result"
"""The names of the tools that a model follows tasks with."""

A_DAY = 86_400.0


class Long(msgspec.Struct, frozen=True, omit_defaults=True):
    """How long work is run: `@tool(long=Long(attempts=3))`. `long=True` is one with all defaults.

    Args:
        attempts: times its function is run when it fails. More than 1 is for what may be repeated: `read` and `idempotent`.
        backoff: seconds before the second attempt; twice as long before each further one.
        expires: seconds after the call in which it must have ended; None for no bound.
        wait: seconds that a model is told to wait before it asks how far it is.
        wake: whether its end starts a turn in its session. Only in a session in a store.

    Raises:
        ValueError: a number makes no sense.
    """

    attempts: int = 1
    backoff: float = 2.0
    expires: float | None = A_DAY
    wait: float = 5.0
    wake: bool = False

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError(f"Long.attempts must be at least 1, not {self.attempts!r}")
        if not self.backoff >= 0:
            raise ValueError(f"Long.backoff must not be negative, but is {self.backoff!r}")
        if self.expires is not None and not self.expires > 0:
            raise ValueError(f"Long.expires must be a number of seconds more than 0, or None, not {self.expires!r}")
        if not self.wait > 0:
            raise ValueError(f"Long.wait must be a number of seconds more than 0, not {self.wait!r}")


class Task:
    """What a function returns whose work takes long: the work, still to be done.

    The function is run at once, and tells by a result or a fault that there is nothing to be done. It may be run again before
    its work, also by another process: it looks and returns, and changes nothing itself.

    Args:
        work: does it; called with a `CallContext` of its own. Async or not.
    """

    __slots__ = ("work",)

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self.work = work


class TaskCancelled(Exception):
    """Raised by a function that was cancelled and has stopped before its end: see `CallContext.stop_if_cancelled`."""


class TaskSeen(msgspec.Struct, frozen=True):
    """A task, as a model may see it.

    Args:
        id: what it is called.
        tool: whose call it is.
        state: see `TaskState`.
        percent, message: what its function said last.
        wait: seconds to wait before asking again.
        outcome: what became of it, once it has ended.
    """

    id: str
    tool: str
    state: TaskState
    percent: float | None = None
    message: str = ""
    wait: float = 0.0
    outcome: Outcome | None = None


class Tasks(Protocol):
    """The tasks of one session, for the tools that a model follows them with."""

    async def look(self, id: str, seconds: float = 0.0) -> TaskSeen | None:
        """A task; None when this session, or this caller, has none of that id. Waits up to so many seconds for its end."""
        ...
