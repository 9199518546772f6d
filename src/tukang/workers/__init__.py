"""Many machines: turns that are submitted here and run by workers elsewhere, over one Postgres.

    async with Fleet("postgresql://…") as fleet:
        turn = await fleet.submit("toko", "budi", "Berapa harga PRD002?")
        answer = await fleet.answer(turn)

and on as many machines as there are, `tukang worker --agent module:name --store postgresql://…`. Needs `tukang[workers]`.
"""

from __future__ import annotations

import importlib.util

from tukang.errors import ConfigurationError

if any(importlib.util.find_spec(name) is None for name in ("procrastinate", "psycopg", "psycopg_pool")):
    raise ConfigurationError("workers need Procrastinate and psycopg: pip install 'tukang[workers]'")

from tukang.workers.fleet import Fleet
from tukang.workers.queue import TurnFailedError
from tukang.workers.tasks import Procrastinate
from tukang.workers.values import Status, TurnSeen, WorkerSeen
from tukang.workers.worker import Worker

__all__ = ["Fleet", "Procrastinate", "Status", "TurnFailedError", "TurnSeen", "Worker", "WorkerSeen"]
