"""Workers in the test's own process, and an agent whose tools say what they did and can be held in the middle."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from tukang import Agent, CallContext, tool
from tukang.models.base import ModelRequest
from tukang.models.scripted import Line, Scripted, call
from tukang.workers import Worker

TAKEOVER = 1.2
"""Seconds within which a worker that died is replaced, in tests that wait for it."""


class Shop:
    """What the tools did: (tool, item). Those in `hangs` do not end before `end` is set."""

    def __init__(self) -> None:
        self.did: list[tuple[str, str]] = []
        self.hangs: set[str] = set()
        self.began = asyncio.Event()
        self.end = asyncio.Event()

    def agent(self, script: Sequence[Line] = (call("pesan", item="SSD"), "Selesai."), **options: Any) -> Agent:
        """An agent whose model says the replies in their order, whichever worker asks."""

        def reply(request: ModelRequest) -> Line:
            last = max(place for place, message in enumerate(request.messages) if message.role == "user")
            return script[sum(message.role == "assistant" for message in request.messages[last:])]

        return Agent(Scripted(reply), tools=[self._pesan(), self._lihat()], **{"name": "toko", **options})

    def _pesan(self) -> Any:
        @tool(effect="write", approval="never")
        async def pesan(item: str) -> str:
            """Pesan."""
            return await self._do("pesan", item)

        return pesan

    def _lihat(self) -> Any:
        @tool(effect="read")
        async def lihat(item: str, context: CallContext) -> str:
            """Lihat."""
            return await self._do("lihat", f"{item} {context.context}" if context.context else item)

        return lihat

    async def _do(self, name: str, item: str) -> str:
        self.did.append((name, item))
        if name in self.hangs:
            self.began.set()
            await self.end.wait()
        return "jadi"


@asynccontextmanager
async def at_work(url: str, *agents: Agent, **options: Any) -> AsyncGenerator[Worker]:
    """A worker, for the length of the block; then it is stopped at once."""
    worker = Worker(url, agents, **{"takeover": TAKEOVER, "grace": 0.0, **options})
    running = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        worker.stop()
        await running


async def until(holds: Callable[[], Any], seconds: float = 10.0) -> None:
    """Wait until an async question is answered with yes."""
    async with asyncio.timeout(seconds):
        while not await holds():  # noqa: ASYNC110 - the database is asked
            await asyncio.sleep(0.02)
