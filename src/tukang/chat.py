"""A conversation with one agent, turn after turn: run, followed, gone on with, pinned.

What an agent is, and how it makes a turn, stands in `agent`; where a conversation is kept, in `memory`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, Unpack

from tukang.answer import Answer
from tukang.conversation import Message
from tukang.loop.events import Event
from tukang.memory.session import NothingToResumeError, Session
from tukang.runnable import ResumeOptions, Runnable, RunOptions
from tukang.running import Running
from tukang.runtime.facade import wait_for
from tukang.runtime.signals import Signal
from tukang.stream import Stream


class Partner(Protocol):
    """Whom a conversation is with: see `tukang.agent.Agent`."""

    @property
    def start(self) -> Callable[..., Running[Any]]:
        """A turn that has not begun."""
        ...

    @property
    def resume(self) -> Callable[..., Running[Any]]:
        """The turn that was left in the middle."""
        ...


class Chat(Runnable):
    """A session with one agent: `run`, `arun` and `stream` as on the agent, in one conversation.

    A turn that is started while another is running waits for it (`when_busy="wait"`), or is refused
    (`when_busy="refuse"`, raising `SessionBusyError`). A session in a store may be in use by other processes too, and may
    have a turn that was left in the middle: `resume` goes on with it; the next message ends it, running nothing more of it.
    """

    def __init__(self, agent: Partner, session: Session) -> None:
        self.agent = agent
        self.session = session

    @property
    def id(self) -> str:
        """The session's name."""
        return self.session.id

    @property
    def messages(self) -> tuple[Message, ...]:
        """All that was said, oldest first. Of a session in a store: in its finished turns, as of now."""
        return self.session.messages

    def pin(self, turn: str, pinned: bool = True) -> None:
        """Have a turn always sent, however far back it lies; or no more.

        Args:
            turn: its id, as in `Answer.turn`.
            pinned: False lets it go.

        Raises:
            ConfigurationError: the session has no finished turn of that id, or too much is pinned already.
        """
        wait_for(lambda: self.apin(turn, pinned), lambda: None)

    async def apin(self, turn: str, pinned: bool = True) -> None:
        """`pin`, awaited."""
        await self.session.pin(turn, pinned)

    def resume(self, **options: Unpack[ResumeOptions]) -> Answer[Any] | None:
        """Go on with the turn that was left in the middle (its process died, or it waits), and wait for the answer.

        Returns:
            The answer; `stopped` is `waiting` while nobody has decided. None when there is no such turn.

        Raises:
            ConfigurationError: the turn is another agent's, or returns something else.
            KeyboardInterrupt: on Ctrl-C, after the turn was ended well.
        """
        running = self._resume(options)
        try:
            return wait_for(running.answer, running.cancel)
        except NothingToResumeError:
            return None

    async def aresume(self, **options: Unpack[ResumeOptions]) -> Answer[Any] | None:
        """`resume`, awaited."""
        try:
            return await self._resume(options).answer()
        except NothingToResumeError:
            return None

    def resume_stream(self, **options: Unpack[ResumeOptions]) -> Stream[Any]:
        """`resume`, followed: all of the turn's events, those of before too. Reading it raises `NothingToResumeError` when
        there is no such turn."""
        return Stream(lambda listen: self._resume(options, listen))

    def _resume(self, options: ResumeOptions, listen: Callable[[Event | Signal], None] | None = None) -> Running[Any]:
        return self.agent.resume(self.session, listen=listen, **options)

    def _start(
        self,
        message: str | Message,
        returns: Any,
        options: RunOptions,
        listen: Callable[[Event | Signal], None] | None = None,
    ) -> Running[Any]:
        return self.agent.start(message, returns=returns, listen=listen, session=self.session, **options)
