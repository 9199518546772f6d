"""The backends, as tests that are the same for all of them have them. Whoever adds a backend adds a line to `CARRIERS`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

import msgspec
import pytest

from tests.tasks.brokers import Rabbit, Redis
from tukang.memory.stores.addresses import store_at
from tukang.tasks.backend import Backend
from tukang.tasks.embedded import Embedded

LEASE = 1.0
"""Seconds after which a dead process's tasks go on."""


class Carrier(msgspec.Struct, frozen=True):
    """A backend, and what its tests need.

    Args:
        name: what the tests are called.
        database: `sqlite` or `postgres`: where the tasks are.
        backend: makes it, in whatever process; given the store's address. What else it needs to know it finds in the
            environment, where `prepare` has put it.
        prepare: makes the store and what else there has to be; skips where something is missing. Its result is added to the
            environment of all processes. Whatever it starts it ends with a finalizer of the request.
    """

    name: str
    database: str
    backend: Callable[[str], Backend]
    prepare: Callable[[str, pytest.FixtureRequest], dict[str, str]]


def _upgraded(url: str, request: pytest.FixtureRequest) -> dict[str, str]:  # noqa: ARG001
    async def upgrade() -> None:
        store = store_at(url)
        await store.upgrade()
        await store.close()

    asyncio.run(upgrade())
    return {}


def _queue(url: str, request: pytest.FixtureRequest) -> dict[str, str]:  # noqa: ARG001
    pytest.importorskip("procrastinate")
    from tukang.workers.fleet import upgrade

    asyncio.run(upgrade(url))
    return {}


def _embedded(url: str) -> Backend:  # noqa: ARG001
    return Embedded(lease=LEASE)


def _procrastinate(url: str) -> Backend:
    from tukang.workers.tasks import Procrastinate

    return Procrastinate(url, takeover=2 * LEASE)


def _redis(url: str, request: pytest.FixtureRequest) -> dict[str, str]:
    return _begun(Redis(request.getfixturevalue("tmp_path")), url, request)


def _rabbit(url: str, request: pytest.FixtureRequest) -> dict[str, str]:
    return _begun(Rabbit(request.getfixturevalue("tmp_path")), url, request)


def _begun(broker: Redis | Rabbit, url: str, request: pytest.FixtureRequest) -> dict[str, str]:
    _upgraded(url, request)
    request.addfinalizer(broker.stop)
    broker.start()
    return {"TASKS_BROKER": broker.address}


def _celery(url: str) -> Backend:  # noqa: ARG001
    from tukang.tasks.celery import Celery

    return Celery(os.environ["TASKS_BROKER"], takeover=2 * LEASE)


CARRIERS = (
    Carrier("embedded-sqlite", "sqlite", _embedded, _upgraded),
    Carrier("embedded-postgres", "postgres", _embedded, _upgraded),
    Carrier("procrastinate", "postgres", _procrastinate, _queue),
    Carrier("celery-redis", "sqlite", _celery, _redis),
    Carrier("celery-rabbitmq", "sqlite", _celery, _rabbit),
)
