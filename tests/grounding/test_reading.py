"""What a figure can mean, which ones bind, and that everything is known from itself."""

from __future__ import annotations

from datetime import date, time
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sizes import examples
from tukang.grounding.evidence import Evidence, Source
from tukang.grounding.reading import figures
from tukang.grounding.spelled import spelled

MONTHS = (
    *("Januari", "Februari", "Maret", "April", "Mei", "Juni", "Juli"),
    *("Agustus", "September", "Oktober", "November", "Desember"),
)

SAID = Evidence(
    [
        "Saya Budi, kode member BD-77, cek pesanan 1001 dong, anggaran max 16 jt",
        '{"nomor":"ORD1001","produk":"Laptop ASUS ROG G14 (PRD001)","harga":15000000,"stok":25,"tanggal":"2026-11-30",'
        '"kirim":"2026-12-03 14:30","ongkir":"Rp 25.000","resi":"JNE8829103321","berat_kg":2.35,"diskon_persen":10,'
        '"member_sejak":2019,"telp":"021-5551234","catatan":"\\n30 hari\\nORD1001"}',
    ]
)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "Rp. 15.000.000,00",
            "15.000.000 IDR",
            "IDR 15M",
            "Rp15jt",
            "Rp 15 jt-an",
            "15,000,000.00 rupiah",
            "Rp15.000.000/unit",
        ),
        *("25rb", "Rp25 ribu", "**Rp 25.000**", "| ORD1001 | 15.000.000 |", "2 x Rp 15.000.000", "1 × 15.000.000"),
        *(
            "30 Nov '26",
            "30/11/26",
            "November 30th, 2026",
            "30-11-2026",
            "30.11.2026",
            "11/30/2026",
            "20261130",
            "30 hari",
        ),
        *("pukul 14.30 WIB", "2:30 PM on Dec 3", "jam 2.30 siang", "30 November–3 Desember 2026", "pada 03/12"),
        *("JNE 8829103321", "ord-1001", "#1001", "No.1001", "_ORD1001_", "`ORD1001`", "ORD1001's", "BD 77", "BD77"),
        *("https://toko.id/pesanan/ORD1001?x=1", "PRD001/ORD1001", "+6221 555 1234", "(021) 555-1234"),
        *("10%", "10 persen", "2,35 kg", "2.4 kg", "sejak 2019", "≈ 15 juta", "Rp 16.000.000", "ROG-G14"),
    ],
)
def test_what_was_said_is_known_in_another_form(text: str) -> None:
    assert SAID.unsupported(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        *("Rp 15.500.000", "Rp 1.500.000", "15,1 juta", "35rb", "Rp 51.000.000", "sekitar 17 juta", "Rp 5"),
        *("30 November 2025", "29 Nov", "1/12/2026", "31.11.2026", "12/03/2027", "Desember 2027", "tanggal 4"),
        *("pukul 14.45", "3:30 PM", "jam 9 pagi"),
        *(
            "JNE8829103322",
            "ORD2001",
            "#20231",
            "pesanan nomor 4471",
            "INV-99812",
            "BD-78",
            "PRD01",
            "ORD-2026-1001",
            "G15",
        ),
        *("Diskon 15%", "2,53 kg", "021-5551235", "stok 26", "25.000.000.000", "1.1.1.1", "007"),
    ],
)
def test_what_was_not_said_is_found(text: str) -> None:
    assert len(SAID.unsupported(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        *("2 unit, 3 hari, 20 orang", "1. Satu\n2. Dua\n25. Lagi", "Layanan 24/7", "100% asli", "2x24 jam", "ke-3"),
        *("RAM DDR5 untuk layar 4K", "MP3 dan H2O", "Rp 0", "nomor 1 di kotanya", "Langkah 2:", "COVID-19"),
    ],
)
def test_counts_list_numbers_and_words_with_a_digit_do_not_bind(text: str) -> None:
    assert Evidence([]).unsupported(text) == ()


def test_a_code_of_a_known_family_binds_however_short_it_is() -> None:
    assert Evidence([]).unsupported("kursi C8, kamar 12A") == ()
    assert Evidence(["kursi C7, kamar 11A"]).unsupported("kursi C8, kamar 12A") == ("C8", "12A")


def test_a_number_is_rounded_only_where_that_is_said_or_it_has_a_fraction() -> None:
    known = Evidence(["total 1249000, rata-rata 27.64"])
    assert known.unsupported("sekitar Rp 1,2 juta; about 1.25 million; hampir 1.249.000") == ()
    assert known.unsupported("Rp 1,2 juta") == ("Rp 1,2 juta",)
    assert known.unsupported("sekitar Rp 2 juta") == ("Rp 2 juta",)
    assert known.unsupported("27,6 atau 28") == ()


