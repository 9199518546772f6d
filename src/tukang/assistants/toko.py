"""A shop assistant: it looks prices up and takes orders, for one customer at a time.

The model is told to check a price before it orders, but nothing rests on that: `buat_pesanan` refuses a product whose price
was not looked at in the conversation, and itself looks at price, stock and customer in the transaction that takes the stock.
So a model that forgets, or is talked into something, can order neither unseen, nor what is not there, nor for somebody else,
nor twice. And an order needs somebody's permission, who is shown what it comes to.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from pydantic import Field

from tukang.agent import Agent
from tukang.assistants.katalog import Katalog, KatalogSibuk, KunciTerpakai, StokKurang
from tukang.errors import ConfigurationError
from tukang.loop.limits import Limits
from tukang.models.base import Model, Settings
from tukang.tools.context import CallContext
from tukang.tools.outcome import NothingDone
from tukang.tools.tool import tool


class Pelanggan(msgspec.Struct, frozen=True):
    """The customer who is asking, as the host knows them. Pass it as `context=`.

    Raises:
        ConfigurationError: the id is empty, or has characters other than letters, digits, `_` and `-`.
    """

    user_id: str

    def __post_init__(self) -> None:
        if not self.user_id.replace("_", "").replace("-", "").isalnum():
            raise ConfigurationError(
                f"user id {self.user_id!r} is not usable: expected letters, digits, '_' and '-', such as USR042"
            )


_LOOKS = 1000
"""How many price checks are remembered here; the catalogue keeps more, for orders that are made in another process."""


class Toko:
    """The shop's tools over one catalogue."""

    def __init__(self, katalog: Katalog) -> None:
        self.katalog = katalog
        self._looked_at: dict[tuple[str, str], None] = {}

    @tool(effect="read", timeout=5)
    def cek_harga_produk(self, product_id: str, context: CallContext) -> dict[str, Any]:
        """Cek harga dan stok sebuah produk. Selalu pakai ini sebelum memesan.

        Argumen:
            product_id: ID produk, contoh: PRD001
        """
        product = self.katalog.product(product_id)
        if product is None:
            raise self._unknown(product_id)
        self._see(context, product.product_id)
        price = rupiah(product.harga)
        left = f"stok {product.stok}" if product.stok else "stok 0 (habis)"
        return {
            # said in a sentence as well: a small model repeats a sentence, and drops members it was not asked for
            "ringkasan": f"{product.nama} ({product.product_id}) harganya {price}, {left}.",
            "product_id": product.product_id,
            "harga": price,
            "stok": product.stok,
        }

    def buat_pesanan(
        self, product_id: str, quantity: Annotated[int, Field(ge=1)], user_id: str, context: CallContext
    ) -> dict[str, Any]:
        """Buat pesanan. Hanya kalau pengguna minta memesan, dan cek_harga_produk menunjukkan stoknya cukup.

        Argumen:
            product_id: ID produk, contoh: PRD001
            quantity: jumlah unit, minimal 1
            user_id: ID pelanggan yang sedang dilayani, contoh: USR001
        """
        customer = _customer(user_id, context)
        if self.katalog.product(product_id) and not self._has_seen(context, product_id):
            raise NothingDone(
                f"pesanan belum dibuat: harga {product_id} belum dicek",
                f"Panggil cek_harga_produk untuk {product_id} dulu, lalu pesan lagi.",
            )
        try:
            order = self.katalog.order(product_id, quantity, customer, context.idempotency_key)
        except StokKurang as error:
            left = error.produk
            raise NothingDone(
                f"pesanan tidak dibuat: stok {left.product_id} {left.nama} tinggal {left.stok}, diminta {quantity}",
                "Sampaikan apa adanya; jangan memesan jumlah lain tanpa persetujuan pelanggan.",
            ) from error
        except KunciTerpakai as error:
            raise NothingDone("pesanan tidak dibuat: panggilan ini sudah dipakai untuk pesanan lain") from error
        except KatalogSibuk as error:
            raise NothingDone("pesanan tidak dibuat: katalog sedang sibuk", "Coba sekali lagi.") from error
        if order is None:
            raise self._unknown(product_id)
        total = rupiah(order.total)
        return {
            "ringkasan": f"Pesanan {order.nomor} sudah dibuat: {order.quantity} unit {order.product_id}, total {total}, "
            f"status {order.status}.",
            "nomor_pesanan": order.nomor,
            "status": order.status,
            "quantity": order.quantity,
            "total": total,
        }

    def yang_dipesan(self, arguments: Mapping[str, Any], context: CallContext) -> str:  # noqa: ARG002
        """What an order comes to, for whoever is asked to permit it."""
        product_id, quantity = str(arguments["product_id"]), int(arguments["quantity"])
        product = self.katalog.product(product_id)
        if product is None:
            return f"{quantity} × {product_id}, yang tidak ada di katalog"
        left = "" if product.stok >= quantity else f" (stok tinggal {product.stok})"
        total = rupiah(product.harga * quantity)
        return f"{quantity} × {product.nama} ({product.product_id}), total {total}{left}"

    def _see(self, context: CallContext, product_id: str) -> None:
        conversation = _conversation(context)
        while len(self._looked_at) >= _LOOKS:
            self._looked_at.pop(next(iter(self._looked_at)), None)
        self._looked_at[conversation, product_id.casefold()] = None
        self.katalog.saw(conversation, product_id)

    def _has_seen(self, context: CallContext, product_id: str) -> bool:
        """Whether a product's price was looked at in this conversation."""
        conversation = _conversation(context)
        here = (conversation, product_id.strip().casefold()) in self._looked_at
        return here or self.katalog.has_seen(conversation, product_id)

    def _unknown(self, product_id: str) -> NothingDone:
        known = ", ".join(f"{product.product_id} ({product.nama})" for product in self.katalog.products())
        return NothingDone(f"produk {product_id!r} tidak ada di katalog", f"Yang ada: {known}")


