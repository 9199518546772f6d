"""One line from the terminal, without holding up the event loop; who waits for it may stop waiting. Reads; shows nothing.

Not `input` in a thread: a thread that is not waited for any more would take the next line away from whoever asks then.
"""

from __future__ import annotations

import asyncio
import os
import sys


def at_terminal() -> bool:
    """Whether there is somebody who can be asked, and who sees what is asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


async def line() -> str | None:
    """The next line, less its end; None when there is none any more (Ctrl-D)."""
    loop = asyncio.get_running_loop()
    came: asyncio.Future[bytes] = loop.create_future()
    number = sys.stdin.fileno()

    def read() -> None:
        data = os.read(number, 65536)  # a terminal gives one line at a time
        if not came.done():
            came.set_result(data)

    loop.add_reader(number, read)
    try:
        data = await came
    finally:
        loop.remove_reader(number)
    return data.decode(errors="replace").rstrip("\r\n") if data else None
