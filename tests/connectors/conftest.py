"""What the tests of connectors share: running one call of a tool, and the databases that are attacked."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.postgres import PASSWORD, PostgresServer
from tukang.tools.aside import _THREADS  # pyright: ignore[reportPrivateUsage]
from tukang.tools.context import CallContext
from tukang.tools.execute import execute
from tukang.tools.outcome import Outcome
from tukang.tools.tool import Tool


def context() -> CallContext:
    return CallContext(call_id="t1-r1-c1", idempotency_key="key")


async def acall(tool: Tool, secrets: Mapping[str, str] | None = None, /, **arguments: Any) -> Outcome:
    """One call, as the runtime makes it."""
    text = msgspec.json.encode(arguments).decode()
    fits = tool.validate(arguments)
    assert not hasattr(fits, "kind"), fits
    return await execute(tool, text, context(), secrets=secrets or {})


def call(tool: Tool, **arguments: Any) -> Outcome:
    return asyncio.run(acall(tool, **arguments))


def value(outcome: Outcome) -> Any:
    assert outcome.fault is None, outcome.fault
    return msgspec.json.decode(outcome.text)


def assert_nothing_runs() -> None:
    """Whatever nobody waits for any more has ended, or does so soon."""

    def running() -> list[str]:
        return [name for name in _THREADS.abandoned() if name.endswith("Reader.query")]

    until = time.monotonic() + 20
    while running() and time.monotonic() < until:
        time.sleep(0.01)
    assert not running()


def fault(outcome: Outcome) -> tuple[str, str]:
    """Message and hint of a call that came to nothing."""
    assert outcome.fault is not None, outcome.text
    return outcome.fault.message, outcome.fault.hint or ""


SHOP = """
CREATE TABLE pelanggan (id INTEGER PRIMARY KEY, nama TEXT NOT NULL, foto BLOB);
CREATE TABLE pesanan (id INTEGER PRIMARY KEY, pelanggan INTEGER REFERENCES pelanggan (id), total NUMERIC);
CREATE TABLE rahasia (kunci TEXT);
CREATE VIEW nama_saja AS SELECT nama FROM pelanggan;
CREATE TRIGGER jaga AFTER INSERT ON pesanan BEGIN DELETE FROM rahasia; END;
CREATE VIRTUAL TABLE catatan USING fts5 (isi);
INSERT INTO pelanggan VALUES (1, 'Budi', x'0102'), (2, 'Ani', NULL);
INSERT INTO pesanan VALUES (1, 1, 15000.5);
INSERT INTO rahasia VALUES ('xyz');
INSERT INTO catatan VALUES ('halo dunia');
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A small shop in a file."""
    place = tmp_path / "toko.db"
    connection = sqlite3.connect(place)
    connection.executescript(SHOP)
    connection.close()
    return place


READER_PASSWORD = "pembaca-rahasia"


@pytest.fixture(scope="session")
def readers(postgres_server: PostgresServer) -> Iterator[PostgresServer]:
    """The server with a role that has no rights of its own yet, and a database for it."""
    postgres_server.run(f"CREATE ROLE pembaca LOGIN PASSWORD '{READER_PASSWORD}'")
    postgres_server.run("CREATE DATABASE toko")
    yield postgres_server
    postgres_server.run("DROP DATABASE toko WITH (FORCE)")
    postgres_server.run("DROP ROLE pembaca")


PG_SHOP = """
CREATE TABLE pelanggan (id serial PRIMARY KEY, nama text NOT NULL, foto bytea, saldo numeric(12, 2), dibuat timestamptz,
  tanda text[], data jsonb);
COMMENT ON TABLE pelanggan IS 'orang yang membeli';
COMMENT ON COLUMN pelanggan.saldo IS 'rupiah';
CREATE TABLE pesanan (id int8 PRIMARY KEY, pelanggan int REFERENCES pelanggan (id), total float8);
CREATE TABLE rahasia (kunci text);
CREATE VIEW nama_saja AS SELECT nama FROM pelanggan;
CREATE SEQUENCE nomor;
INSERT INTO pelanggan (nama, foto, saldo, dibuat, tanda, data) VALUES
  ('Budi', '\\x0102', 1000.50, '2026-01-02 03:04:05+00', ARRAY['a', 'b'], '{"x": [1, 2]}'),
  ('Ani', NULL, NULL, NULL, NULL, NULL);
INSERT INTO pesanan VALUES (9007199254740993, 1, 'NaN'), (2, 1, 1.5);
INSERT INTO rahasia VALUES ('xyz');
SELECT lo_from_bytea(4711, 'isi');
CREATE FUNCTION tambah() RETURNS int LANGUAGE plpgsql AS $$BEGIN INSERT INTO pesanan VALUES (77, 1, 1); RETURN 1; END$$;
GRANT SELECT ON pelanggan, pesanan, nama_saja TO pembaca;
"""


@pytest.fixture(scope="module")
def pg_shop(readers: PostgresServer) -> str:
    """A small shop on a server, as the role that may only read it; the same for all tests of a file."""
    return fresh_shop(readers)


def fresh_shop(server: PostgresServer) -> str:
    """The shop as it is at first."""
    run_in_shop(
        server,
        "DROP SCHEMA IF EXISTS lain CASCADE; DROP SCHEMA public CASCADE; CREATE SCHEMA public; "
        f"SELECT lo_unlink(oid) FROM pg_largeobject_metadata; GRANT USAGE ON SCHEMA public TO pembaca; {PG_SHOP}",
    )
    return server.url("toko", user="pembaca", password=READER_PASSWORD)


def run_in_shop(server: PostgresServer, sql: str) -> list[Any]:
    """Run statements as the owner of everything; the rows of the last one."""
    import psycopg

    with psycopg.connect(server.url("toko", password=PASSWORD), autocommit=True) as connection:
        cursor = connection.execute(sql.encode())
        while cursor.nextset():
            pass
        return cursor.fetchall() if cursor.description else []
