"""Word and Excel files, and CSV. Word goes through mammoth to HTML, so its headings, lists and tables are read as HTML's are;
sheets are read by calamine. A packed file is measured before it is unpacked."""

from __future__ import annotations

import csv
import importlib
import io
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from tukang.knowledge.errors import DocumentError
from tukang.knowledge.reading.blocks import Block, Content, row_of
from tukang.knowledge.reading.html import of_markup
from tukang.knowledge.reading.plain import decoded

_MOST_UNPACKED = 512 * 2**20
"""Bytes that a packed file may unpack to. What is more is a trap, or no document."""

_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
"""How the old binary formats begin, and the envelope of a file that is locked with a password."""

_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => h2:fresh"
"""Styles that mammoth knows no element for."""

_ROWS = 60
"""Rows of a table that stand in one block, each below the table's head."""


def read_docx(data: bytes, source: str, _: str | None) -> Content:
    """A Word file."""
    mammoth: Any = importlib.import_module("mammoth")  # it has no types

    _must_be_packed(data, source, "word/")
    try:
        images = mammoth.images.img_element(_no_image)
        markup = str(mammoth.convert_to_html(io.BytesIO(data), style_map=_STYLES, convert_image=images).value)
    except Exception as error:  # a parser of XML that is not what it should be may raise anything
        raise DocumentError("corrupt", source, f"it cannot be read as a Word file ({type(error).__name__}).") from error
    content = of_markup(f"<body>{markup}</body>")
    first = next((block.text for block in content.blocks if block.kind == "heading"), "")
    return replace(content, title=first)


def _no_image(_: Any) -> dict[str, str]:
    return {"src": ""}


def read_xlsx(data: bytes, source: str, _: str | None) -> Content:
    """An Excel file: a heading for each sheet, and its rows below."""
    import python_calamine

    _must_be_packed(data, source, "xl/")
    blocks: list[Block] = []
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        for name in book.sheet_names:
            rows = book.get_sheet_by_name(name).to_python(skip_empty_area=True)
            found = list(_tables([[_cell(value) for value in row] for row in rows]))
            blocks += [Block("heading", name, level=1), *found] if found else []
    except Exception as error:
        raise DocumentError(
            "corrupt", source, f"it cannot be read as an Excel file ({type(error).__name__})."
        ) from error
    return Content(tuple(blocks))


def read_csv(data: bytes, source: str, encoding: str | None) -> Content:
    """Rows with a head; what stands between the cells is found out (comma, semicolon, tab, bar)."""
    text = decoded(data, source, encoding)
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))  # a file is not refused for one long cell
    try:
        dialect: Any = csv.Sniffer().sniff(text[:8192], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    try:
        rows = list(csv.reader(io.StringIO(text), dialect))
    except csv.Error as error:
        raise DocumentError("corrupt", source, f"it cannot be read as CSV: {error}.") from error
    return Content(tuple(_tables(rows)))


def _tables(rows: Iterable[list[str]]) -> Iterator[Block]:
    """Blocks of so many rows, each with the head above."""
    lines = [row_of(cells) for cells in rows if any(cell.strip() for cell in cells)]
    head, body = lines[:1], lines[1:]
    for start in range(0, len(body) or 1, _ROWS):
        if part := head + body[start : start + _ROWS]:
            yield Block("table", "\n".join(part))


def _cell(value: Any) -> str:
    """A value as it is shown: a whole number without the point that Excel keeps it with."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return "" if value is None else str(value)


def _must_be_packed(data: bytes, source: str, inside: str) -> None:
    """Whether it is a packed file of the right kind, that unpacks to a size that is one.

    Raises:
        DocumentError: it is not.
    """
    if data.startswith(_OLE):
        raise DocumentError(
            "password",
            source,
            "it is locked with a password, or in the old binary format.",
            "Save a copy without a password, as .docx or .xlsx.",
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            entries = packed.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise DocumentError("corrupt", source, "it is damaged: its packed parts cannot be found.") from error
    if sum(entry.file_size for entry in entries) > _MOST_UNPACKED:
        raise DocumentError("too_large", source, f"it unpacks to more than {_MOST_UNPACKED // 2**20} MB.")
    if not any(entry.filename.startswith(inside) for entry in entries):
        raise DocumentError("corrupt", source, "it is a packed file, but not one of this format.")
