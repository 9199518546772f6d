"""`tukang kbli`: bringing whole tables of codes in, and seeing which there are.

This file evaluates its annotations when it builds the command, because the help in them is in the user's language.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from tukang.cli import exits
from tukang.cli.groups import group
from tukang.cli.screen import Screen
from tukang.cli.texts import Texts
from tukang.errors import ConfigurationError
from tukang.loop.events import Language

if TYPE_CHECKING:
    from tukang.assistants.kbli.impor import Laporan
    from tukang.assistants.kbli.tabel import Tabel

_SHOWN = 8
"""Codes that are named in a line."""


class _Sentences(msgspec.Struct, frozen=True, kw_only=True):
    about: str
    bring: str
    file: str
    edition: str
    column: str
    column_form: str
    rows: str
    codes: str
    levels: str
    doubles: str
    untitled: str
    undescribed: str
    orphans: str
    childless: str
    unreadable: str
    zeros: str
    none: str
    stored: str
    tables: str
    whole: str
    starter: str
    absent: str


_SENTENCES: Mapping[Language, _Sentences] = {
    "id": _Sentences(
        about="Tabel kode KBLI",
        bring="Memuat tabel penuh satu edisi dari berkas JSON atau CSV. Boleh diulang; tabel lama edisi itu diganti.",
        file="Berkas .json, .csv atau .tsv",
        edition="Edisi tabel: 2020 atau 2025",
        column="Nama kolom di berkas, kalau lain: kode=NAMA, judul=NAMA, uraian=NAMA",
        column_form="--kolom {said!r} tidak terbaca: tulis kode=NAMA, judul=NAMA atau uraian=NAMA",
        rows="Baris: {count}",
        codes="Kode lima angka: {count}",
        levels="Tingkat di atasnya (dilewati): {names}",
        doubles="Ganda: {names}",
        untitled="Tanpa judul (dilewati): {names}",
        undescribed="Tanpa uraian: {names}",
        orphans="Tanpa golongan empat angka di berkas: {names}",
        childless="Golongan empat angka tanpa kode: {names}",
        unreadable="Tak terbaca (dilewati): {names}",
        zeros="Nol di depan hilang, dipulihkan: {names}",
        none="tidak ada",
        stored="KBLI {edition}: {count} kode dimuat ke {path}",
        tables="Tabel yang ada",
        whole="KBLI {edition}: {count} kode (tabel penuh)",
        starter="KBLI {edition}: {count} kode (tabel awal: yang umum saja)",
        absent="KBLI {edition}: belum dimuat",
    ),
    "en": _Sentences(
        about="Tables of KBLI codes",
        bring="Bring in the whole table of an edition from a JSON or CSV file. The old table is replaced.",
        file="A .json, .csv or .tsv file",
        edition="Edition of the table: 2020 or 2025",
        column="Names of columns in the file, where they are others: kode=NAME, judul=NAME, uraian=NAME",
        column_form="--kolom {said!r} cannot be read: write kode=NAME, judul=NAME or uraian=NAME",
        rows="Rows: {count}",
        codes="Five-digit codes: {count}",
        levels="Levels above (left out): {names}",
        doubles="Twice: {names}",
        untitled="Without a title (left out): {names}",
        undescribed="Without a description: {names}",
        orphans="Without their four-digit group in the file: {names}",
        childless="Four-digit groups without a code: {names}",
        unreadable="Unreadable (left out): {names}",
        zeros="Had lost the zero in front, restored: {names}",
        none="none",
        stored="KBLI {edition}: {count} codes brought into {path}",
        tables="Which tables there are",
        whole="KBLI {edition}: {count} codes (whole table)",
        starter="KBLI {edition}: {count} codes (starter table: common ones only)",
        absent="KBLI {edition}: not brought in",
    ),
}


def add(app: typer.Typer, texts: Texts) -> None:
    """Add the commands, in the language of these texts."""
    said = _SENTENCES[texts.language]
    commands = group(said.about)

    @commands.command("import", help=said.bring)
    def bring(  # pyright: ignore[reportUnusedFunction]
        file: Annotated[Path, typer.Argument(help=said.file)],
        edition: Annotated[int, typer.Option("--edisi", "-e", help=said.edition, metavar="2020|2025")],
        column: Annotated[list[str] | None, typer.Option("--kolom", "-k", help=said.column, metavar="X=Y")] = None,
    ) -> int:
        from tukang.assistants.kbli.impor import baca
        from tukang.assistants.kbli.tabel import Tabel

        mapped = dict(_mapped(one, said) for one in column or ())
        found = baca(file, edition, mapped)
        table = Tabel()
        table.ganti(edition, found.kode)
        stored = said.stored.format(edition=edition, count=len(found.kode), path=table.path)
        Screen().whole("\n".join([*_report(found, said), stored]))
        return exits.ANSWERED

    @commands.command("status", help=said.tables)
    def status() -> int:  # pyright: ignore[reportUnusedFunction]
        from tukang.assistants.kbli.tabel import EDISI, Tabel

        table = Tabel()
        Screen().whole("\n".join(_state(table, edition, said) for edition in EDISI))
        return exits.ANSWERED

    app.add_typer(commands, name="kbli", help=said.about)


def _mapped(said: str, sentences: _Sentences) -> tuple[str, str]:
    name, found, column = said.partition("=")
    if not (name.strip() and found and column.strip()):
        raise ConfigurationError(sentences.column_form.format(said=said))
    return name.strip(), column.strip()


def _report(found: "Laporan", said: _Sentences) -> list[str]:
    levels = tuple(f"{length}: {count}" for length, count in found.tingkat.items())
    return [
        said.rows.format(count=found.baris),
        said.codes.format(count=len(found.kode)),
        *(
            sentence.format(names=_few(names, said))
            for sentence, names in (
                (said.levels, levels),
                (said.doubles, found.ganda),
                (said.untitled, found.tanpa_judul),
                (said.undescribed, found.tanpa_uraian),
                (said.orphans, found.tanpa_induk),
                (said.childless, found.induk_kosong),
                (said.unreadable, found.tak_terbaca),
                (said.zeros, found.nol_depan),
            )
        ),
    ]


def _few(names: tuple[str, ...], said: _Sentences) -> str:
    if not names:
        return said.none
    more = f" … (+{len(names) - _SHOWN})" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _state(table: "Tabel", edition: int, said: _Sentences) -> str:
    count = len(table.edisi(edition))
    sentence = said.whole if table.lengkap(edition) else said.starter if count else said.absent
    return sentence.format(edition=edition, count=count)
