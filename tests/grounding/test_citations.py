"""Citations of documents: what is one, and whether a source gives it."""

from __future__ import annotations

import pytest

from tukang.grounding.citations import citations
from tukang.grounding.evidence import Evidence

SOURCE = '{"kutip":"[sumber: sdm/cuti.md, hal. 3]"} {"kutip":"[sumber: Aturan Umum.pdf]"}'


def test_a_citation_is_a_document_and_a_page() -> None:
    text = "Lihat [sumber: a.md] dan [Source: Hand Book.pdf, p. 12; b.md, halaman 4]; [bukan]: x, [sumber:]"
    assert [one for _, one in citations(text)] == [("a.md", None), ("hand book.pdf", 12), ("b.md", 4)]


@pytest.mark.parametrize(
    ("text", "unsupported"),
    [
        ("[sumber: sdm/cuti.md, hal. 3]", ()),
        ("[SUMBER:  sdm/Cuti.md , hal 3]", ()),
        ("[source: sdm/cuti.md, p. 3]", ()),
        ("[sumber: sdm/cuti.md]", ()),
        ("[sumber: aturan umum.pdf]", ()),
        ("[sumber: sdm/cuti.md, hal. 4]", ("[sumber: sdm/cuti.md, hal. 4]",)),
        ("[sumber: aturan umum.pdf, hal. 1]", ("[sumber: aturan umum.pdf, hal. 1]",)),
        ("[sumber: cuti.md]", ("[sumber: cuti.md]",)),
        ("[sumber: sdm/cuti.md, hal. 3-3]", ()),
        ("[sumber: sdm/cuti.md, hal. 3, 4]", ("[sumber: sdm/cuti.md, hal. 3, 4]",)),
        ("[source: sdm/cuti.md, pp. 3–9]", ("[source: sdm/cuti.md, pp. 3–9]",)),
        ("[tautan](cuti.md)", ()),
    ],
)
def test_what_no_source_gives_is_unsupported(text: str, unsupported: tuple[str, ...]) -> None:
    assert Evidence([SOURCE]).unsupported(text) == unsupported


@pytest.mark.parametrize(
    "text", ["[sumber:" + " " * 200_000, "[sumber: " * 50_000, ("[sumber: a, hal. " + "1-" * 140 + "]") * 500]
)
def test_a_text_full_of_beginnings_is_read_at_once(text: str) -> None:
    assert len(citations(text)) <= 500
