"""Stores, as the tests of `memory` have them, and a flow that asks people."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.approvals.flow import Flow
from tests.memory.conftest import store, url
from tests.moto_server import Amazon
from tukang.memory.stores.addresses import store_at
from tukang.memory.stores.base import Store

__all__ = ["store", "url"]


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Store]:
    """A store, for what is the same on each."""
    store = store_at(f"sqlite:///{tmp_path}/izin.db")
    yield store
    asyncio.run(store.close())


@pytest.fixture
def flow(amazon: Amazon) -> Iterator[Flow]:
    flow = Flow(amazon)
    yield flow
    for one in flow.executions():
        if one["status"] == "RUNNING":
            flow.sfn.stop_execution(executionArn=one["executionArn"])
    flow.sqs.close()
    flow.sfn.close()
