"""What a text engine is to the local model: one async method that completes a prompt.

The llama.cpp engine (`llama.py`) is one; a test's scripted engine is another. Nothing here loads or computes.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from enum import IntEnum
from typing import Any, Literal, Protocol

import msgspec


class Slot(IntEnum):
    """A prompt kind. Each keeps its own attention cache, so that both fixed prompts stay warm."""

    DECIDE = 0
    ANSWER = 1


class Job(msgspec.Struct, frozen=True, omit_defaults=True):
    """One completion.

    Args:
        slot: whose cache to use.
        prompt: the whole text, chat marks included.
        max_tokens: the most to generate. 0 only reads the prompt in ("warming up"), and keeps its state on disk where the
            engine can.
        grammar: GBNF that every generated text follows; None for free text.
        stop: texts that end the completion; they are not part of it.
        temperature: 0 takes the likeliest token each time.
        top_p: nucleus sampling, 0 to 1.
        seed: for repeatable sampling.
        extra: the engine's own fields, sent as they are.
    """

    slot: Slot
    prompt: str
    max_tokens: int
    grammar: str | None = None
    stop: tuple[str, ...] = ()
    temperature: float = 0.0
    top_p: float | None = None
    seed: int | None = None
    extra: Mapping[str, Any] = {}


class Piece(msgspec.Struct, frozen=True):
    """More of the text."""

    text: str


class Completed(msgspec.Struct, frozen=True):
    """The end of a completion: why it ended, and its tokens. `cached` is the part of `input` that needed no work."""

    finish: Literal["stop", "length"]
    input: int = 0
    output: int = 0
    cached: int = 0


class Engine(Protocol):
    """Completes prompts. Safe to use from several tasks and from several event loops."""

    def complete(self, job: Job) -> AsyncGenerator[Piece | Completed, None]:
        """Yield the text as it is made, and last one `Completed`.

        Closing the iterator, or cancelling the task that waits for it, stops the work soon after.

        Raises:
            ModelError: of kind `bad_request` when the engine refuses the grammar or the prompt is too long, `unexpected`
                when it breaks.
        """
        ...
