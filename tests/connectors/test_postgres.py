"""The SQL tool on a real Postgres: what it shows and brings, that nothing sent to it writes, and which roles it takes."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.connectors.conftest import (
    READER_PASSWORD,
    assert_nothing_runs,
    call,
    context,
    fault,
    run_in_shop,
    value,
)
from tests.postgres import PASSWORD, PostgresServer
from tukang.connectors import sql_tool
from tukang.errors import ConfigurationError
from tukang.tools.execute import execute

STATEMENTS = [
    "INSERT INTO pesanan VALUES (3, 1, 1)",
    "INSERT INTO pesanan VALUES (3, 1, 1) RETURNING id",
    "UPDATE pesanan SET total = 0",
    "DELETE FROM pesanan RETURNING id",
    "TRUNCATE pesanan",
    "MERGE INTO pesanan USING (SELECT 1) AS x ON false WHEN NOT MATCHED THEN INSERT VALUES (3, 1, 1)",
    "WITH x AS (INSERT INTO pesanan VALUES (3, 1, 1) RETURNING id) SELECT * FROM x",
    "WITH x AS (DELETE FROM pesanan RETURNING id) SELECT * FROM x",
    "SELECT * INTO baru FROM pesanan",
    "CREATE TABLE baru (x int)",
    "CREATE TEMP TABLE baru (x int)",
    "CREATE TABLE baru AS SELECT 1",
    "CREATE VIEW baru AS SELECT 1",
    "CREATE FUNCTION jahat() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "DROP TABLE pesanan",
    "ALTER TABLE pesanan ADD COLUMN x int",
    "ALTER ROLE pembaca SET default_transaction_read_only = off",
    "ALTER ROLE pembaca PASSWORD 'baru'",
    "GRANT ALL ON pesanan TO pembaca",
    "REFRESH MATERIALIZED VIEW nama_saja",
    "VACUUM",
    "ANALYZE",
    "REINDEX TABLE pesanan",
    "CLUSTER",
    "CHECKPOINT",
    "COPY pesanan TO STDOUT",
    "COPY pesanan FROM STDIN",
    "COPY (SELECT 1) TO PROGRAM 'touch /tmp/x'",
    "COMMENT ON TABLE pesanan IS 'x'",
    "LOCK TABLE pesanan",
    "DO $$BEGIN INSERT INTO pesanan VALUES (3, 1, 1); END$$",
    "CALL tidak_ada()",
    "COMMIT",
    "ROLLBACK",
    "END",
    "BEGIN",
    "ABORT",
    "START TRANSACTION READ WRITE",
    "SAVEPOINT a",
    "PREPARE TRANSACTION 'a'",
    "SET TRANSACTION READ WRITE",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
    "SET default_transaction_read_only = off",
    "SET ROLE tukang",
    "SET SESSION AUTHORIZATION tukang",
    "RESET ALL",
    "DISCARD ALL",
    "LISTEN a",
    "NOTIFY a",
    "LOAD 'x'",
    "PREPARE a AS DELETE FROM pesanan",
    "EXECUTE asked",
    "DECLARE a CURSOR FOR SELECT 1",
    "FETCH ALL FROM tukang",
    "CLOSE tukang",
    "EXPLAIN ANALYZE DELETE FROM pesanan",
    "EXPLAIN SELECT 1",
    "SHOW ALL",
    "SELECT 1; DELETE FROM pesanan",
    "SELECT 1; COMMIT; DELETE FROM pesanan",
    "COMMIT; DELETE FROM pesanan; BEGIN",
    "SELECT 1) AS asked (c0); DELETE FROM pesanan; SELECT (1",
    "SELECT 1) AS x, (SELECT 2",
    "SELECT 1 /* ",
    "SELECT 'a",
    "SELECT $x$a",
    "SELECT 1 \0; DELETE FROM pesanan",
    "",
    "-- tidak ada",
    "SELECT * FROM pesanan FOR UPDATE",
    "SELECT * FROM pesanan FOR KEY SHARE",
]

FUNCTIONS = [
    "tambah()",
    "nextval('nomor')",
    "setval('nomor', 7)",
    "lo_create(0)",
    "lo_creat(-1)",
    "lo_from_bytea(0, 'x')",
    "lo_put(4711, 0, 'x')",
    "lo_unlink(4711)",
    "lo_import('/etc/passwd')",
    "lo_export(4711, '/tmp/x')",
    "pg_read_file('/etc/passwd')",
    "pg_read_binary_file('/etc/passwd')",
    "pg_ls_dir('.')",
    "pg_stat_file('/etc/passwd')",
    "pg_reload_conf()",
    "pg_rotate_logfile()",
    "pg_switch_wal()",
    "pg_promote()",
    "pg_stat_reset()",
    "pg_create_restore_point('x')",
    "pg_create_physical_replication_slot('x')",
    "set_config('transaction_read_only', 'off', true)",
    "set_config('transaction_read_only', 'off', false)",
    "set_config('role', 'tukang', true)",
    "set_config('session_authorization', 'tukang', true)",
    "query_to_xml('DELETE FROM pesanan', true, true, '')",
    "query_to_xml('DELETE FROM pesanan RETURNING id', true, true, '')",
    "query_to_xml('COMMIT', true, true, '')",
    "cursor_to_xml('tukang', 1, true, true, '')",
    "set_config('transaction_read_only', 'off', true), query_to_xml('DELETE FROM pesanan', true, true, '')",
    "set_config('default_transaction_read_only', 'off', false), tambah()",
    "pg_terminate_backend(pg_backend_pid())",
]
"""Functions that write, reach outside, or loosen what holds a session."""

STATE = """
SELECT (SELECT array_agg(p ORDER BY id) FROM pesanan p)::text, (SELECT array_agg(p ORDER BY id) FROM pelanggan p)::text,
  (SELECT array_agg(kunci) FROM rahasia), (SELECT last_value::text || is_called FROM nomor), lo_get(4711),
  (SELECT count(*) FROM pg_largeobject_metadata), (SELECT array_agg(relname ORDER BY relname) FROM pg_class),
  (SELECT count(*) FROM pg_proc), (SELECT array_agg(rolconfig::text) FROM pg_roles),
  (SELECT rolpassword FROM pg_authid WHERE rolname = 'pembaca'), (SELECT count(*) FROM pg_replication_slots)
