"""A text engine that says what it is told to say, and remembers what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

from tukang.errors import ModelError
from tukang.models.local.engine import Completed, Engine, Job, Piece, Slot

Says = str | ModelError | Callable[[Job], str]


class Scripted(Engine):
    """Answers each job of a slot with the next text of that slot, `size` characters at a time."""

    def __init__(self, decide: Sequence[Says] = (), answer: Sequence[Says] = (), *, size: int = 3) -> None:
        self._left = {Slot.DECIDE: list(decide), Slot.ANSWER: list(answer)}
        self._size = size
        self.jobs: list[Job] = []
        self.closed = 0

    def asked(self, slot: Slot) -> list[Job]:
        """The jobs of one slot that were to generate something."""
        return [job for job in self.jobs if job.slot is slot and job.max_tokens]

    async def complete(self, job: Job) -> AsyncGenerator[Piece | Completed, None]:
        self.jobs.append(job)
        try:
            if not job.max_tokens:
                yield Completed("stop")
                return
            says = self._left[job.slot].pop(0)
            if isinstance(says, ModelError):
                raise says
            text = says if isinstance(says, str) else says(job)
            limit = job.max_tokens * self._size
            for start in range(0, min(len(text), limit), self._size):
                await asyncio.sleep(0)
                yield Piece(text[start : min(start + self._size, limit)])
            yield Completed("length" if len(text) > limit else "stop", 10, -(-len(text) // self._size), 4)
        finally:
            self.closed += 1
