"""`tukang mcp`: an assistant's tools, and the assistant itself, for the MCP clients of others.

This file evaluates its annotations when it builds the command, because the help in them is in the user's language.
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from tukang.assistants import ASSISTANTS
from tukang.cli import exits
from tukang.cli.asker import must_have
from tukang.cli.mcp_server_texts import MCP_SERVER_TEXTS, McpServerTexts
from tukang.cli.progress import progress
from tukang.cli.screen import Screen
from tukang.cli.target import Target, open_target
from tukang.cli.texts import Texts
from tukang.errors import ConfigurationError
from tukang.loop.permissions import Principal

if TYPE_CHECKING:
    from tukang.mcp.serving import Caller, Service
    from tukang.memory.keyed_sqlite import SqliteLog

TOKEN = "TUKANG_MCP_TOKEN"
"""The variable that holds the token, where no file is named."""

_PATIENCE = 6.0
"""Seconds that calls under way have to end well when the server is stopped."""


class _Where(msgspec.Struct, frozen=True):
    host: str
    port: int
    known: Sequence[str]
    token: str | None


def add(app: typer.Typer, texts: Texts) -> None:
    """Add the command, in the language of these texts."""
    said = MCP_SERVER_TEXTS[texts.language]

    @app.command("mcp", help=said.about)
    def mcp(  # pyright: ignore[reportUnusedFunction]
        target: Annotated[str, typer.Argument(help=texts.target.format(names=", ".join(ASSISTANTS)))],
        http: Annotated[bool, typer.Option("--http", help=said.opt_http)] = False,
        host: Annotated[str, typer.Option("--host", help=said.opt_host)] = "127.0.0.1",
        port: Annotated[int, typer.Option("--port", "-p", help=said.opt_port, min=0, max=65535)] = 8124,
        tool: Annotated[list[str] | None, typer.Option("--tool", "-t", help=said.opt_tool)] = None,
        no_ask: Annotated[bool, typer.Option("--no-ask", help=said.opt_no_ask)] = False,
        approve: Annotated[list[str] | None, typer.Option("--approve", help=said.opt_approve, metavar="TOOL")] = None,
        model: Annotated[str | None, typer.Option("--model", "-m", help=texts.opt_model)] = None,
        user: Annotated[str | None, typer.Option("--user", "-u", help=texts.opt_user)] = None,
        caller: Annotated[str | None, typer.Option("--as", help=said.opt_as, metavar="PRINCIPAL")] = None,
        scopes: Annotated[list[str] | None, typer.Option("--scope", help=said.opt_scope)] = None,
        token: Annotated[Path | None, typer.Option("--token-file", help=said.opt_token)] = None,
        known: Annotated[list[str] | None, typer.Option("--known-as", help=said.opt_known, metavar="HOST")] = None,
        store: Annotated[str | None, typer.Option("--store", help=said.opt_store)] = None,
        keys: Annotated[Path | None, typer.Option("--keys", help=said.opt_keys)] = None,
        quiet: Annotated[bool, typer.Option("--quiet", "-q", help=texts.opt_quiet)] = False,
    ) -> int:
        if find_spec("mcp") is None:
            raise ConfigurationError(said.not_installed)
        if scopes and caller is None:
            raise ConfigurationError(said.who)
        for option, given in (("--token-file", token), ("--known-as", known)):
            if given and not http:
                raise ConfigurationError(said.only_http.format(option=option))
        screen = Screen(quiet=quiet)
        opened = _opened(target, model, user, screen, texts, asks=not no_ask)
        must_have(opened.agent, tool or (), target, texts, "--tool")
        must_have(opened.agent, approve or (), target, texts)
        from tukang.mcp.serving import Caller, Service  # the extra

        service = Service(
            opened.agent,
            tools=tool,
            ask=not no_ask,
            approved=approve or (),
            log=None if keys is None else _log(keys),
            store=store,
            way_out=said.way_out,
        )
        whose = Caller(None if caller is None else Principal(caller, scopes or ()), opened.context)
        where = _Where(host, port, known or (), _token(token, said)) if http else None
        names = [shown["name"] for shown in service.listed(whose)]
        screen.note((said.serves.format(tools=", ".join(names)), "dim"))
        if where is None:
            return asyncio.run(_over_stdio(service, whose))
        return asyncio.run(_over_http(service, whose, where, screen, said))


def _opened(name: str, model: str | None, user: str | None, screen: Screen, texts: Texts, *, asks: bool) -> Target:
    """The target, with a model only where one may be asked."""
    if asks:
        return open_target(name, model=model, user=user, tell=progress(screen, texts))
    from tukang.models.scripted import Scripted

    return open_target(name, model=Scripted([]), user=user)


def _log(path: Path) -> "SqliteLog":
    from tukang.memory.keyed_sqlite import SqliteLog

    log = SqliteLog(path)
    asyncio.run(log.read(""))  # that it can be used is known before anybody calls
    return log


def _token(path: Path | None, said: McpServerTexts) -> str | None:
    if path is None:
        return os.environ.get(TOKEN, "").strip() or None
    try:
        token = path.read_text("utf-8").strip()
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror}") from error
    if not token:
        raise ConfigurationError(said.no_token.format(path=path))
    return token


async def _over_stdio(service: "Service", caller: "Caller") -> int:
    from tukang.mcp.server_stdio import serve_stdio

    stopped = _stopped_by_a_signal()
    serving = asyncio.create_task(serve_stdio(service, caller))
    waiting = asyncio.create_task(stopped.wait())
    await asyncio.wait([serving, waiting], return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        waiting.cancel()
        serving.result()
        return exits.ANSWERED
    serving.cancel()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            await service.idle.wait()
    # a thread stands in a read of standard input, and nothing but the client can end that: it must not keep the program
    sys.stderr.flush()
    os._exit(exits.INTERRUPTED)


async def _over_http(service: "Service", caller: "Caller", where: _Where, screen: Screen, said: McpServerTexts) -> int:
    from tukang.mcp.server_http import http_app, must_be_guarded, serving_http

    tokens: Mapping[str, Caller] | None = None if where.token is None else {where.token: caller}
    must_be_guarded(where.host, tokens)
    stopped = _stopped_by_a_signal()
    hosts = dict.fromkeys(("127.0.0.1", "localhost", "[::1]", where.host, *where.known))
    app = http_app(service, caller=caller, tokens=tokens, hosts=tuple(hosts))
    async with serving_http(app, where.host, where.port) as url:
        screen.note((said.at.format(where=url), "dim"))
        screen.note((said.stops, "dim"))
        screen.whole(url)
        await stopped.wait()
    return exits.ANSWERED


def _stopped_by_a_signal() -> asyncio.Event:
    """Set by Ctrl-C, and by SIGTERM."""
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    return stopped
