"""Whoever runs a task is killed in the middle of it, on every backend: what its row says afterwards is true.

What is looked at stands outside of what was killed: the ledger that the functions wrote, and the store as others read it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.tasks.carriers import CARRIERS, Carrier
from tests.tasks.processes import Processes
from tests.tasks.shop import ledger
from tukang.memory.stores.addresses import store_at
from tukang.memory.stores.base import Store
from tukang.memory.stores.task_values import TaskRow
from tukang.tasks.waking import turn_of

T = TypeVar("T")


def _marked(carrier: Carrier) -> object:
    """One in every run, the others where there is time."""
    return pytest.param(carrier, id=carrier.name, marks=() if carrier.name == "embedded-sqlite" else pytest.mark.long)


@pytest.mark.parametrize("carrier", [_marked(carrier) for carrier in CARRIERS])
def test_the_state_of_a_task_is_true_after_its_process_was_killed(
    carrier: Carrier, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = f"sqlite:///{tmp_path}/t.db" if carrier.database == "sqlite" else request.getfixturevalue("postgres_url")
    more = carrier.prepare(url, request)

    def rows() -> dict[str, TaskRow]:
        return {row.spec.tool: row for row in _with(url, lambda store: store.tasks.several())}

    with Processes(carrier.name, url, tmp_path, more) as processes:
        read, idempotent, write = processes.ask("read 1", "idempotent 2", "write 3")
        assert {row.id: row.spec.tool for row in rows().values()} == {
            read: "read",
            idempotent: "idempotent",
            write: "write",
        }
        if not carrier.name.startswith("embedded"):  # there the process that asks runs them as well
            processes.work()
        processes.until(lambda: _begun(tmp_path) == {"read": 1, "idempotent": 1, "write": 1}, "all to begin")
        processes.kill()
        assert {row.state for row in rows().values()} == {"running"}, "nobody has noticed yet"

        processes.work()
        processes.until(lambda: _begun(tmp_path)["read"] == 2 == _begun(tmp_path)["idempotent"], "what may be repeated")
        processes.until(lambda: rows()["write"].state == "unknown", "what may not be")
        processes.kill()

        processes.open(1, 2, 3)
        processes.work()
        processes.until(lambda: all(row.final and row.woken for row in rows().values()), "the end")

    ended = rows()
    assert {tool: row.state for tool, row in ended.items()} == {
        "read": "done",
        "idempotent": "done",
        "write": "unknown",
    }
    begun = _begun(tmp_path)
    assert begun["write"] == 1, "a write is begun once, whoever dies"
    assert {tool: row.attempts for tool, row in ended.items()} == dict(begun)
    assert Counter(line.effect for line in ledger(tmp_path) if line.what == "ended") == {"read": 1, "idempotent": 1}
    for tool, row in ended.items():
        assert {line.key for line in ledger(tmp_path) if line.effect == tool} == {row.spec.key}
        assert row.outcome is not None
        turns = _with(url, lambda store, row=row: store.turns(row.session))
        assert [turn.id for turn in turns][1:] == [turn_of(row.id)], "its session was woken, once"
    assert ended["write"].outcome is not None
    assert ended["write"].outcome.fault is not None
    assert ended["write"].outcome.fault.kind == "outcome_unknown"


def _begun(folder: Path) -> Counter[str]:
    return Counter(line.effect for line in ledger(folder) if line.what == "began")


def _with(url: str, work: Callable[[Store], Coroutine[Any, Any, T]]) -> T:
    async def whole() -> T:
        store = store_at(url)
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(whole())
