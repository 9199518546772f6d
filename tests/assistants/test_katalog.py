"""The catalogue: one file, stock and order in one transaction, one order for one key."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tukang.assistants.katalog import Katalog, KatalogSibuk, KunciTerpakai, Pesanan, StokKurang, data_folder
from tukang.errors import ConfigurationError


@pytest.fixture
def katalog(tmp_path: Path) -> Katalog:
    return Katalog(tmp_path / "new" / "toko.db")


def stock(katalog: Katalog, product_id: str) -> int:
    product = katalog.product(product_id)
    assert product is not None
    return product.stok


def test_it_is_created_with_its_products_on_first_use(katalog: Katalog) -> None:
    assert not katalog.path.exists()
    shown = [(p.product_id, p.nama, p.harga, p.stok) for p in katalog.products()]
    assert shown == [
        ("PRD001", "Laptop Gaming ASUS ROG", 15_000_000, 3),
        ("PRD002", "SSD Samsung 970 EVO 1TB", 1_200_000, 15),
        ("PRD003", "RAM Corsair DDR5 16GB", 850_000, 0),
    ]


def test_it_is_kept_and_not_filled_again(katalog: Katalog) -> None:
    katalog.order("PRD001", 2, "USR042", "k")
    again = Katalog(katalog.path)
    assert stock(again, "PRD001") == 1
    assert [order.nomor for order in again.orders()] == ["ORD1001"]


@pytest.mark.parametrize("product_id", ["PRD002", "prd002", " Prd002 "])
def test_ids_are_found_in_any_case(katalog: Katalog, product_id: str) -> None:
    product = katalog.product(product_id)
    assert product is not None
    assert product.product_id == "PRD002"


def test_an_unknown_product_is_none(katalog: Katalog) -> None:
    assert katalog.product("PRD009") is None
    assert katalog.order("PRD009", 1, "USR042", "k") is None
    assert katalog.orders() == []


def test_an_order_takes_stock_and_is_written_down(katalog: Katalog) -> None:
    order = katalog.order("prd002", 4, "USR042", "k")
    assert order is not None
    assert (order.nomor, order.product_id, order.quantity, order.total) == ("ORD1001", "PRD002", 4, 4_800_000)
    assert (order.user_id, order.status) == ("USR042", "pending")
    assert stock(katalog, "PRD002") == 11
    with sqlite3.connect(katalog.path) as database:
        rows = database.execute("SELECT nomor, kunci, status FROM pesanan").fetchall()
    database.close()
    assert rows == [("ORD1001", "k", "pending")]


@pytest.mark.parametrize(("product_id", "quantity"), [("PRD003", 1), ("PRD001", 4), ("PRD001", 10**30)])
def test_more_than_there_is_cannot_be_ordered(katalog: Katalog, product_id: str, quantity: int) -> None:
    before = stock(katalog, product_id)
    with pytest.raises(StokKurang) as caught:
        katalog.order(product_id, quantity, "USR042", "k")
    assert caught.value.produk.stok == before == stock(katalog, product_id)
    assert katalog.orders() == []


def test_the_same_key_never_orders_twice(katalog: Katalog) -> None:
    first = katalog.order("PRD001", 1, "USR042", "k")
    assert katalog.order("PRD001", 1, "USR042", "k") == first
    assert stock(katalog, "PRD001") == 2
    assert len(katalog.orders()) == 1


def test_a_key_is_good_for_one_wish_only(katalog: Katalog) -> None:
    katalog.order("PRD001", 1, "USR042", "k")
    with pytest.raises(KunciTerpakai):
        katalog.order("PRD001", 2, "USR042", "k")
    assert stock(katalog, "PRD001") == 2


def test_twenty_who_want_the_last_three_get_three(katalog: Katalog) -> None:
    gate = threading.Barrier(20)

    def order(number: int) -> Pesanan | None:
        gate.wait()
        try:
            return katalog.order("PRD001", 1, f"USR{number:03d}", f"key-{number}")
        except StokKurang:
            return None

    with ThreadPoolExecutor(20) as threads:
        orders = [order for order in threads.map(order, range(20)) if order is not None]
    assert len(orders) == len({order.nomor for order in orders}) == 3
    assert sorted(order.nomor for order in katalog.orders()) == sorted(order.nomor for order in orders)
    assert stock(katalog, "PRD001") == 0


def test_a_file_locked_by_somebody_else_orders_nothing(katalog: Katalog, monkeypatch: pytest.MonkeyPatch) -> None:
    katalog.products()
    monkeypatch.setattr("tukang.assistants.katalog.Katalog._open.__wrapped__.__defaults__", (0.01,))  # its patience
    other = sqlite3.connect(katalog.path, isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(KatalogSibuk):
            katalog.order("PRD001", 1, "USR042", "k")
    finally:
        other.close()
    assert katalog.orders() == []


def test_a_catalogue_of_another_version_is_refused(katalog: Katalog) -> None:
    katalog.products()
    database = sqlite3.connect(katalog.path)
    database.execute("PRAGMA user_version = 7")
    database.close()
    with pytest.raises(ConfigurationError, match="version 7"):
        katalog.products()


def test_where_it_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("TUKANG_DATA", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert data_folder() == tmp_path / ".local" / "share" / "tukang"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    assert data_folder() == tmp_path / "xdg" / "tukang"
    monkeypatch.setenv("TUKANG_DATA", str(tmp_path / "own"))
    assert Katalog().path == tmp_path / "own" / "toko.db"
