"""`tukang worker`: runs turns from the queue, shows how a fleet stands, has a turn tried again.

This file evaluates its annotations when it builds the commands, because the help in them is in the user's language.
"""

import asyncio
import logging
import os
import signal
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec
import typer

from tukang.assistants import ASSISTANTS
from tukang.cli import exits, worker_view
from tukang.cli.document import written
from tukang.cli.progress import progress
from tukang.cli.screen import Screen
from tukang.cli.target import Target, open_target
from tukang.cli.texts import Texts
from tukang.cli.worker_texts import WORKER_TEXTS, WorkerTexts
from tukang.errors import ConfigurationError

if TYPE_CHECKING:
    from tukang.workers import Fleet, Worker

T = TypeVar("T")


def add(app: typer.Typer, texts: Texts) -> None:
    """Add the commands, in the language of these texts."""
    said = WORKER_TEXTS[texts.language]
    worker = typer.Typer(help=said.about, add_completion=False, rich_markup_mode=None)
    _add_run(worker, texts, said)
    _add_looking(worker, texts, said)
    app.add_typer(worker, name="worker")


def _add_run(app: typer.Typer, texts: Texts, said: WorkerTexts) -> None:
    @app.callback(invoke_without_command=True, help=said.about)
    def run(  # pyright: ignore[reportUnusedFunction]
        context: typer.Context,
        agent: Annotated[list[str] | None, typer.Option("--agent", "-a", help=said.opt_agent)] = None,
        model: Annotated[str | None, typer.Option("--model", "-m", help=texts.opt_model)] = None,
        slots: Annotated[int, typer.Option("--slots", "-n", help=said.opt_slots, min=1)] = 8,
        takeover: Annotated[float, typer.Option("--takeover", help=said.opt_takeover, min=0.5)] = 30.0,
        tries: Annotated[int, typer.Option("--tries", help=said.opt_tries, min=1)] = 5,
        grace: Annotated[float, typer.Option("--grace", help=said.opt_grace, min=0)] = 20.0,
        name: Annotated[str | None, typer.Option("--name", help=said.opt_name)] = None,
        quiet: Annotated[bool, typer.Option("--quiet", "-q", help=texts.opt_quiet)] = False,
        store: Annotated[str | None, typer.Option("--store", help=said.opt_store)] = None,
    ) -> int:
        if context.invoked_subcommand is not None:
            return exits.ANSWERED
        if not agent:
            raise ConfigurationError(said.no_agent)
        from tukang.workers import Worker  # an extra

        screen = Screen(quiet=quiet)
        targets = [open_target(one, model=model, tell=progress(screen, texts)) for one in agent]
        made = Worker(
            _address(store, said),
            [target.agent for target in targets],
            slots=slots,
            takeover=takeover,
            tries=tries,
            grace=grace,
            callers=_callers(targets),
            name=name,
        )
        _log(quiet=quiet)
        names = ", ".join(target.agent.name for target in targets)
        screen.note((said.serving.format(name=made.name, agents=names, slots=slots, store=made.store), "bold"))
        asyncio.run(_until_stopped(made, lambda: screen.note((said.stopping.format(grace=grace), "yellow"))))
        screen.note((said.stopped.format(name=made.name), "dim"))
        return exits.ANSWERED


def _add_looking(app: typer.Typer, texts: Texts, said: WorkerTexts) -> None:
    @app.command("status", help=said.about_status)
    def status(  # pyright: ignore[reportUnusedFunction]
        limit: Annotated[int, typer.Option("--limit", "-n", help=said.opt_limit, min=1)] = 20,
        as_json: Annotated[bool, typer.Option("--json", help=texts.opt_json)] = False,
        store: Annotated[str | None, typer.Option("--store", help=said.opt_store)] = None,
    ) -> int:
        seen = _with_fleet(_address(store, said), lambda fleet: fleet.status(limit))
        Screen().whole(written(msgspec.to_builtins(seen)) if as_json else worker_view.shown(seen, said))
        return exits.ANSWERED

    @app.command("retry", help=said.about_retry)
    def retry(  # pyright: ignore[reportUnusedFunction]
        turn: Annotated[str, typer.Argument(help=said.turn)],
        store: Annotated[str | None, typer.Option("--store", help=said.opt_store)] = None,
    ) -> int:
        if not _with_fleet(_address(store, said), lambda fleet: fleet.retry(turn)):
            raise ConfigurationError(said.not_failed.format(turn=turn))
        Screen().note(said.again.format(turn=turn))
        return exits.ANSWERED


async def _until_stopped(worker: "Worker", tell: Callable[[], None]) -> None:
    """Run it until SIGTERM or Ctrl-C. The second one does not wait."""

    def stop() -> None:
        tell()
        worker.stop()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    await worker.run()


def _with_fleet(address: str, work: "Callable[[Fleet], Awaitable[T]]") -> T:
    from tukang.workers import Fleet  # an extra

    async def whole() -> T:
        async with Fleet(address) as fleet:
            return await work(fleet)

    return asyncio.run(whole())


def _address(asked: str | None, said: WorkerTexts) -> str:
    """The store that is meant: there is none by default, as there is for what runs on one machine."""
    address = asked or os.environ.get("TUKANG_STORE")
    if not address:
        raise ConfigurationError(said.no_store)
    return address


def _callers(targets: list[Target]) -> dict[str, Callable[[Any], Any]]:
    """How the context of a shipped assistant is made: of the user's id."""
    return {target.agent.name: ASSISTANTS[target.name].context for target in targets if target.name in ASSISTANTS}


def _log(*, quiet: bool) -> None:
    """A worker is a service: it says what happens in lines with a time, on stderr."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("tukang.workers").setLevel(logging.WARNING if quiet else logging.INFO)
    logging.getLogger("psycopg.pool").setLevel(
        logging.ERROR
    )  # the worker says itself that it cannot reach the database
