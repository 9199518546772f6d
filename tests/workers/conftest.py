"""A queue, empty, for one test."""

from __future__ import annotations

import asyncio
import logging

import pytest

pytest.importorskip("procrastinate")

from tukang.workers.fleet import upgrade


@pytest.fixture
def queue_url(postgres_url: str) -> str:
    """The address of a store with a queue."""
    asyncio.run(upgrade(postgres_url))
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    return postgres_url
