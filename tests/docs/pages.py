"""The pages, cut into what can be checked: blocks of code with the output that is shown after them. Reads; runs nothing."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
INDONESIAN = ROOT / "docs/id/model.md"
MODELS = [ROOT / "docs/models.md", *sorted((ROOT / "docs/models").glob("*.md")), INDONESIAN]
"""The pages about models. Their examples use what the first one of the page defines; those of all others stand alone."""

PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]

_BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)


class Block(msgspec.Struct, frozen=True):
    """A block of code.

    Args:
        page: where it stands.
        number: which one of its language it is on the page, from 0.
        language: as it says (`python`, `console`, …).
        code: what stands in it.
        output: what the page says that it prints: a `text` block right after it; None where there is none.
    """

    page: Path
    number: int
    language: str
    code: str
    output: str | None

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.number}"


def blocks(page: Path, language: str) -> list[Block]:
    """The blocks of a page in a language, in order."""
    text = page.read_text("utf-8")
    found = list(_BLOCK.finditer(text))
    cut: list[Block] = []
    for place, block in enumerate(found):
        if block[2] == language:
            after = found[place + 1] if place + 1 < len(found) else None
            shown = after is not None and after[2] == "text" and not text[block.end() : after.start()].strip()
            output = _dedented(after) if after and shown else None
            cut.append(Block(page, len(cut), language, _dedented(block), output))
    return cut


def _dedented(block: re.Match[str]) -> str:
    """What stands in a block, without the blanks of the list it may stand in."""
    return re.sub(rf"^{block[1]}", "", block[3], flags=re.MULTILINE)


def tables(page: Path, *heads: str) -> list[list[str]]:
    """The rows of the tables whose head begins with these cells; a row is its cells."""
    rows: list[list[str]] = []
    inside = False
    for line in page.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))] if line.startswith("|") else []
        if cells[: len(heads)] == list(heads):
            inside = True
        elif not cells:
            inside = False
        elif inside and not set(cells[0]) <= {"-", ":"}:
            rows.append(cells)
    return rows
