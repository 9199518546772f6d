"""One code in two editions: whether it means the same there, and what may stand for it. Suggestions, never conversions.

There is no official table of what became of each code in what is used here, so everything is judged by titles and
descriptions, and said to be a suggestion.
"""

from __future__ import annotations

import re
from functools import cache

import msgspec

from tukang.assistants.kbli.cari import NOT_FOR, Pencari
from tukang.assistants.kbli.tabel import EDISI, Kode, Tabel
from tukang.retrieval.words import words_of

_SAME_TITLE = 0.7
"""Two titles with so much in common are of the same activity, whatever is said below them."""

_NEAR_TITLE = 0.5
"""Two titles with so much of the shorter one in common may be."""

_NEAR_TEXT = 0.35
"""Then their descriptions must have so much in common."""

_SPELLING = 0.7
"""So alike are the letters of one title in two spellings (kaca mata, kacamata); with `_NEAR_TEXT`."""

_SAME_TEXT = 0.6
"""Two descriptions with so much in common are of the same activity where the titles share a word that says something."""

_TELLING = 8
"""A description with fewer words that say something is not compared: our starter table's are short, and our own."""

_FILLERS = (
    "aktivitas kegiatan jasa industri usaha perdagangan pertanian pembuatan dan atau untuk yang dari di ke pada dengan "
    "lainnya lain ytdl bukan selain sejenisnya terkait termasuk peralatan perlengkapan barang produk khusus besar eceran "
    "konstruksi bangunan pemasangan instalasi kelompok ini mencakup juga seperti"
)
"""Words of titles and descriptions that say little about what is done."""

_OPPOSED = (
    ("penumpang", "barang"),
    ("dalam", "luar"),
    ("organik", "anorganik"),
    ("besar", "eceran"),
    ("pemerintah", "swasta"),
    ("konvensional", "syariah"),
    ("baru", "bekas"),
)
"""Words of titles of which one says what the other denies."""


class Padanan(msgspec.Struct, frozen=True):
    """What there is to say about a code in the other edition.

    Args:
        edisi: the other edition.
        sama: the same code there, with the same meaning; None when there is none.
        lain_makna: the same code there, with another meaning; None when there is none.
        saran: codes there that may stand for it, best first, judged by title and description.
    """

    edisi: int
    sama: Kode | None
    lain_makna: Kode | None
    saran: tuple[Kode, ...]


def padanan(kode: Kode, tabel: Tabel, pencari: Pencari, banyak: int = 3) -> Padanan | None:
    """A code in the other edition; None when there is no table of it."""
    edisi = lawan(kode.edisi)
    if not tabel.edisi(edisi):
        return None
    there = tabel.kode(kode.kode, edisi)
    if there is not None and semakna(kode, there):
        return Padanan(edisi, there, None, ())
    found = (one for one, _ in pencari.cari(kode.teks, edisi, banyak + 1) if one != there)
    return Padanan(edisi, None, there, tuple(found)[:banyak])


def lawan(edisi: int) -> int:
    """The other edition."""
    return next(one for one in EDISI if one != edisi)


def semakna(kode: Kode, lain: Kode) -> bool:
    """Whether two codes are about the same: by the words of their titles that say something, and of their descriptions.

    Titles alone mislead in both directions: the sale of machines and that of boats share "perlengkapannya", and a cold
    storage is called so in one edition, and "gudang dingin" in the other.
    """
    if kode.judul.casefold() == lain.judul.casefold():
        return True
    if _opposed(kode.judul, lain.judul):
        return False
    one, other = _words(kode.judul), _words(lain.judul)
    common = len(one & other)
    if common and common / len(one | other) >= _SAME_TITLE:
        return True
    near = bool(common) and common / min(len(one), len(other)) > _NEAR_TITLE
    told, tells = _words(NOT_FOR.sub(" ", kode.uraian)), _words(NOT_FOR.sub(" ", lain.uraian))
    if len(told) < _TELLING or len(tells) < _TELLING:
        return near
    alike = _alike(told, tells)
    if near or _alike(_letters(kode.judul), _letters(lain.judul)) >= _SPELLING:
        return alike >= _NEAR_TEXT
    return alike >= _SAME_TEXT and bool(common)


def _opposed(title: str, other: str) -> bool:
    one, two = set(re.findall(r"\w+", title.casefold())), set(re.findall(r"\w+", other.casefold()))
    return any(
        (a in one and b in two and a not in two) or (b in one and a in two and b not in two) for a, b in _OPPOSED
    )


def _alike(one: set[str], other: set[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


def _letters(title: str) -> set[str]:
    """What a title is written with, three letters at a time, without the words that say little."""
    said = "".join(word for word in re.findall(r"\w+", title.casefold()) if word not in _FILLERS.split())
    return {said[at : at + 3] for at in range(len(said) - 2)}


def _words(text: str) -> set[str]:
    return set(words_of(text)) - _fillers()


@cache
def _fillers() -> frozenset[str]:
    return frozenset(words_of(_FILLERS))
