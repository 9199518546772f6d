"""A direct look-up: the first reply of a turn made without the model, where the question is one that a single search answers.

It is a model around a model, so that nothing in the loop differs: the reply asks for the look-up like any other, the
call is checked, journaled and run like any other, and the model behind it is asked with the result there. What is
saved is the request that would only have asked for the search. The reply says that no model made it: its model is
`ROUTE`, and its usage nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterable
from typing import Any

import msgspec

from tukang.conversation import Text, Usage
from tukang.errors import ConfigurationError
from tukang.models.base import ArgumentsDelta, CallBegan, Model, ModelEvent, ModelRequest, ReplyEnded, UsageReported
from tukang.tools.lookup import LookUp, look_up_of
from tukang.tools.tool import Tool

ROUTE = "route:look-up"
"""What stands in the place of a model's name where a reply was made by this file."""


def routed(model: Model, tools: Iterable[Tool]) -> Model:
    """The model behind a router.

    Args:
        model: who is asked.
        tools: the agent's; one of them at least is a look-up.

    Raises:
        ConfigurationError: none of them is.
    """
    known = {tool.name: look_up for tool in tools if (look_up := look_up_of(tool.function)) is not None}
    if not known:
        raise ConfigurationError(
            "route='auto' needs a tool that looks the user's question up, such as Knowledge.tool(); there is none"
        )
    return _Routed(model, known)


class _Routed:
    """See `routed`. Everything else that a model may have is the inner model's."""

    def __init__(self, model: Model, known: dict[str, LookUp]) -> None:
        self._model = model
        self._known = known

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def provider(self) -> str:
        return self._model.provider

    async def prepare(self, request: ModelRequest) -> None:
        for look_up in self._known.values():
            with contextlib.suppress(Exception):  # what is wrong with it is told by the tool, if the model asks for it
                await look_up.prepare()
        await self._model.prepare(request)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        found = await self._look_up(request)
        if found is None:
            async for event in self._model.stream(request):
                yield event
            return
        tool, arguments = found
        yield CallBegan(0, tool)
        yield ArgumentsDelta(0, arguments)
        yield UsageReported(Usage())
        yield ReplyEnded("calls", model=ROUTE)

    async def _look_up(self, request: ModelRequest) -> tuple[str, str] | None:
        """The call to ask for: at the beginning of a turn, where the model would be free to ask for any or none."""
        last = request.messages[-1] if request.messages else None
        if last is None or last.role != "user" or request.tools_off or request.tool_choice != "auto":
            return None
        if not all(isinstance(part, Text) for part in last.parts):
            return None
        question = "".join(part.text for part in last.parts if isinstance(part, Text))
        offered = {contract.name for contract in request.tools}
        for tool, look_up in self._known.items():
            if tool in offered and await _fits(look_up, question):
                return tool, msgspec.json.encode({look_up.argument: question}).decode()
        return None


async def _fits(look_up: LookUp, question: str) -> bool:
    """Whether it does; not if that cannot be found out: then the model plans, as without a router."""
    try:
        return await look_up.fits(question)
    except Exception:
        return False
