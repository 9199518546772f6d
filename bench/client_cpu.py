"""Client CPU per model call: tukang's agent against a plain loop on the official `openai` SDK, in one run.

    python -m bench.client_cpu

Both ask the same scripted server, which runs in a process of its own, with the same tools, for 5 and for 50 rounds of calls.
The SDK's loop asks for whole replies, as such loops do. Ours is measured twice: asking for whole replies too, which is what
the ratio and the bounds are about, and streaming, which is its default and does more work (a reply comes in 20 to 80
pieces). The exit status is 1 if a ratio is above its bound.
"""

from __future__ import annotations

import asyncio
import math
import sys
import time
from collections.abc import Callable, Mapping

from bench import plain_openai
from bench.scripted_server import ANSWER, QUESTION, serving
from bench.tools import FUNCTIONS, INSTRUCTIONS
from tukang import Agent, Limits, tool
from tukang.models.openai_chat import OpenAIChat

BOUNDS = {5: 0.15, 50: 0.06}
SECONDS = 0.5
BATCHES = 30


def measure(
    runs: Mapping[str, Callable[[], object]], rounds: int, seconds: float = SECONDS, batches: int = BATCHES
) -> dict[str, float]:
    """CPU seconds of this process per model call, for each way to run a turn.

    The ways take turns, batch by batch, so that a noisy moment meets all of them; the quietest batch of each counts,
    because other work on the machine can only add.

    Args:
        runs: each runs one turn, which makes `rounds + 1` model calls.
        rounds: rounds of calls in a turn.
        seconds: CPU time of one batch, about. It is the same for each way: what every batch begins with, the caches that the
            way before has filled with its own, must not weigh more on the quicker one.
        batches: of each way.
    """
    turns = {name: max(1, round(seconds / _spent(run, 3) * 3)) for name, run in runs.items()}  # this warms up, too
    best = dict.fromkeys(runs, math.inf)
    for _ in range(batches):
        for name, run in runs.items():
            best[name] = min(best[name], _spent(run, turns[name]) / turns[name])
    return {name: one / (rounds + 1) for name, one in best.items()}


def _spent(run: Callable[[], object], turns: int) -> float:
    began = time.process_time()
    for _ in range(turns):
        run()
    return max(time.process_time() - began, 1e-6)


def agent_for(base_url: str, rounds: int, *, stream: bool) -> Agent:
    """The agent that does what the plain loop does."""
    model = OpenAIChat(f"rounds-{rounds}", base_url=base_url, stream=stream)
    tools = [tool(effect="read")(function) for function in FUNCTIONS.values()]
    return Agent(model, INSTRUCTIONS, tools=tools, limits=Limits(rounds=rounds + 1, seconds=600))


def compare(base_url: str, rounds: int) -> bool:
    """Measure both loops, print the figures; whether the bound holds."""
    client = plain_openai.client(base_url)
    with asyncio.Runner() as runner:
        # Turns of one program share a loop; entering the runner anew for each would measure its signal handling.
        wait_for = runner.get_loop().run_until_complete
        whole, streaming = (agent_for(base_url, rounds, stream=stream) for stream in (False, True))
        for agent in (whole, streaming):
            answer = wait_for(agent.arun(QUESTION))
            if answer.text != ANSWER:
                raise SystemExit(f"the agent's turn went wrong: {answer}")
        seconds = measure(
            {
                "openai SDK": lambda: plain_openai.run(client, f"rounds-{rounds}", QUESTION, rounds),
                "tukang": lambda: wait_for(whole.arun(QUESTION)),
                "tukang, streaming": lambda: wait_for(streaming.arun(QUESTION)),
            },
            rounds,
        )
    client.close()
    plain = seconds["openai SDK"]
    for name, spent in seconds.items():
        bound = f" (bound {BOUNDS[rounds]}x)" if name == "tukang" else ""
        print(f"{rounds:3} rounds: {name:18} {spent * 1000:6.2f} ms per model call, {spent / plain:.3f}x{bound}")
    return seconds["tukang"] / plain <= BOUNDS[rounds]


def main() -> int:
    """Compare at every number of rounds; returns the exit status."""
    with serving() as base_url:
        held = [compare(base_url, rounds) for rounds in BOUNDS]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
