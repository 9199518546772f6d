"""`tukang db upgrade`, on both databases."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli


def test_a_file_is_made_and_is_up_to_date_then(cli: Cli, tmp_path: Path) -> None:
    first = cli("db", "upgrade", "--store", "sqlite:///a.db")
    assert (first.code, first.out) == (0, f"sqlite:///{tmp_path}/a.db: upgraded, step 1, 2\n")
    again = cli("db", "upgrade", "--store", "sqlite:///a.db", "--lang", "id")
    assert (again.code, again.out) == (0, f"sqlite:///{tmp_path}/a.db: sudah yang terbaru\n")


def test_postgres_wants_to_be_asked(cli: Cli, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUKANG_STORE", postgres_url)
    refused = cli("sessions", "list")
    assert refused.code != 0
    assert "tukang db upgrade" in refused.err
    assert "rahasia" not in refused.err
    done = cli("db", "upgrade")
    assert done.code == 0
    assert done.out.endswith("upgraded, step 1, 2\n")
    assert "rahasia" not in done.out
    assert cli("sessions", "list").code == 0
