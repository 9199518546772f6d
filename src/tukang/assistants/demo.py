"""The shop's three scenarios, and what must be true after each. It judges an answer and the database; it runs nothing.

A scenario is right only if what it says *and* what it left in the database are: a fluent answer about an order that is not
there is a failure.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

import msgspec

from tukang.answer import Answer
from tukang.assistants.katalog import Katalog, Pesanan, Produk

CUSTOMER = "USR042"

Miss = Literal[
    "not_answered",
    "calls",
    "price",
    "stock",
    "order_number",
    "order_missing",
    "order_denied",
    "stock_not_taken",
    "out_of_stock",
    "ordered",
]
"""What can be wrong with a scenario."""

_EMPTY = re.compile(
    r"\b(habis|kosong|tidak (?:ter)?sedia|tidak ada stok|tidak ada|out of stock|not available|unavailable)\b"
    r"|\bstok(?:nya)?\b[^.\n]{0,40}\b(0|nol)\b",
    re.IGNORECASE,
)


_DENIED = re.compile(
    r"\b(?:tidak|belum) (?:bisa|dapat|jadi)\b[^.\n]{0,30}\b(?:pesan|memesan|membuat|dibuat|dipesan)"
    r"|\b(?:cannot|can't|could not|couldn't|unable to) (?:be )?(?:place|order)",
    re.IGNORECASE,
)


class Shop(msgspec.Struct, frozen=True):
    """The catalogue at one moment."""

    products: tuple[Produk, ...]
    orders: tuple[Pesanan, ...]

    @classmethod
    def of(cls, katalog: Katalog) -> Shop:
        return cls(tuple(katalog.products()), tuple(katalog.orders()))

    def stock(self, product_id: str) -> int:
        """Units left; 0 for what is not there."""
        return next((product.stok for product in self.products if product.product_id == product_id), 0)


class Scenario(msgspec.Struct, frozen=True):
    """A question, and the check of what came of it: from the answer, and the shop before and after, to what is wrong."""

    question: str
    misses: Callable[[Answer, Shop, Shop], list[Miss]]


def judge(scenario: Scenario, answer: Answer, before: Shop, after: Shop) -> list[Miss]:
    """What is wrong; empty when all is as it should be."""
    ended: list[Miss] = [] if answer.stopped == "answer" else ["not_answered"]
    return ended + scenario.misses(answer, before, after)


def _price(answer: Answer, before: Shop, after: Shop) -> list[Miss]:
    misses: list[Miss] = []
    if _calls(answer) != ["cek_harga_produk"]:
        misses.append("calls")
    if not _says(answer, 1_200_000):
        misses.append("price")
    if not _says(answer, before.stock("PRD002")):
        misses.append("stock")
    return misses + _nothing_ordered(answer, before, after)


def _order(answer: Answer, before: Shop, after: Shop) -> list[Miss]:
    calls = _calls(answer)
    misses: list[Miss] = []
    if calls[:1] != ["cek_harga_produk"] or calls.count("buat_pesanan") != 1:
        misses.append("calls")
    new = after.orders[len(before.orders) :]
    wanted = [(order.user_id, order.product_id, order.quantity, order.status) for order in new]
    if wanted != [(CUSTOMER, "PRD001", 1, "pending")]:
        return [*misses, "ordered" if len(new) > 1 else "order_missing"]
    if not re.search(rf"\b{new[0].nomor}\b", answer.text):
        misses.append("order_number")
    if _DENIED.search(answer.text):
        misses.append("order_denied")
    if after.stock("PRD001") != before.stock("PRD001") - 1:
        misses.append("stock_not_taken")
    return misses


def _out_of_stock(answer: Answer, before: Shop, after: Shop) -> list[Miss]:
    misses: list[Miss] = [] if _EMPTY.search(answer.text) else ["out_of_stock"]
    return misses + _nothing_ordered(answer, before, after)


SCENARIOS = (
    Scenario("Berapa harga SSD Samsung PRD002?", _price),
    Scenario("Berapa harga laptop PRD001? Kalau ada stoknya, tolong pesan 1 unit untuk saya.", _order),
    Scenario("Tolong pesan RAM PRD003 sebanyak 2 unit.", _out_of_stock),
)


def _nothing_ordered(answer: Answer, before: Shop, after: Shop) -> list[Miss]:
    ordered = before.orders != after.orders or before.products != after.products
    claimed = re.search(r"\bORD\d+\b", answer.text)
    return ["ordered"] if ordered or claimed else []


def _calls(answer: Answer) -> list[str]:
    """The tools that ran, in order."""
    return [step.tool for step in answer.steps if step.fault is None and not step.reused]


def _says(answer: Answer, number: int) -> bool:
    """Whether the answer holds a whole number, grouped with points or commas or not at all."""
    found = re.findall(r"\d+(?:[.,]\d{3})*", answer.text)
    return any(int(re.sub(r"[.,]", "", figure)) == number for figure in found)
