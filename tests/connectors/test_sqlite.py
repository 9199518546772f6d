"""The SQL tool on a real SQLite: what it shows and brings, and that nothing that is sent to it changes a byte."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.connectors.conftest import acall, assert_nothing_runs, call, context, fault, value
from tukang import Agent
from tukang.connectors import sql_schema_tool, sql_tool
from tukang.connectors.sqlite import SqliteReader
from tukang.connectors.sqlite_functions import install
from tukang.connectors.values import Bounds
from tukang.errors import ConfigurationError, ToolDefinitionError
from tukang.models.scripted import Scripted
from tukang.models.scripted import call as asks
from tukang.tools.execute import execute

ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n"

WRITES = [
    "INSERT INTO pesanan VALUES (2, 1, 1)",
    "INSERT INTO pesanan VALUES (2, 1, 1) RETURNING id",
    "REPLACE INTO pesanan VALUES (1, 1, 1)",
    "UPDATE pesanan SET total = 0",
    "DELETE FROM pesanan",
    "WITH x AS (SELECT 1) DELETE FROM pesanan",
    "CREATE TABLE baru (x)",
    "CREATE TEMP TABLE baru (x)",
    "CREATE TABLE baru AS SELECT * FROM rahasia",
    "CREATE VIEW baru AS SELECT 1",
    "CREATE INDEX baru ON pesanan (total)",
    "CREATE TRIGGER baru AFTER INSERT ON pesanan BEGIN SELECT 1; END",
    "CREATE VIRTUAL TABLE baru USING fts5 (x)",
    "DROP TABLE pesanan",
    "DROP VIEW nama_saja",
    "ALTER TABLE pesanan ADD COLUMN x",
    "ALTER TABLE pesanan RENAME TO lain",
    "REINDEX",
    "ANALYZE",
    "VACUUM",
    "VACUUM INTO '{place}/keluar.db'",
    "ATTACH '{place}/baru.db' AS baru",
    "ATTACH ':memory:' AS baru",
    "DETACH main",
    "PRAGMA query_only = OFF",
    "PRAGMA writable_schema = ON",
    "PRAGMA journal_mode = WAL",
    "PRAGMA user_version = 7",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA table_info(rahasia)",
    "BEGIN IMMEDIATE",
    "BEGIN EXCLUSIVE",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT a",
    "RELEASE a",
    "SELECT load_extension('{place}/jahat.so')",
    "SELECT writefile('{place}/keluar.txt', 'x')",
    "SELECT readfile('/etc/passwd')",
    "SELECT edit('x', 'touch {place}/keluar.txt')",
    "SELECT fts3_tokenizer('simple')",
    "SELECT fts3_tokenizer('simple', x'00')",
    "SELECT optimize(catatan) FROM catatan",
    "SELECT sqlite_log(1, 'x')",
    "SELECT zeroblob(1000)",
    "SELECT randomblob(1000)",
    "SELECT * FROM pragma_user_version",
    "SELECT * FROM pragma_table_info('rahasia')",
    "SELECT * FROM sqlite_dbpage",
    "INSERT INTO catatan (catatan) VALUES ('rebuild')",
    "DELETE FROM catatan_data",
    "UPDATE sqlite_dbpage SET data = x'00'",
    "UPDATE sqlite_master SET sql = ''",
    "SELECT 1; DELETE FROM pesanan",
    "SELECT 1; COMMIT; DELETE FROM pesanan",
    "EXPLAIN DELETE FROM pesanan",
    "",
    ";",
    "-- tidak ada",
    "SELECT 1 \0; DELETE FROM pesanan",
]


def url(shop: Path) -> str:
    return f"sqlite:///{shop}"


def everything(place: Path) -> dict[str, str]:
    """All files of a directory, by what is in them."""
    return {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in sorted(place.iterdir())}


def test_the_description_shows_tables_columns_keys_and_counts(shop: Path) -> None:
    shown = sql_tool(url(shop)).contract.description
    assert "pelanggan(id INTEGER key, nama TEXT not null, foto BLOB) about 2 rows" in shown
    assert "pesanan(id INTEGER key, pelanggan INTEGER → pelanggan.id, total NUMERIC) about 1 rows" in shown
    assert "view nama_saja(nama TEXT)" in shown
    assert "catatan(isi)" in shown
    assert "catatan_data" not in shown


def test_a_query_brings_columns_and_rows(shop: Path) -> None:
    tool = sql_tool(url(shop))
    found = value(call(tool, sql="SELECT * FROM pelanggan WHERE nama = ?;", parameters=["Budi"]))
    assert found == {"columns": ["id", "nama", "foto"], "rows": [[1, "Budi", "<2 bytes>"]]}
    assert value(call(tool, sql="SELECT isi FROM catatan WHERE catatan MATCH 'halo'"))["rows"] == [["halo dunia"]]
    assert value(call(tool, sql="SELECT * FROM nama_saja ORDER BY 1"))["rows"] == [["Ani"], ["Budi"]]


def test_what_json_has_no_word_for_is_text(shop: Path) -> None:
    found = value(
        call(sql_tool(url(shop)), sql="SELECT 9007199254740993, -9007199254740993, 9e999, -9e999, NULL, 0.1, x'00', ''")
    )
    assert found["rows"] == [
        ["9007199254740993", "-9007199254740993", "Infinity", "-Infinity", None, 0.1, "<1 bytes>", ""]
    ]


@pytest.mark.parametrize("sql", WRITES)
def test_nothing_that_is_sent_changes_a_byte(shop: Path, sql: str) -> None:
    tool = sql_tool(url(shop))
    before = everything(shop.parent)
    said, _ = fault(call(tool, sql=sql.replace("{place}", str(shop.parent)) or " "))
    assert said
    assert everything(shop.parent) == before


def test_the_file_is_not_written_even_by_what_nobody_asks_about(shop: Path) -> None:
    """The walls below the authorizer, without it."""
    before = everything(shop.parent)
    reader = SqliteReader(shop, Bounds(rows=1, seconds=1, size=1, value=1), None)
    with reader._opened() as connection:
        for sql in ("PRAGMA query_only = OFF", "PRAGMA writable_schema = ON"):
            connection.execute(sql)
        for sql in ("DELETE FROM pesanan", "UPDATE sqlite_master SET sql = ''", "CREATE TABLE baru (x)"):
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                connection.execute(sql)
        for sql in (f"ATTACH '{shop.parent}/baru.db' AS baru", "VACUUM", f"VACUUM INTO '{shop.parent}/baru.db'"):
            with pytest.raises(sqlite3.OperationalError, match="too many attached"):
                connection.execute(sql)
    assert everything(shop.parent) == before


def test_a_query_that_is_refused_leaves_nothing_to_the_next(shop: Path) -> None:
    tool = sql_tool(url(shop))
    for sql in ("PRAGMA query_only = OFF", "BEGIN", "ATTACH ':memory:' AS x"):
        fault(call(tool, sql=sql))
    fault(call(tool, sql="DELETE FROM pesanan"))
    assert value(call(tool, sql="SELECT count(*) FROM pesanan"))["rows"] == [[1]]


def test_a_file_with_a_log_beside_it_is_read_with_what_stands_there(shop: Path) -> None:
    writer = sqlite3.connect(shop, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("INSERT INTO pesanan VALUES (2, 2, 7)")
    tool = sql_tool(url(shop))
    assert value(call(tool, sql="SELECT count(*) FROM pesanan"))["rows"] == [[2]]
    fault(call(tool, sql="DELETE FROM pesanan"))
    assert writer.execute("SELECT count(*) FROM pesanan").fetchone() == (2,)
    writer.close()


# ── the list of tables ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM rahasia",
        "SELECT count(*) FROM rahasia",
        "SELECT 1 FROM rahasia",
        "SELECT * FROM main.rahasia",
        "WITH pelanggan AS (SELECT * FROM rahasia) SELECT * FROM pelanggan",
        "SELECT * FROM (SELECT kunci FROM rahasia) AS pelanggan",
        "SELECT (SELECT kunci FROM rahasia) FROM pelanggan",
        "SELECT * FROM pelanggan WHERE EXISTS (SELECT * FROM rahasia)",
        "SELECT nama FROM pelanggan UNION SELECT kunci FROM rahasia",
        "SELECT * FROM nama_saja",
        "SELECT sql FROM sqlite_master",
        "SELECT sql FROM sqlite_schema",
        "SELECT * FROM pelanggan_data",
    ],
)
def test_only_the_tables_that_are_named_can_be_read(shop: Path, sql: str) -> None:
    with sqlite3.connect(shop) as connection:
        connection.execute("CREATE TABLE pelanggan_data (gaji)")  # whose name is not enough to belong to pelanggan
    connection.close()
    tool = sql_tool(url(shop), tables=["pelanggan", "catatan"])
    assert "rahasia" not in tool.contract.description
    said, hint = fault(call(tool, sql=sql))
    assert "xyz" not in said + hint
    assert value(call(tool, sql="SELECT nama FROM pelanggan WHERE id = 1"))["rows"] == [["Budi"]]
    assert value(call(tool, sql="SELECT isi FROM catatan('dunia')"))["rows"] == [["halo dunia"]]


def test_a_view_needs_the_tables_that_it_reads(shop: Path) -> None:
    with pytest.raises(ConfigurationError, match="Name the tables that it reads"):
        sql_tool(url(shop), tables=["nama_saja"])
    tool = sql_tool(url(shop), tables=["nama_saja", "pelanggan"])
    assert len(value(call(tool, sql="SELECT * FROM nama_saja"))["rows"]) == 2


# ── bounds ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_endless_query_is_stopped_and_its_thread_ends(shop: Path) -> None:
    tool = sql_tool(url(shop), seconds=0.2)
    said, hint = fault(call(tool, sql=ENDLESS))
    assert said == "it was stopped after 0.2 seconds"
    assert "count before you list" in hint
    assert_nothing_runs()


def test_cancelling_the_call_stops_the_query(shop: Path) -> None:
    tool = sql_tool(url(shop), seconds=60)

    async def cancelled() -> None:
        task = asyncio.create_task(execute(tool, f'{{"sql":"{ENDLESS}"}}', context()))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert_nothing_runs()


@pytest.mark.parametrize(
    "expression",
    [
        "instr(printf('%.*c', 3000000, 'a'), printf('%.*c', 1000000, 'a') || 'b')",
        "length(replace(printf('%.*c', 3000000, 'a'), printf('%.*c', 1000000, 'a') || 'b', ''))",
        "length(trim(printf('%.*c', 1000000, 'a'), printf('%.*c', 1000000, 'b') || 'a'))",
    ],
)
def test_no_single_step_runs_for_minutes(shop: Path, expression: str) -> None:
    assert value(call(sql_tool(url(shop), seconds=5), sql=f"SELECT {expression}"))["rows"] in ([[0]], [[3000000]])


def test_a_value_that_grows_without_bound_is_refused(shop: Path) -> None:
    tool = sql_tool(url(shop), seconds=5)
    growing = "SELECT length(replace(printf('%.*c', 4000000, 'a'), 'a', printf('%.*c', 4000000, 'b')))"
    assert "larger than" in fault(call(tool, sql=growing))[0]
    assert "larger than" in fault(call(tool, sql="SELECT hex(printf('%.*c', 7000000, 'a'))"))[0]


def test_rows_values_and_their_sum_are_bounded(shop: Path) -> None:
    many = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, printf('%.*c', 5000, 'x') FROM n"
    found = value(call(sql_tool(url(shop), rows=3, seconds=5), sql=many))
    assert [row[0] for row in found["rows"]] == [1, 2, 3]
    assert found["cut"] == "There are more rows; these are the first 3."
    assert found["rows"][0][1] == "x" * 2000 + "… (cut)"
    found = value(call(sql_tool(url(shop), size=5000, seconds=5), sql=many))
    assert len(found["rows"]) == 2
    assert "too large together" in found["cut"]
    exactly = "SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3"
    assert "cut" not in value(call(sql_tool(url(shop), rows=3), sql=exactly))


# ── faults ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_fault_says_how_to_mend_it(shop: Path) -> None:
    tool = sql_tool(url(shop))
    assert fault(call(tool, sql="SELECT * FROM pelangan"))[1].startswith("There is: pelanggan(id")
    assert fault(call(tool, sql="SELECT nam FROM pelanggan"))[0] == "no such column: nam"
    assert "more than one statement" in fault(call(tool, sql="SELECT 1; SELECT 2"))[0]
    assert "syntax error" in fault(call(tool, sql="SELEC 1"))[0]
    assert "bindings" in fault(call(tool, sql="SELECT ?"))[0]


def test_a_database_that_is_gone_is_a_fault_and_not_a_new_file(shop: Path) -> None:
    tool = sql_tool(url(shop))
    shop.unlink()
    assert "unable to open" in fault(call(tool, sql="SELECT 1"))[0]
    assert not shop.exists()


def test_what_cannot_be_is_told_to_the_developer(shop: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is not a file"):
        sql_tool(f"sqlite:///{tmp_path}/tidak-ada.db")
    with pytest.raises(ConfigurationError, match="has no table 'orang'"):
        sql_tool(url(shop), tables=["orang"])
    with pytest.raises(ConfigurationError, match="begins with sqlite"):
        sql_tool("mysql://budi:rahasia@host/db")
    with pytest.raises(ToolDefinitionError, match="rows must be"):
        sql_tool(url(shop), rows=0)
    with pytest.raises(ToolDefinitionError, match="seconds"):
        sql_tool(url(shop), seconds=0)
    with pytest.raises(ToolDefinitionError, match="tables is several names"):
        sql_tool(url(shop), tables="pelanggan")
    (tmp_path / "bukan.db").write_text("bukan basis data, tetapi cukup panjang untuk dibaca sebagai kepalanya" * 30)
    with pytest.raises(ConfigurationError, match="cannot be read: file is not a database"):
        sql_tool(f"sqlite:///{tmp_path}/bukan.db")


# ── the schema ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_large_schema_is_cut_and_shown_by_a_second_tool(tmp_path: Path) -> None:
    place = tmp_path / "besar.db"
    connection = sqlite3.connect(place)
    many = [f"CREATE TABLE tabel_{at:03} (id INTEGER PRIMARY KEY, sebuah_nama_yang_panjang TEXT);" for at in range(300)]
    connection.executescript(f"BEGIN; {' '.join(many)} COMMIT")
    connection.close()
    tool, shown = sql_tool(url(place)), sql_schema_tool(url(place))
    description = tool.contract.description
    assert len(description) < 9_000
    assert "Also, without their columns: tabel_" in description
    assert " more." in description
    found = call(shown, tables=["TABEL_299"])
    assert found.text == "tabel_299(id INTEGER key, sebuah_nama_yang_panjang TEXT) about 0 rows"
    assert fault(call(shown, tables=["tabel_2999"])) == (
        "there is no table 'tabel_2999'",
        "Near it: tabel_299, tabel_298, tabel_297.",
    )
    assert call(shown).text.startswith("tabel_000(")


def test_a_turn_asks_the_database_and_its_result_may_be_marked(shop: Path) -> None:
    model = Scripted([asks("query_database", sql="SELECT nama FROM pelanggan ORDER BY id"), "Budi dan Ani."])
    answer = Agent(model, tools=[sql_tool(url(shop), trusted=False)]).run("Siapa saja pelanggan?")
    assert '"rows":[["Budi"],["Ani"]]' in answer.steps[0].result
    outcome = asyncio.run(acall(sql_tool(url(shop), trusted=False), sql="SELECT 1"))
    assert outcome.origin == f"the database sqlite:///{shop}"
    assert asyncio.run(acall(sql_tool(url(shop)), sql="SELECT 1")).origin is None


# ── what is done here instead ────────────────────────────────────────────────────────────────────────────────────────

_VALUES = st.one_of(
    st.none(),
    st.integers(-(2**40), 2**40),
    st.sampled_from([0.5, -1.25, 3.0, 1e20, 1e-7]),
    st.text(st.sampled_from("abé𝄞 "), max_size=6),
)


@given(one=_VALUES, other=_VALUES, third=_VALUES)
def test_what_is_done_here_is_what_sqlite_does(one: object, other: object, third: object) -> None:
    asked = "SELECT instr(?1, ?2), replace(?1, ?2, ?3), trim(?1, ?2), ltrim(?1, ?2), rtrim(?1, ?2)"
    own, ours = sqlite3.connect(":memory:"), sqlite3.connect(":memory:")
    install(ours)
    try:
        assert ours.execute(asked, (one, other, third)).fetchall() == own.execute(asked, (one, other, third)).fetchall()
    finally:
        own.close()
        ours.close()
