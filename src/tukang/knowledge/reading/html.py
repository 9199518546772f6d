"""HTML: headings, paragraphs, lists and tables of what is shown; scripts, styles and menus are not read.

Parsed by selectolax (Lexbor), which reads what is malformed as browsers do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tukang.knowledge.reading.blocks import Block, Content, row_of
from tukang.knowledge.reading.plain import decoded

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_CHARSET = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?\s*([A-Za-z0-9_-]+)""", re.IGNORECASE)
_HIDDEN = ("script", "style", "noscript", "template", "nav", "svg", "head", "form", "button")
_NOT_SHOWN = "[hidden], [style*='display:none' i], [style*='display: none' i]"
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_PIECES = frozenset(("p", "li", "blockquote", "pre", "dt", "dd", "figcaption", "address", "summary"))
_INLINE = frozenset(
    ("-text", "a", "abbr", "b", "cite", "code", "del", "em", "font", "i", "ins", "kbd", "mark", "q", "s", "small", "span",
     "strong", "sub", "sup", "time", "u", "var")
)  # fmt: skip
"""What stands in a line without a gap to what is before and after it."""

_CONTAINERS = frozenset(
    ("html", "body", "div", "section", "article", "main", "header", "footer", "aside", "ul", "ol", "dl", "figure", "details",
     "center", "tbody")
)  # fmt: skip


def read_html(data: bytes, source: str, encoding: str | None) -> Content:
    """A page as a file: in the encoding that was named, or that it declares, or UTF-8."""
    declared = _CHARSET.search(data[:4096])
    return of_markup(decoded(data, source, encoding or (declared[1].decode() if declared else None)))


def of_markup(text: str) -> Content:
    """A page as text."""
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(text)
    title = page.css_first("title")
    name = " ".join(title.text().split()) if title else ""
    page.strip_tags(list(_HIDDEN), recursive=True)
    for hidden in page.css(_NOT_SHOWN):
        hidden.decompose()
    for broken in page.css("br"):
        if broken.parent is not None and broken.parent.tag not in _CONTAINERS:
            broken.replace_with("\n")  # else the words before and after it would be one
    blocks = tuple(_blocks(page.body)) if page.body is not None else ()
    first = next((block.text for block in blocks if block.kind == "heading"), "")
    return Content(blocks, title=name or first)


def _blocks(node: LexborNode) -> Iterator[Block]:
    loose: list[str] = []

    def flush() -> Iterator[Block]:
        if words := " ".join("".join(loose).split()):
            yield Block("text", words)
        loose.clear()

    for child in node.iter(include_text=True):
        tag = child.tag or ""
        if tag in _HEADINGS:
            yield from flush()
            if words := " ".join(child.text().split()):
                yield Block("heading", words, level=_HEADINGS[tag])
        elif tag == "table":
            yield from flush()
            yield from _table(child)
        elif tag in _CONTAINERS or (tag in _PIECES and _holds_blocks(child)):
            yield from flush()
            yield from _blocks(child)
        elif tag in _PIECES:
            yield from flush()
            words = child.text().strip() if tag == "pre" else " ".join(child.text().split())
            if words:
                yield Block("text", f"- {words}" if tag == "li" else words)
        elif tag == "br":
            yield from flush()
        else:
            loose.append(child.text() if tag in _INLINE else f" {child.text()} ")
    yield from flush()


def _holds_blocks(node: LexborNode) -> bool:
    return any((child.tag or "") in _PIECES | _CONTAINERS | {"table"} | _HEADINGS.keys() for child in node.iter())


def _table(table: LexborNode) -> Iterator[Block]:
    rows = [[_cell(cell) for cell in _of(row, "th", "td")] for row in _rows(table)]
    lines = [row_of(cells) for cells in rows if any(cell.strip() for cell in cells)]
    for caption in _of(table, "caption"):
        yield Block("text", " ".join(caption.text().split()))
    if lines:
        yield Block("table", "\n".join(lines))


def _rows(table: LexborNode) -> Iterator[LexborNode]:
    """Its own, and not those of a table that stands in one of its cells."""
    for part in _of(table, "tr", "thead", "tbody", "tfoot"):
        yield from (part,) if part.tag == "tr" else _of(part, "tr")


def _of(node: LexborNode, *tags: str) -> Iterator[LexborNode]:
    return (child for child in node.iter() if child.tag in tags)


def _cell(cell: LexborNode) -> str:
    """What stands in it, with a blank between paragraphs and between the cells of a table inside."""
    parts = (block.text.replace("|", " ") if block.kind == "table" else block.text for block in _blocks(cell))
    return " ".join(" ".join(part.split()) for part in parts)
