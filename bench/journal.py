"""What the journal costs: a turn whose session is kept in SQLite, against the same turn kept nowhere, in one run.

    python -m bench.journal [DIRECTORY]

The turn makes ten rounds of calls against a scripted server in a process of its own, which answers at once: what a real model
takes would only make the ratio smaller. Once with reads, and once with writes, of which each is on the disk before it begins
and after it has ended (the file is made in DIRECTORY, else where temporary files are). Wall time and CPU of this process, per
round; the ways take turns, batch by batch, and the quietest batch of each counts.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from bench.scripted_server import ANSWER, QUESTION, serving
from bench.tools import FUNCTIONS, INSTRUCTIONS
from tukang import Agent, Limits, tool
from tukang.memory.stores.addresses import store_at
from tukang.memory.stores.base import Store
from tukang.models.openai_chat import OpenAIChat

ROUNDS = 10
TURNS = 3
BATCHES = 6


class Spent(msgspec.Struct):
    """Seconds per round, on the wall and of this process's CPU."""

    wall: float = math.inf
    cpu: float = math.inf


def agent_for(base_url: str, effect: Literal["read", "write"]) -> Agent:
    """An agent whose tools have this effect."""
    model = OpenAIChat(f"rounds-{ROUNDS}", base_url=base_url, stream=False)
    tools = [tool(effect=effect, approval="never")(function) for function in FUNCTIONS.values()]
    return Agent(model, INSTRUCTIONS, tools=tools, limits=Limits(rounds=ROUNDS + 1, seconds=600))


def ways(agent: Agent, store: Store, number: itertools.count[int]) -> dict[str, Callable[[], Any]]:
    """The ways to keep a turn: each gives a coroutine that runs one, in a session of its own."""
    return {
        "kept nowhere": lambda: agent.arun(QUESTION),
        "in memory": lambda: agent.session(f"s{next(number)}").arun(QUESTION),
        "in SQLite": lambda: agent.session(f"s{next(number)}", store=store).arun(QUESTION),
    }


def measure(runs: Mapping[str, Callable[[], Any]], turns: int = TURNS, batches: int = BATCHES) -> dict[str, Spent]:
    """What each way costs per round."""
    best = {name: Spent() for name in runs}
    with asyncio.Runner() as runner:
        for batch in range(batches + 1):
            for name, run in runs.items():
                wall, cpu = time.perf_counter(), time.process_time()
                for _ in range(turns):
                    answer = runner.get_loop().run_until_complete(run())
                    if answer.text != ANSWER:
                        raise SystemExit(f"a turn went wrong: {answer}")
                if batch:  # the first one warms up
                    rounds = turns * ROUNDS
                    best[name].wall = min(best[name].wall, (time.perf_counter() - wall) / rounds)
                    best[name].cpu = min(best[name].cpu, (time.process_time() - cpu) / rounds)
    return best


def main(arguments: list[str]) -> None:
    """Measure, and print the figures."""
    number = itertools.count()
    with serving() as base_url, tempfile.TemporaryDirectory(dir=arguments[0] if arguments else None) as made:
        store = store_at(f"sqlite:///{Path(made) / 'bench.db'}")
        for effect in ("read", "write"):
            spent = measure(ways(agent_for(base_url, effect), store, number))
            plain = spent["kept nowhere"]
            for name, one in spent.items():
                wall, cpu = one.wall / plain.wall, one.cpu / plain.cpu
                print(
                    f"{effect:5}: {name:13} {one.wall * 1000:6.2f} ms per round, {wall:.2f}x; "
                    f"CPU {one.cpu * 1000:5.2f} ms, {cpu:.2f}x"
                )
        asyncio.run(store.close())


if __name__ == "__main__":
    main(sys.argv[1:])
