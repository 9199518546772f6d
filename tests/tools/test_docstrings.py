"""Descriptions out of docstrings, in three styles and two languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tukang.tools.docstrings import Described, describe

GOOGLE = """Cek harga sebuah produk.

    {heading}
        product_id: ID unik,
            contoh: PRD001
        jumlah (int, opsional): Banyaknya.
    """

NUMPY = """Cek harga sebuah produk.

    {heading}
    {line}
    product_id : str
        ID unik,
        contoh: PRD001
    jumlah : int, optional
        Banyaknya.
    """

WANTED = Described(
    "Cek harga sebuah produk.", {"product_id": "ID unik, contoh: PRD001", "jumlah": "Banyaknya."}, documented=True
)


@pytest.mark.parametrize(
    "heading",
    ["Args", "Arguments", "Parameters", "Params", "Argumen", "Parameter", "Parameter-parameter", "ARGUMEN", "argumen"],
)
@pytest.mark.parametrize("blank", [True, False])
def test_google_style(heading: str, blank: bool) -> None:
    text = GOOGLE.format(heading=f"{heading}:")
    assert describe(text if blank else text.replace("\n\n", "\n")) == WANTED


@pytest.mark.parametrize("heading", ["Parameters", "Parameter", "Argumen", "Parameter-parameter"])
@pytest.mark.parametrize("blank", [True, False])
def test_numpy_style(heading: str, blank: bool) -> None:
    text = NUMPY.format(heading=heading, line="-" * len(heading))
    assert describe(text if blank else text.replace("\n\n", "\n")) == WANTED


@pytest.mark.parametrize("word", ["param", "parameter", "arg", "argumen"])
@pytest.mark.parametrize("blank", ["\n\n", "\n"])
def test_sphinx_style(word: str, blank: str) -> None:
    text = f"""Cek harga sebuah produk.{blank}    :{word} product_id: ID unik,
        contoh: PRD001
    :{word} int jumlah: Banyaknya.
    :type product_id: str
    """
    assert describe(text) == WANTED


@pytest.mark.parametrize(
    "heading",
    [
        "Returns",
        "Raises",
        "Example",
        "Note",
        "Pengembalian",
        "Mengembalikan",
        "Galat",
        "Menimbulkan",
        "Contoh",
        "Catatan",
    ],
)
@pytest.mark.parametrize("blank", [True, False])
def test_the_other_sections_end_the_parameters_and_stay(heading: str, blank: bool) -> None:
    section = f"    {heading}:\n        jumlah: bukan parameter\n"
    text = GOOGLE.format(heading="Argumen:").rstrip() + ("\n\n" if blank else "\n") + section
    got = describe(text)
    assert got.parameters == WANTED.parameters
    assert got.description.startswith("Cek harga sebuah produk.")
    assert got.description.endswith(f"{heading}:\n    jumlah: bukan parameter")


def test_text_after_the_parameters_stays() -> None:
    got = describe("Satu.\n\n    Args:\n        a: Isi.\n\n    Dua.\n    ")
    assert got == Described("Satu.\n\nDua.", {"a": "Isi."}, documented=True)


def test_entries_at_the_margin_of_their_heading_and_bullets_are_read() -> None:
    got = describe("Satu.\n    Parameter:\n    - a: Isi.\n    - b: Lain.\n\n    Dua.")
    assert got == Described("Satu.\n\nDua.", {"a": "Isi.", "b": "Lain."}, documented=True)


@pytest.mark.parametrize(
    "text",
    [
        "Satu.\n\n    **Args:**\n    - `a`: Isi.\n    - **b** (int): Lain.",
        "Satu.\n\n    ## Parameters\n\n    - **a**: Isi.\n    - b: Lain.",
        "Satu.\n\n    Argumen fungsi:\n        a - Isi.\n        b (int) -- Lain.",
        "Satu.\n\n    Masukan:\n        • a: Isi.\n        • b: Lain.",
        "Satu.\n\n    Argumen / Args:\n        1. a: Isi.\n        2. b: Lain.",
        "Satu.\n\n    Inputs:\n        a = Isi.\n        b = Lain.",
        "Satu.\n\n    Args :\n        a:\n            Isi.\n\n        b (Literal['x', 'y'], optional):\n            Lain.",
        "Satu.\n\n\tArgs:\n\t\ta: Isi.\n\t\tb: Lain.\n",
        "Satu.\r\n\r\n    Args:\r\n        a: Isi.\r\n        b: Lain.\r\n",
    ],
)
def test_what_people_write_besides(text: str) -> None:
    assert describe(text) == Described("Satu.", {"a": "Isi.", "b": "Lain."}, documented=True)


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("Satu.\n\n@param a: Isi.\n@return: Lain.", {"a"}),
        ("Satu.\n\nArgs: a: Isi.", {"a"}),
        ("Satu.\n\nKatalog:\n    a: Isi.\n    b (int): Lain.", {"a", "b"}),
        ("Satu.\n\nReturns:\n    a: bukan parameter\n\nb: Lain.", {"b"}),
        ("Satu.\n\nReturns\n-------\na : int\n    bukan parameter", {"a"}),
        ("Satu.\n\nArgs:\n    a: Isi.", set()),
        ("Satu. Contoh:\n\n    a = 5\n    b = 3", set()),
    ],
)
def test_what_looks_like_a_description_and_was_not_read(text: str, unread: set[str]) -> None:
    assert {name for name in describe(text).unread if name in ("a", "b")} == unread


def test_two_parameters_may_share_a_description() -> None:
    assert describe("X.\n\nParameters\n----------\na, b : int\n    Sisi.").parameters == {"a": "Sisi.", "b": "Sisi."}


@pytest.mark.parametrize(
    "text", ["Args:\n        tanpa titik dua", "X.\n\n    Argumen:\n        lihat manual", "X.\n\n    Args:"]
)
def test_a_section_that_cannot_be_read_is_noticed(text: str) -> None:
    got = describe(text)
    assert got.documented
    assert got.parameters == {}


@pytest.mark.parametrize("text", [None, "", "   \n  "])
def test_no_docstring(text: str | None) -> None:
    assert describe(text) == Described()


def test_a_plain_docstring_is_the_description() -> None:
    text = "Cek stok: berapa yang ada?\n\nCatatan: angka bisa berubah."
    assert describe(text) == Described(text, unread=frozenset({"Catatan"}))


@given(st.text("Args:\n -param xReturn", max_size=60))
def test_no_docstring_raises(text: str) -> None:
    assert isinstance(describe(text), Described)
