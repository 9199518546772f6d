"""Tools that live elsewhere, over the Model Context Protocol: other servers' tools in our toolbox, and ours served to others.

    from tukang.mcp import McpServers

Each name is loaded when it is first asked for. What speaks the protocol needs `tukang[mcp]`, the official SDK.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from tukang.errors import ConfigurationError

if TYPE_CHECKING:
    from tukang.mcp.client import McpPrompt, McpServers, McpState
    from tukang.mcp.client_asking import Elicitation, Sampling
    from tukang.mcp.client_config import McpServer
    from tukang.mcp.client_connection import UnreachableError
    from tukang.mcp.client_oauth import FileTokens, oauth

__all__ = [
    "Elicitation",
    "FileTokens",
    "McpPrompt",
    "McpServer",
    "McpServers",
    "McpState",
    "Sampling",
    "UnreachableError",
    "oauth",
]

_FROM = {
    "Elicitation": "client_asking",
    "FileTokens": "client_oauth",
    "McpPrompt": "client",
    "McpServer": "client_config",
    "McpServers": "client",
    "McpState": "client",
    "Sampling": "client_asking",
    "UnreachableError": "client_connection",
    "oauth": "client_oauth",
}


if not TYPE_CHECKING:  # a type checker would take any name for one of ours

    def __getattr__(name: str) -> object:
        if name not in _FROM:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if find_spec("mcp") is None:
            raise ConfigurationError("MCP needs the official SDK: pip install 'tukang[mcp]'")
        value = getattr(import_module(f"{__name__}.{_FROM[name]}"), name)
        globals()[name] = value
        return value
