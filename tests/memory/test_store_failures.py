"""When the database cannot: clear kinds of errors, nothing half-written, and going on afterwards."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.memory.turns import asked, conversation, replied, started, whole_turn
from tukang.errors import ConfigurationError
from tukang.loop.events import Event
from tukang.memory.stores.addresses import store_at
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import StoreError
from tukang.memory.stores.postgres import without_password
from tukang.memory.stores.values import Lease


async def kind_of_refusal(store: Store) -> str:
    """The kind of error that taking a session ends in."""
    try:
        with pytest.raises(StoreError) as failed:
            await store.take("budi", "here", 60)
    finally:
        await store.close()
    assert "rahasia" not in str(failed.value)
    return failed.value.kind


async def _fill(store: Store, lease: Lease, written: list[Event], size: int) -> None:
    """Append until it cannot be done; what was appended is added to `written`."""
    while len(written) < 1000:
        batch = [replied("x" * size), asked()]
        await store.append(lease, "t1", batch, len(written), sync=True)
        written += batch


# ── SQLite ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_full_disk_loses_nothing_and_writes_no_half(tmp_path: Path) -> None:
    async def work() -> None:
        store = store_at(f"sqlite:///{tmp_path}/tukang.db")
        lease = await store.take("budi", "here", 60)
        written = [started("t1")]
        await store.append(lease, "t1", written, 0)
        await store._lane.run(lambda db: _bound(db, 40))  # type: ignore[attr-defined]
        with pytest.raises(StoreError) as failed:
            await _fill(store, lease, written, 3000)
        assert failed.value.kind == "full"
        assert await store.read("t1") == tuple(written)
        with pytest.raises(StoreError):
            await store.append(lease, "t1", [replied("y" * 50_000)], len(written))
        await store._lane.run(lambda db: _bound(db, 1000))  # type: ignore[attr-defined]
        await store.append(lease, "t1", [asked()], len(written))
        assert len(await store.read("t1")) == len(written) + 1
        await store.close()

    def _bound(db, pages: int) -> None:  # type: ignore[no-untyped-def]
        db._connection.execute(f"PRAGMA max_page_count = {pages}")

    asyncio.run(work())


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only root can make a small disk")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_disk_that_really_is_full(small_disk: Path) -> None:
    async def work() -> None:
        store = store_at(f"sqlite:///{small_disk}/tukang.db")
        lease = await store.take("budi", "here", 60)
        filler = small_disk / "filler"
        filler.write_bytes(b"x" * 500_000)
        written = [started("t1")]
        await store.append(lease, "t1", written, 0)
        with pytest.raises(StoreError) as failed:
            await _fill(store, lease, written, 20_000)
        assert failed.value.kind == "full"
        assert await store.read("t1") == tuple(written)
        filler.unlink()
        await store.append(lease, "t1", [asked()], len(written), sync=True)
        await store.close()
        assert len(await store.read("t1")) == len(written) + 1
        await store.close()

    asyncio.run(work())


_AS_NOBODY = """
import asyncio, os, sys
from tukang.memory.stores.addresses import store_at
from tukang.memory.stores.errors import StoreError

if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)

async def work():
    try:
        await store_at(sys.argv[1]).take("budi", "here", 60)
    except StoreError as error:
        print(error.kind, error)
    else:
        print("taken")

