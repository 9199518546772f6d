"""Which reader a file gets, by its name; and what is checked for every one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath

from tukang.knowledge.errors import DocumentError
from tukang.knowledge.reading.blocks import Content, kept

MOST_BYTES = 100 * 2**20
"""Bytes of a file that are read where nothing else is said."""

Reader = Callable[[bytes, str, str | None], Content]


def _pdf(data: bytes, source: str, encoding: str | None) -> Content:
    from tukang.knowledge.reading.pdf import read_pdf

    return read_pdf(data, source, encoding)


def _html(data: bytes, source: str, encoding: str | None) -> Content:
    from tukang.knowledge.reading.html import read_html

    return read_html(data, source, encoding)


def _office(name: str) -> Reader:
    def read(data: bytes, source: str, encoding: str | None) -> Content:
        from tukang.knowledge.reading import office

        readers: Mapping[str, Reader] = {
            "docx": office.read_docx,
            "xlsx": office.read_xlsx,
            "csv": office.read_csv,
        }
        return readers[name](data, source, encoding)

    return read


def _plain(markdown: bool) -> Reader:
    def read(data: bytes, source: str, encoding: str | None) -> Content:
        from tukang.knowledge.reading import plain

        return (plain.read_markdown if markdown else plain.read_text)(data, source, encoding)

    return read


READERS: Mapping[str, Reader] = {
    ".pdf": _pdf,
    ".docx": _office("docx"),
    ".xlsx": _office("xlsx"),
    ".csv": _office("csv"),
    ".tsv": _office("csv"),
    ".html": _html,
    ".htm": _html,
    ".md": _plain(markdown=True),
    ".markdown": _plain(markdown=True),
    ".txt": _plain(markdown=False),
    ".text": _plain(markdown=False),
}
"""The end of a file's name → its reader."""


_BEGINNINGS: Mapping[bytes, tuple[str, ...]] = {b"%PDF-": (".pdf",), b"PK\x03\x04": (".docx", ".xlsx")}
"""How a file begins → what it should be called."""


def readable(name: str) -> bool:
    """Whether there is a reader for a file of this name."""
    return PurePath(name).suffix.lower() in READERS


def read(data: bytes, source: str, encoding: str | None = None) -> Content:
    """A document's blocks.

    Args:
        data: all of the file.
        source: its name, which says what it is.
        encoding: of its text, where it has one of its own to name.

    Raises:
        DocumentError: it cannot be read.
    """
    suffix = PurePath(source).suffix.lower()
    if suffix not in READERS:
        known = ", ".join(sorted(READERS))
        raise DocumentError(
            "unknown_format",
            source,
            f"there is no reader for {suffix or 'a file without an ending'}.",
            f"Known: {known}.",
        )
    if not data.strip(b"\0 \t\r\n"):
        raise DocumentError("empty", source, "there is nothing in it.")
    for beginning, ending in _BEGINNINGS.items():
        if data.startswith(beginning) and suffix not in ending:
            raise DocumentError(
                "corrupt", source, "it is not what its name says.", f"By how it begins it is {' or '.join(ending)}."
            )
    try:
        content = READERS[suffix](data, source, encoding)
    except RecursionError as error:
        raise DocumentError("corrupt", source, "its parts stand in each other too deeply to be read.") from error
    except (DocumentError, MemoryError):
        raise
    except Exception as error:  # of a parser that was given something no one thought of
        raise DocumentError("corrupt", source, f"it cannot be read ({type(error).__name__}).") from error
    content = kept(content)
    if not any(block.kind != "heading" or block.text for block in content.blocks):
        if content.unread:
            raise DocumentError(
                "scanned",
                source,
                f"its {len(content.unread)} pages are pictures without text, or letters that stand for no text.",
                "Have a program recognise the text (OCR) and save it with it.",
            )
        raise DocumentError("empty", source, "there are no words in it.")
    return content
