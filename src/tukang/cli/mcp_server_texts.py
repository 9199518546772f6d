"""The sentences of `tukang mcp`, in both languages. Texts only."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tukang.loop.events import Language


class McpServerTexts(msgspec.Struct, frozen=True, kw_only=True):
    """The sentences in one language."""

    about: str
    opt_http: str
    opt_host: str
    opt_port: str
    opt_tool: str
    opt_no_ask: str
    opt_approve: str
    opt_as: str
    opt_scope: str
    opt_token: str
    opt_known: str
    opt_store: str
    opt_keys: str
    way_out: str
    serves: str
    at: str
    stops: str
    no_token: str
    only_http: str
    who: str
    not_installed: str


_ID = McpServerTexts(
    about="Sajikan alat-alat asisten, dan asistennya sendiri sebagai satu alat, kepada klien MCP (stdio, atau --http).",
    opt_http="Lewat HTTP, bukan masukan dan keluaran standar",
    opt_host="Alamat tempat mendengarkan; selain mesin ini hanya dengan token",
    opt_port="Porta; 0: pilih yang bebas",
    opt_tool="Hanya alat ini; boleh berulang",
    opt_no_ask="Jangan sajikan asistennya sendiri; tidak perlu model",
    opt_approve="Izinkan alat ini tanpa bertanya; boleh berulang",
    opt_as="Siapa pemanggilnya, untuk izin",
    opt_scope="Izin yang ia punya; boleh berulang",
    opt_token="Berkas berisi token pembawa; atau variabel TUKANG_MCP_TOKEN",
    opt_known="Nama lain yang dipakai klien untuk server ini (Host); boleh berulang",
    opt_store="Tempat percakapan asisten disimpan; tanpa ini: di memori",
    opt_keys="Berkas SQLite untuk panggilan berkunci; tanpa ini: di memori",
    way_out="Pakai klien yang bisa bertanya (elicitation), atau jalankan server dengan --approve {tool}.",
    serves="menyajikan {tools}",
    at="di {where}",
    stops="Ctrl-C berhenti",
    no_token="{path} kosong: isi dengan satu token",
    only_http="{option} hanya untuk --http",
    who="--scope mengatakan izin seorang pemanggil: sebut siapa dengan --as",
    not_installed="Untuk MCP perlu paket tambahan: pip install 'tukang[mcp]'",
)

_EN = McpServerTexts(
    about="Serve an assistant's tools, and the assistant itself as one tool, to MCP clients (stdio, or --http).",
    opt_http="Over HTTP instead of standard input and output",
    opt_host="The address to listen on; beyond this machine only with a token",
    opt_port="The port; 0: any that is free",
    opt_tool="Only this tool; may be repeated",
    opt_no_ask="Do not serve the assistant itself; then no model is needed",
    opt_approve="Permit this tool without asking; may be repeated",
    opt_as="Who calls, for permissions",
    opt_scope="A scope they were granted; may be repeated",
    opt_token="A file that holds a bearer token; or the variable TUKANG_MCP_TOKEN",
    opt_known="Another name that clients know this server by (Host); may be repeated",
    opt_store="Where the assistant's conversations are kept; without it: in memory",
    opt_keys="An SQLite file for calls with a key; without it: in memory",
    way_out="Use a client that can ask (elicitation), or start the server with --approve {tool}.",
    serves="serving {tools}",
    at="at {where}",
    stops="Ctrl-C stops",
    no_token="{path} is empty: put one token into it",
    only_http="{option} is only for --http",
    who="--scope says what a caller was granted: say who with --as",
    not_installed="MCP needs an extra: pip install 'tukang[mcp]'",
)

MCP_SERVER_TEXTS: Mapping[Language, McpServerTexts] = {"id": _ID, "en": _EN}
