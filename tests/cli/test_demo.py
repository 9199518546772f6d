"""`tukang demo`: it must show what happened, and fail when a scenario did."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Script, calls

REPLIES = (
    calls(("cek_harga_produk", {"product_id": "PRD002"})),
    "SSD Samsung PRD002 harganya Rp 1.200.000, stoknya 15.",
    calls(("cek_harga_produk", {"product_id": "PRD001"})),
    calls(("buat_pesanan", {"product_id": "PRD001", "quantity": 1, "user_id": "USR042"})),
    "Pesanan ORD1001 sudah dibuat, status pending.",
    calls(("cek_harga_produk", {"product_id": "PRD003"})),
    "Maaf, stok RAM PRD003 habis.",
)


@pytest.fixture(autouse=True)
def _temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def test_three_scenarios_and_the_order_in_a_fresh_database(cli: Cli, script: Script) -> None:
    model = script(*REPLIES)
    for _ in range(2):
        ran = cli("demo", "--model", model)
        assert ran.code == 0
        assert ran.err.count("✓ as it should be") == 3
        assert "ORD1001  PRD001 × 1  Rp 15.000.000  USR042  pending" in ran.err
        found = re.search(r"Database: (.+)", ran.err)
        assert found is not None
        database = sqlite3.connect(found[1])
        assert database.execute("SELECT nomor, user_id FROM pesanan").fetchall() == [("ORD1001", "USR042")]
        database.close()


def test_a_scenario_that_only_sounds_right_fails(cli: Cli, script: Script) -> None:
    pretending = [*REPLIES[:3], REPLIES[4], REPLIES[4], *REPLIES[5:]]  # said again when it is sent back
    ran = cli("demo", "--model", script(*pretending), "--lang", "id")
    assert ran.code == 1
    assert "✗ panggilan alat tidak seperti seharusnya, pesanan tidak ada di basis data" in ran.err
    assert ran.err.count("✓ sesuai") == 2
    assert "(tidak ada pesanan)" in ran.err
    assert "tidak ada di hasil alat dan tidak kamu sebut: ORD1001" in ran.err
