"""The shop's export assistant: a customer's orders as a file, which takes a while, so that it is done outside the turn.

Apart from `toko`, so that a small model that sells has no more tools before it than it needs. The export can be begun again
at any time: it writes a file of the call's own, at once whole or not at all.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from pydantic import Field

from tukang.agent import Agent
from tukang.assistants.katalog import Katalog, Pesanan, data_folder
from tukang.assistants.toko import Pelanggan
from tukang.loop.limits import Limits
from tukang.models.base import Model, Settings
from tukang.tasks.embedded import Embedded
from tukang.tools.context import CallContext
from tukang.tools.long import FINAL, Long, TaskState
from tukang.tools.outcome import NothingDone
from tukang.tools.tool import tool

Format = Literal["csv", "json"]

JEDA = 0.2
"""Seconds that each order takes. A large shop's export takes minutes; a small one's is to be followed as well."""

_TUNGGU = 10.0
"""Seconds that a question about an export waits for its end, so that a model does not ask again and again."""

_TANGGAL = r"\d{4}(-\d{2}){0,2}"
_KEADAAN: dict[TaskState, str] = {
    "queued": "menunggu",
    "running": "berjalan",
    "done": "selesai",
    "failed": "gagal",
    "cancelled": "dibatalkan",
    "expired": "kedaluwarsa",
    "unknown": "tidak diketahui hasilnya",
}


class Ekspor:
    """The export tools over one catalogue.

    Args:
        katalog: where the orders are.
        folder: where the files go.
        jeda: seconds that each order takes.
    """

    def __init__(self, katalog: Katalog, folder: Path, jeda: float = JEDA) -> None:
        self.katalog = katalog
        self.folder = folder
        self.jeda = jeda

    @tool(effect="idempotent", approval="never", long=Long(attempts=3, wait=5.0))
    def mulai_ekspor_data(
        self,
        format: Format,
        context: CallContext,
        filter_tanggal: Annotated[str | None, Field(pattern=rf"^{_TANGGAL}$")] = None,
    ) -> dict[str, Any]:
        """Mulai mengekspor pesanan pelanggan ke sebuah berkas. Hasilnya nomor tugas; ekspornya berjalan sendiri.

        Argumen:
            format: csv atau json
            filter_tanggal: hanya pesanan tahun, bulan atau hari ini, contoh: 2026, 2026-11, 2026-11-30; kosong: semua
        """
        orders = self._orders(_customer(context), filter_tanggal)
        for done, order in enumerate(orders):
            context.progress(100 * done / len(orders), f"{order.nomor}, {done + 1} dari {len(orders)}")
            context.stop_if_cancelled()
            time.sleep(self.jeda)
        path = self._written(orders, format, context.idempotency_key)
        context.progress(100, "selesai")
        return {
            "ringkasan": f"{len(orders)} pesanan sudah diekspor ke {path}.",
            "jumlah": len(orders),
            "berkas": str(path),
        }

    @tool(effect="read", repeatable=True, pause=1.0)
    async def cek_status_task(self, task_id: str, context: CallContext) -> dict[str, Any]:
        """Cek sudah sejauh mana sebuah ekspor, dan hasilnya kalau sudah selesai.

        Argumen:
            task_id: nomor tugas dari mulai_ekspor_data
        """
        left = context.seconds_left()
        wait = _TUNGGU if left is None else min(_TUNGGU, left / 2)
        seen = None if context.tasks is None else await context.tasks.look(task_id.strip(), wait)
        if seen is None:
            raise NothingDone(f"tugas {task_id!r} tidak ada", "Pakai nomor tugas dari mulai_ekspor_data.")
        state = _KEADAAN[seen.state]
        if seen.state == "done" and seen.outcome is not None:
            return {"task_id": seen.id, "status": state, **msgspec.json.decode(seen.outcome.text)}
        percent = "" if seen.percent is None or seen.state in FINAL else f" {seen.percent:.0f}%"
        told = {
            "task_id": seen.id,
            "status": state,
            "ringkasan": f"Ekspor {seen.id} {state}{percent}. {seen.message}".strip(),
        }
        return told if seen.outcome is None else {**told, "kesalahan": seen.outcome.text}

    def _orders(self, user_id: str, when: str | None) -> list[Pesanan]:
        own = [order for order in self.katalog.orders() if order.user_id.casefold() == user_id.casefold()]
        orders = [order for order in own if when is None or order.dibuat.startswith(when)]
        if not orders:
            known = ", ".join(sorted({order.dibuat[:10] for order in own})) or "belum ada pesanan"
            raise NothingDone("tidak ada pesanan untuk diekspor", f"Tanggal yang ada pesanannya: {known}.")
        return orders

    def _written(self, orders: Sequence[Pesanan], format: Format, key: str) -> Path:
        """Write the file, whole or not at all; the same call writes the same file."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"pesanan-{hashlib.sha256(key.encode()).hexdigest()[:8]}.{format}"
        draft = path.with_suffix(f".{os.getpid()}.tmp")
        draft.write_bytes(
            _as_csv(orders) if format == "csv" else msgspec.json.format(msgspec.json.encode(orders), indent=2)
        )
        draft.replace(path)
        return path


def agent(
    model: str | Model | None = None, database: str | os.PathLike[str] | None = None, *, jeda: float = JEDA
) -> Agent:
    """The assistant. Run it in a session in a store with `context=Pelanggan("USR042")`; then an export outlives the process.

    Args:
        model: as for `Agent`.
        database: the catalogue's file; see `katalog.default_path`.
        jeda: seconds that each order takes.
    """
    tools = Ekspor(Katalog(database), data_folder() / "ekspor", jeda)
    return Agent(
        model,
        instructions,
        tools=[tools.mulai_ekspor_data, tools.cek_status_task],
        limits=Limits(rounds=6, seconds=300),
        settings=Settings(temperature=0.1, max_tokens=1024),
        name="ekspor",
        language="id",
        tasks=Embedded(caller=lambda kept: msgspec.convert(kept, Pelanggan)),
    )


def instructions(customer: Pelanggan | None) -> str:
    """What the model is told for this customer."""
    who = (
        f"Pelanggan yang dilayani: {customer.user_id}."
        if customer
        else "Pelanggan belum masuk, jadi belum bisa mengekspor."
    )
    return (
        "Kamu asisten ekspor data toko.\n"
        "- Untuk mengekspor, panggil mulai_ekspor_data satu kali, lalu sebutkan nomor tugasnya.\n"
        "- Kalau ditanya sudah sejauh mana, pakai cek_status_task dengan nomor tugas itu.\n"
        "- Kalau sudah selesai, sebutkan berkasnya.\n"
        f"{who}"
    )


def _customer(context: CallContext) -> str:
    if not isinstance(context.context, Pelanggan):
        raise NothingDone("tidak ada yang diekspor: pelanggan belum masuk", "Minta pelanggan masuk dulu.")
    return context.context.user_id


def _as_csv(orders: Sequence[Pesanan]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(Pesanan.__struct_fields__)
    writer.writerows(msgspec.structs.astuple(order) for order in orders)
    return text.getvalue().encode()


__all__ = ["Ekspor", "Pelanggan", "agent"]
