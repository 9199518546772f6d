"""The ways to run a turn: wait for it, await it, follow it. The same for an agent and for a conversation with one.

It starts nothing itself: what can start a turn says how.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypedDict, TypeVar, Unpack, overload

from tukang.answer import Answer
from tukang.conversation import Message
from tukang.loop.events import Event
from tukang.loop.limits import Limits
from tukang.loop.permissions import Principal
from tukang.memory.gate import WhenBusy
from tukang.running import Running
from tukang.runtime.facade import wait_for
from tukang.runtime.people import Approver
from tukang.runtime.signals import Signal
from tukang.stream import Stream

T = TypeVar("T")


class RunOptions(TypedDict, total=False):
    """What may be said for one turn.

    Args:
        context: the caller's own object: for instructions that are a function and for tools that ask for a `CallContext`. It
            is never sent to the model.
        tool_choice: instead of the agent's.
        limits: instead of the agent's.
        when_busy: `wait` (the default) or `refuse`, when another turn holds the session.
        approve: decides about calls that need permission, instead of the agent's: a function from an
            `tukang.runtime.people.Approval` to what it decides, async or not.
        principal: who the turn is for: a tool that needs what they were not granted is not offered to the model, and refused.
            Written down with the turn, and so never a secret.
    """

    context: Any
    tool_choice: str
    limits: Limits
    when_busy: WhenBusy
    approve: Approver | None
    principal: Principal | None


class ResumeOptions(TypedDict, total=False):
    """What may be said when a turn goes on that was left in the middle.

    Args:
        context, returns: as they were when the turn began.
        when_busy: `wait` (the default) or `refuse`, when somebody is running it.
        approve: see `RunOptions`.
    """

    context: Any
    returns: Any
    when_busy: WhenBusy
    approve: Approver | None


class Runnable(ABC):
    """Something that can start a turn.

    `returns` makes the answer data: a Pydantic model, a dataclass, a TypedDict, a msgspec Struct, a type made of these
    (`list[Invoice]`, a `Literal`), or a JSON Schema as a dict. `Answer.data` is then the value and `Answer.text` its
    canonical JSON. Tools may be called on the way. What does not fit goes back to the model once, with the reason; should
    that not help, `Answer.data` is None, and `Answer.stopped` says `no_data`, or the limit that ended the turn.
    """

    @abstractmethod
    def _start(
        self,
        message: str | Message,
        returns: Any,
        options: RunOptions,
        listen: Callable[[Event | Signal], None] | None = None,
    ) -> Running[Any]:
        """A turn that has not begun."""

    @overload
    def run(self, message: str | Message, *, returns: None = None, **options: Unpack[RunOptions]) -> Answer[None]: ...

    @overload
    def run(self, message: str | Message, *, returns: type[T], **options: Unpack[RunOptions]) -> Answer[T]: ...

    @overload
    def run(self, message: str | Message, *, returns: Any, **options: Unpack[RunOptions]) -> Answer[Any]: ...

    def run(self, message: str | Message, *, returns: Any = None, **options: Unpack[RunOptions]) -> Answer[Any]:
        """Run one turn and wait for the answer. Works anywhere, also inside a notebook's event loop.

        Raises:
            ConfigurationError: the tool_choice names no tool, there is no JSON Schema for `returns`, or the model cannot be
                loaded.
            KeyboardInterrupt: on Ctrl-C, after the turn was ended well.
        """
        running = self._start(message, returns, options)
        return wait_for(running.answer, running.cancel)

    @overload
    async def arun(
        self, message: str | Message, *, returns: None = None, **options: Unpack[RunOptions]
    ) -> Answer[None]: ...

    @overload
    async def arun(self, message: str | Message, *, returns: type[T], **options: Unpack[RunOptions]) -> Answer[T]: ...

    @overload
    async def arun(self, message: str | Message, *, returns: Any, **options: Unpack[RunOptions]) -> Answer[Any]: ...

    async def arun(self, message: str | Message, *, returns: Any = None, **options: Unpack[RunOptions]) -> Answer[Any]:
        """Run one turn and await the answer. Cancelling the awaiting task ends the turn well first.

        Raises:
            ConfigurationError: the tool_choice names no tool, there is no JSON Schema for `returns`, or the model cannot be
                loaded.
        """
        return await self._start(message, returns, options).answer()

    @overload
    def stream(
        self, message: str | Message, *, returns: None = None, **options: Unpack[RunOptions]
    ) -> Stream[None]: ...

    @overload
    def stream(self, message: str | Message, *, returns: type[T], **options: Unpack[RunOptions]) -> Stream[T]: ...

    @overload
    def stream(self, message: str | Message, *, returns: Any, **options: Unpack[RunOptions]) -> Stream[Any]: ...

    def stream(self, message: str | Message, *, returns: Any = None, **options: Unpack[RunOptions]) -> Stream[Any]:
        """Run one turn and follow it. Takes what `arun` takes."""
        return Stream(lambda listen: self._start(message, returns, options, listen))
