"""From a store's address to the threads that work on its documents. It follows `memory.stores.addresses`."""

from __future__ import annotations

import importlib.util

from tukang.errors import ConfigurationError
from tukang.knowledge.shelf import Shelf
from tukang.memory.stores.addresses import PATIENCE, Place, place_of
from tukang.memory.stores.lane import Lane

_CONNECTIONS = 4


def lane_at(url: str, patience: float = PATIENCE) -> tuple[Lane[Shelf], str]:
    """The threads, and the address as it may be shown. Nothing is opened before it is used.

    Raises:
        ConfigurationError: it is no store's address; or the driver for Postgres, or the extra `knowledge`, is not installed.
    """
    if importlib.util.find_spec("numpy") is None:  # here, where it can be said: a thread that cannot begin says nothing
        raise ConfigurationError("documents need the package numpy: pip install 'tukang[knowledge]'")
    place = place_of(url)
    return Lane("tukang-knowledge", lambda: _shelf(place, patience), _CONNECTIONS), place.name


async def upgrade(url: str) -> tuple[int, ...]:
    """Bring the tables for documents up to date, and those of the sessions before them; returns the steps taken now.

    Raises:
        ConfigurationError: as for `lane_at`. StoreError: the database cannot do it.
    """
    lane, _ = lane_at(url)
    try:
        return await lane.run(lambda shelf: shelf.upgrade_knowledge())
    finally:
        await lane.close()


def _shelf(place: Place, patience: float) -> Shelf:
    if place.path is not None:
        from tukang.knowledge.sqlite_shelf import SqliteShelf

        return SqliteShelf(place.path, patience)
    from tukang.knowledge.postgres_shelf import PostgresShelf

    return PostgresShelf(place.url, patience)
