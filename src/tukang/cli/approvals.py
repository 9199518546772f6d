"""`tukang approvals`: what waits for a decision, and deciding about it, from any process. Nothing is run here.

This file evaluates its annotations when it builds the commands, because the help in them is in the user's language.
"""

import time
from collections.abc import Sequence
from typing import Annotated, Any, Protocol

import msgspec
import typer

from tukang.approvals import elsewhere
from tukang.approvals.elsewhere import Pending
from tukang.cli import exits
from tukang.cli.approval_texts import APPROVAL_TEXTS, ApprovalTexts
from tukang.cli.asker import near, read, user
from tukang.cli.document import written
from tukang.cli.groups import group, show_list
from tukang.cli.screen import Screen, one_line
from tukang.cli.session_texts import SESSION_TEXTS
from tukang.cli.session_view import moment
from tukang.cli.stores import with_store
from tukang.cli.texts import Texts
from tukang.cli.view import arguments
from tukang.errors import ConfigurationError
from tukang.memory.stores.base import Store

_LONGEST = 400


def add(app: typer.Typer, texts: Texts) -> None:
    """Add the commands, in the language of these texts."""
    said = APPROVAL_TEXTS[texts.language]
    approvals = group(said.about)
    for part in (_add_looking, _add_deciding, _add_edit, _add_collect):
        part(approvals, texts, said)
    app.add_typer(approvals, name="approvals")


def _add_looking(app: typer.Typer, texts: Texts, said: ApprovalTexts) -> None:
    at = SESSION_TEXTS[texts.language].opt_store

    @app.command("list", help=said.about_list)
    def list_(  # pyright: ignore[reportUnusedFunction]
        session: Annotated[str | None, typer.Option("--session", "-s", help=said.opt_session)] = None,
        all_: Annotated[bool, typer.Option("--all", help=said.opt_all)] = False,
        as_json: Annotated[bool, typer.Option("--json", help=texts.opt_json)] = False,
        store: Annotated[str | None, typer.Option("--store", help=at)] = None,
    ) -> int:
        async def look(kept: Store) -> tuple[list[Pending], str]:
            return await elsewhere.pending(kept, session=session, open_only=not all_), kept.name

        found, name = with_store(store, look)
        return show_list(
            found,
            as_json=as_json,
            data=lambda rows: list(map(_as_data, rows)),
            text=lambda rows: _listed(rows, said),
            none=said.nothing.format(store=name),
        )

    @app.command("show", help=said.about_show)
    def show(  # pyright: ignore[reportUnusedFunction]
        key: Annotated[str, typer.Argument(help=said.key)],
        as_json: Annotated[bool, typer.Option("--json", help=texts.opt_json)] = False,
        store: Annotated[str | None, typer.Option("--store", help=at)] = None,
    ) -> int:
        one = with_store(store, lambda kept: elsewhere.one(kept, key))
        Screen().whole(written(_as_data(one)) if as_json else _shown(one, said))
        return exits.ANSWERED


def _add_deciding(app: typer.Typer, texts: Texts, said: ApprovalTexts) -> None:
    _add_yes_or_no(app, texts, said, "approve", said.about_approve, elsewhere.approve)
    _add_yes_or_no(app, texts, said, "refuse", said.about_refuse, elsewhere.refuse)


class _Decide(Protocol):
    async def __call__(self, store: Store, asked: Pending, *, by: str, reason: str = "") -> None: ...


def _add_yes_or_no(app: typer.Typer, texts: Texts, said: ApprovalTexts, what: str, about: str, decide: _Decide) -> None:
    at = SESSION_TEXTS[texts.language].opt_store

    @app.command(what, help=about)
    def command(  # pyright: ignore[reportUnusedFunction]
        key: Annotated[str, typer.Argument(help=said.key)],
        reason: Annotated[str, typer.Option("--reason", "-r", help=said.opt_reason)] = "",
        by: Annotated[str | None, typer.Option("--by", help=said.opt_by)] = None,
        store: Annotated[str | None, typer.Option("--store", help=at)] = None,
    ) -> int:
        async def work(kept: Store) -> Pending:
            one = await elsewhere.one(kept, key)
            await decide(kept, one, by=user() if by is None else by, reason=reason)
            return one

        return _told(with_store(store, work), what, said)


