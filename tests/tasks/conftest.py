"""A store on each of the two databases, empty, and an agent's tasks in it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tests.memory.conftest import store, url
from tukang.memory.stores.base import Store

__all__ = ["store", "url"]


@pytest.fixture
def kept(tmp_path: object) -> Iterator[Store]:
    """A store in a file, for what is not about databases."""
    from tukang.memory.stores.addresses import store_at

    made = store_at(f"sqlite:///{tmp_path}/tasks.db")
    yield made
    asyncio.run(made.close())
