"""Results in plain words, in the user's language."""

from __future__ import annotations

import pytest

from tukang.models.local.view import Step
from tukang.models.local.wording import language_of, results_in_words, values_of


def step(result: str) -> Step:
    return Step("cek_harga", "{}", result, "key")


@pytest.mark.parametrize("text", ["Berapa harga SSD PRD002?", "Halo", "Tolong pesan 2 unit untuk saya.", "PRD001"])
def test_indonesian_unless_it_is_english(text: str) -> None:
    assert language_of(text) == "id"


@pytest.mark.parametrize("text", ["What is the price of PRD002?", "Please order two for me."])
def test_english(text: str) -> None:
    assert language_of(text) == "en"


def test_members_are_named_and_each_result_has_a_line() -> None:
    text = results_in_words(
        [step('{"nama_produk": "SSD", "stok": 0, "promo": false}'), step("[1, null]")], "Berapa harganya?"
    )
    assert text == "cek harga: nama produk SSD, stok 0, promo tidak\ncek harga: 1; -"


def test_a_fault_is_said_as_one() -> None:
    fault = '{"error": {"kind": "tool_failed", "message": "no such product"}}'
    assert results_in_words([step(fault)], "What is the price?") == "cek harga: failed (no such product)"
    assert results_in_words([step('{"error": "kosong"}')], "Berapa?") == "cek harga: gagal (kosong)"


def test_plain_text_stays_as_it_is_and_nothing_becomes_an_apology() -> None:
    assert results_in_words([step("sunny, 24")], "How is the weather?") == "cek harga: sunny, 24"
    assert results_in_words([], "What is the price?").startswith("Sorry")
    assert results_in_words([], "Berapa harganya?").startswith("Maaf")


def test_a_sentence_that_tells_all_the_members_stands_for_them() -> None:
    told = '{"ringkasan": "Pesanan ORD7 dibuat: 2 unit.", "nomor": "ORD7", "unit": 2}'
    assert results_in_words([step(told)], "Pesan 2") == "Pesanan ORD7 dibuat: 2 unit."
    untold = '{"ringkasan": "Pesanan ORD7 dibuat.", "nomor": "ORD7", "unit": 2}'
    assert results_in_words([step(untold)], "Pesan 2").startswith("cek harga: ringkasan Pesanan ORD7 dibuat., nomor")


def test_the_values_of_a_result_are_what_it_says() -> None:
    assert values_of('{"city": "Yogya", "days": [{"rain": true}, 2]}') == "Yogya True 2"
    assert values_of("sunny {") == "sunny {"
