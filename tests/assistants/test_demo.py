"""The judge of the demonstration: it must find every way in which a scenario can go wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tukang.assistants import toko
from tukang.assistants.demo import CUSTOMER, SCENARIOS, Miss, Shop, judge
from tukang.assistants.katalog import Katalog
from tukang.models.scripted import Fails, Says, Scripted, call

CHECK_1, CHECK_2 = (call("cek_harga_produk", product_id=name) for name in ("PRD001", "PRD002"))
ORDER = call("buat_pesanan", product_id="PRD001", quantity=1, user_id=CUSTOMER)


def misses(tmp_path: Path, number: int, *replies: Any) -> list[Miss]:
    katalog = Katalog(tmp_path / "toko.db")
    before = Shop.of(katalog)
    agent = toko.agent(Scripted(replies), katalog.path)
    answer = agent.run(SCENARIOS[number].question, context=toko.Pelanggan(CUSTOMER), approve=lambda _: True)
    return judge(SCENARIOS[number], answer, before, Shop.of(katalog))


@pytest.mark.parametrize(
    ("number", "replies"),
    [
        (0, [CHECK_2, "Harganya Rp 1.200.000, stok 15."]),
        (0, [CHECK_2, "It costs 1,200,000 rupiah; 15 in stock."]),
        (1, [CHECK_1, ORDER, "Pesanan ORD1001 dibuat."]),
        (2, [call("cek_harga_produk", product_id="PRD003"), "Maaf, stok RAM habis."]),
        (2, [call("buat_pesanan", product_id="PRD003", quantity=2, user_id=CUSTOMER), "RAM sedang tidak tersedia."]),
    ],
)
def test_right_is_right(tmp_path: Path, number: int, replies: list[Any]) -> None:
    assert misses(tmp_path, number, *replies) == []


@pytest.mark.parametrize(
    ("number", "replies", "found"),
    [
        (0, ["Harganya Rp 1.200.000, stok 15."], ["calls"]),
        (0, [CHECK_2, "Harganya Rp 1.250.000, stok 15."], ["price"]),
        (0, [CHECK_2, "Harganya Rp 1.200.000."], ["stock"]),
        (0, [CHECK_1, CHECK_2, "Harganya Rp 1.200.000, stok 15."], ["calls"]),
        (0, [Says(fails=Fails("not_found"))], ["not_answered", "calls", "price", "stock"]),
        (1, [CHECK_1, "Pesanan ORD1001 dibuat."], ["calls", "order_missing"]),
        (1, [ORDER, "Pesanan ORD1001 dibuat."], ["calls", "order_missing"]),
        (1, [CHECK_1, ORDER, "Pesanan dibuat."], ["order_number"]),
        (1, [CHECK_1, ORDER, "Pesanan ORD10010 dibuat."], ["order_number"]),
        (1, [CHECK_1, ORDER, "Saya tidak bisa membuat pesanan. Pesanan ORD1001."], ["order_denied"]),
        (2, [call("cek_harga_produk", product_id="PRD003"), "Baik, dipesan."], ["out_of_stock"]),
        (2, [CHECK_1, ORDER, "Stok habis."], ["ordered"]),
        (2, ["Stok habis, tapi pesanan ORD1009 dibuat."], ["ordered"]),
    ],
)
def test_wrong_is_found(tmp_path: Path, number: int, replies: list[Any], found: list[Miss]) -> None:
    assert misses(tmp_path, number, *replies) == found
