"""What a function may know about the call it serves: its name, its key, its time, and whatever the caller passed along.

A function asks for it by annotating a parameter with `CallContext`, or `CallContext[MyType]` when the caller's own object is
of that type; that parameter is never shown to the model.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic

import msgspec
from typing_extensions import TypeVar

from tukang.tools.long import TaskCancelled, Tasks
from tukang.tools.outputs import Outputs

if TYPE_CHECKING:
    from tukang.tools.finding import Search
    from tukang.tools.policy import ToolEffect

C = TypeVar("C", default=Any)

Tell = Callable[[float | None, str], None]
"""Takes what a function says of its progress: percent, message. Called from any thread."""


class CallContext(msgspec.Struct, Generic[C], frozen=True, kw_only=True):
    """One call, as its function may see it.

    Args:
        call_id: ours, made of turn, round and position.
        idempotency_key: the same for every attempt at this call; pass it on to a service that can tell repeats apart.
        session: the session's name; None outside a session.
        deadline: when the call's time is up, in seconds of `time.monotonic`; None for no bound.
        context: the caller's own object, as given to the agent's run.
        tell: where progress goes; None when nobody listens. Use `progress`.
        outputs: where results that are too long for the model are kept whole; None when they are not.
        tasks: the session's long work; None when no tool of the agent is long.
        search: finds tools that the caller may use; None when all of them are shown.
        cancelling: whether the call's end is wanted; None where nobody says. Use `cancelled`.
        effect: what this call may do to the world, as its tool's policy says; None where nobody says.
    """

    call_id: str
    idempotency_key: str
    session: str | None = None
    deadline: float | None = None
    context: C = None  # pyright: ignore[reportAssignmentType]  # None is what no context is, whatever its type
    tell: Tell | None = None
    outputs: Outputs | None = None
    tasks: Tasks | None = None
    search: Search | None = None
    cancelling: Callable[[], bool] | None = None
    effect: ToolEffect | None = None

    def seconds_left(self) -> float | None:
        """Seconds until the call's time is up, never below 0; None when there is no bound."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    @property
    def cancelled(self) -> bool:
        """Whether somebody has cancelled this long work: return soon then, or `stop_if_cancelled`. It has a few seconds."""
        return self.cancelling is not None and self.cancelling()

    def stop_if_cancelled(self) -> None:
        """Stop here if somebody has cancelled this long work, by raising what says so. What was done so far stays done.

        Raises:
            TaskCancelled: it was cancelled.
        """
        if self.cancelled:
            raise TaskCancelled

    def progress(self, percent: float | None = None, message: str = "") -> None:
        """Say how far the call has come. Readers of the stream get it as a signal; the model never sees it.

        May be called from any thread, as often as you like; once the call is over it does nothing.

        Args:
            percent: 0 to 100; None when it is not known.
            message: what is being done, in a few words.
        """
        if self.tell is not None:
            self.tell(percent, message)
