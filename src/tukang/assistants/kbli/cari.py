"""Finding codes by what somebody says they do. Full text over titles and descriptions, no model, no network.

People say "jualan pulsa" where the table says "penjualan kembali jasa telekomunikasi". So the words of a question are joined
by those the table uses for them (`kata.py`), and the text of a code by what our starter table says of it in plain words.
What a description says a code is *not* for is left out of the text: it would be found by just that.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Protocol

from tukang.assistants.kbli.kata import diperluas
from tukang.assistants.kbli.tabel import Kode, Tabel, awal
from tukang.retrieval.hybrid import HybridIndex

NOT_FOR = re.compile(r"tidak (?:men)?cakup.*?(?=kelompok ini (?:juga )?mencakup|$)", re.IGNORECASE | re.DOTALL)
"""What a description says its code is not for."""


class Pencari(Protocol):
    """Finds codes of an edition for a text."""

    def cari(self, teks: str, edisi: int, banyak: int) -> list[tuple[Kode, float]]:
        """At most so many codes, the best first, each with how well its words fit
        beside those of the best, 0 to 1; empty when there is no table, or nothing fits."""
        ...


class PencariTeks:
    """Finds them by full text. An index for each edition, made when it is first asked for, and anew when the table changes.

    Args:
        tabel: whose codes.
    """

    def __init__(self, tabel: Tabel) -> None:
        self._tabel = tabel
        self._indexes: dict[int, tuple[dict[str, Kode], HybridIndex]] = {}

    def cari(self, teks: str, edisi: int, banyak: int) -> list[tuple[Kode, float]]:
        codes = self._tabel.edisi(edisi)
        if not codes or not teks.strip():
            return []
        codes, index = self._index(edisi, codes)
        return [(codes[one.id], one.strength or 0.0) for one in index.search(diperluas(teks), banyak)]

    def _index(self, edisi: int, codes: dict[str, Kode]) -> tuple[dict[str, Kode], HybridIndex]:
        known = self._indexes.get(edisi)
        if known is None or known[0] is not codes:
            known = (codes, HybridIndex((one.kode, dicari(one)) for one in codes.values()))
            self._indexes[edisi] = known
        return known


def dicari(kode: Kode) -> str:
    """The text a code is found by."""
    plain = _plain().get(kode.kode)
    told = plain.uraian if plain is not None and plain.judul.casefold() == kode.judul.casefold() else ""
    return f"{kode.kode} {kode.judul}. {told} {kode.judul}. {NOT_FOR.sub(' ', kode.uraian)}"


@cache
def _plain() -> dict[str, Kode]:
    return awal()
