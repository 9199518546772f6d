"""What the results of the terminal tools read like: they are the answer, so they are whole sentences, in Indonesian."""

from __future__ import annotations

from collections.abc import Sequence

from tukang.assistants.kbli.audit import Audit, Pasangan, Terperiksa
from tukang.assistants.kbli.padanan import lawan
from tukang.assistants.kbli.tabel import Kode, Tabel


def sebut(kode: Kode) -> str:
    """A code with its title."""
    return f"{kode.kode} {kode.judul}"


def asal(tabel: Tabel, edisi: int) -> str:
    """What an answer rests on."""
    if tabel.lengkap(edisi):
        return f"Sumber: tabel KBLI {edisi} ({len(tabel.edisi(edisi))} kode)."
    return (
        f"Sumber: tabel awal KBLI {edisi} ({len(tabel.edisi(edisi))} kode yang umum, bukan seluruhnya). "
        "Tabel penuh dapat dimuat dengan `tukang kbli import`."
    )


def susunan(pasangan: Sequence[Pasangan], pilihan: Sequence[Kode | None], edisi: int, tabel: Tabel) -> str:
    """The codes for several activities. `pilihan` are those that were chosen, in the same order; None where none was."""
    lines = [f"Kode KBLI {edisi} untuk usaha ini:"]
    for pair, chosen in zip(pasangan, pilihan, strict=True):
        best = chosen or (pair.kode[0] if pair.kode else None)
        if best is None:
            lines.append(f"- {pair.kegiatan}: belum ditemukan kodenya")
            continue
        lines.append(f"- {pair.kegiatan}: {sebut(best)}")
        if others := [sebut(one) for one in pair.kode if one != best]:
            lines.append(f"  (kemungkinan lain: {'; '.join(others)})")
    return "\n".join([*lines, "", asal(tabel, edisi)])


def laporan(audit: Audit, tabel: Tabel) -> str:
    """An audit, a code in a line."""
    lines = [f"Hasil pemeriksaan terhadap KBLI {audit.edisi}:"]
    lines += [f"- {_putusan(one, audit.edisi)}" for one in audit.kode]
    if audit.kurang:
        lines.append("Kegiatan yang belum punya kode:")
        for pair in audit.kurang:
            lines.append(f"- {pair.kegiatan}: saran {'; '.join(map(sebut, pair.kode)) or 'tidak ada'}")
    else:
        lines.append("Semua kegiatan sudah punya kode.")
    return "\n".join([*lines, "", asal(tabel, audit.edisi)])


def _putusan(one: Terperiksa, edisi: int) -> str:
    saran = f" Saran padanan: {'; '.join(map(sebut, one.saran))}." if one.saran else ""
    match one.putusan:
        case "cocok":
            return f"{one.kode} {one.judul}: cocok, untuk {one.kegiatan}."
        case "edisi_lain":
            return (
                f"{one.kode}: salah edisi. Di KBLI {lawan(edisi)} artinya {one.judul_lain} (untuk {one.kegiatan}), "
                f"di KBLI {edisi} artinya {one.judul}.{saran}"
            )
        case "usang":
            usang = "usang" if lawan(edisi) < edisi else "salah edisi"
            return f"{one.kode}: {usang}, hanya ada di KBLI {lawan(edisi)} ({one.judul}).{saran}"
        case "tak_relevan":
            return f"{one.kode} {one.judul}: tidak relevan dengan kegiatan yang disebut."
        case "tak_dikenal":
            there = f" Di KBLI {lawan(edisi)} artinya {one.judul_lain}." if one.judul_lain else ""
            return f"{one.kode}: tidak ada di tabel KBLI {edisi} yang dimuat.{there}{saran}"
