"""One model request: sent, folded, streamed, and ended in exactly one event.

Performs `AskModel` and `StopModel`. It decides nothing: whether a request is sent again is the loop's business.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from contextlib import aclosing
from typing import Any, cast

from msgspec.structs import replace

from tukang.conversation import Part, ToolCall
from tukang.errors import ConfigurationError, ModelError
from tukang.loop.events import Event, ModelFault, ModelInterrupted, ModelReplied, ReplyBegan
from tukang.models.base import (
    ArgumentsDelta,
    CallBegan,
    Fold,
    Model,
    ModelEvent,
    ModelRequest,
    TextDelta,
    ThinkingDelta,
)
from tukang.runtime.signals import Delta

STREAMED = (TextDelta, ThinkingDelta, CallBegan, ArgumentsDelta)


class Request:
    """A request under way.

    Args:
        model, request: who is asked what.
        post: takes the one event this request ends in, and `ReplyBegan` before it.
        stream: takes the deltas as they come.
        clock: seconds since the epoch.
        wire_ids: provider ids already used in this conversation; an id that comes again is not kept, and new ones are added.
    """

    def __init__(
        self,
        model: Model,
        request: ModelRequest,
        *,
        post: Callable[[Event], None],
        stream: Callable[[Delta], None],
        clock: Callable[[], float],
        wire_ids: set[str],
    ) -> None:
        self._model = model
        self._request = request
        self._post = post
        self._stream = stream
        self._clock = clock
        self._wire_ids = wire_ids
        self._fold = Fold()
        self._spoke = False
        self._over = False

    async def send(self, wait: float) -> None:
        """Wait, send, and post what became of it."""
        try:
            if wait > 0:
                await asyncio.sleep(wait * random.uniform(1.0, 1.25))  # chance, so that clients do not come in step
            events = cast(Any, self._model.stream(self._request))
            async with aclosing(events):
                async for event in events:
                    self._take(event)
            fault = None if self._fold.ended else _UNFINISHED
        except ModelError as error:
            fault = ModelFault(error.kind, error.message, error.hint, error.status, error.retryable, error.retry_after)
        except ConfigurationError as error:
            fault = ModelFault("configuration", str(error))
        except Exception as error:  # an adapter's own mistake must not cost the turn
            fault = ModelFault(
                "unexpected", f"the model adapter {self._model.name} failed: {type(error).__name__}: {error}"
            )
        self._end(fault)

    def stop(self) -> None:
        """Take what has come so far as the end. What still comes is not heard."""
        self._end(None, stopped=True)

    def _take(self, event: ModelEvent) -> None:
        if self._over:
            return
        self._fold.add(event)
        if isinstance(event, STREAMED):
            if not self._spoke and isinstance(event, TextDelta) and event.text:
                self._spoke = True
                self._post(ReplyBegan(at=self._clock()))
            self._stream(event)

    def _end(self, fault: ModelFault | None, *, stopped: bool = False) -> None:
        if self._over:
            return
        self._over = True
        reply = self._fold.reply()
        usage = replace(reply.usage, requests=1)
        if fault is not None or stopped:
            self._post(ModelInterrupted(at=self._clock(), parts=reply.parts, error=fault, usage=usage))
            return
        self._post(
            ModelReplied(
                at=self._clock(),
                parts=self._with_fresh_ids(reply.parts),
                finish=reply.finish,
                usage=usage,
                model=reply.model,
                refusal=reply.refusal,
            )
        )

    def _with_fresh_ids(self, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        """Provider ids are kept only where they tell calls apart."""
        kept: list[Part] = []
        for part in parts:
            if isinstance(part, ToolCall) and part.wire_id is not None:
                if not part.wire_id or part.wire_id in self._wire_ids:
                    part = replace(part, wire_id=None)
                else:
                    self._wire_ids.add(part.wire_id)
            kept.append(part)
        return tuple(kept)


_UNFINISHED = ModelFault("bad_response", "the reply ended before it was complete", retryable=True)
