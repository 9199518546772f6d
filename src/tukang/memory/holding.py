"""Holds a session's lease while a turn runs: taken, renewed again and again, given back.

Who loses it is stopped at once: another process has the session, and nothing that is done from then on would count.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from tukang.memory.gate import WhenBusy
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import LeaseLostError, StoreError
from tukang.memory.stores.values import Lease


@asynccontextmanager
async def holding(store: Store, session: str, seconds: float, when_busy: WhenBusy) -> AsyncGenerator[Lease]:
    """Hold a session's lease for the length of the block.

    Raises:
        SessionBusyError: somebody else holds it, and `when_busy` is `refuse`.
        LeaseLostError: somebody else took it meanwhile, because this process did not renew it in time. The block is
            cancelled.
        StoreError: the store cannot be used.
    """
    lease = await store.take(session, f"{socket.gethostname()}:{os.getpid()}", seconds, when_busy)
    block = asyncio.current_task()
    assert block is not None
    lost: list[LeaseLostError] = []

    async def keep() -> None:
        while True:
            await asyncio.sleep(seconds / 3)
            try:
                await store.renew(lease, seconds)
            except LeaseLostError as error:
                lost.append(error)
                block.cancel()
                return
            except StoreError:
                continue  # it may be there again at the next beat; whoever writes meanwhile is told

    keeping = asyncio.create_task(keep())
    try:
        yield lease
    except asyncio.CancelledError:
        if not lost:
            raise
        block.uncancel()
        raise lost[0] from None
    finally:
        keeping.cancel()
        with suppress(StoreError):  # then it expires by itself
            await store.release(lease)
