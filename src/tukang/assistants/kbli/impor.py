"""Reading a whole table of codes from a file, JSON or CSV, and saying what was found in it. It writes nothing.

Tables come in many layouts; the names of columns that are known stand in `_NAMES`, others are mapped by whoever brings them.
Only five-digit codes are codes of activities; the levels above them (a letter, two to four digits) are counted and left out.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from tukang.assistants.kbli.tabel import EDISI, Kode
from tukang.errors import ConfigurationError

_NAMES: Mapping[str, tuple[str, ...]] = {
    "kode": ("kode", "code", "kbli", "kode_kbli", "kode kbli"),
    "judul": ("judul", "title", "nama", "name", "judul kbli"),
    "uraian": ("uraian", "detail", "description", "deskripsi", "keterangan", "desc"),
}
"""Columns as tables call them, in lower case."""

_STEERING = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")

_LARGEST = 64 * 1024 * 1024
"""Bytes of a file: a whole table has one or two million."""


class Laporan(msgspec.Struct, frozen=True):
    """What was found in a file.

    Args:
        kode: the codes, in order; of a code that is there twice, the first that has a title.
        baris: rows in the file.
        tingkat: rows of the levels above, by their number of characters.
        ganda: codes that are there more than once, in order.
        tanpa_judul: codes without a title; they are not among `kode`.
        tanpa_uraian: codes without a description.
        tanpa_induk: codes whose group of four digits is not in the file, although the file has groups.
        induk_kosong: groups of four digits without a code.
        tak_terbaca: rows without a readable code, as they stand there; the first few.
        nol_depan: codes that had lost the zero before them, as spreadsheets do with numbers, and got it back.
    """

    kode: tuple[Kode, ...]
    baris: int
    tingkat: Mapping[int, int]
    ganda: tuple[str, ...] = ()
    tanpa_judul: tuple[str, ...] = ()
    tanpa_uraian: tuple[str, ...] = ()
    tanpa_induk: tuple[str, ...] = ()
    induk_kosong: tuple[str, ...] = ()
    tak_terbaca: tuple[str, ...] = ()
    nol_depan: tuple[str, ...] = ()


def baca(path: Path, edisi: int, kolom: Mapping[str, str] | None = None) -> Laporan:
    """Read a table.

    Args:
        path: a `.json` file (a list of objects, or an object that holds one) or a `.csv` or `.tsv` file with a header.
        edisi: which edition it is of; files do not say so reliably.
        kolom: the file's name for `kode`, `judul`, `uraian`, where it is another than is known.

    Raises:
        ConfigurationError: there is no such file, it cannot be read, or holds no codes; it says what was expected.
    """
    if edisi not in EDISI:
        raise ConfigurationError(f"there is no edition {edisi}: expected {' or '.join(map(str, EDISI))}")
    rows = _rows(path)
    if not rows:
        raise ConfigurationError(f"{path} has no rows: expected a list of codes with a title each")
    columns, there = _columns(path, rows, kolom or {})
    cells = [[_text(row.get(columns[name])) if name in columns else "" for name in _NAMES] for row in rows]
    lost = _lost_zeros(path, [code.removesuffix(".0") for code, *_ in cells])  # as a spreadsheet writes a number
    found = _Gathered()
    for code, title, description in cells:
        plain = code.removesuffix(".0")
        found.take(edisi, f"0{plain}" if plain in lost else plain, title, description)
    if not found.codes:
        raise ConfigurationError(
            f"{path} has no five-digit code in {columns['kode']!r}: map the column with kode=NAME; "
            f"there are: {', '.join(there)}"
        )
    if not any(one.judul for one in found.codes.values()):
        raise ConfigurationError(
            f"{path} has no title in {columns['judul']!r}: map the column with judul=NAME; there are: {', '.join(there)}"
        )
    return replace(found.report(len(rows)), nol_depan=tuple(sorted(f"0{code}" for code in lost)))


def _lost_zeros(path: Path, codes: Sequence[str]) -> set[str]:
    """The four-digit numbers that are codes without the zero before them; none where they are groups, as they should be.

    A group has codes that begin with it. So where most have none, no code of the file begins with a zero, and no level
    above the groups is there, they are no groups.
    """
    four = {code for code in codes if re.fullmatch(r"[0-9]{4}", code)}
    parents = {code[:4] for code in codes if re.fullmatch(r"[0-9]{5}", code)}
    if not four - parents or any(code.startswith("0") for code in codes):
        return set()
    if any(re.fullmatch(r"[A-Za-z]|[0-9]{1,3}", code) for code in codes):
        if any(re.fullmatch(r"[1-9]", code) for code in codes):
            raise ConfigurationError(
                f"{path} has lost the zeros before its codes (a division is 01, not 1): save the column as text and "
                "import again"
            )
        return set()
    return four if len(four - parents) * 2 > len(four) else set()


class _Gathered:
    """What the rows so far say."""

    def __init__(self) -> None:
        self.codes: dict[str, Kode] = {}
        self.groups: set[str] = set()
        self.levels: Counter[int] = Counter()
        self.times: Counter[str] = Counter()
        self.unreadable: list[str] = []

    def take(self, edisi: int, code: str, title: str, description: str) -> None:
        if re.fullmatch(r"[A-Za-z]|[0-9]{2,4}", code):
            self.levels[len(code)] += 1
            self.groups |= {code} if len(code) == 4 else set()
        elif re.fullmatch(r"[0-9]{5}", code):
            self.times[code] += 1
            if not (code in self.codes and self.codes[code].judul):
                self.codes[code] = Kode(edisi, code, title, description)
        else:
            self.unreadable.append(f"{code} {title}".strip() or "(kosong)")

    def report(self, rows: int) -> Laporan:
        ordered = sorted(self.codes.values())
        parents = {one.kode[:4] for one in ordered}
        return Laporan(
            kode=tuple(one for one in ordered if one.judul),
            baris=rows,
            tingkat=dict(sorted(self.levels.items())),
            ganda=tuple(sorted(code for code, times in self.times.items() if times > 1)),
            tanpa_judul=tuple(one.kode for one in ordered if not one.judul),
            tanpa_uraian=tuple(one.kode for one in ordered if one.judul and not one.uraian),
            tanpa_induk=tuple(one.kode for one in ordered if one.kode[:4] not in self.groups) if self.groups else (),
            induk_kosong=tuple(sorted(self.groups - parents)),
            tak_terbaca=tuple(self.unreadable[:20]),
        )


def _rows(path: Path) -> list[Mapping[str, Any]]:
    try:
        if path.stat().st_size > _LARGEST:
            raise ConfigurationError(f"{path} is larger than {_LARGEST // 1024**2} MB: a table of codes is not")
        raw = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror}") from error
    if raw.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise ConfigurationError(f"{path} is a workbook, whatever its name: save its sheet as CSV, and import that")
    try:
        text = raw.decode("utf-16" if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8 and import again"
        ) from error
    match path.suffix.lower():
        case ".json":
            return _json_rows(path, text)
        case ".csv" | ".tsv":
            return _csv_rows(path, text)
        case other:
            raise ConfigurationError(f"{path}: {other or 'no ending'} is not read: expected .json, .csv or .tsv")


def _json_rows(path: Path, text: str) -> list[Mapping[str, Any]]:
    try:
        value: object = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise ConfigurationError(f"{path} is not JSON: {error}") from error
    except RecursionError as error:
        raise ConfigurationError(f"{path} is nested deeper than a table is") from error
    rows = list(_objects(value))
    if not rows and value != []:
        raise ConfigurationError(
            f"{path} holds no list of objects: expected [{{'kode': …, 'judul': …, 'uraian': …}}, …]"
        )
    return rows


def _objects(value: object) -> Iterator[Mapping[str, Any]]:
    """The objects that stand in lists, in order: also within `{"data": …}`, and within each other, as levels do."""
    left: list[tuple[object, bool]] = [(value, False)]
    while left:
        one, listed = left.pop()
        if isinstance(one, dict):
            members = cast("dict[str, object]", one)
            if listed:
                yield members
            left += [(member, False) for member in reversed(members.values()) if isinstance(member, (dict, list))]
        elif isinstance(one, list):
            left += [(member, True) for member in reversed(cast("list[object]", one))]


def _csv_rows(path: Path, text: str) -> list[Mapping[str, Any]]:
    first, _, rest = text.partition("\n")
    if first.strip().casefold().startswith("sep="):  # a spreadsheet's own first line
        text, first = rest, rest.partition("\n")[0]
    delimiter = max("\t;,", key=first.count)
    try:
        return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise ConfigurationError(f"{path} is not CSV: {error}") from error


def _columns(
    path: Path, rows: Sequence[Mapping[str, Any]], mapped: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """What the file calls each column that it has, and all its columns; a title and a code it must have."""
    if unknown := sorted(set(mapped) - set(_NAMES)):
        raise ConfigurationError(f"there is no column {unknown[0]!r} to map: expected {', '.join(_NAMES)}")
    names = dict.fromkeys(name for row in rows for name in row if isinstance(name, str))  # pyright: ignore[reportUnnecessaryIsInstance]
    there = {name.strip().lower(): name for name in reversed(names)}
    found: dict[str, str] = {}
    for name, known in _NAMES.items():
        wanted: Iterable[str] = (mapped[name].strip().lower(),) if name in mapped else known
        column = next((there[one] for one in wanted if one in there), None)
        if column is not None:
            found[name] = column
        elif name in mapped or name != "uraian":
            raise ConfigurationError(
                f"{path} has no column {mapped.get(name, name)!r}: map it with {name}=NAME; there are: {', '.join(names)}"
            )
    return found, list(names)


def _text(value: object) -> str:
    """A cell, on one line and without what would steer a terminal; tables made from printed pages break theirs."""
    if not isinstance(value, (str, int, float)):
        return ""
    return " ".join(_STEERING.sub(" ", str(value)).split())
