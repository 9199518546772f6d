"""Citations of documents in a text: `[sumber: sdm/cuti.md, hal. 3]`, `[source: handbook.pdf, p. 12]`. Pure.

One is known where a source cites the same document on the same page. Without a page, a citation of the document is enough.
"""

from __future__ import annotations

import re

Citation = tuple[str, int | None]
"""A document's name in lower case, and the page."""

_CITED = re.compile(r"\[(?:sumber|source)\s{0,9}:([^\[\]]{1,400})\]", re.IGNORECASE)
"""Nothing in it can match in two ways: a text full of beginnings costs no more than another."""

_PAGE = re.compile(
    r",\s*(?:hal(?:aman)?\.?|p(?:ages?|gs?|p)?\.?)\s*(\d{1,6}(?:\s*(?:[-–,&]|dan|and|to|sampai)\s*\d{1,6})*)\s*$",
    re.IGNORECASE,
)


def citations(text: str) -> list[tuple[str, Citation]]:
    """Each as it is written, with what it says; several in one bracket, with `;` between, are several, and so are
    several pages (`hal. 3-4`: both have to be known)."""
    found: list[tuple[str, Citation]] = []
    for match in _CITED.finditer(text):
        for one in filter(None, (part.strip() for part in match[1].split(";"))):
            page = _PAGE.search(one)
            name = " ".join((one[: page.start()] if page else one).lower().split())
            pages = [int(number) for number in re.findall(r"\d+", page[1])] if page else [None]
            found += [(match[0], (name, number)) for number in pages]
    return found