def _add_edit(app: typer.Typer, texts: Texts, said: ApprovalTexts) -> None:
    at = SESSION_TEXTS[texts.language].opt_store

    @app.command("edit", help=said.about_edit)
    def edit(  # pyright: ignore[reportUnusedFunction]
        key: Annotated[str, typer.Argument(help=said.key)],
        changes: Annotated[list[str] | None, typer.Option("--set", help=said.opt_set, metavar="NAME=VALUE")] = None,
        reason: Annotated[str, typer.Option("--reason", "-r", help=said.opt_reason)] = "",
        by: Annotated[str | None, typer.Option("--by", help=said.opt_by)] = None,
        store: Annotated[str | None, typer.Option("--store", help=at)] = None,
    ) -> int:
        async def decide(kept: Store) -> Pending:
            one = await elsewhere.one(kept, key)
            now = _changed(one, changes or (), said)
            await elsewhere.edit(kept, one, now, by=user() if by is None else by, reason=reason)
            return one

        return _told(with_store(store, decide), "edit", said)


def _add_collect(app: typer.Typer, texts: Texts, said: ApprovalTexts) -> None:
    at = SESSION_TEXTS[texts.language].opt_store

    @app.command("collect", help=said.about_collect)
    def collect(  # pyright: ignore[reportUnusedFunction]
        machine: Annotated[str, typer.Argument(help=said.machine, metavar="ARN")],
        withdraw: Annotated[bool, typer.Option("--withdraw", help=said.opt_withdraw)] = False,
        store: Annotated[str | None, typer.Option("--store", help=at)] = None,
    ) -> int:
        from tukang.approvals.step_functions import StepFunctions  # it needs what most commands do not

        async def work(kept: Store) -> tuple[list[Pending], list[Pending]]:
            channel = StepFunctions(machine, kept)
            decided = [await elsewhere.one(kept, one.key) for one in await channel.collect()]
            return decided, await channel.withdraw() if withdraw else []

        decided, withdrawn = with_store(store, work)
        screen = Screen()
        for one in decided:
            screen.note(said.goes_on.format(what=_state(one, said), key=one.key, session=one.session))
        for one in withdrawn:
            screen.note(said.withdrawn.format(key=one.key))
        if not decided and not withdrawn:
            screen.note((said.undecided.format(machine=machine.rpartition(":")[2]), "dim"))
        return exits.ANSWERED


def _changed(one: Pending, changes: Sequence[str], said: ApprovalTexts) -> dict[str, Any]:
    """The arguments with what was said on the command line. A name that the call has not is not made up."""
    if not changes:
        raise ConfigurationError(said.no_change)
    now = dict(one.arguments)
    for text in changes:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ConfigurationError(said.no_pair.format(text=text))
        if name not in now:
            raise ConfigurationError(said.not_kept.format(name=name, near=near(name, now), known=", ".join(now) or "-"))
        now[name] = read(value, now[name])
    return now


def _told(one: Pending, what: str, said: ApprovalTexts) -> int:
    Screen().note(said.goes_on.format(what=said.decided[what], key=one.key, session=one.session))
    return exits.ANSWERED


def _state(one: Pending, said: ApprovalTexts) -> str:
    """How it stands, in words."""
    if one.answer is not None:
        words = said.decided[one.answer.decision] + (f" ({one_line(one.by, 40)})" if one.by else "")
        return words + (f", {said.used}" if one.used is not None else "")
    if not one.open(time.time()):
        return said.decided["expired"]
    return said.decided["open"] + (f", {said.until.format(moment=moment(one.expires))}" if one.expires else "")


def _listed(found: Sequence[Pending], said: ApprovalTexts) -> str:
    rows = [
        (one.key, one_line(one.session, 40), moment(one.since), _state(one, said), _call(one, 120)) for one in found
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join(
        "  ".join([*(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)), row[4]]) for row in rows
    )


def _call(one: Pending, most: int) -> str:
    why = f"  · {one.question.why}" if one.question.why else ""
    return one_line(f"{one.question.tool}({arguments(one.question.arguments or '{}')}){why}", most)


def _shown(one: Pending, said: ApprovalTexts) -> str:
    question = one.question
    effect = f"  [{question.effect}: {said.effects[question.effect]}]" if question.effect in said.effects else ""
    lines = [f"{one.key}  {one_line(one.session, 40)}  {moment(one.since)}  {_state(one, said)}"]
    lines.append(f"  {one_line(question.tool, 64)}{effect}")
    if question.why:
        lines.append(f"  {one_line(question.why, _LONGEST)}")
    lines += [
        f"    {one_line(name, 64)} = {one_line(msgspec.json.encode(value).decode(), _LONGEST)}"
        for name, value in one.arguments.items()
    ]
    if one.answer is not None and one.answer.reason:
        lines.append(f"  {one_line(one.answer.reason, _LONGEST)}")
    return "\n".join(lines)


def _as_data(one: Pending) -> dict[str, Any]:
    body = msgspec.to_builtins(one)
    body["question"]["arguments"] = dict(one.arguments)
    body["open"] = one.open(time.time())
    return body
