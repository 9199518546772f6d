"""Tables of codes: what ships, what is brought in, and what a file may be like."""

from __future__ import annotations

import json
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tukang.assistants.kbli.impor import baca
from tukang.assistants.kbli.tabel import Kode, Tabel, awal
from tukang.errors import ConfigurationError

SHARED = Path(__file__).parents[4] / "shared" / "data" / "kbli"
whole = pytest.mark.skipif(not SHARED.is_dir(), reason="the whole tables are in ../shared/data/kbli, which is not here")

SMALL = [
    {"code": "A", "title": "PERTANIAN", "detail": ""},
    {"code": "0111", "title": "SEREALIA", "detail": ""},
    {"code": "0999", "title": "TANPA KODE", "detail": ""},
    {"code": "01111", "title": "PERTANIAN\nJAGUNG", "detail": "Menanam jagung."},
    {"code": "01111", "title": "PERTANIAN JAGUNG", "detail": "Lagi."},
    {"code": "01112", "title": "", "detail": "Tak berjudul."},
    {"code": "62019", "title": "PEMROGRAMAN", "detail": None},
    {"code": "6201x", "title": "RUSAK", "detail": ""},
]


def test_the_starter_table_is_one_of_the_2025_edition(tmp_path: Path) -> None:
    table = Tabel(tmp_path / "kbli.db")
    codes = table.edisi(2025)
    assert len(codes) >= 200
    assert list(codes) == sorted(codes)
    assert all(len(one.kode) == 5 and one.judul and one.uraian for one in codes.values())
    assert not table.lengkap(2025)
    assert table.edisi(2020) == {}
    assert not (tmp_path / "kbli.db").exists()  # reading makes nothing


@whole
def test_titles_of_the_starter_table_are_those_of_the_edition() -> None:
    real = {one.kode: one for one in baca(SHARED / "kbli2025" / "kbli-data.json", 2025).kode}
    differing = {
        code
        for code, one in awal().items()
        if one.judul.casefold().replace(" ", "") != real[code].judul.casefold().replace(" ", "")
    }
    assert differing == set()


@whole
@pytest.mark.parametrize(
    ("name", "edition", "rows", "codes"),
    [("kbli2020/kbli.json", 2020, 2705, 1790), ("kbli2025/kbli-data.json", 2025, 1558, 1558)],
)
def test_whole_tables_are_read_to_the_last_code(name: str, edition: int, rows: int, codes: int, tmp_path: Path) -> None:
    found = baca(SHARED / name, edition)
    assert (found.baris, len(found.kode)) == (rows, codes)
    assert found.ganda == found.tanpa_judul == found.tanpa_uraian == found.tak_terbaca == ()
    table = Tabel(tmp_path / "kbli.db")
    table.ganti(edition, found.kode)
    assert tuple(table.edisi(edition).values()) == found.kode
    assert table.lengkap(edition)


@whole
def test_what_the_two_editions_share() -> None:
    old = {one.kode for one in baca(SHARED / "kbli2020" / "kbli.json", 2020).kode}
    new = {one.kode for one in baca(SHARED / "kbli2025" / "kbli-data.json", 2025).kode}
    assert len(old & new) == 1052


