"""A store on each of the two databases, empty, for one test."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tukang.memory.stores.addresses import store_at
from tukang.memory.stores.base import Store


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/tukang.db"
    return request.getfixturevalue("postgres_url")


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """A store, ready to be used, also for what comes in a second thread or loop."""
    store = store_at(url)
    asyncio.run(store.upgrade())
    yield store
    asyncio.run(store.close())
