"""Serving over standard input and output.

Nothing but the protocol may be written to standard output: while it serves, the SDK leads what functions print to standard
error, and keeps the real one to itself.
"""

from __future__ import annotations

from mcp.server.stdio import stdio_server

from tukang.mcp.server import build
from tukang.mcp.serving import Caller, Service


async def serve_stdio(service: Service, caller: Caller | None = None) -> None:
    """Serve the one client at the other end until it closes its end, or this task is cancelled.

    Args:
        service: what is served.
        caller: who is at the other end.
    """
    whole = caller or Caller()
    server = build(service, lambda _: whole)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
