"""From an address to its store. One store for each address in a process, whoever asks."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from tukang.errors import ConfigurationError
from tukang.memory.stores.base import Store
from tukang.memory.stores.sqlite import SqliteDatabase
from tukang.memory.stores.store import SqlStore

PATIENCE = 10.0
"""Seconds a store goes on trying while its database cannot be reached, or another process holds it."""

_CONNECTIONS = 4
"""To a Postgres server, from one process."""


class Place(msgspec.Struct, frozen=True):
    """Where a store is.

    Args:
        url: the address, whole.
        name: the address, without a password.
        path: of the file; None for a server.
    """

    url: str
    name: str
    path: Path | None = None


def place_of(url: str) -> Place:
    """What an address says.

    Args:
        url: `sqlite:///relative/path.db`, `sqlite:////absolute/path.db`, or `postgresql://user:password@host/database`.

    Raises:
        ConfigurationError: it is neither; or the driver for Postgres is not installed.
    """
    scheme, _, rest = url.partition("://")
    if scheme == "sqlite":
        path = Path(unquote(rest.removeprefix("/")))
        if not rest.startswith("/") or path.name in ("", ":memory:"):
            raise ConfigurationError(
                f"{url!r}: an SQLite store is a file: sqlite:///relative/path.db, or sqlite:////absolute/path.db. "
                "What is to live in memory needs no store"
            )
        path = path.absolute()  # whatever directory the program goes to later
        return Place(url, f"sqlite:///{path}", path)
    if scheme in ("postgresql", "postgres"):
        if importlib.util.find_spec("psycopg") is None:
            raise ConfigurationError(f"{scheme}:// needs psycopg: pip install 'tukang[postgres]'")
        from tukang.memory.stores.postgres import without_password

        if not urlsplit(url).path.strip("/"):
            raise ConfigurationError(f"{without_password(url)!r} names no database: postgresql://user@host/database")
        return Place(url, without_password(url))
    raise ConfigurationError(f"a store's address begins with sqlite:/// or postgresql://, not with {scheme[:20]!r}")


@functools.cache
def store_at(url: str, *, patience: float = PATIENCE) -> Store:
    """The store behind an address. Nothing is opened before it is used.

    Args:
        url: see `place_of`.
        patience: seconds to go on trying while the database cannot be reached or is locked.

    Raises:
        ConfigurationError: as for `place_of`.
    """
    place = place_of(url)
    path = place.path
    if path is not None:
        return SqlStore(place.name, lambda patience: SqliteDatabase(path, patience), 1, patience)
    from tukang.memory.stores.postgres import PostgresDatabase

    return SqlStore(place.name, lambda patience: PostgresDatabase(url, patience), _CONNECTIONS, patience)