asyncio.run(work())
"""


@pytest.mark.parametrize(("mode", "expected"), [(0o444, "read_only"), (0o000, "denied")])
def test_a_file_one_may_not_write(mode: int, expected: str) -> None:
    with tempfile.TemporaryDirectory() as made:
        directory = Path(made)
        file = directory / "tukang.db"
        store = store_at(f"sqlite:///{file}")
        asyncio.run(conversation(store, "budi", "a"))
        asyncio.run(store.close())
        file.chmod(mode)
        directory.chmod(0o777)
        code = [sys.executable, "-c", _AS_NOBODY, f"sqlite:///{file}"]
        said_by = subprocess.run(code, capture_output=True, text=True, timeout=60, check=True).stdout
        assert said_by.split()[0] == expected, said_by
        assert str(file) in said_by


def test_a_database_that_another_process_holds(tmp_path: Path) -> None:
    async def work() -> None:
        store = store_at(f"sqlite:///{tmp_path}/tukang.db", patience=0.2)
        lease = await store.take("budi", "here", 60)
        other = sqlite3.connect(tmp_path / "tukang.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        before = time.monotonic()
        with pytest.raises(StoreError) as failed:
            await store.append(lease, "t1", [started("t1")], 0)
        assert failed.value.kind == "locked"
        assert 0.15 < time.monotonic() - before < 5
        assert await store.turns("budi", finished_only=False) == [], "readers go on"
        other.execute("ROLLBACK")
        other.close()
        await whole_turn(store, lease, "t2")
        await store.close()

    asyncio.run(work())


def test_files_that_are_no_database(tmp_path: Path) -> None:
    (tmp_path / "noise.db").write_bytes(b"This is not an SQLite database. " * 100)
    (tmp_path / "directory.db").mkdir()
    for name, expected in (
        ("noise.db", "corrupt"),
        ("nowhere/tukang.db", "not_found"),
        ("directory.db", "not_found"),
    ):
        assert asyncio.run(kind_of_refusal(store_at(f"sqlite:///{tmp_path}/{name}"))) == expected, name
    assert not (tmp_path / "nowhere").exists()


def test_a_batch_that_must_last_is_synced_and_others_are_not(tmp_path: Path) -> None:
    statements: list[str] = []

    async def work() -> None:
        store = store_at(f"sqlite:///{tmp_path}/tukang.db")
        lease = await store.take("budi", "here", 60)
        await store._lane.run(lambda db: db._connection.set_trace_callback(statements.append))  # type: ignore[attr-defined]
        await store.append(lease, "t1", [started("t1")], 0)
        assert _level(statements) == []
        await store.append(lease, "t1", [asked()], 1, sync=True)
        assert _level(statements) == ["PRAGMA synchronous = FULL"]
        await store.append(lease, "t1", [asked()], 2, sync=True)
        assert _level(statements) == []
        await store.append(lease, "t1", [asked()], 3)
        assert _level(statements) == ["PRAGMA synchronous = NORMAL"]
        await store.close()

    def _level(seen: list[str]) -> list[str]:
        """What was said about syncing before the transaction began."""
        begun = seen.index("BEGIN IMMEDIATE")
        said_before = [one for one in seen[:begun] if "synchronous" in one]
        assert not [one for one in seen[begun:] if "synchronous" in one]
        seen.clear()
        return said_before

    asyncio.run(work())


# ── addresses ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "url", ["", "tukang.db", "sqlite://", "sqlite:///", "sqlite://tukang.db", "sqlite:///:memory:", "mysql://x/y"]
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(ConfigurationError, match="sqlite:///"):
        store_at(url)


def test_one_store_for_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = store_at("sqlite:///a%20b.db")
    assert store is store_at("sqlite:///a%20b.db")
    assert store.name == f"sqlite:///{tmp_path}/a b.db"
    monkeypatch.chdir(os.sep)
    asyncio.run(conversation(store, "budi", "a"))
    asyncio.run(store.close())
    assert (tmp_path / "a b.db").exists()


def test_no_password_is_shown() -> None:
    pytest.importorskip("psycopg")
    assert store_at("postgresql://u:rahasia@h:1/d?sslmode=require").name == "postgresql://u@h:1/d?sslmode=require"
    assert (
        without_password("postgresql://h/d?user=u&password=rahasia&x=1") == "postgresql://h/d?user=u&password=***&x=1"
    )
    with pytest.raises(ConfigurationError) as refused:
        store_at("postgresql://u:rahasia@h")
    assert "rahasia" not in str(refused.value)
