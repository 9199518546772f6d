"""`tukang db`: the schema of a store. What is in a store is seen and moved with `tukang sessions`.

This file evaluates its annotations when it builds the command, because the help in them is in the user's language.
"""

from collections.abc import Mapping
from typing import Annotated

import msgspec
import typer

from tukang.cli import exits, stores
from tukang.cli.groups import group
from tukang.cli.screen import Screen
from tukang.cli.texts import Texts
from tukang.loop.events import Language
from tukang.memory.stores.base import Store


class _Sentences(msgspec.Struct, frozen=True, kw_only=True):
    about: str
    upgrade: str
    store: str
    workers: str
    knowledge: str
    applied: str
    current: str


_SENTENCES: Mapping[Language, _Sentences] = {
    "id": _Sentences(
        about="Skema tempat percakapan disimpan",
        upgrade="Memperbarui skema; Postgres memintanya, SQLite melakukannya sendiri. Boleh dijalankan lagi.",
        store="Alamat simpanan: sqlite:///berkas.db atau postgresql://…; tanpa: TUKANG_STORE, atau berkas di folder data",
        workers="Juga antrean untuk tukang worker (hanya Postgres)",
        knowledge="Juga tabel untuk tukang knowledge",
        applied="{store}: diperbarui, langkah {steps}",
        current="{store}: sudah yang terbaru",
    ),
    "en": _Sentences(
        about="The schema of where conversations are kept",
        upgrade="Bring the schema up to date; Postgres asks for it, SQLite does it by itself. It may be run again.",
        store="The store's address: sqlite:///file.db or postgresql://…; without: TUKANG_STORE, or a file in the data folder",
        workers="The queue for tukang worker too (Postgres only)",
        knowledge="The tables for tukang knowledge too",
        applied="{store}: upgraded, step {steps}",
        current="{store}: is up to date",
    ),
}


def add(app: typer.Typer, texts: Texts) -> None:
    """Add the commands, in the language of these texts."""
    said = _SENTENCES[texts.language]
    db = group(said.about)

    @db.callback()
    def root() -> None:  # pyright: ignore[reportUnusedFunction]
        """A group, although there is one command in it."""

    @db.command("upgrade", help=said.upgrade)
    def upgrade(  # pyright: ignore[reportUnusedFunction]
        store: Annotated[str | None, typer.Option("--store", help=said.store)] = None,
        workers: Annotated[bool, typer.Option("--workers", help=said.workers)] = False,
        knowledge: Annotated[bool, typer.Option("--knowledge", help=said.knowledge)] = False,
    ) -> int:
        async def work(kept: Store) -> str:
            if not workers:
                steps = tuple(map(str, await kept.upgrade()))
            else:
                from tukang.workers.fleet import upgrade  # an extra

                steps = await upgrade(stores.address(store))
            if knowledge:
                from tukang.knowledge.opening import upgrade as upgrade_knowledge  # an extra

                steps += tuple(f"knowledge {step}" for step in await upgrade_knowledge(stores.address(store)))
            sentence = said.applied if steps else said.current
            return sentence.format(store=kept.name, steps=", ".join(steps))

        Screen().whole(stores.with_store(store, work))
        return exits.ANSWERED

    app.add_typer(db, name="db", help=said.about)
