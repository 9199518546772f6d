"""The export: the customer's own orders, of the days that were asked for, in a file that is whole or not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tukang import CallContext, NothingDone, TaskCancelled, Toolbox
from tukang.assistants.ekspor import Ekspor, Pelanggan
from tukang.assistants.katalog import Katalog


def context(user: str | None = "USR042", key: str = "k", **more: Any) -> CallContext[Any]:
    caller = None if user is None else Pelanggan(user)
    return CallContext(call_id="c", idempotency_key=key, context=caller, **more)


@pytest.fixture
def ekspor(tmp_path: Path) -> Ekspor:
    katalog = Katalog(tmp_path / "toko.db")
    for number, user in enumerate(("USR042", "USR001", "usr042")):
        katalog.order("PRD002", number + 1, user, f"key{number}")
    return Ekspor(katalog, tmp_path / "ekspor", jeda=0.0)


def files(ekspor: Ekspor) -> list[Path]:
    return sorted(ekspor.folder.iterdir()) if ekspor.folder.exists() else []


@pytest.mark.parametrize("format", ["csv", "json"])
def test_the_same_call_writes_the_same_file(ekspor: Ekspor, format: Any) -> None:
    told: list[float | None] = []
    first = ekspor.mulai_ekspor_data(format, context(tell=lambda percent, _: told.append(percent)))
    again = ekspor.mulai_ekspor_data(format, context())
    assert first == again
    (file,) = files(ekspor)
    assert (file.suffix, first["jumlah"], str(file)) == (f".{format}", 2, first["berkas"])
    assert told == [0.0, 50.0, 100.0]
    ekspor.mulai_ekspor_data(format, context(key="another"))
    assert len(files(ekspor)) == 2


def test_only_the_days_that_were_asked_for(ekspor: Ekspor) -> None:
    today = ekspor.katalog.orders()[0].dibuat[:10]
    for when in (today, today[:7], today[:4], None):
        made = ekspor.mulai_ekspor_data("json", context(), when)
        assert len(json.loads(Path(made["berkas"]).read_text())) == 2
    with pytest.raises(NothingDone) as nothing:
        ekspor.mulai_ekspor_data("json", context(), "1999-01")
    assert today in str(nothing.value.hint)


def test_nobody_and_who_has_no_orders_export_nothing(ekspor: Ekspor) -> None:
    for user in (None, "USR999"):
        with pytest.raises(NothingDone):
            ekspor.mulai_ekspor_data("csv", context(user))
    assert files(ekspor) == []


def test_a_cancelled_export_leaves_no_file(ekspor: Ekspor) -> None:
    with pytest.raises(TaskCancelled):
        ekspor.mulai_ekspor_data("csv", context(cancelling=lambda: True))
    assert files(ekspor) == []


def test_a_date_is_checked_before_there_is_a_task(ekspor: Ekspor) -> None:
    tool = Toolbox.of([ekspor.mulai_ekspor_data])[0]
    assert not hasattr(tool.validate({"format": "csv", "filter_tanggal": "2026-11"}), "kind")
    assert hasattr(tool.validate({"format": "csv", "filter_tanggal": "November"}), "kind")
    assert hasattr(tool.validate({"format": "xls"}), "kind")
