"""`tukang tasks`: long work, seen and followed from any process; and running it where its own process has died.

This file evaluates its annotations when it builds the commands, because the help in them is in the user's language.
"""

import asyncio
import logging
import signal
from collections.abc import Callable
from typing import Annotated

import typer

from tukang.cli import exits, task_view
from tukang.cli.document import written
from tukang.cli.groups import group, show_list
from tukang.cli.progress import progress
from tukang.cli.screen import Screen
from tukang.cli.session_texts import SESSION_TEXTS
from tukang.cli.stores import with_store
from tukang.cli.target import Target, open_target
from tukang.cli.task_texts import TASK_TEXTS, TaskTexts
from tukang.cli.texts import Texts
from tukang.errors import ConfigurationError
from tukang.memory.stores.base import Store
from tukang.memory.stores.task_values import TaskRow
from tukang.tasks import elsewhere
from tukang.tools.long import FINAL, TaskState

_OPEN: tuple[TaskState, ...] = ("queued", "running")


def add(app: typer.Typer, texts: Texts) -> None:
    """Add the commands, in the language of these texts."""
    said = TASK_TEXTS[texts.language]
    tasks = group(said.about)
    for part in (_add_looking, _add_follow, _add_changing, _add_work):
        part(tasks, texts, said)
    app.add_typer(tasks, name="tasks")


def _add_looking(app: typer.Typer, texts: Texts, said: TaskTexts) -> None:
    at = SESSION_TEXTS[texts.language].opt_store

    @app.command("list", help=said.about_list)
    def list_(  # pyright: ignore[reportUnusedFunction]
        session: Annotated[str | None, typer.Option("--session", "-s", help=said.opt_session)] = None,
        all_: Annotated[bool, typer.Option("--all", help=said.opt_all)] = False,
        limit: Annotated[int, typer.Option("--limit", "-n", help=said.opt_limit, min=1)] = 50,
        as_json: Annotated[bool, typer.Option("--json", help=texts.opt_json)] = False,
        store: Annotated[str | None, typer.Option("--store", help=at)] = None,
    ) -> int:
        async def look(kept: Store) -> tuple[list[TaskRow], str]:
            states = () if all_ else _OPEN
            return await elsewhere.tasks(kept, session=session, states=states, limit=limit), kept.name

        found, name = with_store(store, look)
        return show_list(
            found,
            as_json=as_json,
            data=lambda rows: list(map(task_view.as_data, rows)),
            text=lambda rows: task_view.listed(rows, said),
            none=said.nothing.format(store=name),
        )

    @app.command("show", help=said.about_show)
    def show(  # pyright: ignore[reportUnusedFunction]
        id: Annotated[str, typer.Argument(help=said.id)],
        as_json: Annotated[bool, typer.Option("--json", help=texts.opt_json)] = False,
        store: Annotated[str | None, typer.Option("--store", help=at)] = None,
    ) -> int:
        row = with_store(store, lambda kept: elsewhere.one(kept, id))
        Screen().whole(written(task_view.as_data(row)) if as_json else task_view.shown(row, said))
        return exits.ANSWERED


def _add_follow(app: typer.Typer, texts: Texts, said: TaskTexts) -> None:
    at = SESSION_TEXTS[texts.language].opt_store

    @app.command("follow", help=said.about_follow)
    def follow(  # pyright: ignore[reportUnusedFunction]
        id: Annotated[str, typer.Argument(help=said.id)],
        store: Annotated[str | None, typer.Option("--store", help=at)] = None,
    ) -> int:
        screen = Screen()

        async def watch(kept: Store) -> TaskRow:
            row = await elsewhere.one(kept, id)
            shown = ""
            async for row in elsewhere.follow(kept, id):
                line = task_view.line(row, said)
                if screen.moves and not row.final:
                    screen.busy(line)
                elif line != shown:
                    screen.note(line)
                shown = line
                if row.abandoned:
                    screen.note((said.lost.format(agent=row.agent), "yellow"))
            return row

        try:
            row = with_store(store, watch)
        finally:
            screen.still()
        if row.outcome is not None:
            screen.whole(task_view.result(row))
        return exits.ANSWERED if row.state == "done" else exits.PARTIAL


def _add_changing(app: typer.Typer, texts: Texts, said: TaskTexts) -> None:
    at = SESSION_TEXTS[texts.language].opt_store

    @app.command("cancel", help=said.about_cancel)
    def cancel(  # pyright: ignore[reportUnusedFunction]
        id: Annotated[str, typer.Argument(help=said.id)],
        store: Annotated[str | None, typer.Option("--store", help=at)] = None,
    ) -> int:
        row = with_store(store, lambda kept: elsewhere.cancel(kept, id))
        Screen().note((said.cancelled if row.state in FINAL else said.asked_to_end).format(id=id))
        return exits.ANSWERED

    @app.command("retry", help=said.about_retry)
    def retry(  # pyright: ignore[reportUnusedFunction]
        id: Annotated[str, typer.Argument(help=said.id)],
        store: Annotated[str | None, typer.Option("--store", help=at)] = None,
    ) -> int:
        with_store(store, lambda kept: elsewhere.retry(kept, id))
        Screen().note(said.retried.format(id=id))
        return exits.ANSWERED


def _add_work(app: typer.Typer, texts: Texts, said: TaskTexts) -> None:
    at = SESSION_TEXTS[texts.language].opt_store

    @app.command("work", help=said.about_work)
    def work(  # pyright: ignore[reportUnusedFunction]
        target: Annotated[str, typer.Argument(help=said.target)],
        model: Annotated[str | None, typer.Option("--model", "-m", help=texts.opt_model)] = None,
        quiet: Annotated[bool, typer.Option("--quiet", "-q", help=texts.opt_quiet)] = False,
        store: Annotated[str | None, typer.Option("--store", help=at)] = None,
    ) -> int:
        screen = Screen(quiet=quiet)
        opened = open_target(target, model=model, tell=progress(screen, texts))
        tasks = opened.agent.tasks
        if tasks is None:
            raise ConfigurationError(said.not_long.format(target=target))
        logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
        logging.getLogger("tukang.tasks").setLevel(logging.WARNING if quiet else logging.INFO)

        async def serve(kept: Store) -> None:
            named = {"agent": opened.agent.name, "backend": tasks.backend.name, "store": kept.name}
            screen.note((said.working.format(**named), "bold"))
            await _until_stopped(opened, kept, lambda: screen.note((said.stopping, "yellow")))

        with_store(store, serve)
        return exits.ANSWERED


async def _until_stopped(target: Target, store: Store, tell: Callable[[], None]) -> None:
    """Work until SIGTERM or Ctrl-C."""
    tasks = target.agent.tasks
    assert tasks is not None, "who has no long work does not come here"
    stop = asyncio.Event()

    def stopping() -> None:
        if not stop.is_set():
            tell()
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping)
    await tasks.backend.work(tasks.runner(store), stop)
