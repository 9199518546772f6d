"""What is named side by side: two cities, two codes, and nothing that only stands near."""

from __future__ import annotations

import msgspec
import pytest

from tukang.conversation import user
from tukang.models.base import ModelRequest
from tukang.models.local.siblings import listed_elsewhere, still_open
from tukang.models.local.view import Step, View, view_of
from tukang.tools.contract import Contract


def view(request: str, *calls: tuple[str, str]) -> View:
    steps = tuple(
        Step(name, msgspec.json.encode({"x": value, "n": 1}).decode(), "{}", name + value) for name, value in calls
    )
    return msgspec.structs.replace(view_of(ModelRequest("", [user(request)])), steps=steps)


@pytest.mark.parametrize(
    ("request_text", "calls", "found"),
    [
        ("Cuaca di Bandung dan Surabaya?", [("cek", "Bandung")], [("cek", "Surabaya")]),
        ("Cuaca di Bandung dan Surabaya?", [("cek", "surabaya")], [("cek", "Bandung")]),
        ("Pergi ke Bandung. Lebih sejuk dibandingkan Surabaya?", [("cek", "Bandung")], [("cek", "Surabaya")]),
        (
            "Conditions and temperature in New York and London?",
            [("sky", "New York"), ("heat", "New York"), ("sky", "London")],
            [("heat", "London")],
        ),
        ("Harga PRD001 dan PRD002?", [("harga", "PRD001")], [("harga", "PRD002")]),
        ("Cuaca di Jakarta, Bandung?", [("cek", "Jakarta")], [("cek", "Bandung")]),
    ],
)
def test_what_was_looked_up_for_one_is_open_for_the_other(
    request_text: str, calls: list[tuple[str, str]], found: list[tuple[str, str]]
) -> None:
    assert still_open(view(request_text, *calls)) == tuple(found)


@pytest.mark.parametrize(
    ("request_text", "calls"),
    [
        ("Cuaca di Bandung dan Surabaya?", []),
        ("Cuaca di Bandung dan Surabaya?", [("cek", "Bandung"), ("cek", "Surabaya")]),
        ("Berapa suhu di Jakarta dalam Fahrenheit?", [("cek", "Jakarta")]),
        ("Cari alamat Tono lalu kirim surat ke Rina.", [("cari", "Tono")]),
        ("Cek PRD001 untuk USR042, dan ORD7781.", [("cek", "PRD001")]),
        ("Apakah Bandung dingin?", [("cek", "Bandung")]),
    ],
)
def test_nothing_else_is_open(request_text: str, calls: list[tuple[str, str]]) -> None:
    assert still_open(view(request_text, *calls)) == ()


def test_a_value_that_another_tool_lists_is_that_tool_s() -> None:
    city = {"type": "object", "required": ["city"]}
    here, heat, sky = (
        Contract("here", "Cuaca di Jakarta, Bandung.", city),
        Contract("heat", "Heat of London, Tokyo.", city),
        Contract("sky", "Sky of London, Tokyo.", city),
    )
    order = Contract("order", "Jakarta only.", {"type": "object", "required": ["city", "n"]})
    tools = (here, heat, sky, order)
    assert listed_elsewhere(heat, ["Jakarta"], tools) is here
    assert listed_elsewhere(heat, ["London"], tools) is None
    assert listed_elsewhere(here, ["London"], tools) is None, "two list it"
    assert listed_elsewhere(heat, ["Medan", 3], tools) is None
