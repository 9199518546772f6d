"""Clocks, dice and polls that do not say whether they are repeatable: noticed once, and not oftener than needed."""

from __future__ import annotations

import json
import logging
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tukang import Agent, Toolbox, tool
from tukang.assistants import ASSISTANTS
from tukang.errors import ToolWarning
from tukang.models.scripted import Scripted, call
from tukang.tools.noticing import looks_like

REAL = Path(__file__).parents[3] / "shared" / "data" / "mcp_tools" / "tools.jsonl"


@pytest.mark.parametrize(
    ("name", "description", "kind"),
    [
        ("jam", "", "clock"),
        ("jam_berapa", "", "clock"),
        ("waktu_sekarang", "", "clock"),
        ("getCurrentTime", "", "clock"),
        ("now", "", "clock"),
        ("tanggal", "", "clock"),
        ("kota", "Get the current time in a city.", "clock"),
        ("kota", "Jam berapa sekarang di sebuah kota.", "clock"),
        ("roll_dice", "", "die"),
        ("angka_acak", "", "die"),
        ("pilih", "Pilih satu nama secara acak.", "die"),
        ("poll_job", "", "poll"),
        ("tunggu_hasil", "", "poll"),
        ("cek_status_tugas", "", "poll"),
        ("jobProgress", "", "poll"),
        ("unduhan", "Apakah unduhan sudah selesai.", "poll"),
        ("cek_harga_produk", "Cek harga dan stok sebuah produk.", None),
        ("harga_emas_sekarang", "Harga emas.", None),
        ("daftar_tunggu", "Daftar tunggu.", None),
        ("cek_status_pesanan", "Status pesanan.", None),
        ("buka", "Jam buka toko.", None),
        ("get_order_date", "The date of an order.", None),
        ("create_task", "Create a task.", None),
        ("", "", None),
    ],
)
def test_what_a_tool_looks_like(name: str, description: str, kind: str | None) -> None:
    assert looks_like(name, description) == kind


@pytest.mark.skipif(not REAL.exists(), reason="the test material is not on this machine")
def test_few_real_tools_are_taken_for_one() -> None:
    found: Counter[str] = Counter()
    with REAL.open() as lines:
        for line in lines:
            record = json.loads(line)
            described = record.get("tool", record)
            if kind := looks_like(described["name"], described.get("description") or ""):
                found[kind] += 1
    assert sum(found.values()) <= 6  # of 611
    assert found["clock"] == 1


def test_the_shipped_assistants_have_nothing_to_be_told() -> None:
    for assistant in ASSISTANTS.values():
        for made in assistant.agent(Scripted([])).toolbox:
            assert looks_like(made.name, made.contract.description) is None or "repeatable" in made.said


def _clock(**policy: Any) -> Any:
    @tool(effect="read", **policy)
    def jam_sekarang() -> str:
        """Jam."""
        return "10.00"

    return jam_sekarang


def test_a_clock_is_noticed_when_its_toolbox_is_made_and_saying_either_ends_it() -> None:
    with pytest.warns(
        ToolWarning, match=r"'jam_sekarang' looks like a clock.*repeatable=True.*repeatable=False"
    ) as seen:
        Toolbox.of([_clock()])
    assert len(seen) == 1
    Toolbox.of([_clock(repeatable=True)])  # warnings are errors here
    Toolbox.of([_clock(repeatable=False)])
    Toolbox.of([_clock(cache=5)])
    Toolbox.of([_clock(terminal=True)])


def test_where_warnings_are_errors_the_log_says_it_and_the_agent_is_built(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "tukang"):
        Toolbox.of([_clock()])
    assert ["jam_sekarang" in record.message for record in caplog.records] == [True]


def test_a_status_is_noticed_when_a_second_equal_call_of_another_round_did_not_run(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @tool(effect="read")
    def cek_status_pesanan(nomor: str) -> str:
        """Status."""
        return nomor

    @tool(effect="read")
    def cek_harga(nomor: str) -> str:
        """Harga."""
        return nomor

    status, price = call("cek_status_pesanan", nomor="a"), call("cek_harga", nomor="a")
    tools = [cek_status_pesanan, cek_harga]
    Agent(Scripted([[status, status, price], "ya"]), tools=tools).run("x")  # twins: nobody waited in between
    assert caplog.records == []
    with pytest.warns(ToolWarning, match="'cek_status_pesanan' was called again") as seen:
        Agent(Scripted([[status, price], [status, price], "ya"]), tools=tools).run("x")
    assert len(seen) == 1
