"""The help desk: its documents, its tool, what its answers rest on, and the questions its description is measured by."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from collections import Counter
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from bench import descriptions

from tukang.assistants import kebijakan
from tukang.errors import ConfigurationError
from tukang.knowledge import Knowledge
from tukang.knowledge.fitting import fit_of
from tukang.models.scripted import Scripted, call


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The documents, taken in once."""
    address = f"sqlite:///{tmp_path_factory.mktemp('kebijakan')}/k.db"
    kebijakan.alat(address)
    return address


def test_forty_documents_of_three_departments(store: str) -> None:
    documents = Knowledge(store, "kebijakan").documents()
    assert Counter(one.data["departemen"] for one in documents) == {"sdm": 14, "keuangan": 13, "teknik": 13}
    assert len({one.data["nomor"] for one in documents}) == 40
    assert not any(one.title.endswith(".md") for one in documents)


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("berapa hari cuti melahirkan", "sdm-03"),
        ("sisa cuti dibawa ke tahun depan", "sdm-01"),
        ("plafon hotel dinas ke Surabaya", "keu-01"),
        ("siapa menyetujui pembelian 80 juta", "keu-04"),
        ("boleh rilis hari Jumat", "tek-05"),
        ("panjang kata sandi", "tek-01"),
        ("uang siaga seminggu", "tek-03"),
        ("hadiah dari pemasok", "keu-11"),
    ],
)
def test_what_is_asked_is_found(store: str, question: str, document: str) -> None:
    hits = Knowledge(store, "kebijakan").search(question, 5)
    assert any(hit.document.startswith(document) for hit in hits[:3]), [hit.document for hit in hits]


def test_a_department_narrows_the_search(store: str) -> None:
    model = Scripted([call("cari_dokumen", kueri="hadiah", departemen="sdm"), "Tidak ada."])
    answer = kebijakan.agent(model, store).run("Hadiah?")
    found = json.loads(answer.steps[0].result)["hasil"]
    assert found
    assert {one["departemen"] for one in found} == {"sdm"}
    wrong = Scripted([call("cari_dokumen", kueri="hadiah", departemen="umum"), "Tidak ada."])
    fault = kebijakan.agent(wrong, store).run("Hadiah?").steps[0].fault
    assert fault is not None
    assert fault.kind == "invalid_arguments"


# Written without the rule that judges them in mind, and not changed since.
INTERNAL = """
    Jatah cuti tahunan berapa hari?|Bisa nggak lembur dibayar kalau hari Minggu?|Uang harian dinas ke Medan berapa?|
    Kas kecil batas maksimalnya berapa?|Gimana kalau kata sandi saya bocor?|Kapan gaji dibayarkan?|
    Siapa yang menghitung bonus tahunan?|Apakah boleh memakai ChatGPT untuk kode pelanggan?|
    Log server disimpan sampai kapan?|Pemasok dibayar berapa hari setelah faktur?|Kalau dirundung atasan, lapor ke mana?|
    Berapa bonus kalau merekomendasikan teman?|Kacamata diganti kantor tidak?|Rollback rilis harus disetujui siapa?|
    Cuti ayah berapa hari?|Nilai kinerja dibagi jadi berapa tingkat?|Apakah aset yang rusak boleh dijual?|
    Batas harga jamuan makan klien berapa per orang?
"""
GENERAL = """
    Hai, lagi apa?|Siapa pemenang Piala Dunia 2022?|Berapa akar dari 144?|Apa sinonim kata 'indah'?|
    Rekomendasi film horor dong|Kenapa air laut asin?|Berapa jarak bumi ke bulan?|Apa fungsi jantung?|
    Tolong buatkan surat cinta|Siapa nama kamu?|Bahasa Jepangnya 'terima kasih' apa?|Apa makanan khas Padang?|
    How do airplanes fly?|Jelaskan teori relativitas|Cuaca besok bagaimana?|100 dikurangi 37 berapa?|
    Apa itu machine learning?|Siapa menteri keuangan Indonesia?
"""