def agent(model: str | Model | None = None, database: str | os.PathLike[str] | None = None) -> Agent:
    """The assistant. Run it with `context=Pelanggan("USR042")`; without a customer it answers and sells nothing. Nor does it
    without somebody who permits an order: `approve=`.

    Args:
        model: as for `Agent`.
        database: the catalogue's file; see `katalog.default_path`.
    """
    shop = Toko(Katalog(database))
    return Agent(
        model,
        instructions,
        tools=[
            shop.cek_harga_produk,
            tool(shop.buat_pesanan, effect="write", timeout=10, approval=shop.yang_dipesan),
        ],
        limits=Limits(rounds=6, seconds=300),  # the local model may need minutes on a busy machine
        # the likeliest words, each time the same: sampled, a price was sometimes told without the stock beside it
        settings=Settings(temperature=0.0, max_tokens=1024),
        name="toko",
        language="id",
        grounded=True,
    )


def instructions(customer: Pelanggan | None) -> str:
    """What the model is told for this customer."""
    who = (
        f"user_id pelanggan ini: {customer.user_id}\nPesanan hanya untuk user_id itu."
        if customer
        else "Pelanggan belum masuk, jadi belum bisa memesan; pertanyaan tentang harga dan stok tetap dijawab."
    )
    return (
        "Kamu asisten toko elektronik.\n"
        "- Selalu cek harga dan stok dengan cek_harga_produk sebelum buat_pesanan.\n"
        "- Jawaban tentang harga selalu menyebut harga dan stoknya.\n"
        "- Stok 0 atau kurang dari yang diminta: jangan memesan, katakan stoknya habis atau kurang.\n"
        "- Memesan hanya kalau pelanggan memintanya. Setelah memesan, sebutkan nomor pesanan, total dan status.\n"
        "- Jangan mengarang produk, harga, stok atau nomor pesanan.\n"
        f"{who}"
    )


def rupiah(amount: int) -> str:
    """`Rp 15.000.000`."""
    return f"Rp {amount:,}".replace(",", ".")


def _conversation(context: CallContext) -> str:
    """What the prices that were looked at are noted under: the session, or the turn where there is none."""
    return context.session or context.call_id.partition("-")[0]


def _customer(user_id: str, context: CallContext) -> str:
    """The caller's id, if the order is for them."""
    caller = context.context
    if not isinstance(caller, Pelanggan):
        raise NothingDone("pesanan tidak dibuat: pelanggan belum masuk", "Minta pelanggan masuk dulu.")
    if user_id.strip().casefold() != caller.user_id.casefold():
        raise NothingDone(
            f"pesanan tidak dibuat: hanya boleh untuk {caller.user_id}, bukan untuk {user_id}",
            "Jangan memesan atas nama orang lain.",
        )
    return caller.user_id
