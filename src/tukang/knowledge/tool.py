"""A tool that searches: what the model sees of it, and how what was found is told to it.

Each passage comes with the words to cite it by (`kutip`: `[sumber: sdm/cuti.md, hal. 3]`). An agent that is
`grounded` holds the citations of its answer against these: a document or a page that no search returned is
unsupported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tukang.errors import ToolDefinitionError
from tukang.knowledge.values import Hit
from tukang.retrieval.words import STOP, question_words, words_of
from tukang.tools.lookup import LookUp, looks_up
from tukang.tools.tool import tool

if TYPE_CHECKING:
    from tukang.knowledge.knowledge import Knowledge

_QUERY = "kueri"

_DESCRIPTION = (
    "Cari di dokumen internal. Gunakan untuk pertanyaan yang jawabannya ada di dokumen; jangan untuk pengetahuan umum. "
    "Hasilnya potongan dokumen dengan nama, halaman dan skor. Kutip setiap potongan yang dipakai persis seperti 'kutip'."
)
_NOTHING = "Tidak ada potongan dokumen yang cocok. Coba kata lain, atau katakan bahwa dokumennya tidak ada."

_OWN = frozenset(("kutip", "dokumen", "judul", "bagian", "halaman", "skor", "isi"))
"""What a result says of itself: what is known about a document cannot take its place."""

_NAMED = str.maketrans('[];"\\\n\r', "(),'/  ")
"""A document's name as a citation may hold it: brackets and semicolons are the citation's own, and what JSON writes in two
signs is not found again in what the model writes."""

_LIKE_A_CITATION = re.compile(r"\[(?=\s*(?:sumber|source)\s*:)", re.IGNORECASE)

_LONGEST = 200
"""Characters of a question that one search may answer."""

_ASKED_FOR = """
    buat buatkan bikin bikinkan pesan pesankan kirim kirimkan hapus ubah ganti hitung hitungkan bandingkan ringkas
    ringkaskan rangkum terjemahkan tulis tuliskan susun simpan jadwalkan daftarkan ajukan batalkan
    create make order send delete change calculate compare summarize summarise translate write schedule cancel book
"""
_DOING = frozenset(_ASKED_FOR.split())
"""Words that ask for something to be done: that is for the model to plan."""

_WISHED = re.compile(
    r"\b(?:saya|aku|kami|i)\s+(?:mau|ingin|hendak|want|would like)\b(?!\s+(?:tahu|tau|bertanya|tanya|to know|to ask))",
    re.IGNORECASE,
)
"""A wish for something other than an answer."""


def search_tool(
    knowledge: Knowledge,
    name: str,
    description: str | None,
    limit: int,
    filters: Mapping[str, Sequence[str]],
    *,
    untrusted: bool = False,
) -> Any:
    """See `Knowledge.tool`.

    Raises:
        ToolDefinitionError: a filter has no values, or the name of the query.
    """
    for one, values in filters.items():
        if one == _QUERY or isinstance(values, str) or not values:
            raise ToolDefinitionError(
                f"tool {name!r}: the filter {one!r} needs a list of the values it may have, and another name than {_QUERY!r}"
            )

    async def cari(kueri: str, **wanted: Any) -> dict[str, Any]:
        where = {one: value for one, value in wanted.items() if value is not None}
        hits = await knowledge.asearch(kueri, limit, where=where)
        return {"hasil": [told(hit) for hit in hits]} if hits else {"hasil": [], "catatan": _NOTHING}

    async def fits(question: str) -> bool:
        return is_direct(question) and covers(question, await knowledge.asearch(question, 3))

    looks_up(cari, LookUp(_QUERY, fits, knowledge.aprepare))
    schema = {
        "name": name,
        "description": description or _DESCRIPTION,
        "parameters": {
            "type": "object",
            "properties": {
                _QUERY: {"type": "string", "minLength": 1, "description": "apa yang dicari, dengan kata-kata pengguna"},
                **{one: _filter(one, values) for one, values in filters.items()},
            },
            "required": [_QUERY],
            "additionalProperties": False,
        },
    }
    return tool((schema, cari), effect="read", untrusted=untrusted)


def _filter(name: str, values: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "string",
        "enum": list(values),
        "description": f"hanya dokumen dengan {name} ini; kosongkan bila tidak pasti",
    }


def told(hit: Hit) -> dict[str, Any]:
    """A passage as the model reads it."""
    return {
        "kutip": citation(hit),
        "dokumen": hit.document,
        "judul": without_citations(hit.title),
        **({"bagian": without_citations(hit.heading)} if hit.heading else {}),
        **({"halaman": hit.page} if hit.page is not None else {}),
        **{name: without_citations(value) for name, value in hit.data.items() if name not in _OWN},
        "skor": round(hit.score, 3),
        "isi": without_citations(hit.text),
    }


def citation(hit: Hit) -> str:
    """The words to cite a passage by."""
    page = f", hal. {hit.page}" if hit.page is not None else ""
    return f"[sumber: {hit.document.translate(_NAMED)}{page}]"


def without_citations(text: str) -> str:
    """A document's words, in which nothing reads as a citation: what one document says is no evidence of another."""
    return _LIKE_A_CITATION.sub("(", text)


# ── whether one search answers a question ────────────────────────────────────────────────────────────────────────────


def is_direct(question: str) -> bool:
    """Whether a message is one short question about what something is, and asks for nothing to be done."""
    text = question.strip()
    sentences = [one for one in re.split(r"[.!?\n]+\s+", text) if one.strip()]
    if not text or len(text) > _LONGEST or len(sentences) != 1:
        return False
    words = re.findall(r"\w+", text.lower())
    return len(words) > 1 and not _DOING.intersection(words) and not _WISHED.search(text)


def covers(question: str, hits: Sequence[Hit]) -> bool:
    """Whether the first passages are about what is asked: both rankings have the first one among their first, and most of the
    telling words of the question stand in them."""
    if not hits or (hits[0].text_place or 99) > 3 or (hits[0].vector_place or 99) > 5:
        return False
    asked = set(question_words(question)) - STOP
    if not asked:  # "yang itu bagaimana?": about something that was said before
        return False
    found = {word for hit in hits for word in words_of(f"{hit.title} {hit.heading} {hit.text}")}
    return len(asked & found) * 3 >= len(asked) * 2
