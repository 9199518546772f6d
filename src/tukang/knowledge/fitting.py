"""What a question is to the documents: one that a single search answers, one about something else, or neither for certain.

It is decided by words and vectors alone, before any model is asked, and told only where it is nearly certain: what is
left open is the model's to decide.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tukang.knowledge.values import Hit
from tukang.retrieval.words import STOP, question_words, stem, words_of
from tukang.tools.lookup import Fit

if TYPE_CHECKING:
    from tukang.knowledge.knowledge import Knowledge

_LONGEST = 200
"""Characters of a question that one search may answer."""

_ASKED_FOR = """
    buat buatkan bikin bikinkan pesan pesankan kirim kirimkan hapus ubah ganti hitung hitungkan bandingkan ringkas
    ringkaskan rangkum terjemahkan tulis tuliskan susun simpan jadwalkan daftarkan ajukan batalkan
    create make order send delete change calculate compare summarize summarise translate write schedule cancel book
"""
_DOING = frozenset(_ASKED_FOR.split())
"""Words that ask for something to be done: that is for the model to plan."""

_FOR = re.compile(r"(?<=\w )(?<!tolong )buat\b")
"""An everyday word for "for", where it does not stand first."""

_WISHED = re.compile(
    r"\b(?:saya|aku|kami|i)\s+(?:mau|ingin|hendak|want|would like)\b(?!\s+(?:tahu|tau|bertanya|tanya|to know|to ask))",
    re.IGNORECASE,
)
"""A wish for something other than an answer."""

_SUMMING = "kali dikali bagi dibagi tambah ditambah kurang dikurang plus minus times divided multiplied persen percent"
_ASKING = (
    "lama banyak sering jauh cara tentang seperti boleh bolehkah perlu perlukah harus wajib maksimal minimal paling"
)
_ENGLISH = "many much long often way about may must allowed need needed most least"
_PLAIN = frozenset(stem(word) for word in f"{_SUMMING} {_ASKING} {_ENGLISH}".split())
"""Words that join figures to a sum, and words of the way of asking: no question is about them."""


async def fit_of(knowledge: Knowledge, question: str) -> Fit:
    """What a question is to the documents.

    Raises:
        StoreError, ModelError: as for a search.
    """
    hits = await knowledge.asearch(question, 3)
    telling = _telling(question)
    if not telling and any(map(str.isdigit, question)):
        return "strange"  # a sum
    found = telling & {word for hit in hits for word in words_of(f"{hit.title} {hit.heading} {hit.text}")}
    unrelated = await knowledge.aunrelated()
    far = unrelated is not None and all((hit.nearness or 0.0) < unrelated for hit in hits)
    if far:
        return "strange" if 2 * len(found) < max(1, len(telling)) else "open"
    if is_direct(question) and covers(telling, found, hits) and not await knowledge.aunknown(telling - found):
        return "direct"
    return "open"


def _telling(question: str) -> set[str]:
    """The words of a question that say what it is about. A figure says nothing: it stands in many a document."""
    return {word for word in question_words(question) if not word.isdigit()} - STOP - _PLAIN


def is_direct(question: str) -> bool:
    """Whether a message is one short question about what something is, and asks for nothing to be done."""
    text = question.strip()
    sentences = [one for one in re.split(r"[.!?\n]+\s+", text) if one.strip()]
    if not text or len(text) > _LONGEST or len(sentences) != 1:
        return False
    words = re.findall(r"\w+", _FOR.sub("untuk", text.lower()))
    return len(words) > 1 and not _DOING.intersection(words) and not _WISHED.search(text)


def covers(telling: set[str], found: set[str], hits: Sequence[Hit]) -> bool:
    """Whether the first passages are about what is asked: both rankings have the first one among their first, and most of the
    telling words stand in them. Without any ("yang itu bagaimana?") it is about something that was said before."""
    if not hits or (hits[0].text_place or 99) > 3 or (hits[0].vector_place or 99) > 5:
        return False
    return bool(telling) and len(found) * 3 >= len(telling) * 2
