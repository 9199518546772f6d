"""What a word is to a search."""

from __future__ import annotations

import pytest

from tukang.retrieval.words import folded, question_words, stem, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("menyewakan, penyewaan, persewaan, disewakan", ["sewa"] * 4),
        ("Penjualan dijual berjualan JUALAN", ["jual"] * 4),
        ("searching searched searches", ["search"] * 3),
        ("PRD001 KEU-07", ["prd001", "keu", "07", "keu07"]),
        ("62.019", ["62", "019", "62019"]),
        ("Rp 1.200.000", ["rp", "1", "200", "000", "1200000"]),
        ("cek_harga_produk", ["cek", "harga", "produk"]),
        ("FinanceTool", ["financ", "tool", "financetool"]),
        ("Café", ["cafe"]),
        ("", []),
    ],
)
def test_words_are_folded_stemmed_and_ids_kept(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_a_question_is_its_telling_words_unless_it_has_none() -> None:
    assert question_words("Berapa lama cuti untuk yang melahirkan, dan cuti haid?") == ["lama", "cuti", "lahir", "haid"]
    assert question_words("apa itu ini") == ["apa", "itu", "ini"]


def test_what_holds_a_digit_is_never_stemmed() -> None:
    assert stem("a1nya") == "a1nya"
    assert folded("ÀÉ") == "ae"
