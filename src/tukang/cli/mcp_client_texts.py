"""The sentences about the tools of other servers (`--mcp`), in both languages. Texts only."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tukang.loop.events import Language


class McpClientTexts(msgspec.Struct, frozen=True, kw_only=True):
    """The sentences in one language."""

    opt_mcp: str
    connecting: str
    connected: str
    missing: str
    not_why: str
    needs_target: str


MCP_CLIENT_TEXTS: Mapping[Language, McpClientTexts] = {
    "id": McpClientTexts(
        opt_mcp="Berkas mcpServers (JSON): alat dari server MCP lain ikut dipakai; boleh beberapa kali",
        connecting="menghubungi server MCP",
        connected="{server}: {count} alat",
        missing="{server}: tidak ada",
        not_why="tools why dan --mcp tidak bersama-sama",
        needs_target="sebut asisten atau modul:nama, atau --mcp BERKAS",
    ),
    "en": McpClientTexts(
        opt_mcp="An mcpServers file (JSON): the tools of other MCP servers are used too; may be given several times",
        connecting="connecting to MCP servers",
        connected="{server}: {count} tools",
        missing="{server}: not there",
        not_why="tools why and --mcp do not go together",
        needs_target="name an assistant or module:name, or say --mcp FILE",
    ),
}
