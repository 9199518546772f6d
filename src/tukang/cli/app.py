"""The commands and their options, in one language. What a command does stands in a file of its own.

This file evaluates its annotations when it builds them, because the help in them is in the user's language.
"""

import asyncio
import sys
from importlib.metadata import version
from typing import Annotated, Any

import typer
from msgspec.structs import replace

from tukang.agent import Agent
from tukang.answer import Answer
from tukang.assistants import ASSISTANTS
from tukang.cli import approvals, db, document, exits, iam, kbli, knowledge, mcp_server, mock, sessions, tasks, worker
from tukang.cli.approval_texts import APPROVAL_TEXTS
from tukang.cli.asker import Asker, must_have
from tukang.cli.iam_texts import IAM_TEXTS
from tukang.cli.language import why
from tukang.cli.machine import with_machine
from tukang.cli.machine_texts import MACHINE_TEXTS
from tukang.cli.mcp_client import agent_with, with_servers
from tukang.cli.mcp_client_texts import MCP_CLIENT_TEXTS
from tukang.cli.progress import progress
from tukang.cli.screen import Screen
from tukang.cli.session_texts import SESSION_TEXTS
from tukang.cli.target import Target, imported, open_target
from tukang.cli.task_wait import wait_for_tasks
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
    for add in (
        _add_chat,
        _add_run,
        _add_tools,
        _add_doctor,
        _add_demo,
        mock.add,
        sessions.add,
        approvals.add,
        db.add,
        kbli.add,
        worker.add,
        knowledge.add,
        tasks.add,
        mcp_server.add,
    ):
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
    kept, permits = SESSION_TEXTS[texts.language], APPROVAL_TEXTS[texts.language].opt_approve

    @app.command("chat", help=texts.about_chat)
    def chat(  # pyright: ignore[reportUnusedFunction]
        target: Annotated[str, typer.Argument(help=_about_target(texts))],
        model: Annotated[str | None, typer.Option("--model", "-m", help=texts.opt_model)] = None,
        user: Annotated[str | None, typer.Option("--user", "-u", help=texts.opt_user)] = None,
        session: Annotated[str | None, typer.Option("--session", "-s", help=kept.opt_session)] = None,
        store: Annotated[str | None, typer.Option("--store", help=kept.opt_store)] = None,
        approve: Annotated[list[str] | None, typer.Option("--approve", help=permits, metavar="TOOL")] = None,
        mcp: Annotated[list[str] | None, typer.Option("--mcp", help=_about_mcp(texts), metavar="FILE")] = None,
        machine: Annotated[list[str] | None, typer.Option("--tool", help=_about_machine(texts), metavar="TOOL")] = None,
        quiet: Annotated[bool, typer.Option("--quiet", "-q", help=texts.opt_quiet)] = False,
    ) -> int:
        from tukang.cli.chat import converse

        if session is None and store is not None:
            raise ConfigurationError(kept.needs_session)
        screen = Screen(quiet=quiet)
        opened = with_machine(_opened(target, model, user, screen, texts), machine, texts)
        opened = with_servers(opened, mcp, screen, texts)
        return converse(opened, screen, texts, user=user, session=session, store=store, approve=approve or ())


def _add_run(app: typer.Typer, texts: Texts) -> None:
    permits = APPROVAL_TEXTS[texts.language].opt_approve

    @app.command("run", help=texts.about_run)
    def run(  # pyright: ignore[reportUnusedFunction]
        target: Annotated[str, typer.Argument(help=_about_target(texts))],
        question: Annotated[str | None, typer.Argument(help=texts.question)] = None,
        model: Annotated[str | None, typer.Option("--model", "-m", help=texts.opt_model)] = None,
        user: Annotated[str | None, typer.Option("--user", "-u", help=texts.opt_user)] = None,
        single_shot: Annotated[bool, typer.Option("--single-shot", help=texts.opt_single_shot)] = False,
        returns: Annotated[str | None, typer.Option("--returns", help=texts.opt_returns, metavar="module:Name")] = None,
        approve: Annotated[list[str] | None, typer.Option("--approve", help=permits, metavar="TOOL")] = None,
        mcp: Annotated[list[str] | None, typer.Option("--mcp", help=_about_mcp(texts), metavar="FILE")] = None,
        machine: Annotated[list[str] | None, typer.Option("--tool", help=_about_machine(texts), metavar="TOOL")] = None,
        as_json: Annotated[bool, typer.Option("--json", help=texts.opt_json)] = False,
        quiet: Annotated[bool, typer.Option("--quiet", "-q", help=texts.opt_quiet)] = False,
    ) -> int:
        screen = Screen(quiet=quiet)
        screen.streams = screen.streams and not as_json and returns is None
        asked = _question(question, target, texts)
        opened = with_machine(_opened(target, model, user, screen, texts), machine, texts)
        opened = with_servers(opened, mcp, screen, texts)
        must_have(opened.agent, approve or (), target, texts)
        asker = Asker(screen, texts, approve or ())
        form = None if returns is None else imported(returns)
        view = View(screen, texts, opened.models)
        screen.busy(texts.preparing + " …")
        try:
            answer = asyncio.run(_turn(opened, asked, view, form, asker, single_shot=single_shot))
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
        wait_for_tasks(opened, screen, texts)
        return exits.of_answer(answer, single_shot=single_shot)


