"""`tukang kbli`: a table is brought in, and what was found in it is said."""

from __future__ import annotations

import json
from pathlib import Path

from tests.assistants.kbli.test_tabel import SMALL
from tests.cli.conftest import Cli


def test_the_command(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "kecil.json"
    path.write_text(json.dumps(SMALL), "utf-8")
    before = cli("kbli", "status")
    assert "KBLI 2020: not brought in" in before.out
    assert "starter table" in before.out
    done = cli("--lang", "id", "kbli", "import", str(path), "--edisi", "2020")
    assert done.code == 0
    assert "Baris: 8\nKode lima angka: 2\nTingkat di atasnya (dilewati): 1: 1, 4: 2\nGanda: 01111\n" in done.out
    assert "KBLI 2020: 2 codes (whole table)" in cli("kbli", "status").out
    refused = cli("kbli", "import", str(path), "--edisi", "2020", "--kolom", "kode")
    assert refused.code == 2
    assert "write kode=NAME" in refused.err
    assert "KBLI 2020: 2 codes" in cli("kbli", "status").out
