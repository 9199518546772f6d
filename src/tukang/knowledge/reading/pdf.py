"""PDF, by PDFium: the words of each page, its headings by the size of their letters, its tables by the gaps between cells.

PDF has no paragraphs and no tables, only letters with places. So what is made here is a reading: lines are what
stands at one height, a line with wide gaps in it is a row, and two rows or more are a table. A page without letters
that shows a picture is a scan, and is said to be one.
"""

from __future__ import annotations

import ctypes
import importlib
import re
import statistics
import threading
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tukang.knowledge.errors import DocumentError
from tukang.knowledge.reading.blocks import Block, Content, row_of

_LOCK = threading.Lock()
"""PDFium is not to be used by two threads at once."""

_GAP = 1.6
"""Heights of a letter between two words that stand in different cells."""

_HEADING = 1.12
"""How much larger than most letters a heading's are."""

_LONGEST_HEADING = 160

_NO_TITLE = re.compile(
    r"\(?(untitled|anonymous|document|dokumen|microsoft \w+ -|presentation)\b.{0,40}$", re.IGNORECASE
)
"""What programs write where nobody gave a title."""


class _Line(msgspec.Struct):
    cells: list[str]
    size: float
    top: float
    bottom: float


def read_pdf(data: bytes, source: str, _: str | None) -> Content:
    """A PDF file.

    Raises:
        DocumentError: `password`, or `corrupt`.
    """
    pypdfium2: Any = importlib.import_module("pypdfium2")  # it has no types
    raw: Any = pypdfium2.raw
    with _LOCK:
        try:
            document: Any = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            if getattr(error, "err_code", None) == raw.FPDF_ERR_PASSWORD or "password" in str(error).lower():
                raise DocumentError(
                    "password", source, "it is locked with a password.", "Save a copy without one."
                ) from error
            raise DocumentError("corrupt", source, "it is not a PDF file, or it is damaged.") from error
        try:
            return _content(document, raw, source)
        except pypdfium2.PdfiumError as error:
            raise DocumentError("corrupt", source, f"a page of it is damaged ({error}).") from error
        finally:
            document.close()


def _content(document: Any, raw: Any, source: str) -> Content:
    pages: list[tuple[int, list[_Line]]] = []
    unread: list[int] = []
    for number in range(1, len(document) + 1):
        page = document[number - 1]
        lines = _lines(page, raw)
        if _is_garbage(lines):
            unread.append(number)
        elif lines:
            pages.append((number, lines))
        elif any(one.type == raw.FPDF_PAGEOBJ_IMAGE for one in page.get_objects(max_depth=3)):
            unread.append(number)
        page.close()
    if not len(document):
        raise DocumentError("corrupt", source, "it has no pages.")
    sizes = [line.size for _, lines in pages for line in lines for _ in range(sum(map(len, line.cells)))]
    body = statistics.median(sizes) if sizes else 0.0
    large = {round(line.size) for _, lines in pages for line in lines if _is_heading(line, body)}
    levels = {size: min(level, 6) for level, size in enumerate(sorted(large, reverse=True), 1)}
    blocks = tuple(block for number, lines in pages for block in _blocks(lines, body, levels, number))
    told = document.get_metadata_dict().get("Title") or ""
    first = next((block.text for block in blocks if block.kind == "heading"), "")
    named = str(told).strip()
    return Content(
        blocks, title=first if _NO_TITLE.match(named) else named or first, pages=len(document), unread=tuple(unread)
    )


def _lines(page: Any, raw: Any) -> list[_Line]:
    """The lines of a page as PDFium puts the letters into order, each with its cells."""
    text: Any = page.get_textpage()
    lines: list[_Line] = []
    end = 0.0
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    broken = True
    for at in range(text.count_chars()):
        sign = chr(raw.FPDFText_GetUnicode(text, at))
        if sign in "\r\n":
            broken = True
            continue
        if not raw.FPDFText_GetCharBox(text, at, left, right, bottom, top):
            continue
        size = float(raw.FPDFText_GetFontSize(text, at)) or 1.0
        height = max(top.value - bottom.value, 0.1)
        if sign.isspace():
            if lines and not broken and lines[-1].cells[-1] and not lines[-1].cells[-1].endswith(" "):
                lines[-1].cells[-1] += " "
            continue
        if broken:
            same = bool(lines) and lines[-1].bottom - height / 2 < bottom.value < lines[-1].top and left.value > end
            if same:
                lines[-1].cells.append("")
            else:
                lines.append(_Line([""], size, top.value, bottom.value))
            broken = False
        elif left.value - end > _GAP * size and lines[-1].cells[-1].strip():
            lines[-1].cells.append("")
        line = lines[-1]
        line.cells[-1] += sign
        line.size = max(line.size, size)
        line.top, line.bottom = max(line.top, top.value), min(line.bottom, bottom.value)
        end = right.value
    text.close()
    for line in lines:
        line.cells = [cell.strip() for cell in line.cells if cell.strip()]
    return [line for line in lines if line.cells]


def _is_garbage(lines: list[_Line]) -> bool:
    """Whether the page's letters have no meaning: a font whose letters nobody can tell (private, or the sign for none)."""
    signs = [sign for line in lines for cell in line.cells for sign in cell if not sign.isspace()]
    nothing = sum(sign == "\ufffd" or unicodedata.category(sign) in ("Co", "Cn", "Cc") for sign in signs)
    return bool(lines) and nothing * 2 > len(signs)


def _is_heading(line: _Line, body: float) -> bool:
    return len(line.cells) == 1 and line.size >= _HEADING * body and len(line.cells[0]) <= _LONGEST_HEADING


def _blocks(lines: list[_Line], body: float, levels: Mapping[int, int], page: int) -> Iterator[Block]:
    held: list[_Line] = []

    def flush() -> Iterator[Block]:
        yield from _paragraphs_and_tables(held, page)
        held.clear()

    for line in lines:
        if _is_heading(line, body):
            yield from flush()
            yield Block("heading", line.cells[0], level=levels[round(line.size)], page=page)
        else:
            held.append(line)
    yield from flush()


def _paragraphs_and_tables(lines: list[_Line], page: int) -> Iterator[Block]:
    at = 0
    while at < len(lines):
        end = at
        while end < len(lines) and len(lines[end].cells) > 1:
            end += 1
        if end - at >= 2:
            yield Block("table", "\n".join(row_of(line.cells) for line in lines[at:end]), page=page)
        else:
            end = at + 1
            while end < len(lines) and not (
                len(lines[end].cells) > 1 and end + 1 < len(lines) and len(lines[end + 1].cells) > 1
            ):
                if lines[end - 1].bottom - lines[end].top > 0.9 * lines[end].size:
                    break
                end += 1
            yield Block("text", " ".join(" ".join(line.cells) for line in lines[at:end]), page=page)
        at = end
