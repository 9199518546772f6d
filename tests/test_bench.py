"""Both loops of the comparison do the same work: otherwise its figures would mean nothing."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import pytest
from bench.scripted_server import ANSWER, QUESTION, serving

from tukang.memory.stores.addresses import store_at


def test_both_loops_run_the_same_rounds_to_the_same_answer() -> None:
    pytest.importorskip("openai")
    from bench import plain_openai
    from bench.client_cpu import agent_for, measure

    with serving() as base_url:
        with plain_openai.client(base_url) as client:
            assert plain_openai.run(client, "rounds-2", QUESTION, 2) == ANSWER
        for stream in (False, True):
            answer = asyncio.run(agent_for(base_url, 2, stream=stream).arun(QUESTION))
            assert answer.text == ANSWER
            assert answer.usage.requests == 3

    turns: list[int] = []
    assert measure({"sum": lambda: turns.append(sum(range(1000)))}, rounds=2, seconds=0.001, batches=2)["sum"] > 0
    assert len(turns) > 5


def test_each_way_to_keep_a_turn_runs_the_same_turn(tmp_path: Path) -> None:
    from bench.journal import agent_for, measure, ways

    store = store_at(f"sqlite:///{tmp_path}/bench.db")
    with serving() as base_url:
        spent = measure(ways(agent_for(base_url, "write"), store, itertools.count()), turns=1, batches=1)
    assert list(spent) == ["kept nowhere", "in memory", "in SQLite"]
    assert all(one.wall > 0 and one.cpu > 0 for one in spent.values())
    asyncio.run(store.close())
