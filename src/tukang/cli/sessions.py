"""`tukang sessions`: what is kept, looked at and arranged. The store does it; here is what is asked and said.

This file evaluates its annotations when it builds the commands, because the help in them is in the user's language.
"""

import contextlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from tukang.cli import exits, session_view
from tukang.cli.approval_texts import APPROVAL_TEXTS
from tukang.cli.groups import group, show_list
from tukang.cli.mcp_client_texts import MCP_CLIENT_TEXTS
from tukang.cli.screen import Screen
from tukang.cli.session_texts import SESSION_TEXTS, SessionTexts
from tukang.cli.stores import with_store
from tukang.cli.texts import Texts
from tukang.errors import ConfigurationError
from tukang.memory.stores.base import Store
from tukang.memory.stores.values import SessionInfo


def add(app: typer.Typer, texts: Texts) -> None:
    """Add the commands, in the language of these texts."""
    said = SESSION_TEXTS[texts.language]
    sessions = group(said.about)
    for part in (_add_looking, _add_arranging, _add_moving, _add_resume):
        part(sessions, texts, said)
    app.add_typer(sessions, name="sessions")


def _add_looking(app: typer.Typer, texts: Texts, said: SessionTexts) -> None:
    @app.command("list", help=said.about_list)
    def list_(  # pyright: ignore[reportUnusedFunction]
        prefix: Annotated[str, typer.Option("--prefix", help=said.opt_prefix)] = "",
        limit: Annotated[int, typer.Option("--limit", "-n", help=said.opt_limit, min=1)] = 100,
        as_json: Annotated[bool, typer.Option("--json", help=texts.opt_json)] = False,
        store: Annotated[str | None, typer.Option("--store", help=said.opt_store)] = None,
    ) -> int:
        async def look(kept: Store) -> tuple[list[SessionInfo], list[str], str]:
            waiting = [turn.session for turn in await kept.open_turns() if turn.waits]
            return await kept.sessions(prefix, limit), waiting, kept.name

        found, waiting, name = with_store(store, look)
        return show_list(
            found,
            as_json=as_json,
            text=lambda rows: session_view.listed(rows, waiting, said),
            none=said.nothing.format(store=name),
        )

    @app.command("show", help=said.about_show)
    def show(  # pyright: ignore[reportUnusedFunction]
        session: Annotated[str, typer.Argument(help=said.session)],
        last: Annotated[int | None, typer.Option("--last", "-n", help=said.opt_last, min=0)] = None,
        as_json: Annotated[bool, typer.Option("--json", help=texts.opt_json)] = False,
        store: Annotated[str | None, typer.Option("--store", help=said.opt_store)] = None,
    ) -> int:
        async def look(kept: Store) -> tuple[Any, Any, Any, Any]:
            info = await kept.session(session)
            turns = await kept.turns(session, last=last)
            return info, turns, await kept.open_turns(session), await kept.waits(session=session)

        whole = with_store(store, look)
        Screen().whole(session_view.document(*whole) if as_json else session_view.shown(*whole, texts, said))
        return exits.ANSWERED


def _add_arranging(app: typer.Typer, _: Texts, said: SessionTexts) -> None:
    @app.command("fork", help=said.about_fork)
    def fork(  # pyright: ignore[reportUnusedFunction]
        session: Annotated[str, typer.Argument(help=said.session)],
        new: Annotated[str, typer.Argument(help=said.new)],
        upto: Annotated[int | None, typer.Option("--upto", help=said.opt_upto, min=0)] = None,
        store: Annotated[str | None, typer.Option("--store", help=said.opt_store)] = None,
    ) -> int:
        info = with_store(store, lambda kept: kept.fork(session, new, upto))
        Screen().note(said.forked.format(new=new, count=info.turns, session=session))
        return exits.ANSWERED

    @app.command("rename", help=said.about_rename)
    def rename(  # pyright: ignore[reportUnusedFunction]
        session: Annotated[str, typer.Argument(help=said.session)],
        new: Annotated[str, typer.Argument(help=said.new)],
        store: Annotated[str | None, typer.Option("--store", help=said.opt_store)] = None,
    ) -> int:
        with_store(store, lambda kept: kept.rename(session, new))
        Screen().note(said.renamed.format(session=session, new=new))
        return exits.ANSWERED

    @app.command("delete", help=said.about_delete)
    def delete(  # pyright: ignore[reportUnusedFunction]
        session: Annotated[str, typer.Argument(help=said.session)],
        yes: Annotated[bool, typer.Option("--yes", "-y", help=said.opt_yes)] = False,
        store: Annotated[str | None, typer.Option("--store", help=said.opt_store)] = None,
    ) -> int:
        info = with_store(store, lambda kept: kept.session(session))
        if not yes and not _sure(info, said):
            return exits.INTERRUPTED
        gone = with_store(store, lambda kept: kept.delete(session))
        screen = Screen()
        screen.note(said.deleted.format(session=session, count=gone.turns))
        for other, count in gone.shared.items():
            screen.note(said.shared.format(session=other, count=count))
        return exits.ANSWERED