def _add_tools(app: typer.Typer, texts: Texts) -> None:
    said, aws = APPROVAL_TEXTS[texts.language], IAM_TEXTS[texts.language]

    @app.command("tools", help=texts.about_tools)
    def tools(  # pyright: ignore[reportUnusedFunction]
        words: Annotated[
            list[str] | None,
            typer.Argument(help=said.tools_words, metavar="ASSISTANT | why [ASSISTANT] TOOL | iam ASSISTANT"),
        ] = None,
        caller: Annotated[str | None, typer.Option("--as", help=said.opt_as, metavar="PRINCIPAL")] = None,
        scopes: Annotated[list[str] | None, typer.Option("--scope", help=said.opt_scope)] = None,
        given: Annotated[list[str] | None, typer.Option("--with", help=said.opt_with, metavar="NAME=VALUE")] = None,
        untrusted: Annotated[bool, typer.Option("--after-untrusted", help=said.opt_untrusted)] = False,
        mcp: Annotated[list[str] | None, typer.Option("--mcp", help=_about_mcp(texts), metavar="FILE")] = None,
        as_json: Annotated[bool, typer.Option("--json", help=texts.opt_json)] = False,
        model: Annotated[str | None, typer.Option("--model", "-m", help=aws.model)] = None,
        region: Annotated[str | None, typer.Option("--region", help=aws.region)] = None,
        account: Annotated[str | None, typer.Option("--account", help=aws.account)] = None,
        asks: Annotated[str | None, typer.Option("--asks", help=aws.asks, metavar="ARN")] = None,
        hosted: Annotated[str | None, typer.Option("--hosted", help=aws.hosted, metavar="ARN")] = None,
        log_table: Annotated[str | None, typer.Option("--log-table", help=aws.log_table)] = None,
    ) -> int:
        from tukang.cli import contracts
        from tukang.models.scripted import Scripted

        screen, ours = Screen(), MCP_CLIENT_TEXTS[texts.language]
        words, wanted = words or [], iam.Wanted(model, region, account, asks, hosted, log_table)
        if words[:1] == ["iam"] and len(words) == 2 and not (caller or scopes or given or untrusted or mcp):
            return iam.show(words[1], wanted, screen, aws)
        if words[:1] == ["iam"] or wanted != iam.Wanted():
            raise ConfigurationError(aws.how)
        if not words and not mcp:
            raise ConfigurationError(ours.needs_target)
        if words[:1] == ["why"] and len(words) in (2, 3):
            from tukang.cli.why import as_text

            if mcp:
                raise ConfigurationError(ours.not_why)

            screen.whole(as_text(words[1:], caller, scopes or (), given or (), texts.language, untrusted=untrusted))
            return exits.ANSWERED
        if len(words) > 1 or caller or scopes or given or untrusted:
            raise ConfigurationError(said.tools_why)
        nobody = Scripted([])  # no model is needed to look at tools
        agent = open_target(words[0], model=nobody).agent if words else Agent(nobody)
        agent = agent_with(agent, mcp, screen, texts) if mcp else agent
        screen.whole(contracts.as_document(agent, texts) if as_json else contracts.as_text(agent, texts))
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


async def _turn(
    target: Target, question: str, view: View, returns: Any, approve: Asker, *, single_shot: bool
) -> Answer | None:
    limits = target.agent.limits
    limits = replace(limits, rounds=1) if single_shot else limits
    stream = target.agent.stream(question, context=target.context, limits=limits, returns=returns, approve=approve)
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


def _about_mcp(texts: Texts) -> str:
    return MCP_CLIENT_TEXTS[texts.language].opt_mcp


def _about_machine(texts: Texts) -> str:
    return MACHINE_TEXTS[texts.language].opt_tool
