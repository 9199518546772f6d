"""An agent whose tools say what they did, and a process that dies in one of them.

Dying is played: from then on nothing reaches the store. Real processes are killed in `tests/crash`.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from tukang import Agent, Answer, CallContext, tool
from tukang.memory.stores.base import Store
from tukang.models.base import ModelRequest
from tukang.models.scripted import Scripted

LEASE = 0.3
"""Seconds after which what a dead process held is free."""


class World:
    """What the tools of a test did: (effect, x, idempotency key). Those in `hangs` do not end before `end` is set; those in
    `needing` may not run without permission."""

    def __init__(self, needing: Iterable[str] = ()) -> None:
        self.needing = frozenset(needing)
        self.did: list[tuple[str, int, str]] = []
        self.hangs: set[str] = set()
        self.began = asyncio.Event()
        self.end = asyncio.Event()

    def agent(self, *script: Any, **options: Any) -> Agent:
        """An agent whose model says the replies in their order, whichever process asks."""
        return Agent(Scripted(lambda request: script[said(request)]), tools=self.tools(), name="pekerja", **options)

    def tools(self) -> list[Any]:
        return [self._tool(effect) for effect in ("read", "write", "idempotent")]

    def _tool(self, effect: Any) -> Any:
        @tool(
            effect=effect,
            approval="ask" if effect in self.needing else "never",
            name=effect,
            description=f"Does a {effect}.",
        )
        async def do(x: int, context: CallContext) -> str:
            self.did.append((effect, x, context.idempotency_key))
            if effect in self.hangs:
                self.began.set()
                await self.end.wait()
            return f"{effect} {x} done"

        return do

    def keys(self, effect: str, x: int = 1) -> list[str]:
        """The keys it was run with, so often."""
        return [key for did, given, key in self.did if (did, given) == (effect, x)]


def said(request: ModelRequest) -> int:
    """How many replies there are in the turn so far."""
    last = max(place for place, message in enumerate(request.messages) if message.role == "user")
    return sum(message.role == "assistant" for message in request.messages[last:])


class Dead(Exception):
    """The process is gone."""


class Mortal:
    """A store as a process sees it that may die. `told` is called with the name of each method before it is."""

    def __init__(self, store: Store, told: Callable[[str], None] = lambda _: None) -> None:
        self._store = store
        self._told = told
        self.dead = False

    def __getattr__(self, name: str) -> Any:
        whole = getattr(self._store, name)
        if not inspect.iscoroutinefunction(whole):
            return whole

        async def sent(*arguments: Any, **options: Any) -> Any:
            self._told(name)
            if self.dead:
                raise Dead
            return await whole(*arguments, **options)

        return sent


async def dies_in(effect: str, agent: Agent, store: Store, world: World, **options: Any) -> None:
    """Run a turn of session `budi` until the function of this effect has begun; then its process dies."""
    world.hangs.add(effect)
    mortal = Mortal(store)
    chat = agent.session("budi", store=mortal, lease=LEASE, **options)  # type: ignore[arg-type]
    running = asyncio.create_task(chat.arun("go"))
    await world.began.wait()
    mortal.dead = True
    running.cancel()
    with contextlib.suppress(Dead, asyncio.CancelledError):
        await running
    world.hangs.clear()


def steps(answer: Answer[Any] | None) -> list[tuple[str, str | None]]:
    """Each call's tool, and its fault."""
    assert answer is not None
    return [(step.tool, step.fault.kind if step.fault else None) for step in answer.steps]
