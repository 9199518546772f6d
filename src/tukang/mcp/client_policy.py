"""How a tool of another server may run: from what the developer said of the server and of the tool, and from its hints.

A hint is the server's word about itself. It never grants anything by itself: only as far as the developer trusts the server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from tukang.mcp.client_config import McpServer
from tukang.tools.policy import MAX_OUTPUT, PolicyOptions
from tukang.tools.tool import Declaration

if TYPE_CHECKING:
    from mcp.types import ToolAnnotations


def declaration_for(server: McpServer, original: str, hints: ToolAnnotations | None) -> Declaration:
    """What holds for a tool: the developer's own word for it first, then what follows from its hints.

    Args:
        server: whose it is.
        original: what the server calls it.
        hints: what the server says of it.
    """
    own = server.policies.get(original, {})
    options: dict[str, Any] = {
        "timeout": server.timeout,
        "max_output": MAX_OUTPUT,  # said aloud, so that the model can read on in what was cut
        "untrusted": True,
        **_from_hints(server, hints),
    }
    if "effect" in own and "approval" not in own:
        options.pop("approval", None)  # who says what it does has looked at it: then what that effect asks for holds
    return Declaration.of(cast("PolicyOptions", options | dict(own)))


def _from_hints(server: McpServer, hints: ToolAnnotations | None) -> dict[str, Any]:
    reads = hints is not None and hints.read_only_hint is True
    if server.trust == "nothing":
        destroys = hints is not None and not reads and hints.destructive_hint is True
        return {"effect": "write" if destroys else "unknown", "approval": "ask"}
    if reads:
        return {"effect": "read"}
    repeats = hints is not None and hints.idempotent_hint is True
    # without hints the protocol's own default holds: that it may destroy something
    return {"effect": "idempotent" if repeats else "write", "approval": "never" if server.trust == "all" else "ask"}
