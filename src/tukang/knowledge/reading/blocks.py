"""What every reader makes of a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec.structs import replace

BlockKind = Literal["heading", "text", "table"]


class Block(msgspec.Struct, frozen=True):
    """A piece of a document that belongs together.

    Args:
        kind: what it is.
        text: its words; the cells of a table stand between bars, a row in each line, the first of which is its head.
        level: of a heading, from 1.
        page: from 1, where the format has pages; the sheet's name stands in a heading instead.
    """

    kind: BlockKind
    text: str
    level: int = 0
    page: int | None = None


class Content(msgspec.Struct, frozen=True):
    """A document as it was read.

    Args:
        blocks: in order.
        title: what it calls itself, if it does.
        pages: how many, where the format has them.
        unread: pages that are pictures, which were not read.
        data: what it says about itself in front of its text (`departemen: SDM`).
    """

    blocks: tuple[Block, ...]
    title: str = ""
    pages: int | None = None
    unread: tuple[int, ...] = ()
    data: Mapping[str, str] = {}


_UNFIT = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")


def kept(content: Content) -> Content:
    """A document with what can be kept: no control characters, and no halves of characters, which no database takes."""
    return replace(
        content,
        title=_fit(content.title),
        blocks=tuple(replace(block, text=_fit(block.text)) for block in content.blocks),
        data={_fit(name): _fit(value) for name, value in content.data.items()},
    )


def _fit(text: str) -> str:
    if not text.isprintable():
        text = text.encode("utf-16-le", "surrogatepass").decode(
            "utf-16-le", "replace"
        )  # halves that stand together are one
        text = _UNFIT.sub("", text)
    return text


def row_of(cells: list[str]) -> str:
    """A row of a table as it stands in a block."""
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "/") for cell in cells) + " |"
