"""What the queue raises when its database fails it: the same errors as a store's. Nothing else."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import psycopg
from procrastinate.exceptions import ConnectorException

from tukang.errors import ConfigurationError
from tukang.memory.stores.errors import StoreError
from tukang.memory.stores.postgres import explained, without_password

FAULTS = (psycopg.Error, ConnectorException)
"""What the driver, its pool and Procrastinate raise when the database fails them."""


def must_be_postgres(address: str) -> None:
    """Whether there can be a queue.

    Raises:
        ConfigurationError: there cannot.
    """
    if not address.startswith(("postgresql://", "postgres://")):
        raise ConfigurationError(f"workers need a store of postgresql://…, not {address.partition(':')[0]}:…")


@contextmanager
def explaining(address: str) -> Generator[None]:
    """What these raise comes out as a `StoreError`, without the address's password."""
    try:
        yield
    except FAULTS as error:
        cause = error.__cause__ if isinstance(error, ConnectorException) and error.__cause__ else error
        raise explain(address, cause) from error


def explain(address: str, error: BaseException) -> StoreError:
    """What it means."""
    return explained(without_password(address), error)
