"""Judging a user's list of codes against what they do, and putting codes together for several activities. No model is asked.

Every verdict follows from the tables and a search, so the same list gets the same verdicts, and each can be looked up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from tukang.assistants.kbli.cari import Pencari, dicari
from tukang.assistants.kbli.kata import tercakup
from tukang.assistants.kbli.padanan import lawan, padanan, semakna
from tukang.assistants.kbli.tabel import Kode, Tabel

Putusan = Literal["cocok", "edisi_lain", "usang", "tak_relevan", "tak_dikenal"]
"""What a code is found to be.

* `cocok`: it is in the edition, and one of the activities is what it is for.
* `edisi_lain`: it fits in the other edition only, where the same code means something else.
* `usang`: it is in the other edition only.
* `tak_relevan`: it is in the edition, and none of the activities is what it is for.
* `tak_dikenal`: it is in no table there is, or only in that of the other edition while this one's is not whole.
"""

NEAR = 10
"""A code is for an activity only when it is among so many that are found for it."""

_STRENGTH = 0.5
"""A code fits only when its words do at least so well as those of the best."""

_AS_WELL = 0.8
"""When they do so well, and the code speaks of at least half of the activity, it fits."""

_COVERED = 0.75
"""It also does when it speaks of so much of the activity, beside the code that speaks of most: selling motorcycles is not
washing them, however often both say so."""

BEST = 5
"""An activity is covered when a code of the list is among so many that are found for it."""


class Terperiksa(msgspec.Struct, frozen=True):
    """A code with its verdict. `kegiatan` is what it is for among the activities; `saran` may stand for it."""

    kode: str
    putusan: Putusan
    judul: str
    kegiatan: str | None = None
    judul_lain: str | None = None
    saran: tuple[Kode, ...] = ()


class Pasangan(msgspec.Struct, frozen=True):
    """An activity, and the codes found for it, best first."""

    kegiatan: str
    kode: tuple[Kode, ...]


class Audit(msgspec.Struct, frozen=True):
    """A list of codes, judged. `kurang` are the activities that no code of the list covers, with codes that would."""

    edisi: int
    kode: tuple[Terperiksa, ...]
    kurang: tuple[Pasangan, ...]


def periksa(kegiatan: Sequence[str], kode: Sequence[str], edisi: int, tabel: Tabel, pencari: Pencari) -> Audit:
    """Judge codes against activities.

    Args:
        kegiatan: what the business does, an activity each.
        kode: the codes, five digits each; one that is there twice is judged once.
        edisi: the edition that the codes should be of.
    """
    found = {one: cocok(one, edisi, pencari) for one in kegiatan}
    other = {one: {near.kode for near in cocok(one, lawan(edisi), pencari)} for one in kegiatan}
    judged = tuple(_judge(one, edisi, tabel, pencari, found, other) for one in dict.fromkeys(kode))
    fitting = {one.kode for one in judged if one.putusan == "cocok"}
    missing = tuple(
        Pasangan(one, tuple(near[:3]))
        for one, near in found.items()
        if not fitting & {code.kode for code in near[:BEST]}
    )
    return Audit(edisi, judged, missing)


def cocok(kegiatan: str, edisi: int, pencari: Pencari) -> list[Kode]:
    """The codes that are for an activity, best first: what fits as well as the best, what speaks of as much of it, and
    what stands in a group with one of these two."""
    near = [(code, strength) for code, strength in pencari.cari(kegiatan, edisi, NEAR) if strength >= _STRENGTH]
    if not near:
        return []
    covered = {code.kode: tercakup(kegiatan, dicari(code)) for code, _ in near}
    fullest = max(covered, key=covered.__getitem__)
    groups = {near[0][0].kode[:4], fullest[:4]}
    least = _COVERED * covered[fullest]
    return [
        code
        for code, strength in near
        if (strength >= _AS_WELL and covered[code.kode] >= covered[fullest] / 2)
        or covered[code.kode] >= least
        or code.kode[:4] in groups
    ]


def susun(kegiatan: Sequence[str], edisi: int, pencari: Pencari, banyak: int = 3) -> tuple[Pasangan, ...]:
    """For each activity the codes found for it, best first."""
    return tuple(
        Pasangan(one, tuple(code for code, _ in pencari.cari(one, edisi, banyak))) for one in dict.fromkeys(kegiatan)
    )


def _judge(
    code: str,
    edisi: int,
    tabel: Tabel,
    pencari: Pencari,
    found: Mapping[str, Sequence[Kode]],
    other: Mapping[str, set[str]],
) -> Terperiksa:
    here, there = tabel.kode(code, edisi), tabel.kode(code, lawan(edisi))
    if here is None and there is None:
        return Terperiksa(code, "tak_dikenal", "")
    if here is None and there is not None:
        instead = padanan(there, tabel, pencari)
        saran = instead.saran if instead else ()
        if not tabel.lengkap(edisi):  # it may well be there
            return Terperiksa(code, "tak_dikenal", "", judul_lain=there.judul, saran=saran)
        return Terperiksa(code, "usang", there.judul, saran=saran)
    assert here is not None
    places = {one: near.index(here) for one, near in found.items() if here in near}
    activity = min(places, key=places.__getitem__, default=None)
    if activity is not None:
        return Terperiksa(code, "cocok", here.judul, activity)
    if there is not None and not semakna(here, there):
        meant = next((one for one, near in other.items() if code in near), None)
        if meant is not None:
            instead = padanan(there, tabel, pencari)
            return Terperiksa(code, "edisi_lain", here.judul, meant, there.judul, instead.saran if instead else ())
    return Terperiksa(code, "tak_relevan", here.judul)
