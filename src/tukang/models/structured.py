"""An answer that is data, from a model that cannot be made to call the tool it is given with: as structured output.

Some models take no forced `tool_choice`, or none while they think, and yet write text that follows a schema. An adapter for
such a model sends `as_text(request)` where `demanded(request)`, and reads the reply through `as_call`: to everybody else it
is the call that was demanded. Pure, but for the stream it reads; it knows no provider.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, cast

from msgspec.structs import replace

from tukang.models.base import ArgumentsDelta, CallBegan, ModelEvent, ModelRequest, ReplyEnded, TextDelta
from tukang.tools.contract import Contract


def demanded(request: ModelRequest) -> Contract | None:
    """The tool that gives the answer, where it is the one that must be called now."""
    if request.answer is None or request.tool_choice != request.answer or request.tools_off:
        return None
    return next((tool for tool in request.tools if tool.name == request.answer), None)


def as_text(request: ModelRequest, tool: Contract) -> ModelRequest:
    """The same request with the arguments of `tool` asked for as the text of the reply. The tools stay listed."""
    return replace(request, tool_choice="none", answer=None, returns=tool.parameters)


async def as_call(events: AsyncIterator[ModelEvent], name: str) -> AsyncIterator[ModelEvent]:
    """What comes back, with the text of the reply as the arguments of a call of the tool `name`."""
    began = False
    async with aclosing(cast(Any, events)):
        async for event in events:
            match event:
                case TextDelta(text):
                    if not began:
                        yield CallBegan(0, name)
                        began = True
                    yield ArgumentsDelta(0, text)
                case CallBegan() | ArgumentsDelta():  # a call against the demand; the text has the first key
                    yield replace(event, key=event.key + 1)
                case ReplyEnded(finish="stop") if began:
                    yield replace(event, finish="calls")
                case _:
                    yield event