def _add_moving(app: typer.Typer, _: Texts, said: SessionTexts) -> None:
    @app.command("export", help=said.about_export)
    def export(  # pyright: ignore[reportUnusedFunction]
        session: Annotated[str | None, typer.Argument(help=said.some_session)] = None,
        output: Annotated[Path | None, typer.Option("--output", "-o", help=said.opt_output)] = None,
        store: Annotated[str | None, typer.Option("--store", help=said.opt_store)] = None,
    ) -> int:
        async def write(kept: Store) -> int:
            if session is not None:
                await kept.session(session)  # before anything is written
            count = 0
            with contextlib.nullcontext(sys.stdout) if output is None else output.open("w", encoding="utf-8") as out:
                async for line in kept.export(session):
                    out.write(line + "\n")
                    count += 1
                out.flush()
            return count

        try:
            count = with_store(store, write)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise ConfigurationError(said.no_file.format(path=output, reason=error.strerror)) from error
        if output is not None:
            Screen().note(said.exported.format(path=output, count=count))
        return exits.ANSWERED

    @app.command("import", help=said.about_import)
    def import_(  # pyright: ignore[reportUnusedFunction]
        file: Annotated[Path, typer.Argument(help=said.file)],
        skip_existing: Annotated[bool, typer.Option("--skip-existing", help=said.opt_skip)] = False,
        store: Annotated[str | None, typer.Option("--store", help=said.opt_store)] = None,
    ) -> int:
        try:
            text = sys.stdin.read() if str(file) == "-" else file.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise ConfigurationError(said.no_file.format(path=file, reason=reason)) from error
        lines = [line for line in text.split("\n") if line]  # not at the other line breaks of Unicode
        written = with_store(store, lambda kept: kept.load(lines, skip_existing=skip_existing))
        if written:
            Screen().whole("\n".join(written))
        return exits.ANSWERED


def _add_resume(app: typer.Typer, texts: Texts, said: SessionTexts) -> None:
    permits, servers = APPROVAL_TEXTS[texts.language].opt_approve, MCP_CLIENT_TEXTS[texts.language].opt_mcp

    @app.command("resume", help=said.about_resume)
    def resume(  # pyright: ignore[reportUnusedFunction]
        session: Annotated[str | None, typer.Argument(help=said.some_session)] = None,
        agent: Annotated[str | None, typer.Option("--agent", "-a", help=said.opt_agent)] = None,
        model: Annotated[str | None, typer.Option("--model", "-m", help=texts.opt_model)] = None,
        user: Annotated[str | None, typer.Option("--user", "-u", help=texts.opt_user)] = None,
        approve: Annotated[list[str] | None, typer.Option("--approve", help=permits, metavar="TOOL")] = None,
        mcp: Annotated[list[str] | None, typer.Option("--mcp", help=servers, metavar="FILE")] = None,
        wait: Annotated[bool, typer.Option("--wait", help=said.opt_wait)] = False,
        as_json: Annotated[bool, typer.Option("--json", help=texts.opt_json)] = False,
        quiet: Annotated[bool, typer.Option("--quiet", "-q", help=texts.opt_quiet)] = False,
        store: Annotated[str | None, typer.Option("--store", help=said.opt_store)] = None,
    ) -> int:
        from tukang.cli.resume import Wanted, resume

        screen = Screen(quiet=quiet)
        screen.streams = screen.streams and not as_json
        wanted = Wanted(agent, model, user, as_json, tuple(approve or ()), wait, tuple(mcp or ()))
        try:
            return with_store(store, lambda kept: resume(kept, session, wanted, screen, texts, said))
        finally:
            screen.still()


def _sure(info: SessionInfo, said: SessionTexts) -> bool:
    """Whether the user means it. Who is not at a terminal has to say so beforehand."""
    if not sys.stdin.isatty():
        raise ConfigurationError(said.must_be_sure)
    sys.stderr.write(said.sure.format(session=info.id, count=info.turns))
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "ya", "yes")
