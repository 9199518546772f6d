"""What cannot be taken in: each kind says what it is, and what was there stays as it was."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.knowledge.conftest import FILES
from tukang.cli.knowledge_texts import KNOWLEDGE_TEXTS
from tukang.knowledge import Knowledge

Make = Callable[..., Knowledge]


def _corrupt_pdf(path: Path) -> Path:
    path.write_bytes((FILES / "perjalanan.pdf").read_bytes()[:200])
    return path


def _big(path: Path) -> Path:
    with path.open("wb") as file:
        file.truncate(200 * 2**20)  # a hole: it has the size, and takes no room
    return path


def _written(data: bytes) -> Callable[[Path], Path]:
    def write(path: Path) -> Path:
        path.write_bytes(data)
        return path

    return write


CASES = [
    ("rusak.pdf", _corrupt_pdf, "corrupt"),
    ("bukan.pdf", _written(b"halo"), "corrupt"),
    ("rusak.docx", _written(b"PK\x03\x04 dan lalu tidak ada apa-apa"), "corrupt"),
    ("tertukar.docx", lambda path: _written((FILES / "harga.xlsx").read_bytes())(path), "corrupt"),
    ("lama.xlsx", _written(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600)), "password"),
    ("terkunci.pdf", lambda path: _written((FILES / "terkunci.pdf").read_bytes())(path), "password"),
    ("pindaian.pdf", lambda path: _written((FILES / "pindaian.pdf").read_bytes())(path), "scanned"),
    ("besar.txt", _big, "too_large"),
    ("latin.txt", _written("caf\u00e9 buka".encode("latin-1")), "encoding"),
    ("biner.csv", _written(b"a,b\n\x00\x01,2\n"), "encoding"),
    ("kosong.md", _written(b""), "empty"),
    ("blanko.html", _written(b"<html><body>  </body></html>"), "empty"),
    ("rusak.xlsx", lambda path: _written((FILES / "harga.xlsx").read_bytes()[:3000])(path), "corrupt"),
    ("dalam.html", _written(b"<div>" * 20_000 + b"isi"), "corrupt"),
    ("lain.exe", _written(b"MZ"), "unknown_format"),
    ("tidak-ada.pdf", lambda path: path, "missing"),
]


@pytest.mark.parametrize(("name", "write", "kind"), CASES, ids=[name for name, _, _ in CASES])
def test_it_says_what_it_is_and_the_index_is_intact(
    local: Make, tmp_path: Path, name: str, write: Callable[[Path], Path], kind: str
) -> None:
    knowledge = local()
    knowledge.add_text("ada", "# Jam kerja\n\nKantor buka pukul delapan.")
    good = tmp_path / "baik.txt"
    good.write_text("Parkir ada di lantai dua.", "utf-8")
    failed, done = knowledge.add(write(tmp_path / name), good)
    assert failed.became == "failed"
    assert failed.error is not None
    assert failed.error.kind == kind
    assert name in str(failed.error)
    assert done.became == "added"
    assert knowledge.search("jam kerja kantor buka")[0].document == "ada"
    assert {one.name for one in knowledge.documents()} == {"ada", "baik.txt"}
    for texts in KNOWLEDGE_TEXTS.values():
        assert texts.reasons[failed.error.kind]


def test_a_file_that_went_bad_leaves_its_document_as_it_was(local: Make, tmp_path: Path) -> None:
    knowledge = local()
    path = tmp_path / "aturan.txt"
    path.write_text("Parkir ada di lantai dua.", "utf-8")
    knowledge.add(path)
    path.write_bytes(b"\xff\xfe\xfd")
    (outcome,) = knowledge.add(path)
    assert outcome.became == "failed"
    assert [hit.text for hit in knowledge.search("parkir")] == ["Parkir ada di lantai dua."]


def test_text_in_another_encoding_is_read_when_it_is_named(local: Make, tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes("Kafé buka pukul tujuh.".encode("cp1252"))
    knowledge = local()
    assert knowledge.add(path, encoding="cp1252")[0].became == "added"
    assert knowledge.search("kafe")[0].text == "Kafé buka pukul tujuh."
    assert knowledge.add(path, encoding="tidak-ada")[0].error.kind == "encoding"  # type: ignore[union-attr]


@pytest.mark.parametrize("how", ["a link to a file", "a link to a folder", "dots", "another folder"])
def test_nothing_outside_of_the_folder_is_read(local: Make, tmp_path: Path, how: str) -> None:
    folder, secret = tmp_path / "umum", tmp_path / "rahasia"
    folder.mkdir()
    secret.mkdir()
    (secret / "gaji.txt").write_text("Gaji direktur seratus juta.", "utf-8")
    (folder / "aturan.txt").write_text("Parkir ada di lantai dua.", "utf-8")
    knowledge = local()
    match how:
        case "a link to a file":
            (folder / "tautan.txt").symlink_to(secret / "gaji.txt")
            outcomes = knowledge.add(folder)
        case "a link to a folder":
            (folder / "tautan").symlink_to(secret)
            outcomes = knowledge.add(folder)
        case "dots":
            outcomes = knowledge.add(os.path.join(folder, "..", "rahasia", "gaji.txt"), within=folder)
        case _:
            outcomes = knowledge.add(secret, within=folder)
    kinds = [one.error.kind for one in outcomes if one.error is not None]
    assert kinds == ["outside"]
    assert knowledge.search("gaji direktur") == [] or knowledge.search("gaji direktur")[0].document == "aturan.txt"


def test_a_link_that_stays_inside_is_one_document(local: Make, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "aturan.txt").write_text("Parkir ada di lantai dua.", "utf-8")
    (tmp_path / "a" / "sama.txt").symlink_to(tmp_path / "a" / "aturan.txt")
    knowledge = local()
    assert [one.became for one in knowledge.add(tmp_path / "a")] == ["added", "unchanged"]
    assert len(knowledge.documents()) == 1


def test_too_much_said_about_a_document_is_refused(local: Make, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("isi", "utf-8")
    (outcome,) = local().add(path, about={"catatan": "x" * 501})
    assert outcome.error is not None
    assert outcome.error.kind == "metadata"


def test_what_unpacks_to_too_much_is_not_unpacked(local: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tukang.knowledge.reading.office._MOST_UNPACKED", 2**20)
    with zipfile.ZipFile(tmp_path / "bom.docx", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("word/document.xml", bytes(2**20 + 1))
    assert (tmp_path / "bom.docx").stat().st_size < 10_000
    (outcome,) = local().add(tmp_path / "bom.docx")
    assert outcome.error is not None
    assert outcome.error.kind == "too_large"