def test_both_ends_of_a_range_have_its_scale() -> None:
    assert Evidence(["1000000 dan 2000000"]).unsupported("Rp 1-2 juta") == ()
    assert Evidence(["1000000"]).unsupported("Rp 1 – 2 juta") == ("2",)
    assert Evidence(["2026-11-12, 2026-11-15"]).unsupported("12–15 November 2026") == ()


def test_a_year_that_is_added_to_a_day_has_to_be_known() -> None:
    assert Evidence(["tiba 5 Desember", "tahun 2026"]).unsupported("5 Desember 2026") == ()
    assert Evidence(["tiba 5 Desember"]).unsupported("5 Desember 2026") == ("5 Desember 2026",)


def test_a_date_is_no_amount_and_a_code_is_no_price() -> None:
    known = Evidence(["2026-11-30, ORD1001"])
    assert known.unsupported("stok 30") == ("30",)
    assert known.unsupported("harga Rp 1001") == ("Rp 1001",)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("dua juta lima ratus ribu", [2_500_000]),
        ("seratus dua puluh lima", [125]),
        ("sejuta, lalu sebelas ribu", [1_000_000, 11_000]),
        ("tiga belas atau satu setengah juta", [13, 1_500_000]),
        ("two hundred and fifty thousand dollars", [250_000]),
        ("a hundred", [100]),
        ("5 ribu", []),
        ("belas kasih", []),
    ],
)
def test_numbers_in_words(text: str, numbers: list[int]) -> None:
    assert list(spelled(text)) == numbers


PIECES = st.sampled_from(
    [
        *(
            "Rp",
            "ORD",
            "prd",
            "-",
            "/",
            ".",
            ",",
            " ",
            "1",
            "2",
            "00",
            "000",
            "3",
            "7",
            "x",
            "%",
            " juta",
            " Nov",
            "November",
        ),
        *(
            "T",
            ":",
            "Z",
            "+",
            "#",
            "\n",
            "(",
            ")",
            "_",
            "tanggal ",
            "jam ",
            "sekitar ",
            "rb",
            "M",
            "kg",
            "$",
            "Mei",
            "20",
            "26",
            "a",
        ),
    ]
)


@settings(deadline=None, max_examples=examples(300))
@given(st.lists(PIECES, max_size=20).map("".join))
def test_everything_a_text_says_is_known_from_that_text(text: str) -> None:
    assert Evidence([text]).unsupported(text) == ()


@settings(deadline=None)
@given(st.integers(21, 10**12))
def test_an_amount_is_known_in_every_form_and_another_is_not(amount: int) -> None:
    known = Evidence([f'{{"harga":{amount}}}'])
    grouped = f"{amount:,}"
    ways = [str(amount), grouped, grouped.replace(",", "."), grouped.replace(",", " ")]
    forms = [form for way in ways for form in (f"Rp {way}", f"Rp{way},-", f"IDR {way}", f"{way} rupiah")]
    exact = f"{Decimal(amount) / 1_000_000:f}".replace(".", ",")
    assert [form for form in (*forms, f"Rp {exact} juta") if known.unsupported(form)] == []
    other = f"{amount + 1:,}".replace(",", ".")
    assert known.unsupported(f"Rp {other}") == (f"Rp {other}",)


@settings(deadline=None)
@given(st.dates(date(2000, 1, 1), date(2099, 12, 31)), st.times())
def test_a_date_and_a_time_are_known_in_every_form(day: date, at: time) -> None:
    known = Evidence([f"{day.isoformat()}T{at:%H:%M:%S}Z"])
    month = MONTHS[day.month - 1]
    forms = [
        f"{day.day} {month} {day.year}",
        f"{day:%d/%m/%Y}",
        f"{day.day}-{day.month}-{day.year}",
        f"{day:%B %d, %Y}",
    ]
    forms += [f"{day.day} {month[:3]} {day.year}", f"{day.day} {month}", f"{month} {day.year}", f"{day:%Y%m%d}"]
    forms += [f"pukul {at:%H.%M} WIB", f"{at:%H:%M}", f"{at:%I:%M %p}", f"{at:%H:%M:%S}"]
    assert [form for form in forms if known.unsupported(form)] == []


def test_a_long_text_is_read_once() -> None:
    source = Source("ORD1001 ")
    assert not source.was_read
    assert Evidence([source]).unsupported("ORD1001") == ()
    assert source.was_read


def test_numbers_too_long_to_be_one_are_known_as_they_are() -> None:
    long = "1" * 60
    assert Evidence([long]).unsupported(long) == ()
    assert Evidence([]).unsupported(long) == (long,)
    assert figures("") == []
