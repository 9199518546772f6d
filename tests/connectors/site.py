"""A web server for tests, on this machine, over TLS or not: it answers as it is told, and keeps what it was asked."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from aiohttp import web

Answer = Callable[[web.Request], Awaitable[web.StreamResponse] | web.StreamResponse]


class Site:
    """What runs: its port, and the requests that came."""

    def __init__(self) -> None:
        self.port = 0
        self.asked: list[web.Request] = []

    @property
    def here(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [request.path_qs for request in self.asked]


@contextlib.asynccontextmanager
async def serving(
    answer: Answer, *, tls: ssl.SSLContext | None = None, address: str = "127.0.0.1"
) -> AsyncIterator[Site]:
    """A server, as long as the block."""
    site = Site()

    async def handle(request: web.Request) -> web.StreamResponse:
        site.asked.append(request)
        answered = answer(request)
        return answered if isinstance(answered, web.StreamResponse) else await answered

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(application, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, address, 0, ssl_context=tls).start()
        site.port = runner.addresses[0][1]
        yield site
    finally:
        await runner.cleanup()


def looked_up(**names: Sequence[str]) -> tuple[Callable[[str, int, int], Awaitable[list[str]]], list[str]]:
    """A look-up from a table (`_` stands for a dot), and the names it was asked for. Several answers are given in turn."""
    seen: list[str] = []

    async def lookup(host: str, _port: int, _family: int) -> list[str]:
        seen.append(host)
        turns = names[host.replace(".", "_")]
        return [turns[min(seen.count(host) - 1, len(turns) - 1)]]

    return lookup, seen
