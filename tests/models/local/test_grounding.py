"""Which tokens are known, and which were made up."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tukang.grounding.figures import TOKEN, readings, tokens
from tukang.models.local.grounding import Sources, looks_invented, names_something, written

SAID = Sources(
    [
        "Pesan PRD001 untuk USR042, harga 1200000, berat 12,5 kg, jam 02.00 tanggal 2026-11-30, telepon 0811-222-3344",
        '{"order_id": "ORD7781", "suhu": 24, "modal": "3 juta"}',
    ]
)


@pytest.mark.parametrize(
    "token",
    [
        "PRD001",
        "prd001",
        "1.200.000",
        "1,200,000",
        "1200000",
        "Rp1.200.000",
        "12.5",
        "12,5",
        "12.50",
        "24",
        "24C",
        "02:00",
        "2.00",
        "2026",
        "30",
        "08112223344",
        "3000000",
        "3.000.000",
        "ord7781",
    ],
)
def test_what_was_said_is_known_however_it_is_written(token: str) -> None:
    assert SAID.knows(token)


@pytest.mark.parametrize(
    "token", ["PRD002", "PRD01", "ORDER7781", "7781", "200", "120000", "25", "042", "USR42", "0811222"]
)
def test_what_was_not_said_is_not_known(token: str) -> None:
    assert not SAID.knows(token)


@pytest.mark.parametrize(
    ("token", "meant"), [("ORDER7781", "ORD7781"), ("PRD01", "PRD001"), ("PRD0001", "PRD001"), ("USR-042", "USR042")]
)
def test_a_misquoted_identifier_is_put_right_when_only_one_is_meant(token: str, meant: str) -> None:
    assert SAID.nearest(token) == meant


@pytest.mark.parametrize("token", ["PRD002", "XYZ999", "7781", "25"])
def test_nothing_is_put_right_that_may_mean_something_else(token: str) -> None:
    assert SAID.nearest(token) is None


def test_two_identifiers_that_may_be_meant_are_not_chosen_between() -> None:
    assert Sources(["PRD001 PRODUK001"]).nearest("PROD001") is None


@pytest.mark.parametrize("token", ["1945", "H2O", "MP3", "B2B", "17", "3", "COVID19", "1,5"])
def test_general_knowledge_is_not_taken_for_invented(token: str) -> None:
    assert not looks_invented(token, SAID)


@pytest.mark.parametrize("token", ["ORD1234", "PRD009", "INV-20231", "usr7"])
def test_an_identifier_that_nobody_gave_looks_invented(token: str) -> None:
    assert looks_invented(token, SAID)


@pytest.mark.parametrize("token", ["PRD9", "0811", "12345"])
def test_codes_in_arguments_have_to_be_known(token: str) -> None:
    assert names_something(token)


@pytest.mark.parametrize("token", ["3", "12", "2026-12-01", "08:30", "2026", "2026-12-01T08:30"])
def test_counts_dates_and_times_in_arguments_may_be_worked_out(token: str) -> None:
    assert not names_something(token)


@settings(deadline=None)
@given(st.integers(0, 10**12))
def test_a_number_is_known_in_every_grouping(number: int) -> None:
    said = Sources([f"total {number}"])
    assert all(said.knows(way) for way in (str(number), f"{number:,}", f"{number:,}".replace(",", ".")))


@settings(deadline=None)
@given(st.text(st.sampled_from("aP1.,:0- x\n7"), max_size=40))
def test_every_token_of_a_text_is_known_from_that_text(text: str) -> None:
    assert Sources([text]).unknown(text) == []


@settings(deadline=None)
@given(st.text(st.sampled_from("aP1.,:0- 7"), max_size=30))
def test_every_way_to_write_known_tokens_is_known(text: str) -> None:
    said = Sources([text])
    assert [way for way in written(said.tokens) if TOKEN.fullmatch(way) and not said.knows(way)] == []


def test_a_grouped_figure_has_two_readings_and_its_groups_none() -> None:
    assert {str(number) for number in readings("1.200")} == {"1200", "1.200"}
    assert not Sources(["1.200.000"]).knows("200")


def test_tokens_end_with_their_last_letter_or_digit() -> None:
    assert tokens("Harga PRD001. Total 1.200.000, ya? (24C)") == ["PRD001", "1.200.000", "24C"]


def test_a_word_in_capitals_may_be_a_torn_identifier() -> None:
    assert SAID.torn("ORDER") == "ORD7781"
    assert SAID.torn("ORDER: ") == "ORD7781"
    assert all(SAID.torn(word) is None for word in ("Order", "SSD", "RAM", "ya"))
    assert Sources(["ORDER ORD7781"]).torn("ORDER") is None
