"""What each reader makes of a file: headings, tables, pages, and what the file says about itself."""

from __future__ import annotations

import pytest

from tests.knowledge.conftest import FILES
from tukang.knowledge import DocumentError
from tukang.knowledge.passages import passages_of
from tukang.knowledge.reading.blocks import Content
from tukang.knowledge.reading.formats import READERS, readable
from tukang.knowledge.reading.formats import read as read_bytes


def read(name: str) -> Content:
    return read_bytes((FILES / name).read_bytes(), name)


def text(name: str, data: str) -> Content:
    return read_bytes(data.encode(), name)


def told(content: Content) -> list[tuple[str, int, int | None, str]]:
    return [(block.kind, block.level, block.page, block.text) for block in content.blocks]


def test_a_pdf_has_headings_by_size_tables_by_gaps_and_pages() -> None:
    content = read("perjalanan.pdf")
    assert (content.title, content.pages, content.unread) == ("Perjalanan Dinas", 2, ())
    assert told(content) == [
        ("heading", 1, 1, "Perjalanan Dinas"),
        ("heading", 2, 1, "1. Pengajuan"),
        (
            "text",
            0,
            1,
            "Perjalanan dinas diajukan paling lambat tujuh hari sebelum berangkat, dengan persetujuan atasan langsung. "
            "Formulir yang dipakai adalah PD-011.",
        ),
        ("heading", 2, 2, "2. Uang harian"),
        ("text", 0, 2, "Uang harian dibayar menurut golongan, seperti pada tabel berikut."),
        (
            "table",
            0,
            2,
            "| Golongan | Dalam negeri | Luar negeri |\n| Staf | Rp 350.000 | USD 75 |\n"
            "| Manajer | Rp 500.000 | USD 120 |",
        ),
        ("text", 0, 2, "Sisa uang muka dikembalikan ke bagian keuangan."),
    ]


def test_pages_that_are_pictures_are_said() -> None:
    with pytest.raises(DocumentError) as raised:
        read("pindaian.pdf")
    assert raised.value.kind == "scanned"
    assert "2 pages" in str(raised.value)


def test_a_word_file_has_its_headings_and_tables() -> None:
    content = read("lembur.docx")
    assert content.title == "Kebijakan Lembur"
    assert ("heading", 1, None, "Tarif") in told(content)
    assert ("table", 0, None, "| Jam | Kali upah |\n| Pertama | 1,5 |\n| Berikutnya | 2 |") in told(content)
    assert ("text", 0, None, "- Diajukan sehari sebelumnya.") in told(content)


def test_each_sheet_is_a_heading_with_its_rows_and_an_empty_one_is_nothing() -> None:
    assert told(read("harga.xlsx")) == [
        ("heading", 1, None, "Harga"),
        (
            "table",
            0,
            None,
            "| Kode | Nama | Harga |\n| PRD001 | Laptop | 15000000 |\n| PRD002 | SSD Samsung | 1200000 |",
        ),
        ("heading", 1, None, "Gudang"),
        ("table", 0, None, "| Kota | Stok |\n| Bandung | 7 |"),
    ]


@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_csv_is_read_with_what_stands_between_its_cells(between: str) -> None:
    rows = [["kode", "nama"], ["A1", "Meja"], ["A2", "Kursi"]]
    content = text("stok.csv", "\r\n".join(between.join(row) for row in rows))
    assert told(content) == [("table", 0, None, "| kode | nama |\n| A1 | Meja |\n| A2 | Kursi |")]


def test_a_long_table_is_cut_between_rows_with_its_head_above() -> None:
    content = text("stok.csv", "kode,nama\n" + "\n".join(f"A{number},barang" for number in range(130)))
    assert [block.text.partition("\n")[0] for block in content.blocks] == ["| kode | nama |"] * 3
    assert sum(block.text.count("\n") for block in content.blocks) == 130


def test_html_is_what_is_shown() -> None:
    page = """<!doctype html><html><head><title>Aturan</title><style>p{}</style></head><body><nav>menu</nav>
        <h1>Parkir</h1><p>Di lantai <b>dua</b>.</p><ul><li>motor</li><li>mobil</li></ul>
        <div>Tanpa paragraf<br>dua baris<table><tr><th>Jam</th></tr><tr><td>8 | 9</td></tr></table></div>
        <script>alert(1)</script></body></html>"""
    content = text("a.html", page)
    assert content.title == "Aturan"
    assert told(content) == [
        ("heading", 1, None, "Parkir"),
        ("text", 0, None, "Di lantai dua."),
        ("text", 0, None, "- motor"),
        ("text", 0, None, "- mobil"),
        ("text", 0, None, "Tanpa paragraf"),
        ("text", 0, None, "dua baris"),
        ("table", 0, None, "| Jam |\n| 8 / 9 |"),
    ]


def test_html_is_decoded_as_it_declares() -> None:
    page = '<html><head><meta charset="windows-1252"></head><body><p>Kafé</p></body></html>'.encode("cp1252")
    assert told(read_bytes(page, "a.html")) == [("text", 0, None, "Kafé")]


