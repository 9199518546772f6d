"""The commands and their options, in one language. What a command does stands in a file of its own.

This file evaluates its annotations when it builds them, because the help in them is in the user's language.
"""

import asyncio
import sys
from importlib.metadata import version
from typing import Annotated

import typer
from msgspec.structs import replace

from tukang.answer import Answer
from tukang.assistants import ASSISTANTS
from tukang.cli import document, exits, mock
from tukang.cli.language import why
from tukang.cli.progress import progress
from tukang.cli.screen import Screen
from tukang.cli.target import Target, open_target
from tukang.cli.texts import Texts
from tukang.cli.turns import follow
from tukang.cli.view import View
from tukang.errors import ConfigurationError


def build(texts: Texts) -> typer.Typer:
    """The command line in a language."""
    app = typer.Typer(
        help=texts.about,
        epilog=texts.epilog,
        add_completion=False,
        no_args_is_help=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    _add_root(app, texts)
    for add in (_add_chat, _add_run, _add_tools, _add_doctor, _add_demo, mock.add):
        add(app, texts)
    return app


def _add_root(app: typer.Typer, texts: Texts) -> None:
    @app.callback(invoke_without_command=True)
    def root(  # pyright: ignore[reportUnusedFunction]
        context: typer.Context,
        show_version: Annotated[bool, typer.Option("--version", help=texts.opt_version)] = False,
        lang: Annotated[str | None, typer.Option("--lang", help=texts.opt_lang, metavar="id|en")] = None,  # noqa: ARG001
        debug: Annotated[bool, typer.Option("--debug", help=texts.opt_debug)] = False,  # noqa: ARG001
    ) -> None:
        # --lang and --debug are taken out before (`entry.split`); here they are for the help
        if show_version:
            print(f"tukang {version('tukang')}")
        elif context.invoked_subcommand is None:
            print(context.get_help())


def _add_chat(app: typer.Typer, texts: Texts) -> None:
    @app.command("chat", help=texts.about_chat)
    def chat(  # pyright: ignore[reportUnusedFunction]
        target: Annotated[str, typer.Argument(help=_about_target(texts))],
        model: Annotated[str | None, typer.Option("--model", "-m", help=texts.opt_model)] = None,
        user: Annotated[str | None, typer.Option("--user", "-u", help=texts.opt_user)] = None,
        quiet: Annotated[bool, typer.Option("--quiet", "-q", help=texts.opt_quiet)] = False,
    ) -> int:
        from tukang.cli.chat import converse

        screen = Screen(quiet=quiet)
        return converse(_opened(target, model, user, screen, texts), screen, texts)


def _add_run(app: typer.Typer, texts: Texts) -> None:
    @app.command("run", help=texts.about_run)
    def run(  # pyright: ignore[reportUnusedFunction]
        target: Annotated[str, typer.Argument(help=_about_target(texts))],
        question: Annotated[str | None, typer.Argument(help=texts.question)] = None,
        model: Annotated[str | None, typer.Option("--model", "-m", help=texts.opt_model)] = None,
        user: Annotated[str | None, typer.Option("--user", "-u", help=texts.opt_user)] = None,
        single_shot: Annotated[bool, typer.Option("--single-shot", help=texts.opt_single_shot)] = False,
        as_json: Annotated[bool, typer.Option("--json", help=texts.opt_json)] = False,
        quiet: Annotated[bool, typer.Option("--quiet", "-q", help=texts.opt_quiet)] = False,
    ) -> int:
        screen = Screen(quiet=quiet)
        screen.streams = screen.streams and not as_json
        asked = _question(question, target, texts)
        opened = _opened(target, model, user, screen, texts)
        view = View(screen, texts, opened.models)
        screen.busy(texts.preparing + " …")
        try:
            answer = asyncio.run(_turn(opened, asked, view, single_shot=single_shot))
        finally:
            screen.still()
        if answer is None:
            screen.error(texts.error, texts.interrupted)
            return exits.INTERRUPTED
        if as_json:
            name = opened.agent.model.name
            screen.whole(document.of_answer(answer, assistant=target, model=name, why=opened.why))
            view.sum_up(answer)
        else:
            view.finish(answer)
        return exits.of_answer(answer, single_shot=single_shot)


def _add_tools(app: typer.Typer, texts: Texts) -> None:
    @app.command("tools", help=texts.about_tools)
    def tools(  # pyright: ignore[reportUnusedFunction]
        target: Annotated[str, typer.Argument(help=_about_target(texts))],
        as_json: Annotated[bool, typer.Option("--json", help=texts.opt_json)] = False,
    ) -> int:
        from tukang.cli import contracts
        from tukang.models.scripted import Scripted

        agent = open_target(target, model=Scripted([])).agent  # no model is needed to look at tools
        Screen().whole(contracts.as_document(agent) if as_json else contracts.as_text(agent, texts))
        return exits.ANSWERED


def _add_doctor(app: typer.Typer, texts: Texts) -> None:
    @app.command("doctor", help=texts.about_doctor)
    def doctor(  # pyright: ignore[reportUnusedFunction]
        model: Annotated[str | None, typer.Option("--model", "-m", help=texts.opt_model)] = None,
    ) -> int:
        from tukang.cli.doctor import examine

        screen = Screen()
        findings = examine(texts, model)
        width = max(len(finding.what) for finding in findings)
        for finding in findings:
            fix = f"  → {finding.fix}" if finding.fix else ""
            screen.whole(f"{finding.mark} {finding.what:<{width}}  {finding.says}{fix}")
        healthy = all(finding.mark != "✗" for finding in findings)
        screen.whole(texts.healthy if healthy else texts.unhealthy)
        return exits.ANSWERED if healthy else exits.USAGE


def _add_demo(app: typer.Typer, texts: Texts) -> None:
    @app.command("demo", help=texts.about_demo)
    def demo(  # pyright: ignore[reportUnusedFunction]
        model: Annotated[str, typer.Option("--model", "-m", help=texts.opt_model)] = "local",
    ) -> int:
        from tukang.cli.demo import demo as play

        return play(Screen(), texts, model=model)


async def _turn(target: Target, question: str, view: View, *, single_shot: bool) -> Answer | None:
    limits = target.agent.limits
    stream = target.agent.stream(
        question, context=target.context, limits=replace(limits, rounds=1) if single_shot else limits
    )
    return await follow(stream, view.see)


def _opened(name: str, model: str | None, user: str | None, screen: Screen, texts: Texts) -> Target:
    target = open_target(name, model=model, user=user, tell=progress(screen, texts))
    reason = why(target.why, texts.language)
    screen.note((texts.model.format(name=target.agent.model.name, why=reason), "dim"))
    return target


def _question(question: str | None, target: str, texts: Texts) -> str:
    """What to ask: as it was typed, or what comes in by a pipe."""
    if question is None and sys.stdin.isatty():
        raise ConfigurationError(texts.no_question.format(target=target))
    asked = sys.stdin.read() if question in (None, "-") else question
    if not asked or not asked.strip():
        raise ConfigurationError(texts.no_question.format(target=target))
    return asked.strip()


def _about_target(texts: Texts) -> str:
    return texts.target.format(names=", ".join(ASSISTANTS))
