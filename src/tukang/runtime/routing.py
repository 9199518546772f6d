"""A direct look-up: the first reply of a turn made without the model, where the question is one that a single search answers.

It is a model around a model, so that nothing in the loop differs: the reply asks for the look-up like any other, the
call is checked, journaled and run like any other, and the model behind it is asked with the result there. What is
saved is the request that would only have asked for the search. The reply says that no model made it: its model is
`ROUTE`, and its usage nothing.

And the other way round: where all tools are look-ups (and the provider runs none), and the first message of a conversation
is about nothing that they hold ("Halo", "Berapa 15 dikali 12?"), the model is asked for its answer, not for a call. Its name
then ends in `SPARED`.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from tukang.conversation import Text, Usage
from tukang.errors import ConfigurationError
from tukang.models.base import ArgumentsDelta, CallBegan, Model, ModelEvent, ModelRequest, ReplyEnded, UsageReported
from tukang.tools.lookup import Fit, LookUp, look_up_of
from tukang.tools.tool import Tool

ROUTE = "route:look-up"
"""What stands in the place of a model's name where a reply was made by this file."""

SPARED = " (route:no-look-up)"
"""What a model's name ends in where it was asked without look-ups."""


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
        fits = await self._fits(request)
        tool = next((name for name, fit in fits.items() if fit == "direct"), None)
        if tool is not None:
            yield CallBegan(0, tool)
            yield ArgumentsDelta(0, msgspec.json.encode({self._known[tool].argument: _question(request)}).decode())
            yield UsageReported(Usage())
            yield ReplyEnded("calls", model=ROUTE)
            return
        names = {contract.name for contract in request.tools}
        only = names == fits.keys() and not request.hosted
        spared = only and len(request.messages) == 1 and set(fits.values()) == {"strange"}
        async for event in self._model.stream(replace(request, tool_choice="none") if spared else request):
            if spared and isinstance(event, ReplyEnded):
                event = replace(event, model=f"{event.model or self.name}{SPARED}")
            yield event

    async def _fits(self, request: ModelRequest) -> dict[str, Fit]:
        """What the message is to each look-up on offer, up to the first that answers it: at the beginning of a turn, where
        the model would be free to ask for any or none; nothing at all other times."""
        question = _question(request)
        if not question or request.tools_off or request.tool_choice != "auto":
            return {}
        offered, fits = {contract.name for contract in request.tools}, dict[str, Fit]()
        for name, look_up in self._known.items():
            if name in offered:
                fits[name] = await _fit(look_up, question)
                if fits[name] == "direct":
                    break  # the others need not search as well
        return fits


def _question(request: ModelRequest) -> str:
    """The user's message that a turn begins with, where it is nothing but text."""
    last = request.messages[-1] if request.messages else None
    if last is None or last.role != "user" or not all(isinstance(part, Text) for part in last.parts):
        return ""
    return "".join(part.text for part in last.parts if isinstance(part, Text))


async def _fit(look_up: LookUp, question: str) -> Fit:
    """What it is; open if that cannot be found out: then the model plans, as without a router."""
    try:
        return await look_up.fit(question)
    except Exception:
        return "open"