def test_a_file_is_reported_row_by_row(tmp_path: Path) -> None:
    path = tmp_path / "kecil.json"
    path.write_text(json.dumps({"meta": [1], "data": SMALL}), "utf-8")
    found = baca(path, 2020)
    assert [(one.kode, one.judul, one.uraian) for one in found.kode] == [
        ("01111", "PERTANIAN JAGUNG", "Menanam jagung."),
        ("62019", "PEMROGRAMAN", ""),
    ]
    assert found.tingkat == {1: 1, 4: 2}
    assert found.ganda == ("01111",)
    assert found.tanpa_judul == ("01112",)
    assert found.tanpa_uraian == ("62019",)
    assert found.tanpa_induk == ("62019",)
    assert found.induk_kosong == ("0999",)
    assert found.tak_terbaca == ("6201x RUSAK",)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_with_columns_of_ones_own(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "tabel.csv"
    rows = [["No Kode", "Nama Usaha", "X"], ["01111", '"Jagung, dan lain"', "y"], ["62019", "Program", ""]]
    path.write_text("\ufeff" + "\r\n".join(delimiter.join(row) for row in rows), "utf-8")
    with pytest.raises(ConfigurationError, match="no column 'kode': map it with kode=NAME; there are: No Kode"):
        baca(path, 2025)
    found = baca(path, 2025, {"kode": "no kode", "judul": "Nama Usaha"})
    assert [(one.kode, one.judul) for one in found.kode] == [("01111", "Jagung, dan lain"), ("62019", "Program")]


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.json", b"{", "is not JSON"),
        ("a.json", b"[]", "has no rows"),
        ("a.json", b"[1, 2]", "no list of objects"),
        ("a.json", b'[{"kode": "ABC", "judul": "x"}]', "no five-digit code"),
        ("a.csv", "kode,judul\n01111,Padi é".encode("latin-1"), "is not UTF-8"),
        ("a.csv", b'kode,judul\n01111,"x', "is not CSV"),
        ("a.xlsx", b"x", "expected .json, .csv or .tsv"),
        ("a.csv", b"PK\x03\x04 and so on", "is a workbook, whatever its name"),
        ("a.json", b"[" * 100_000 + b"]" * 100_000, "nested deeper"),
        ("a.csv", b"kode,judul\nabc,x,more,cells", "no five-digit code"),
        ("a.csv", b"kode,judul\n62019,", "no title in 'judul'"),
        ("a.csv", b"kode,judul\nA,x\n1,x\n11,x\n111,x\n1111,x\n10111,x", "has lost the zeros before its codes"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, name: str, content: bytes, complaint: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigurationError, match=complaint):
        baca(tmp_path / name, 2025)


@pytest.mark.parametrize(
    ("name", "content", "codes", "restored"),
    [
        ("a.json", b'[{"kode": 1111, "judul": "a"}, {"kode": 62019, "judul": "b"}]', ["01111", "62019"], ("01111",)),
        ("a.csv", b"kode,judul\n1411,a\n1111,b\n1461,c\n14111,d", ["01111", "01411", "01461", "14111"], None),
        ("a.csv", b"kode,judul\n6201,group\n62019,a\n4799,empty group", ["62019"], ()),
        ("a.json", b'{"meta": [1], "data": {"items": [{"kode": "62019", "judul": "a"}]}}', ["62019"], ()),
        ("a.json", b'[{"kode": "62", "judul": "x", "anak": [{"kode": "62019", "judul": "a"}]}]', ["62019"], ()),
        ("a.json", b'[{"about": "codes"}, {"kode": "62019", "judul": "a"}]', ["62019"], ()),
        ("a.csv", "kode,judul\n62019,a".encode("utf-16"), ["62019"], ()),
        ("a.csv", b"sep=;\nkode;judul\n62019;a", ["62019"], ()),
        ("a.csv", "kode,judul\n٦٢٠١٩,x\n62019,a".encode(), ["62019"], ()),
    ],
)
def test_files_as_programs_write_them(
    tmp_path: Path, name: str, content: bytes, codes: list[str], restored: tuple[str, ...] | None
) -> None:
    (tmp_path / name).write_bytes(content)
    found = baca(tmp_path / name, 2025)
    assert [one.kode for one in found.kode] == codes
    assert restored is None or found.nol_depan == restored


def test_a_title_steers_no_terminal(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("kode,judul\n62019,\x1b[31mMerah\u202e\0 sekali\n", "utf-8")
    assert baca(tmp_path / "a.csv", 2025).kode[0].judul == "[31mMerah sekali"


def test_a_missing_file_and_a_wrong_edition(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot read"):
        baca(tmp_path / "tidak-ada.json", 2025)
    with pytest.raises(ConfigurationError, match="no edition 2015: expected 2020 or 2025"):
        baca(tmp_path / "tidak-ada.json", 2015)


def test_a_table_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    table = Tabel(tmp_path / "kbli.db")
    table.ganti(2025, [Kode(2025, "01111", "JAGUNG")])
    same = Kode(2025, "01112", "SEREALIA")
    with pytest.raises(sqlite3.IntegrityError):
        table.ganti(2025, [same, same])
    assert list(table.edisi(2025)) == ["01111"]
    Tabel(table.path).ganti(2025, [same])
    assert list(table.edisi(2025)) == ["01112"]  # another process's import is seen


def test_two_imports_at_once_leave_one_of_the_two(tmp_path: Path) -> None:
    tables = [[Kode(2025, f"{first}{n:04d}", f"{first}") for n in range(500)] for first in (1, 2)]
    path = tmp_path / "kbli.db"
    threads = [threading.Thread(target=Tabel(path).ganti, args=(2025, table)) for table in tables]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    left = Tabel(path).edisi(2025)
    assert len(left) == 500
    assert len({one.judul for one in left.values()}) == 1


def test_a_table_that_is_held_is_not_said_to_be_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tukang.assistants.kbli.tabel._WAIT", 0.0)
    table = Tabel(tmp_path / "kbli.db")
    table.ganti(2025, [Kode(2025, "01111", "JAGUNG")])
    with closing(sqlite3.connect(table.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(ConfigurationError, match="held by another program"):
            Tabel(table.path).edisi(2025)


def test_a_file_that_cannot_be_opened_is_said_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "kbli.db").mkdir()
    with pytest.raises(ConfigurationError, match=r"kbli\.db cannot be used: .*Set TUKANG_DATA"):
        Tabel(tmp_path / "kbli.db").edisi(2025)
    with pytest.raises(ConfigurationError, match=r"cannot be used: File exists\. Set TUKANG_DATA"):
        Tabel(tmp_path / "file" / "kbli.db").ganti(2025, [])
    assert Tabel(tmp_path / "file" / "kbli.db").edisi(2025)  # only looks: there is nothing beside the starter table


def test_another_programs_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kbli.db"
    path.write_bytes(b"bukan basis data, tetapi cukup panjang untuk dibaca sebagai satu kepala berkas yang utuh")
    with pytest.raises(ConfigurationError, match="no SQLite file"):
        Tabel(path).edisi(2025)
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 9")
    with pytest.raises(ConfigurationError, match="have version 9, this tukang reads 1"):
        Tabel(path).edisi(2025)
