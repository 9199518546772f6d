"""From blocks to passages: pieces short enough to be found and shown, that do not cross a heading and know where they stand.

A passage keeps the headings above it and the page it begins on. A table that is too long is cut between rows, and each piece
has the table's head. What is cut is cut between sentences where there are any. Pure.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

import msgspec

from tukang.knowledge.reading.blocks import Block

LENGTH = 900
"""Characters that a passage has about: enough to answer from, and short enough for a vector to say what it is about."""

MOST = 1400
"""Characters of the longest one."""

_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")


class Passage(msgspec.Struct, frozen=True):
    """A piece of a document.

    Args:
        text: its words.
        heading: the headings above it, the outermost first, ` › ` between them.
        page: where it begins, from 1; None where the format has no pages.
    """

    text: str
    heading: str = ""
    page: int | None = None

    def whole(self, title: str) -> str:
        """What is searched: with what it is about in front."""
        above = " › ".join(part for part in (title, self.heading) if part and part != title) if self.heading else title
        above = title if self.heading == title else above
        return f"{above}\n{self.text}" if above else self.text

    def digest(self, title: str) -> str:
        """The same for what is the same to a search, wherever in the document it stands."""
        return hashlib.sha256(self.whole(title).encode("utf-8", "surrogatepass")).hexdigest()


def passages_of(blocks: Sequence[Block]) -> list[Passage]:
    """The passages of a document, in order."""
    return list(_passages(blocks))


def _passages(blocks: Sequence[Block]) -> Iterator[Passage]:
    above: list[tuple[int, str]] = []
    held: list[str] = []
    page: int | None = None
    alone = False  # whether nothing stands under the last heading yet
    lost: list[str] = []  # headings that nothing stood under: they go in front of what comes next

    def flush() -> Iterator[Passage]:
        if held:
            yield Passage("\n\n".join(held), _path(above), page)
        held.clear()

    for block in blocks:
        if block.kind == "heading":
            yield from flush()
            if alone and above[-1][0] >= block.level:
                lost.append(_path(above))
            while above and above[-1][0] >= block.level:
                above.pop()
            above.append((block.level, block.text))
            alone, page = True, block.page
            continue
        for piece in (*lost, *_pieces(block)):
            if held and sum(map(len, held)) + len(piece) > LENGTH:
                yield from flush()
            if not held:
                page = block.page
            held.append(piece)
        lost.clear()
        alone = False
    yield from flush()
    if alone and above:
        yield Passage("\n\n".join((*lost, above[-1][1])), _path(above[:-1]), page)


def _path(above: Sequence[tuple[int, str]]) -> str:
    return " › ".join(text for _, text in above)


def _pieces(block: Block) -> Iterator[str]:
    """A block in pieces, none of them longer than a passage may be."""
    if len(block.text) <= MOST:
        yield block.text
    elif block.kind == "table":
        head, *rows = block.text.split("\n")
        if rows and len(head) <= MOST // 2:
            yield from _packed(rows, "\n", head + "\n")
        else:  # a head that fills a passage by itself is a row like the others
            yield from _packed([head, *rows], "\n", "")
    else:
        yield from _packed([one for one in _SENTENCE.split(block.text) if one], " ", "")


def _packed(parts: Sequence[str], between: str, front: str) -> Iterator[str]:
    """Parts put together up to the usual length, each piece with `front` before it; a part that is too long is cut."""
    room = LENGTH - len(front)
    held = ""
    for part in parts:
        for start in range(0, len(part) or 1, MOST - len(front)):
            one = part[start : start + MOST - len(front)]
            if held and len(held) + len(one) > room:
                yield front + held
                held = ""
            held = f"{held}{between}{one}" if held else one
    if held.strip():
        yield front + held
