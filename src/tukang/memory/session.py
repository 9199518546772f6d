"""A conversation that goes on over several turns, one turn at a time.

This one lives in memory, as long as the object. It keeps messages and nothing else: what an agent is stands elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tukang.conversation import Message, validity
from tukang.errors import ConfigurationError
from tukang.memory.gate import Gate


class Session:
    """A conversation.

    Args:
        id: the caller's name for it.
        messages: what was said before, if anything; must be valid (see `tukang.conversation.validity`).

    Raises:
        ConfigurationError: the messages are not a valid conversation; it says where.
    """

    def __init__(self, id: str, messages: Iterable[Message] = ()) -> None:
        self.id = id
        self.gate = Gate(f"session {id!r}")
        self._messages: tuple[Message, ...] = ()
        self.add(messages)

    @property
    def messages(self) -> tuple[Message, ...]:
        """All that was said, oldest first. Between turns it is always valid."""
        return self._messages

    def add(self, messages: Iterable[Message]) -> None:
        """Append whole turns."""
        added: Sequence[Message] = tuple(messages)
        if faults := validity(added):
            raise ConfigurationError(f"session {self.id!r} cannot take these messages: {'; '.join(faults)}")
        self._messages = (*self._messages, *added)
