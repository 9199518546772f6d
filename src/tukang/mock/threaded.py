"""The server in a thread of its own, for programs and tests that are not asynchronous. Nothing but the thread is here."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager

from tukang.mock.server import MockServer

_SECONDS = 10


@contextmanager
def in_thread(server: MockServer) -> Generator[MockServer]:
    """Run the server while the block runs; its connections are closed at the end.

    Args:
        server: one that is not running yet.

    Raises:
        OSError: it cannot listen where it should.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="tukang-mock", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(_SECONDS)
        try:
            yield server
        finally:
            asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result(_SECONDS)
    finally:
        asyncio.run_coroutine_threadsafe(loop.shutdown_asyncgens(), loop).result(_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_SECONDS)
        loop.close()
