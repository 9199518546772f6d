"""What a question is to the documents: one that a single search answers, one about something else, or neither for certain.

It is decided by words and vectors alone, before any model is asked, and told only where it is nearly certain: what is
left open is the model's to decide.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from tukang.knowledge.values import Hit
from tukang.retrieval.words import ENGLISH, INDONESIAN, STOP, folded, question_words, stem, words_of
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

_SUM = re.compile(
    r"\d\s*(?:[+*×÷^]|(?<=\s)[-x:/](?=\s)|(?:di)?(?:kali|bagi|tambah|kurang|pangkat)\w*|plus|minus|times"
    r"|(?:divided|multiplied)\s+by|(?:%|persen|percent)\s*(?:dari|of))\s*(?:dengan\s*)?\d",
    re.IGNORECASE,
)

_GREETING = re.compile(
    r"\b(?:halo|hai|hi|hello|hey|assalamualaikum|selamat (?:pagi|siang|sore|malam)|good (?:morning|afternoon|evening)"
    r"|terima kasih|makasih|thanks|thank you)\b",
    re.IGNORECASE,
)
_BESIDE = STOP | {"banyak", "ya", "oke", "ok", "infonya", "kak", "min", "pak", "bu", "very", "much"}
"""What may stand beside a greeting."""

_CONCERNS = """
    saya aku gue gw kami kita kantor perusahaan boleh bolehkah perlu perlukah harus haruskah wajib wajibkah bisa bisakah dapat
    dapatkah maksimal minimal kalau kalo klo jika bila
    i we my our us office company may must allowed can if
"""
_CONCERN = frozenset(_CONCERNS.split())
"""Words of somebody who asks for himself, or what holds in a case: he means the documents, whatever they say of it."""

_LEAST = 30
"""One in so many words of a text, at least, is a small one of its language; mostly one in five is."""

_COMMAND = re.compile(r"\W*\w{3,}kan\b", re.IGNORECASE)
_SHORT = re.compile(r"[^\W\daeiou]{2,}|[^\W\d]+\d\w*|\d+[^\W\d]\w*")
"""A short form or a name of something: no vowel in it, or a figure. It stands for words that nobody knows here."""


async def fit_of(knowledge: Knowledge, question: str) -> Fit:
    """What a question is to the documents.

    Raises:
        StoreError, ModelError: as for a search.
    """
    hits = await knowledge.asearch(question, 3)
    if not hits:
        return "open"  # the model should say that there is nothing, not guess
    if _is_sum(question) or _is_greeting(question):
        return "strange"
    telling = _telling(question)
    there = [word for hit in hits for word in words_of(f"{hit.title} {hit.heading} {hit.text}")]
    found = telling.intersection(there)
    unrelated = await knowledge.aunrelated()
    if unrelated is not None and all((hit.nearness or 0.0) < unrelated for hit in hits):
        if 2 * len(found) >= max(1, len(telling)) or not _is_plain(question, there):
            return "open"
        unknown = await knowledge.aunknown(telling - found)
        return "strange" if 2 * len(unknown) >= len(telling) else "open"
    if is_direct(question) and _covers(telling, found, hits[0]) and not await knowledge.aunknown(telling - found):
        return "direct"
    return "open"


def _telling(question: str) -> set[str]:
    """The words of a question that say what it is about. A figure says nothing: it stands in many a document."""
    return {word for word in question_words(question) if not word.isdigit()} - STOP - _PLAIN


def _is_sum(question: str) -> bool:
    """Whether it is nothing but a sum. A figure alone may be that of an article, of a form, of a year."""
    return _SUM.search(question) is not None and not _telling(_SUM.sub(" ", question))


def _is_greeting(question: str) -> bool:
    rest, greetings = _GREETING.subn(" ", folded(question))
    return greetings > 0 and _BESIDE.issuperset(re.findall(r"\w+", rest))


def _is_plain(question: str, there: Sequence[str]) -> bool:
    """Whether the words of a question say what it is about, so that it counts that they are not in the documents: it is put
    in their language, in a sentence, without short forms, and not for somebody's own case."""
    words = re.findall(r"\w+", question)
    plain = {folded(word) for word in words}
    if plain & _CONCERN or any(word.isupper() or _SHORT.fullmatch(folded(word)) for word in words if word not in STOP):
        return False
    said, language = max(
        ((sum(word in small for word in there), small) for small in (INDONESIAN, ENGLISH)), key=itemgetter(0)
    )
    if _LEAST * said < len(there):
        return False  # they are in neither
    return bool(plain & language) or (language is INDONESIAN and _COMMAND.match(question) is not None)


def is_direct(question: str) -> bool:
    """Whether a message is one short question about what something is, and asks for nothing to be done."""
    text = question.strip()
    sentences = [one for one in re.split(r"[.!?\n]+\s+", text) if one.strip()]
    if not text or len(text) > _LONGEST or len(sentences) != 1:
        return False
    words = re.findall(r"\w+", _FOR.sub("untuk", text.lower()))
    return len(words) > 1 and not _DOING.intersection(words) and not _WISHED.search(text)


def _covers(telling: set[str], found: set[str], first: Hit) -> bool:
    """Whether what was found is about what is asked: both rankings have the first passage among their first, and most of the
    telling words stand in them. Without any ("yang itu bagaimana?") it is about something that was said before."""
    if (first.text_place or 99) > 3 or (first.vector_place or 99) > 5:
        return False
    return bool(telling) and len(found) * 3 >= len(telling) * 2
