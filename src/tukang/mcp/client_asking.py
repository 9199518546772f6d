"""What a server may ask of us in the middle of a call: something of the user, or a sentence of a model. Refused by default.

A handler of the developer's decides. Without one the server is told that we have no such thing, and a call that cannot go on
without it fails.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from mcp.client.session import ClientRequestContext
from mcp.types import (
    INVALID_REQUEST,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    ErrorData,
    TextContent,
)

from tukang.conversation import Message
from tukang.mcp.client_result import part_of
from tukang.tools.aside import aside
from tukang.tools.failure import words


class Elicitation(msgspec.Struct, frozen=True):
    """A server asks the user for something.

    Args:
        server: which one.
        message: what it says to the user. It comes from outside.
        schema: the JSON Schema of what is to be filled in; None when the user is to visit an address instead.
        url: that address. Show it, and open it only when the user says so.
    """

    server: str
    message: str
    schema: Mapping[str, Any] | None = None
    url: str | None = None


class Sampling(msgspec.Struct, frozen=True):
    """A server asks for a model's reply.

    Args:
        server: which one.
        messages: what is said. It comes from outside.
        instructions: the system text it wants.
        max_tokens: how long the reply may be.
        temperature: how the model is to sample; None where it does not say.
    """

    server: str
    messages: tuple[Message, ...]
    instructions: str
    max_tokens: int
    temperature: float | None = None


Elicit = Callable[[Elicitation], Mapping[str, Any] | bool | Awaitable[Mapping[str, Any] | bool | None] | None]
"""What the user filled in; True for an address they visited; None (or False) when they would not."""

Sample = Callable[[Sampling], str | Awaitable[str | None] | None]
"""What the model says; None to refuse."""


class Asks(msgspec.Struct, frozen=True):
    """The developer's handlers, as the SDK calls them. A plain function runs in a thread."""

    server: str
    elicit: Elicit | None = None
    sample: Sample | None = None

    async def elicited(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult | ErrorData:  # noqa: ARG002
        """See `mcp.client.session.ElicitationFnT`."""
        assert self.elicit is not None, "not given to the SDK otherwise"
        if isinstance(params, ElicitRequestURLParams):
            asked = Elicitation(self.server, params.message, url=params.url)
        else:
            asked = Elicitation(self.server, params.message, dict(params.requested_schema))
        try:
            said = await aside(self.elicit, asked)
        except Exception as error:
            return ErrorData(code=INVALID_REQUEST, message=f"nobody could be asked: {words(error)}")
        if said is None or said is False:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content=None if said is True else dict(said))

    async def sampled(
        self,
        context: ClientRequestContext,  # noqa: ARG002
        params: CreateMessageRequestParams,
    ) -> CreateMessageResult | ErrorData:
        """See `mcp.client.session.SamplingFnT`."""
        assert self.sample is not None, "not given to the SDK otherwise"
        messages = tuple(
            Message(message.role, tuple(part_of(block) for block in message.content_as_list))
            for message in params.messages
        )
        asked = Sampling(self.server, messages, params.system_prompt or "", params.max_tokens, params.temperature)
        try:
            said = await aside(self.sample, asked)
        except Exception as error:
            return ErrorData(code=INVALID_REQUEST, message=f"no model could be asked: {words(error)}")
        if said is None:
            return ErrorData(code=-1, message="refused")
        return CreateMessageResult(role="assistant", content=TextContent(text=str(said)), model="tukang")
