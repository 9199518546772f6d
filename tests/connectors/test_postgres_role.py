"""Which Postgres roles the SQL tool takes: those that may read, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.connectors.conftest import (
    call,
    fault,
    fresh_shop,
    run_in_shop,
    value,
)
from tests.postgres import PASSWORD, PostgresServer
from tukang.connectors import sql_schema_tool, sql_tool
from tukang.errors import ConfigurationError, ToolWarning

# ── the role ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_superuser_is_not_taken_unless_allowed(readers: PostgresServer, pg_shop: str) -> None:  # noqa: ARG001
    with pytest.raises(ConfigurationError, match="is, or may become, a superuser") as caught:
        sql_tool(readers.url("toko"))
    assert "CREATE ROLE" in str(caught.value)
    assert PASSWORD not in str(caught.value)
    assert value(call(sql_tool(readers.url("toko"), any_role=True), sql="SELECT 1"))["rows"] == [[1]]


RIGHTS = [
    ("GRANT INSERT ON pesanan TO pembaca", "it may write public.pesanan"),
    ("GRANT UPDATE (total) ON pesanan TO pembaca", "it may write public.pesanan"),
    ("GRANT TRUNCATE ON rahasia TO PUBLIC", "it may write public.rahasia"),
    ("ALTER TABLE rahasia OWNER TO pembaca", "it may write public.rahasia"),
    ("GRANT USAGE ON SEQUENCE nomor TO pembaca", "it may draw from nomor"),
    ("GRANT CREATE ON SCHEMA public TO pembaca", "it may make things in the schema public"),
    ("GRANT CREATE ON DATABASE toko TO pembaca", "it may make things in the database toko"),
    ("ALTER ROLE pembaca CREATEROLE", "it may make roles pembaca"),
    ("ALTER ROLE pembaca REPLICATION", "it may replicate pembaca"),
    ("GRANT pg_read_server_files TO pembaca", "it is a member of pg_read_server_files"),
    ("GRANT pg_execute_server_program TO pembaca", "it is a member of pg_execute_server_program"),
    ("GRANT pg_signal_backend TO pembaca", "it is a member of pg_signal_backend"),
    ("GRANT pg_write_all_data TO pembaca", "it is a member of pg_write_all_data"),
    (
        "CREATE FUNCTION lewat() RETURNS int SECURITY DEFINER LANGUAGE sql AS 'SELECT 1'",
        "it may call lewat()",
    ),
    ("CREATE EXTENSION dblink", "it may call dblink"),
    (
        "CREATE ROLE penulis; GRANT INSERT ON pesanan TO penulis; ALTER ROLE pembaca NOINHERIT; GRANT penulis TO pembaca",
        "may write",
    ),
]


@pytest.fixture
def own_shop(readers: PostgresServer) -> Iterator[str]:
    """A shop whose rights are changed."""
    yield fresh_shop(readers)
    run_in_shop(
        readers,
        "ALTER ROLE pembaca NOCREATEROLE NOREPLICATION INHERIT; REVOKE CREATE ON DATABASE toko FROM pembaca; "
        "REVOKE pg_read_server_files, pg_execute_server_program, pg_signal_backend, pg_write_all_data FROM pembaca; "
        "DROP OWNED BY pembaca; "
        "DO $$BEGIN DROP OWNED BY penulis; DROP ROLE penulis; EXCEPTION WHEN undefined_object THEN END$$",
    )
    fresh_shop(readers)


@pytest.mark.parametrize(("sql", "complaint"), RIGHTS)
def test_a_role_that_may_do_more_than_read_is_not_taken(
    readers: PostgresServer, own_shop: str, sql: str, complaint: str
) -> None:
    tool = sql_tool(own_shop)
    run_in_shop(readers, sql)
    with pytest.raises(ConfigurationError) as caught:
        sql_tool(own_shop)
    assert complaint in str(caught.value)
    with pytest.warns(ToolWarning, match="its role may do more than read"):  # also of one that was made before
        said, _ = fault(call(tool, sql="SELECT 1"))
    assert said == "the database cannot be used: its role has other rights than this tool takes"


def test_what_computes_and_what_only_triggers_call_is_no_complaint(readers: PostgresServer, own_shop: str) -> None:
    run_in_shop(
        readers,
        "CREATE FUNCTION catat() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$; "
        "CREATE FUNCTION hitung(a int) RETURNS int LANGUAGE sql AS 'SELECT a + 1'; "
        "CREATE EXTENSION pg_trgm; CREATE EXTENSION hstore; CREATE EXTENSION tablefunc; CREATE EXTENSION postgres_fdw; "
        "CREATE EXTENSION vector; CREATE EXTENSION citext; CREATE EXTENSION unaccent",
    )
    tool = sql_tool(own_shop)
    assert value(call(tool, sql="SELECT hitung(1), similarity('budi', 'budy') > 0"))["rows"] == [[2, True]]
    writing = "SELECT * FROM crosstab('DELETE FROM pesanan RETURNING id, 1, 1') AS (a int8, b int)"
    assert fault(call(tool, sql=writing))[0]
    assert value(call(tool, sql="SELECT count(*) FROM pesanan"))["rows"] == [[2]]


def test_the_list_of_tables_is_kept_by_the_roles_rights(readers: PostgresServer, own_shop: str) -> None:
    with pytest.raises(ConfigurationError, match=r"may read more than the tables that are named: public\.nama_saja"):
        sql_tool(own_shop, tables=["pelanggan", "pesanan"])
    with pytest.raises(ConfigurationError, match=r"may not read public\.rahasia"):
        sql_tool(own_shop, tables=["rahasia"])
    run_in_shop(readers, "REVOKE SELECT ON nama_saja FROM pembaca; CREATE SCHEMA lain; CREATE TABLE lain.data (x int)")
    tool = sql_tool(own_shop, tables=["pelanggan", "public.pesanan"])
    assert "nama_saja" not in tool.contract.description
    assert value(call(tool, sql="SELECT count(*) FROM pesanan"))["rows"] == [[2]]
    run_in_shop(readers, "GRANT USAGE ON SCHEMA lain TO pembaca; GRANT SELECT ON lain.data TO pembaca")
    with pytest.warns(ToolWarning, match="may read more"):
        fault(call(tool, sql="SELECT 1"))
    shown = call(sql_schema_tool(own_shop), tables=["lain.data"])
    assert shown.text.startswith("lain.data(x integer)")
