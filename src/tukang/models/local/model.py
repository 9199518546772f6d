"""The offline model: one decision or one answer for each request, made by a small model within this process.

`stream` is one request of the loop: with tools on offer it *decides* (`deciding.py`), and a decided call is the reply;
otherwise, or when the decision is to answer, it *answers* (`answering.py`). The loop runs the call and asks again. This file
joins the two to `tukang.models.base.Model` and finds the engine; it holds no conversation.

What stands for what:

* `tool_choice` `auto`: any tool or an answer; `required`: a tool; a name: that tool; `none` or `tools_off`: an answer.
  Required or not, a call with an invented identifier is not made; the answer then asks for what is missing.
* One reply holds one call at most: a small model chooses better one at a time.
* `Settings`: `max_tokens` bounds both steps. `temperature`, `top_p`, `seed`, `stop` and `extra` (llama.cpp's own fields)
  shape the words of the answer; a decision is always the likeliest one. `think=True` is refused: this model cannot.
* A `note` is given to the answer; a decision has no use for it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import msgspec

from tukang.conversation import Usage
from tukang.errors import ConfigurationError, ModelError
from tukang.models.base import (
    ArgumentsDelta,
    CallBegan,
    ModelEvent,
    ModelRequest,
    ReplyEnded,
    TextDelta,
    UsageReported,
)
from tukang.models.local.answering import answer
from tukang.models.local.deciding import LONGEST_DECISION, decide
from tukang.models.local.engine import Completed, Engine, Job, Slot
from tukang.models.local.grounding import Sources
from tukang.models.local.prompts import answer_for, answer_opening, decide_for, decide_opening
from tukang.models.local.shared import shared_engine
from tukang.models.local.view import view_of
from tukang.models.local.weights import INSTALL_HINT, official_weights, own_weights
from tukang.tools.contract import Contract


class Loading(msgspec.Struct, frozen=True):
    """How far getting ready is. `done` and `total` are bytes when joining, steps when warming up, both 0 when loading."""

    stage: Literal["joining", "loading", "warming"]
    done: int = 0
    total: int = 0


class LocalModel:
    """A model on this machine: no key, no network.

    Args:
        path: a GGUF file of your own, with a ChatML template (Qwen and many others); `TUKANG_LOCAL_MODEL` when None, and
            without that the official Qwen2.5-Coder-1.5B-Instruct of the extra `tukang[local]`.
        threads: computing threads; `TUKANG_LOCAL_THREADS` when None, and without that what the machine has free.
        progress: told how far joining, loading and warming are, from any thread.
        engine: another text engine instead of llama.cpp.

    All `LocalModel`s of a process that name the same file share one engine.

    Raises:
        ConfigurationError: the extra is not installed, or the file is missing or not GGUF.
    """

    provider = "local"

    wants_preamble = False
    """An agent's general words about working in a loop are no help to a small model; both prompts say what it needs."""

    grounds_answers = True
    """It says no figure that nobody gave it; see `answering`. An answer sent back would come again."""

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        threads: int | None = None,
        progress: Callable[[Loading], None] | None = None,
        engine: Engine | None = None,
    ) -> None:
        own = path if path is not None else os.environ.get("TUKANG_LOCAL_MODEL") or None
        self.name = "local" if own is None else f"local:{os.fspath(own)}"
        self._path = None if own is None else Path(own)
        self._threads = threads
        self._progress: Callable[[Loading], None] = progress or _unwatched
        self._engine = engine
        self._warmed: set[str] = set()
        if engine is None:
            if find_spec("xllamacpp") is None:
                raise ConfigurationError(f"the local model's engine is not installed. {INSTALL_HINT}")
            if self._path is not None:
                own_weights(self._path)

    async def prepare(self, request: ModelRequest) -> None:
        """Join and load the weights, and read in both prompts as far as they are known before the turn.

        Raises:
            ModelError: of kind `configuration`: weights, memory or disk are short.
        """
        engine = await self._ready()
        view = view_of(request)
        warm = [Job(Slot.ANSWER, answer_opening(), 0), Job(Slot.ANSWER, answer_for(view, request.tools), 0)]
        if request.tools:
            warm = [Job(Slot.DECIDE, decide_opening(), 0), Job(Slot.DECIDE, decide_for(view, request.tools), 0), *warm]
        new = [job.prompt for job in warm if job.prompt not in self._warmed]
        for place, job in enumerate(warm):
            # Every turn asks again, since another agent may have used the slot; only the first time takes long.
            if new:
                self._progress(Loading("warming", place, len(warm)))
            async for _ in engine.complete(job):
                pass
        if new:
            self._progress(Loading("warming", len(warm), len(warm)))
        self._warmed.update(new)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """One decision or one answer; see the head of this file.

        Raises:
            ModelError: `configuration` when the model cannot run here, `bad_request` for what it cannot do.
        """
        if request.settings.think:
            raise ModelError("bad_request", "the local model cannot think.", hint="Leave Settings.think unset.")
        engine = await self._ready()
        view = view_of(request)
        sources = Sources(view.said)
        usage, missing = Usage(), ""
        if tools := _on_offer(request):
            limit = request.settings.max_tokens or LONGEST_DECISION
            may_answer = request.tool_choice == "auto"
            decided = await decide(engine, view, tools, sources, may_answer=may_answer, max_tokens=limit)
            usage, missing = decided.usage, ", ".join(decided.missing)
            yield UsageReported(usage)
            if decided.tool is not None:
                yield CallBegan(0, decided.tool)
                yield ArgumentsDelta(0, decided.arguments)
                yield ReplyEnded("length" if decided.cut else "calls", model=self.name)
                return
        finish = "stop"
        words = answer(
            engine, view, sources, request.settings, tools=request.tools, missing=missing, note=request.note or ""
        )
        async for item in words:
            if isinstance(item, Completed):
                usage += Usage(item.input, item.output, cache_read=item.cached, requests=1)
                finish = item.finish
            else:
                yield TextDelta(item)
        yield UsageReported(usage)
        yield ReplyEnded(finish, model=self.name)

    async def _ready(self) -> Engine:
        if self._engine is None:
            self._engine = await asyncio.to_thread(self._load)
        return self._engine

    def _load(self) -> Engine:
        if self._path is not None:
            weights = own_weights(self._path)
        else:
            weights = official_weights(progress=lambda done, total: self._progress(Loading("joining", done, total)))
        self._progress(Loading("loading"))
        return shared_engine(weights, self._threads)


def _unwatched(_: Loading) -> None:
    """Nobody follows the loading."""


def _on_offer(request: ModelRequest) -> tuple[Contract, ...]:
    """The tools that may be called now."""
    if request.tools_off or request.tool_choice == "none":
        return ()
    if request.tool_choice in ("auto", "required"):
        return request.tools
    chosen = tuple(tool for tool in request.tools if tool.name == request.tool_choice)
    if not chosen:
        names = ", ".join(tool.name for tool in request.tools) or "none"
        raise ModelError("bad_request", f"tool_choice names {request.tool_choice!r}, which is not on offer ({names}).")
    return chosen
