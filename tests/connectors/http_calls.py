"""What the tests of the HTTP tool share: one call of a server that answers like this."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from tests.connectors.conftest import acall, fault, value
from tests.connectors.site import Answer, serving
from tukang.connectors import http_tool
from tukang.tools.outcome import Outcome


def run(work: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(work())  # pyright: ignore[reportArgumentType]


async def fetched(answer: Answer, path: str = "/", **options: Any) -> Outcome:
    """One GET of a server that answers like this."""
    async with serving(answer) as site:
        tool = http_tool([site.here], http=True, private=True, **options)
        return await acall(tool, url=f"http://{site.here}{path}")


def told(answer: Answer, **options: Any) -> Any:
    return value(asyncio.run(fetched(answer, **options)))


def refused(answer: Answer, **options: Any) -> tuple[str, str]:
    return fault(asyncio.run(fetched(answer, **options)))


def body(data: bytes, kind: str = "text/plain", **headers: str) -> Answer:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return lambda _: web.Response(body=data, headers={"Content-Type": kind, **named})


def leads(target: Callable[[], str], status: int = 302) -> Answer:
    return lambda request: (
        web.Response(status=status, headers={"Location": target()})
        if request.path == "/awal"
        else web.Response(text="tiba")
    )


async def silent(_: web.Request) -> web.StreamResponse:
    await asyncio.Event().wait()
    return web.Response()
