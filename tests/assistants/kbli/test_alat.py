"""Finding, explaining, comparing, composing and checking codes; and whole turns in which a model asks for that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.assistants.kbli.test_tabel import SHARED, whole
from tukang.assistants import kbli
from tukang.assistants.kbli.alat import Alat
from tukang.assistants.kbli.audit import periksa
from tukang.assistants.kbli.cari import PencariTeks
from tukang.assistants.kbli.impor import baca
from tukang.assistants.kbli.kata import baku, diperluas
from tukang.assistants.kbli.padanan import semakna
from tukang.assistants.kbli.tabel import Kode, Tabel
from tukang.models.scripted import Scripted, call
from tukang.tools.outcome import NothingDone

OLD = [
    Kode(2020, "62019", "AKTIVITAS PEMROGRAMAN KOMPUTER LAINNYA", "Menulis program menurut pesanan."),
    Kode(2020, "47411", "PERDAGANGAN ECERAN KOMPUTER DAN PERLENGKAPANNYA", "Menjual komputer di toko."),
    Kode(2020, "95320", "REPARASI JAM", "Memperbaiki jam tangan dan jam dinding."),
    Kode(2020, "56101", "RESTORAN", "Menjual makanan di tempat tetap."),
]
"""A 2020 edition in small; `95320` meant something else in it."""

BUSINESS = ["pengembangan software", "toko komputer", "tukang jam"]


@pytest.fixture
def small(tmp_path: Path) -> Tabel:
    """The starter table, and a small one of 2020."""
    table = Tabel(tmp_path / "kbli.db")
    table.ganti(2020, OLD)
    return table


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Tabel:
    """Both whole tables."""
    table = Tabel(tmp_path_factory.mktemp("kbli") / "kbli.db")
    table.ganti(2020, baca(SHARED / "kbli2020" / "kbli.json", 2020).kode)
    table.ganti(2025, baca(SHARED / "kbli2025" / "kbli-data.json", 2025).kode)
    return table


@pytest.fixture(scope="module")
def search(full: Tabel) -> PencariTeks:
    """Finds in both whole tables; it reads them once."""
    return PencariTeks(full)


def test_everyday_words_are_joined_by_those_of_the_table() -> None:
    assert "rumah minum kafe" in diperluas("mau buka Warung Kopi kekinian")
    assert diperluas("reasuransi syariah") == "reasuransi syariah"


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("jualan pulsa", "61201"),
        ("warung kopi", "56303"),
        ("bengkel motor", "95320"),
        ("cuci baju kiloan", "96100"),
        ("ternak lele", "03221"),
        ("62199", "62199"),
    ],
)
def test_codes_are_found(small: Tabel, said: str, code: str) -> None:
    found = Alat(small).cari_kode(said)
    assert code in [one["kode"] for one in found["calon"][:3]]


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("nyewa", "nyewa"),
        ("ngecor", "cor"),
        ("telor", "telur"),
        ("krupuk", "kerupuk"),
        ("Blitar".lower(), "blitar"),
        ("62199", "62199"),
    ],
)
def test_everyday_forms_and_spellings_lead_to_known_words(said: str, known: str) -> None:
    assert baku(said) == known


def test_a_description_does_not_count_for_what_it_excludes(tmp_path: Path) -> None:
    table = Tabel(tmp_path / "kbli.db")
    excluding = "Menanam padi. Kelompok ini tidak mencakup penggilingan beras. Kelompok ini juga mencakup benih."
    table.ganti(
        2025, [Kode(2025, "01121", "PADI", excluding), Kode(2025, "10631", "PENGGILINGAN", "Menggiling beras.")]
    )
    search = PencariTeks(table)
    assert [code.kode for code, _ in search.cari("penggilingan beras", 2025, 5)] == ["10631"]
    assert [code.kode for code, _ in search.cari("benih", 2025, 5)] == ["01121"]


def test_an_import_is_searched_at_once(small: Tabel) -> None:
    search = PencariTeks(small)
    assert search.cari("zzz", 2025, 1) == []
    small.ganti(2025, [Kode(2025, "01111", "ZZZ")])
    assert [code.kode for code, _ in search.cari("zzz", 2025, 1)] == ["01111"]


def test_the_same_code_may_mean_something_else(small: Tabel) -> None:
    told = Alat(small).detail_kode("95320")
    assert told["judul"] == "Reparasi dan perawatan sepeda motor"
    assert told["edisi_lain"]["judul"] == "REPARASI JAM"
    assert told["edisi_lain"]["keterangan"].startswith("AWAS")
    assert told["edisi_lain"]["saran_menurut"] == "kemiripan judul dan uraian"


def test_an_old_code_gets_suggestions(small: Tabel) -> None:
    with pytest.raises(NothingDone) as caught:
        Alat(small).detail_kode("62019")
    assert "(tabel awal tidak memuat semua kode); di KBLI 2020 artinya AKTIVITAS PEMROGRAMAN" in caught.value.message
    assert "62199" in (caught.value.hint or "")


def test_an_unknown_code_and_a_missing_table(tmp_path: Path) -> None:
    tools = Alat(Tabel(tmp_path / "kbli.db"))
    with pytest.raises(NothingDone, match="tabel awal tidak memuat semua kode"):
        tools.detail_kode("99999")
    with pytest.raises(NothingDone, match="tabel KBLI 2020 belum dimuat"):
        tools.cari_kode("bengkel", edisi=2020)
    with pytest.raises(NothingDone, match="hanya ada satu kode berbeda"):
        tools.bandingkan_kode(["62199", "62199"])


def test_meaning_is_judged_by_words_that_say_something() -> None:
    one = Kode(2020, "62019", "AKTIVITAS PEMROGRAMAN KOMPUTER LAINNYA")
    assert semakna(one, Kode(2025, "62199", "Aktivitas pemrograman komputer lainnya ytdl"))
    assert not semakna(one, Kode(2025, "95320", "AKTIVITAS REPARASI LAINNYA"))


def test_each_verdict(small: Tabel) -> None:
    audit = periksa(BUSINESS, ["62199", "62199", "62019", "95320", "96100", "99999"], 2025, small, PencariTeks(small))
    assert [(one.kode, one.putusan) for one in audit.kode] == [
        ("62199", "cocok"),
        ("62019", "tak_dikenal"),  # the starter table has not all codes
        ("95320", "edisi_lain"),
        ("96100", "tak_relevan"),
        ("99999", "tak_dikenal"),
    ]
    assert audit.kode[0].kegiatan == "pengembangan software"
    assert audit.kode[1].judul_lain == "AKTIVITAS PEMROGRAMAN KOMPUTER LAINNYA"
    assert audit.kode[1].saran[0].kode == "62199"
    assert (audit.kode[2].kegiatan, audit.kode[2].judul_lain) == ("tukang jam", "REPARASI JAM")
    assert [pair.kegiatan for pair in audit.kurang] == ["toko komputer", "tukang jam"]
    assert "47401" in [code.kode for code in audit.kurang[0].kode]


TEN = {
    "62199": "cocok",
    "62019": "usang",  # the 2020 code of the same
    "47401": "cocok",
    "47411": "usang",
    "95320": "cocok",
    "45407": "usang",
    "56101": "tak_relevan",
    "01111": "tak_relevan",  # in both editions, with the same meaning
    "95230": "tak_relevan",
    "99999": "tak_dikenal",
}
DOES = ["pengembangan software", "jual komputer eceran", "bengkel motor"]


@whole
def test_ten_codes_of_mixed_editions(full: Tabel, search: PencariTeks) -> None:
    audit = periksa(DOES, list(TEN), 2025, full, search)
    assert {one.kode: one.putusan for one in audit.kode} == TEN
    assert audit.kurang == ()


@whole
def test_the_trap_of_a_code_that_changed_its_meaning(full: Tabel, search: PencariTeks) -> None:
    changed = [
        code for code, one in full.edisi(2025).items() if (old := full.kode(code, 2020)) and not semakna(one, old)
    ]
    assert len(changed) > 100
    old = full.kode("56303", 2020)
    assert old is not None
    audit = periksa([old.judul], ["56303"], 2025, full, search)
    assert audit.kode[0].putusan in ("cocok", "edisi_lain")


MIXED = {
    "45407": "usang",
    "95320": "cocok",
    "47833": "cocok",
    "95311": "tak_relevan",
    "95312": "tak_relevan",
    "45405": "usang",
    "56303": "cocok",
    "56304": "cocok",
    "56301": "tak_relevan",
    "56101": "tak_relevan",
    "56210": "cocok",
    "56290": "cocok",
    "62019": "usang",
    "62199": "cocok",
    "47411": "usang",
    "47401": "cocok",
    "95101": "cocok",
    "63122": "usang",
    "03111": "usang",
    "95111": "tak_dikenal",
}
"""Twenty codes, each judged by hand with both tables at hand."""


@whole
def test_twenty_codes_judged_by_hand(full: Tabel, search: PencariTeks) -> None:
    does = ["bengkel motor", "jual sparepart motor", "warung kopi", "katering acara kantor"]
    does += ["pengembangan aplikasi", "jual laptop", "servis komputer"]
    audit = periksa(does, list(MIXED), 2025, full, search)
    assert {one.kode: one.putusan for one in audit.kode} == MIXED


TRAPS = {  # the same number: what it was in 2020, which is not what it is in 2025
    "47811": ("KAKI LIMA", "MOBIL BARU"),
    "64953": ("PINJAM MEMINJAM", "GADAI"),
    "26110": ("TABUNG ELEKTRON", "SEL SURYA"),
    "46631": ("BARANG LOGAM", "SEPEDA MOTOR BARU"),
    "47620": ("REKAMAN MUSIK", "OLAHRAGA"),
    "47630": ("OLAHRAGA", "MAINAN"),
    "85321": ("TINGGI AKADEMIK", "MENENGAH KEJURUAN"),
    "93294": ("DISKOTEK", "WISATA GUA"),
    "49221": ("PARIWISATA", "ANTARPROVINSI"),
    "35112": ("TRANSMISI", "PEMBANGKITAN"),
}


@whole
@pytest.mark.parametrize("code", TRAPS)
def test_real_codes_that_mean_something_else_now(full: Tabel, code: str) -> None:
    was, now = full.kode(code, 2020), full.kode(code, 2025)
    assert was is not None
    assert now is not None
    assert TRAPS[code][0] in was.judul
    assert TRAPS[code][1] in now.judul
    assert not semakna(was, now)


@whole
@pytest.mark.parametrize("code", ["47733", "82200", "69202", "43213", "22112", "93128", "56303", "01630"])
def test_other_words_for_the_same_are_no_trap(full: Tabel, code: str) -> None:
    was, now = full.kode(code, 2020), full.kode(code, 2025)
    assert was is not None
    assert now is not None
    assert semakna(was, now)


@whole
def test_a_whole_turn_audits(full: Tabel) -> None:
    model = Scripted([call("audit_kode", {"kegiatan": DOES, "kode": list(TEN)})])
    answer = kbli.agent(model, tabel=full.path).run(f"Periksa kode usaha saya: {', '.join(TEN)}")
    assert answer.stopped == "terminal"
    for code in TEN:
        assert code in answer.text
    assert "62019: usang, hanya ada di KBLI 2020" in answer.text
    assert answer.text.count("cocok, untuk") == 3


def test_software_and_hardware_end_in_both_codes(tmp_path: Path) -> None:
    activities = ["pengembangan software", "retail hardware"]
    model = Scripted([call("susun_kode", {"kegiatan": activities})])
    agent = kbli.agent(model, tabel=tmp_path / "kbli.db")
    answer = agent.run("Kode KBLI apa yang cocok untuk bisnis pengembangan software sekaligus retail hardware")
    assert answer.stopped == "terminal"
    assert "pengembangan software: 62199" in answer.text
    assert "retail hardware: 47401" in answer.text
    assert answer.unsupported == ()


def test_chosen_codes_are_taken_and_checked(tmp_path: Path) -> None:
    tools = Alat(Tabel(tmp_path / "kbli.db"))
    text = tools.susun_kode(["bikin aplikasi", "jual laptop"], ["62191", "47401"])
    assert "bikin aplikasi: 62191" in text
    with pytest.raises(NothingDone, match="2 kegiatan dan 1 kode"):
        tools.susun_kode(["bikin aplikasi", "jual laptop"], ["62191"])
    with pytest.raises(NothingDone, match="kode 99999 tidak ada"):
        tools.susun_kode(["bikin aplikasi"], ["99999"])


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("detail_kode", {"kode": "6219"}),
        ("detail_kode", {"kode": "621999"}),
        ("bandingkan_kode", {"kode": ["62199"]}),
        ("bandingkan_kode", {"kode": ["62199"] * 5}),
        ("audit_kode", {"kegiatan": ["toko"], "kode": ["47111"] * 21}),
        ("audit_kode", {"kegiatan": [], "kode": ["47111"]}),
        ("susun_kode", {"kegiatan": ["x"]}),
        ("cari_kode", {"deskripsi": "toko", "banyak": 11}),
        ("cari_kode", {"deskripsi": "toko", "edisi": 2015}),
    ],
)
def test_what_does_not_fit_is_a_fault(tmp_path: Path, name: str, arguments: dict[str, Any]) -> None:
    model = Scripted([call(name, arguments), "Maaf."])
    answer = kbli.agent(model, tabel=tmp_path / "kbli.db").run("?")
    fault = json.loads(answer.steps[0].result)["error"]
    assert fault["kind"] == "invalid_arguments"


def test_no_code_that_no_tool_returned(tmp_path: Path) -> None:
    asks = call("cari_kode", {"deskripsi": "pengembangan software"})
    model = Scripted([asks, "Kodenya 62199, atau 62999.", "Kodenya 62199, atau 62999."])
    answer = kbli.agent(model, tabel=tmp_path / "kbli.db").run("Kode untuk software?")
    assert answer.unsupported == ("62999",)
