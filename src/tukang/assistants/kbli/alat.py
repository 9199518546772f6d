"""The five tools of the assistant, over the tables and the search. Two of them end the turn: what they say is the answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from tukang.assistants.kbli import teks
from tukang.assistants.kbli.audit import periksa, susun
from tukang.assistants.kbli.cari import Pencari, PencariTeks
from tukang.assistants.kbli.langsung import pencarian
from tukang.assistants.kbli.padanan import lawan, padanan
from tukang.assistants.kbli.tabel import Kode, Tabel
from tukang.tools.lookup import looks_up
from tukang.tools.outcome import NothingDone
from tukang.tools.tool import tool

KodeLima = Annotated[str, Field(pattern=r"^[0-9]{5}$", examples=["62199"])]
Edisi = Literal[2020, 2025]
Kegiatan = Annotated[str, Field(min_length=3, max_length=300)]

_SHORT = 240
"""Characters of a description in a list of candidates."""


class Alat:
    """The tools over one table.

    Args:
        tabel: the codes.
        pencari: how they are found; by full text when None.
    """

    def __init__(self, tabel: Tabel | None = None, pencari: Pencari | None = None) -> None:
        self.tabel = tabel or Tabel()
        self.pencari = pencari or PencariTeks(self.tabel)
        looks_up(self.cari_kode, pencarian(self.pencari))

    @tool(effect="read", timeout=30)
    def cari_kode(
        self,
        deskripsi: Annotated[str, Field(min_length=3, max_length=300)],
        edisi: Edisi = 2025,
        banyak: Annotated[int, Field(ge=1, le=10)] = 5,
    ) -> dict[str, Any]:
        """Kode KBLI apa yang cocok untuk satu kegiatan usaha: cari calon kodenya.

        Argumen:
            deskripsi: satu kegiatan, contoh: jual laptop di toko
            edisi: edisi KBLI
            banyak: jumlah calon, 1 sampai 10
        """
        self._must_have(edisi)
        found = self.pencari.cari(deskripsi, edisi, banyak)
        if not found:
            raise NothingDone(
                f"tidak ada kode yang cocok dengan {deskripsi!r}", "Coba sebut barang atau jasanya dengan kata lain."
            )
        candidates = [{"kode": one.kode, "judul": one.judul, "uraian": _short(one.uraian)} for one, _ in found]
        return {"edisi": edisi, "calon": candidates, "sumber": teks.asal(self.tabel, edisi)}

    @tool(effect="read", timeout=30)
    def detail_kode(self, kode: KodeLima, edisi: Edisi = 2025) -> dict[str, Any]:
        """Isi satu kode KBLI, dan artinya di edisi lain.

        Argumen:
            kode: kode lima angka, contoh: 62199
            edisi: edisi KBLI
        """
        found = self._code(kode, edisi)
        return {**_whole(found), "edisi_lain": self._elsewhere(found)}

    @tool(effect="read", timeout=30)
    def bandingkan_kode(
        self, kode: Annotated[list[KodeLima], Field(min_length=2, max_length=4)], edisi: Edisi = 2025
    ) -> dict[str, Any]:
        """Bandingkan dua sampai empat kode KBLI berdampingan.

        Argumen:
            kode: dua sampai empat kode lima angka
            edisi: edisi KBLI
        """
        codes = list(dict.fromkeys(kode))
        if len(codes) < 2:
            raise NothingDone(f"hanya ada satu kode berbeda: {codes[0]}", "Sebut paling sedikit dua kode yang berbeda.")
        return {"edisi": edisi, "kode": [_whole(self._code(one, edisi)) for one in codes]}

    @tool(effect="read", terminal=True, timeout=60)
    def susun_kode(
        self,
        kegiatan: Annotated[list[Kegiatan], Field(min_length=1, max_length=8)],
        kode: Annotated[list[KodeLima] | None, Field(max_length=8)] = None,
        edisi: Edisi = 2025,
    ) -> str:
        """Kode KBLI apa saja yang cocok untuk bisnis dengan beberapa kegiatan sekaligus. Hasilnya langsung menjadi jawaban.

        Argumen:
            kegiatan: kegiatan usaha satu per satu, contoh: pengembangan software
            kode: kode pilihan, urutannya sama dengan kegiatan; kosongkan kalau belum memilih
            edisi: edisi KBLI
        """
        self._must_have(edisi)
        if kode and len(kode) != len(kegiatan):
            raise NothingDone(
                f"ada {len(kegiatan)} kegiatan dan {len(kode)} kode",
                "Beri satu kode untuk tiap kegiatan dengan urutan yang sama, atau kosongkan kode.",
            )
        chosen: dict[str, Kode | None] = dict.fromkeys(kegiatan)
        chosen |= {activity: self._code(code, edisi) for activity, code in zip(kegiatan, kode or (), strict=False)}
        pairs = susun(kegiatan, edisi, self.pencari)
        return teks.susunan(pairs, [chosen[pair.kegiatan] for pair in pairs], edisi, self.tabel)

    @tool(effect="read", terminal=True, timeout=60)
    def audit_kode(
        self,
        kegiatan: Annotated[list[Kegiatan], Field(min_length=1, max_length=8)],
        kode: Annotated[list[KodeLima], Field(min_length=1, max_length=20)],
        edisi: Edisi = 2025,
    ) -> str:
        """Periksa daftar kode milik pengguna terhadap usahanya. Hasilnya langsung menjadi jawaban.

        Argumen:
            kegiatan: kegiatan usaha satu per satu, contoh: bengkel motor
            kode: kode yang diperiksa, paling banyak 20
            edisi: edisi yang seharusnya dipakai
        """
        self._must_have(edisi)
        return teks.laporan(periksa(kegiatan, kode, edisi, self.tabel, self.pencari), self.tabel)

    def _must_have(self, edisi: int) -> None:
        if not self.tabel.edisi(edisi):
            raise NothingDone(
                f"tabel KBLI {edisi} belum dimuat",
                f"Pakai edisi {lawan(edisi)}, atau minta pengelola menjalankan `tukang kbli import`.",
            )

    def _code(self, code: str, edisi: int) -> Kode:
        self._must_have(edisi)
        if found := self.tabel.kode(code, edisi):
            return found
        whole = "" if self.tabel.lengkap(edisi) else " (tabel awal tidak memuat semua kode)"
        if there := self.tabel.kode(code, lawan(edisi)):
            other = padanan(there, self.tabel, self.pencari)
            near = "; ".join(map(teks.sebut, other.saran)) if other else ""
            raise NothingDone(
                f"kode {code} tidak ada di KBLI {edisi}{whole}; di KBLI {lawan(edisi)} artinya {there.judul}",
                f"Saran padanan menurut judul dan uraian: {near or 'tidak ada'}.",
            )
        raise NothingDone(f"kode {code} tidak ada di tabel KBLI {edisi}{whole}", "Cari dulu dengan cari_kode.")

    def _elsewhere(self, found: Kode) -> dict[str, Any]:
        other = padanan(found, self.tabel, self.pencari)
        if other is None:
            return {"edisi": lawan(found.edisi), "keterangan": "tabel edisi itu belum dimuat"}
        if other.sama is not None:
            return {"edisi": other.edisi, "keterangan": "kode dan artinya sama", "judul": other.sama.judul}
        suggested = {
            "saran_padanan": [teks.sebut(one) for one in other.saran],
            "saran_menurut": "kemiripan judul dan uraian",
        }
        if other.lain_makna is not None:
            meant = {"keterangan": "AWAS: kode ini artinya lain", "judul": other.lain_makna.judul}
            return {"edisi": other.edisi, **meant, **suggested}
        return {"edisi": other.edisi, "keterangan": "kode ini tidak ada", **suggested}


def _whole(kode: Kode) -> dict[str, Any]:
    return {"kode": kode.kode, "edisi": kode.edisi, "judul": kode.judul, "uraian": kode.uraian}


def _short(text: str) -> str:
    return text if len(text) <= _SHORT else text[:_SHORT].rsplit(" ", 1)[0] + " …"