"""


@pytest.fixture(scope="module")
def tool(pg_shop: str) -> Any:
    return sql_tool(pg_shop, seconds=5)


def test_the_description_shows_what_the_role_may_read(pg_shop: str) -> None:
    shown = sql_tool(pg_shop).contract.description
    assert "saldo numeric(12,2) -- rupiah, dibuat timestamptz, tanda text[], data jsonb) " in shown
    assert "-- orang yang membeli" in shown
    assert "pesanan(id bigint key, pelanggan integer → pelanggan.id, total float8)" in shown
    assert "view nama_saja(nama text)" in shown
    assert "rahasia" not in shown
    assert READER_PASSWORD not in shown


def test_rows_come_in_the_words_of_json(tool: Any) -> None:
    found = value(
        call(tool, sql="SELECT * FROM pelanggan WHERE nama = $1 OR id = $2 ORDER BY id;", parameters=["Budi", 2])
    )
    assert found["columns"] == ["id", "nama", "foto", "saldo", "dibuat", "tanda", "data"]
    budi, ani = found["rows"]
    assert budi[:4] == [1, "Budi", "<2 bytes>", "1000.50"]
    assert budi[4].startswith("2026-01-02 03:04:05") or budi[4].startswith("2026-01-0")
    assert budi[5:] == [["a", "b"], {"x": [1, 2]}]
    assert ani == [2, "Ani", None, None, None, None, None]
    found = value(call(tool, sql="SELECT id, id, total FROM pesanan ORDER BY id DESC"))
    assert found["rows"] == [["9007199254740993", "9007199254740993", "NaN"], [2, 2, 1.5]]
    odd = "SELECT 'a', NULL, true, 1.10, date '2026-11-30', ROW(1, 'x'), '{}'::int[], 'Infinity'::float8 -- x"
    expected = ["a", None, True, "1.10", "2026-11-30", "(1,x)", [], "Infinity"]
    assert value(call(tool, sql=odd))["rows"] == [expected]
    assert value(call(tool, sql="VALUES (1), (2)"))["rows"] == [[1], [2]]
    assert value(call(tool, sql="TABLE nama_saja"))["columns"] == ["nama"]


def test_nothing_that_is_sent_writes(readers: PostgresServer, tool: Any) -> None:
    before = run_in_shop(readers, STATE)
    for sql in (*STATEMENTS, *(f"SELECT {one}" for one in FUNCTIONS)):
        assert call(tool, sql=sql or " ").fault is not None, sql
    assert run_in_shop(readers, STATE) == before


def test_even_a_superuser_writes_no_rows(readers: PostgresServer, pg_shop: str) -> None:  # noqa: ARG001 - it comes first
    """What the transaction alone holds back. What a superuser can do to files and to the server is not among it: that is why
    none is taken."""
    rows = "SELECT (SELECT array_agg(p ORDER BY id) FROM pesanan p)::text, (SELECT last_value FROM nomor), lo_get(4711)"
    before = run_in_shop(readers, rows)
    tool = sql_tool(readers.url("toko"), any_role=True, seconds=5)
    for sql in (*STATEMENTS, *(f"SELECT {one}" for one in FUNCTIONS if not _OUTSIDE.search(one))):
        call(tool, sql=sql or " ")
    assert run_in_shop(readers, rows) == before


_OUTSIDE = re.compile(r"export|import|pg_rotate|pg_reload|pg_promote|_slot|stat_reset|restore_point|switch_wal")


def test_what_a_query_sets_locks_or_announces_is_gone_with_it(readers: PostgresServer, tool: Any) -> None:
    import psycopg

    with psycopg.connect(readers.url("toko", password=PASSWORD), autocommit=True) as listener:
        listener.execute("LISTEN kabar")
        call(tool, sql="SELECT pg_notify('kabar', 'x'), pg_advisory_lock(7), set_config('tukang.x', 'y', false)")
        assert list(listener.notifies(timeout=0.2)) == []
        assert listener.execute("SELECT pg_try_advisory_lock(7)").fetchone() == (True,)
    assert value(call(tool, sql="SELECT current_setting('tukang.x', true)"))["rows"] == [[None]]


# ── bounds ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def running(readers: PostgresServer) -> int:
    (found,) = run_in_shop(readers, "SELECT count(*) FROM pg_stat_activity WHERE usename = 'pembaca'")[0]
    return found


def assert_nobody_is_connected(readers: PostgresServer) -> None:
    wait_for(lambda: running(readers) == 0)


def wait_for(come: Callable[[], bool]) -> None:
    """Until it is so, which is soon."""
    until = time.monotonic() + 20
    while not come():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT pg_sleep(60)",
        "SELECT set_config('statement_timeout', '0', false), pg_sleep(60)",
        "SELECT count(*) FROM generate_series(1, 1000000000)",
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n",
    ],
)
def test_a_slow_query_is_stopped_at_the_server(readers: PostgresServer, pg_shop: str, sql: str) -> None:
    assert fault(call(sql_tool(pg_shop, seconds=0.3), sql=sql))[0] == "it was stopped after 0.3 seconds"
    assert_nobody_is_connected(readers)
    assert_nothing_runs()


def test_a_query_that_turns_the_servers_bound_off_between_rows_is_stopped_from_here(
    readers: PostgresServer, pg_shop: str
) -> None:
    sql = "SELECT set_config('statement_timeout', '0', false), pg_sleep(0.01) FROM generate_series(1, 100000)"
    assert "it was stopped" in fault(call(sql_tool(pg_shop, seconds=0.5, rows=10_000, size=10_000_000), sql=sql))[0]
    assert_nobody_is_connected(readers)


def test_cancelling_the_call_stops_the_query(readers: PostgresServer, pg_shop: str) -> None:
    slow = sql_tool(pg_shop, seconds=60)

    async def cancelled() -> None:
        task = asyncio.create_task(execute(slow, '{"sql":"SELECT pg_sleep(60)"}', context()))
        await asyncio.to_thread(wait_for, lambda: running(readers) > 0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert_nobody_is_connected(readers)
    assert_nothing_runs()


def test_rows_and_values_are_bounded_before_they_leave_the_server(pg_shop: str) -> None:
    bounded = sql_tool(pg_shop, rows=250, seconds=10, value=10)
    found = value(call(bounded, sql="SELECT i, repeat('x', 1000000) FROM generate_series(1, 1000) AS i"))
    assert [row[0] for row in found["rows"]] == list(range(1, 251))
    assert found["rows"][0][1] == "xxxxxxxxxx… (cut)"
    assert "first 250" in found["cut"]
    assert "cut" not in value(call(bounded, sql="SELECT generate_series(1, 250)"))
    assert "cut" not in value(call(bounded, sql="SELECT generate_series(1, 100)"))


def test_a_lock_is_not_waited_for_long(readers: PostgresServer, tool: Any) -> None:
    import psycopg

    with psycopg.connect(readers.url("toko", password=PASSWORD)) as other:
        other.execute("LOCK TABLE pesanan IN ACCESS EXCLUSIVE MODE")
        assert "being changed by somebody else" in fault(call(tool, sql="SELECT * FROM pesanan"))[0]


# ── faults ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_fault_says_how_to_mend_it(tool: Any) -> None:
    assert fault(call(tool, sql="SELECT * FROM pelangan"))[1].startswith("There is: pelanggan(id integer key")
    assert fault(call(tool, sql="SELECT nam FROM pelanggan"))[0] == 'column "nam" does not exist'
    assert fault(call(tool, sql="SELECT * FROM rahasia"))[0] == "permission denied for table rahasia"
    assert fault(call(tool, sql="SELECT $1::int"))[0] == "it has 1 parameters, and 0 values were given for them"
    assert "invalid input syntax" in fault(call(tool, sql="SELECT $1::int", parameters=["x"]))[0]
    assert "Send one SELECT" in fault(call(tool, sql="DELETE FROM pesanan"))[1]


def test_no_password_is_told(pg_shop: str, readers: PostgresServer) -> None:
    with pytest.raises(ConfigurationError, match="cannot be reached") as caught:
        sql_tool(pg_shop.replace(READER_PASSWORD, "salah-sekali"))
    assert "salah-sekali" not in str(caught.value)
    gone = sql_tool(pg_shop, seconds=2)
    run_in_shop(readers, "ALTER ROLE pembaca NOLOGIN")
    try:
        said, hint = fault(call(gone, sql="SELECT 1"))
        assert "cannot be reached" in said
        assert READER_PASSWORD not in said + hint
    finally:
        run_in_shop(readers, "ALTER ROLE pembaca LOGIN")