HURRIED = """
    THR|wfh|PHK|pw expired|haji|rawat inap|bensin|MFA|VPN|SP1|2025?|6|24/7|3-2-1|keu-07|pasal 3|thr kpn cair?|Kapan THR cair?|
    dinas ke sby nginep dpt brp|boleh ga pake chatgpt buat coding|gajian tgl brp|What is the per diem for Singapore?|
    how often are backups made?|saya mau nikah bulan depan|Siapa yang tanda tangan kalau beli mobil?|apa itu MFA?|
    Apakah boleh merokok?|Bagaimana kalau vendor mengajak makan?|cuti 12 - 3 berapa?|lembur 2 x 173?
"""
"""As people write who are at work: in a word, in short forms, in English, or about something that is called otherwise."""


@pytest.mark.parametrize(
    ("questions", "never", "enough"), [(INTERNAL, "strange", 9), (GENERAL, "direct", 14), (HURRIED, "strange", 0)]
)
def test_what_a_question_is_to_the_documents(store: str, questions: str, never: str, enough: int) -> None:
    async def all_of_them() -> list[str]:
        knowledge = Knowledge(store, "kebijakan")
        return [await fit_of(knowledge, one.strip()) for one in questions.split("|")]

    fits = asyncio.run(all_of_them())
    assert never not in fits
    assert len(fits) - fits.count("open") >= enough


def test_a_question_goes_the_shortest_way(store: str) -> None:
    model = Scripted(["Lihat dokumennya.", "Dua belas."])
    made = kebijakan.agent(model, store)
    assert [step.tool for step in made.run("Jatah cuti tahunan berapa hari?").steps] == ["cari_dokumen"]
    assert made.run("Berapa akar dari 144?").steps == ()
    assert [one.tool_choice for one in model.requests] == ["auto", "none"]


def test_an_answer_is_held_to_its_sources(store: str) -> None:
    search = call("cari_dokumen", kueri="cuti melahirkan")
    right = "Cuti melahirkan 3 bulan [sumber: sdm-03-cuti-melahirkan-dan-cuti-ayah.md]."
    assert kebijakan.agent(Scripted([search, right]), store).run("Cuti melahirkan?").unsupported == ()
    wrong = "Cuti melahirkan 3 bulan [sumber: sdm-99-karangan.md]."
    answer = kebijakan.agent(Scripted([search, wrong, wrong]), store).run("Cuti melahirkan?")
    assert any("sdm-99" in one for one in answer.unsupported)


def test_a_document_that_changed_is_taken_in_anew(tmp_path: Path) -> None:
    folder, store = tmp_path / "dokumen", f"sqlite:///{tmp_path}/k.db"
    folder.mkdir()
    (folder / "a.md").write_text("# Parkir\n\nParkir gratis.", "utf-8")
    kebijakan.alat(store, folder)
    (folder / "a.md").write_text("# Parkir\n\nParkir Rp 5.000.", "utf-8")
    kebijakan.alat(store, folder)
    assert "5.000" in Knowledge(store, "kebijakan").search("parkir")[0].text


def test_without_the_extra_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec

    def without(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == "numpy" else real(name, package)

    monkeypatch.setattr("importlib.util.find_spec", without)
    with pytest.raises(ConfigurationError, match=r"pip install 'tukang\[knowledge\]'"):
        kebijakan.agent(Scripted([]), f"sqlite:///{tmp_path}/k.db")


def test_the_experiment_counts_the_first_reply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUKANG_DATA", str(tmp_path))
    assert len(descriptions.INTERNAL) == len(descriptions.GENERAL) >= 10
    script = [call("cari_dokumen", kueri="x"), "Halo!", call("cari_dokumen", kueri="y")]
    got = descriptions.measured(Scripted([*script]), kebijakan.BAIK, ["satu"], ["dua", "tiga"])
    assert (got.internal, got.general, got.wrong) == (1, 1, ("tiga",))
    routed = descriptions.measured(
        Scripted(["180.", "?"]),
        kebijakan.BAIK,
        ["Jatah cuti tahunan berapa hari?"],
        ["Berapa akar dari 144?"],
        route="auto",
    )
    assert (routed.internal, routed.general) == (1, 0)
