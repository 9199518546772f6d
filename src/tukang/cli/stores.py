"""Which store a command means: `--store`, else `TUKANG_STORE`, else a file in the data folder."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tukang.assistants.katalog import data_folder, made_data_folder
from tukang.memory.stores.base import Store

T = TypeVar("T")


def address(asked: str | None) -> str:
    """The address of the store that is meant."""
    return asked or os.environ.get("TUKANG_STORE") or f"sqlite:///{data_folder() / 'sessions.db'}"


def open_store(asked: str | None) -> Store:
    """The store that is meant. The data folder is made where it is needed.

    Raises:
        ConfigurationError: the address is none; or the data folder cannot be made.
    """
    if not asked and not os.environ.get("TUKANG_STORE"):
        made_data_folder()
    from tukang.memory.stores.addresses import store_at  # most commands need no database, and none to print its help

    return store_at(address(asked))


def with_store(asked: str | None, work: Callable[[Store], Awaitable[T]]) -> T:
    """Do something with a store, and give back what it holds."""
    store = open_store(asked)

    async def whole() -> T:
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(whole())
