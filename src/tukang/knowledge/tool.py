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
from tukang.knowledge.fitting import fit_of
from tukang.knowledge.values import Hit
from tukang.tools.lookup import Fit, LookUp, looks_up
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

    async def fit(question: str) -> Fit:
        return await fit_of(knowledge, question)

    looks_up(cari, LookUp(_QUERY, fit, knowledge.aprepare))
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
