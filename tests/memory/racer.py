"""A process that goes on with turns as fast as it can: `python -m tests.memory.racer STORE LEDGER`, a session on each line.

It says for each how the turn stopped there, or that there was nothing left to do.
"""

from __future__ import annotations

import asyncio
import os
import sys

from tests.memory.mortal import said
from tukang import Agent, CallContext, tool
from tukang.errors import TukangError
from tukang.memory.stores.addresses import store_at
from tukang.models.scripted import Scripted, call


def racing_agent(ledger: str) -> Agent:
    """An agent that pays once, if that is permitted, and writes it down where others see it."""

    @tool(effect="write")
    def bayar(jumlah: int, context: CallContext) -> str:
        """Bayar."""
        file = os.open(ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(file, f"{context.session} {jumlah}\n".encode())
        os.close(file)
        return "dibayar"

    script = (call("bayar", jumlah=1), "Selesai.")
    return Agent(Scripted(lambda request: script[said(request)]), tools=[bayar], name="kasir")


async def main(address: str, ledger: str) -> None:
    """Go on with what is asked for."""
    store, agent = store_at(address), racing_agent(ledger)
    await store.sessions()  # connected before the race begins
    print("ready", flush=True)
    while session := (await asyncio.to_thread(sys.stdin.readline)).strip():
        try:
            answer = await agent.session(session, store=store).aresume()
            print("nothing" if answer is None else answer.stopped, flush=True)
        except TukangError as error:
            print(type(error).__name__, flush=True)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
