"""Everything one turn runs on: the live objects that stand behind the values in its journal.

A turn is not a state: it is the model, the tools, and the conversation before. It is put together by the agent and used by
the driver.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from tukang.conversation import Message, ToolCall
from tukang.loop.events import TurnStarted
from tukang.loop.state import State
from tukang.models.base import Model, ModelRequest, Settings
from tukang.tools.toolbox import Toolbox


class Turn(msgspec.Struct, frozen=True):
    """What a turn runs on.

    Args:
        started: the event that begins it, less its time: that is the driver's clock's.
        models: who is asked; the next one takes over when one gives up.
        instructions: the system text, rendered for this caller.
        history: the conversation before this turn, valid.
        context: the caller's own object, handed to functions that ask for a `CallContext`; never sent to a model.
    """

    started: TurnStarted
    models: tuple[Model, ...]
    toolbox: Toolbox
    instructions: str = ""
    history: Sequence[Message] = ()
    settings: Settings = Settings()
    context: Any = None

    def request(
        self,
        state: State | None = None,
        *,
        tool_choice: str = "auto",
        tools_off: bool = False,
        note: str | None = None,
    ) -> ModelRequest:
        """The next request, from the conversation as it stands. Without a state: what the first one will look like.

        It carries no time bound of its own: the driver stops a request when the turn's time is up, and a second clock for
        each request would cost as much as the rules of a whole round.
        """
        messages = [*self.history, *(state.messages if state else (self.started.trigger,))]
        if state is not None and state.partial:
            messages.append(Message("assistant", state.partial))
        return ModelRequest(
            instructions=self.instructions,
            messages=messages,
            tools=self.toolbox.contracts,
            tool_choice=tool_choice,
            tools_off=tools_off,
            note=note,
            settings=self.settings,
            conversation=self._name(),
        )

    def _name(self) -> str:
        """What the conversation is called towards a provider: the same each round, and nobody's own words."""
        return hashlib.sha256((self.started.session or self.started.turn).encode()).hexdigest()[:16]

    def wire_ids(self) -> set[str]:
        """The provider ids that the conversation before has used up."""
        return {
            part.wire_id
            for message in self.history
            for part in message.parts
            if isinstance(part, ToolCall) and part.wire_id is not None
        }