def test_markdown_has_what_stands_before_it_headings_tables_and_code() -> None:
    content = text(
        "a.md",
        "---\ntitle: Panduan\ndepartemen: 'SDM'\n---\n# Satu\n\nTeks\nlanjut\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "Dua\n---\n\n```\n# bukan judul\n\nmasih kode\n```\n",
    )
    assert (content.title, dict(content.data)) == ("Panduan", {"departemen": "SDM"})
    assert told(content) == [
        ("heading", 1, None, "Satu"),
        ("text", 0, None, "Teks\nlanjut"),
        ("table", 0, None, "| a | b |\n| 1 | 2 |"),
        ("heading", 2, None, "Dua"),
        ("text", 0, None, "```\n# bukan judul\n\nmasih kode\n```"),
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_text_with_a_mark_says_its_encoding(encoding: str) -> None:
    content = read_bytes("Satu baris.\n\nDua – baris.".encode(encoding), "a.txt")
    assert [block.text for block in content.blocks] == ["Satu baris.", "Dua – baris."]


def test_every_reader_is_found_by_the_end_of_a_name() -> None:
    assert all(readable(f"berkas{suffix.upper()}") for suffix in READERS)
    assert not readable("berkas.exe")
    assert not readable("berkas")


# ── files as they are found in life ──────────────────────────────────────────────────────────────────────────────────


def test_words_on_two_lines_and_in_two_paragraphs_of_a_cell_stay_two() -> None:
    content = text(
        "a.html", "<p>Jalan Sudirman<br>Jakarta</p><table><tr><td><p>A</p><p>B</p></td><td>w<b>x</b></td></tr></table>"
    )
    assert [block.text for block in content.blocks] == ["Jalan Sudirman Jakarta", "| A B | wx |"]


def test_a_table_in_a_cell_is_read_once() -> None:
    inner = "<table><tr><td>satu</td><td>dua</td></tr></table>"
    content = text("a.html", f"<table><tr><th>Jam</th></tr><tr><td>luar {inner}</td></tr></table>")
    assert [block.text for block in content.blocks] == ["| Jam |\n| luar satu dua |"]


def test_what_a_page_hides_is_not_read() -> None:
    content = text("a.html", '<p hidden>rahasia</p><p style="color: red; display: none">rahasia</p><p>tampak</p>')
    assert [block.text for block in content.blocks] == ["tampak"]


def test_a_cell_may_be_long_and_a_head_alone_is_a_table() -> None:
    assert "kata kata" in text("a.csv", 'a,b\n1,"' + "kata " * 40_000 + '"\n').blocks[0].text
    head = ",".join(f"kolom_panjang_{number}" for number in range(300))
    found = passages_of(text("a.csv", head).blocks)
    assert all(f"kolom_panjang_{number} |" in " ".join(one.text for one in found) for number in range(0, 300, 50))
    rows = passages_of(text("a.csv", f"{head}\n" + ",".join("x" * 300)).blocks)
    assert "kolom_panjang_299 " in " ".join(one.text for one in rows)


@pytest.mark.parametrize("name", ["a.txt", "a.html", "a.docx"])
def test_a_file_under_the_wrong_name_says_what_it_is(name: str) -> None:
    with pytest.raises(DocumentError, match=r"\.pdf") as caught:
        read_bytes((FILES / "perjalanan.pdf").read_bytes(), name)
    assert caught.value.kind == "corrupt"


def test_what_no_database_takes_is_left_out() -> None:
    assert text("a.txt", "me\x1b[31mrah\x07 \U0001f600").blocks[0].text == "me[31mrah \U0001f600"


def _pdf(meanings: str) -> bytes:
    """A page that says ABC in a font whose letters mean what is given: code units in hexadecimal."""
    table = (
        "begincmap 1 begincodespacerange <00> <FF> endcodespacerange 3 beginbfchar " + meanings + " endbfchar endcmap"
    )
    page = "BT /F1 12 Tf 100 700 Td (ABC) Tj ET"
    bodies = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(page)}>>stream\n{page}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>",
        f"<</Length {len(table)}>>stream\n{table}\nendstream",
    ]
    whole = "%PDF-1.4\n" + "".join(f"{number} 0 obj\n{body}\nendobj\n" for number, body in enumerate(bodies, 1))
    return (whole + "trailer<</Size 7/Root 1 0 R>>\n%%EOF").encode()


def test_a_pdf_whose_letters_mean_nothing_counts_as_unread() -> None:
    with pytest.raises(DocumentError) as caught:
        read_bytes(_pdf("<41> <E001> <42> <E002> <43> <FFFD>"), "a.pdf")
    assert caught.value.kind == "scanned"


def test_halves_of_characters_in_a_pdf_are_put_together_or_replaced() -> None:
    said = read_bytes(_pdf("<41> <D83DDE00> <42> <D800> <43> <0043>"), "a.pdf").blocks[0].text
    assert said.encode("utf-8")
    assert "\U0001f600" in said
    assert said.endswith("C")
