"""One model request: sent, folded, streamed, and ended in exactly one event.

Performs `AskModel` and `StopModel`. It decides nothing: whether a request is sent again is the loop's business.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any, cast

from msgspec.structs import replace

from tukang.conversation import Part, ServerCall, ServerResult, ToolCall
from tukang.errors import ConfigurationError, ModelError
from tukang.loop.events import Event, ModelFault, ModelInterrupted, ModelReplied, ReplyBegan
from tukang.models.base import (
    ArgumentsDelta,
    CallBegan,
    Fold,
    Model,
    ModelEvent,
    ModelRequest,
    PartCompleted,
    TextDelta,
    ThinkingDelta,
)
from tukang.runtime.offering import must_serve
from tukang.runtime.routing import ROUTE
from tukang.runtime.signals import Delta, Served
from tukang.tools.failure import words

STREAMED = (TextDelta, ThinkingDelta, CallBegan, ArgumentsDelta)


class Request:
    """A request under way.

    Args:
        model, request: who is asked what.
        post: takes `ReplyBegan`, as soon as the user sees a word.
        stream: takes the deltas as they come; None if nobody listens.
        clock: seconds since the epoch.
        wire_ids: provider ids already used in this conversation; an id that comes again is not kept, and new ones are added.
    """

    def __init__(
        self,
        model: Model,
        request: ModelRequest,
        *,
        post: Callable[[Event], None],
        stream: Callable[[Delta], None] | None,
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
        self._open: dict[str, ServerCall] = {}  # what the provider runs, and has no result yet

    async def send(self, wait: float) -> Event | None:
        """Wait, send, and return what became of it; None if it was stopped before."""
        try:
            if wait > 0:
                await asyncio.sleep(wait * random.uniform(1.0, 1.25))  # chance, so that clients do not come in step
            must_serve(self._model, self._request.hosted)  # an adapter that knows nothing of them would leave them out
            events = cast(Any, self._model.stream(self._request))
            try:
                async for event in events:
                    self._take(event)
            except BaseException:
                await events.aclose()  # one that has come to its end is closed
                raise
            fault = None if self._fold.ended else _UNFINISHED
        except ModelError as error:
            fault = ModelFault(error.kind, error.message, error.hint, error.status, error.retryable, error.retry_after)
        except ConfigurationError as error:
            fault = ModelFault("configuration", str(error))
        except (Exception, SystemExit, KeyboardInterrupt, asyncio.CancelledError) as error:
            # an adapter's own mistake must not cost the turn
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise  # it is this request that was stopped; else something inside the adapter was
            fault = ModelFault("unexpected", f"the model adapter {self._model.name} failed: {words(error)}")
        return self._end(fault)

    def stop(self) -> Event | None:
        """Take what has come so far as the end; what still comes is not heard. None if it has ended already."""
        return self._end(None, stopped=True)

    def _take(self, event: ModelEvent) -> None:
        if self._over:
            return
        self._fold.add(event)
        if not self._spoke and type(event) is TextDelta and event.text:
            self._spoke = True
            self._post(ReplyBegan(at=self._clock()))
        if self._stream is None:
            return
        if isinstance(event, STREAMED):
            self._stream(event)
        elif isinstance(event, PartCompleted) and (served := self._served(event.part)) is not None:
            self._stream(served)

    def _served(self, part: Part) -> Served | None:
        """What the provider ran, as soon as its result is there."""
        if isinstance(part, ServerCall):
            if part.result is None:
                self._open[part.id] = part
                return None
            return Served(part.id, part.tool or part.name, part.arguments, part.result, part.fault)
        call = self._open.pop(part.call_id, None) if isinstance(part, ServerResult) else None
        if call is None or not isinstance(part, ServerResult):
            return None
        return Served(call.id, call.tool or call.name, call.arguments, part.text, part.fault)

    def _end(self, fault: ModelFault | None, *, stopped: bool = False) -> Event | None:
        if self._over:
            return None
        self._over = True
        reply = self._fold.reply()
        usage, requests = reply.usage, 0 if reply.model == ROUTE else 1
        if usage.requests != requests:
            usage = replace(usage, requests=requests)
        if fault is not None or stopped:
            return ModelInterrupted(at=self._clock(), parts=reply.parts, error=fault, usage=usage)
        return ModelReplied(
            at=self._clock(),
            parts=self._with_fresh_ids(reply.parts),
            finish=reply.finish,
            usage=usage,
            model=reply.model,
            refusal=reply.refusal,
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
