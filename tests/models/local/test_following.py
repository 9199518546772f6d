"""Calls after the first of a turn: nothing that nobody asked for, nothing twice, and what was put off is taken up again."""

from __future__ import annotations

import pytest

from tukang.conversation import user
from tukang.models.base import ModelRequest
from tukang.models.local.following import asked_for, put_off, tried_twice, wanted_first
from tukang.models.local.view import Step, View, view_of
from tukang.tools.contract import Contract

LOOK, ORDER = Contract("cek_harga", "", {"type": "object"}), Contract("buat_pesanan", "", {"type": "object"})
REFUSED = '{"error":{"kind":"nothing_done","message":"belum dicek","hint":"Panggil cek_harga dulu."}}'
FOUND = '{"ringkasan":"SSD Samsung (PRD002) harganya Rp 1.200.000, stok 15.","product_id":"PRD002","stok":15}'


def view(request: str, *steps: tuple[str, str, str]) -> View:
    seen = view_of(ModelRequest("", [user(request)]))
    made = tuple(Step(name, arguments, result, name + arguments) for name, arguments, result in steps)
    return View(seen.request, made, (), "", seen.said, None)


LOOKED = ("cek_harga", '{"product_id": "PRD002"}', FOUND)


@pytest.mark.parametrize(
    ("request_text", "decided"),
    [
        ("Berapa harga SSD Samsung PRD002?", "buat pesanan PRD002, 15, USR042"),
        ("Berapa harga SSD Samsung PRD002?", "harga SSD Samsung PRD002, PRD002, 1"),
        ("Berapa stok PRD002 untuk saya?", "buat pesanan PRD002 untuk USR042"),
        ("Is the PRD002 in stock?", "buat pesanan PRD002, 15, USR042"),
    ],
)
def test_a_tool_that_nothing_open_in_the_request_speaks_of_is_not_asked_for(request_text: str, decided: str) -> None:
    assert not asked_for(view(request_text, LOOKED), "buat_pesanan", decided)


@pytest.mark.parametrize(
    ("request_text", "decided"),
    [
        ("Berapa harga PRD002? Kalau ada, tolong pesan untuk saya.", "buat pesanan PRD002"),
        ("Cek PRD002 dan ambilkan 2.", "buat pesanan, 2"),
        ("Check PRD002, then order one.", "order one PRD002"),
    ],
)
def test_what_the_request_still_wants_is_asked_for(request_text: str, decided: str) -> None:
    assert asked_for(view(request_text, LOOKED), "buat_pesanan", decided)


def test_the_first_call_and_a_tool_in_use_need_no_proof() -> None:
    assert asked_for(view("Halo"), "buat_pesanan", "x")
    assert asked_for(view("Halo", LOOKED), "cek_harga", "x")


def test_the_tool_a_refusal_names_comes_first_and_the_refused_call_after_it() -> None:
    refused = ("buat_pesanan", '{"n": 1}', REFUSED)
    assert wanted_first(view("pesan", refused), (LOOK, ORDER)) is LOOK
    assert wanted_first(view("pesan", LOOKED), (LOOK, ORDER)) is None
    again = put_off(view("pesan", refused, LOOKED), (LOOK, ORDER))
    assert again is not None
    assert (again.name, again.arguments) == ("buat_pesanan", '{"n": 1}')
    assert put_off(view("pesan", refused, ("cek_harga", "{}", '{"error":"x"}')), (LOOK, ORDER)) is None
    assert put_off(view("pesan", refused, LOOKED), (LOOK,)) is None


def test_a_call_that_did_nothing_is_not_made_for_ever() -> None:
    refused = ("buat_pesanan", '{"n": 1}', REFUSED)
    assert tried_twice(view("pesan", refused), 'buat_pesanan{"n": 1}')
    assert not tried_twice(view("pesan", refused, LOOKED), 'buat_pesanan{"n": 1}')
    assert tried_twice(view("pesan", refused, LOOKED, refused), 'buat_pesanan{"n": 1}')
