"""What a Postgres role could do beyond reading: asked of the server, in one statement, of every role a session can become.

A read-only transaction stops what writes rows. It does not stop a function that acts outside of it: one that writes files,
or opens a connection of its own. So a role that has more than SELECT is not taken, and neither is one that may call such a
function. Only words: somebody else runs the statement.
Source: PostgreSQL's documentation of SET TRANSACTION, predefined roles and privileges; `PreventCommandIfReadOnly` in its
source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_HARMLESS_ROLES = (
    *("pg_read_all_data", "pg_read_all_settings", "pg_read_all_stats", "pg_stat_scan_tables", "pg_monitor"),
    "pg_use_reserved_connections",
)
_HARMLESS_EXTENSIONS = (
    *(
        "bloom",
        "btree_gin",
        "btree_gist",
        "citext",
        "cube",
        "dict_int",
        "dict_xsyn",
        "earthdistance",
        "fuzzystrmatch",
        "postgres_fdw",
    ),
    *(
        "hstore",
        "intarray",
        "isn",
        "ltree",
        "pg_trgm",
        "pgcrypto",
        "postgis",
        "postgis_raster",
        "postgis_topology",
        "seg",
    ),
    *("tablefunc", "tsm_system_rows", "tsm_system_time", "unaccent", "uuid-ossp", "vector", "xml2"),
    *("file_fdw", "pg_stat_statements"),
)
"""Extensions whose functions in C compute, or run their queries in the transaction that they are called in."""


_UNCALLABLE = ", ".join(
    f"'pg_catalog.{kind}'::pg_catalog.regtype"
    for kind in (
        "trigger",
        "event_trigger",
        "fdw_handler",
        "index_am_handler",
        "language_handler",
        "tsm_handler",
        "internal",
    )
)
"""What a function returns that no query can call."""


def _texts(values: Sequence[str]) -> str:
    return ", ".join(f"'{value}'" for value in values)


STATEMENT = f"""
WITH roles AS MATERIALIZED (
  SELECT oid, rolname, rolsuper, rolcreaterole, rolcreatedb, rolreplication
  FROM pg_catalog.pg_roles
  WHERE pg_catalog.pg_has_role(session_user, oid, 'MEMBER')
), spaces AS MATERIALIZED (
  SELECT oid, nspname FROM pg_catalog.pg_namespace
  WHERE nspname NOT IN ('pg_catalog', 'information_schema')
    AND nspname NOT LIKE 'pg\\_toast%' AND nspname NOT LIKE 'pg\\_temp%'
), found (what, name) AS (
  SELECT 'is a superuser', rolname::text FROM roles WHERE rolsuper
  UNION ALL SELECT 'may make roles', rolname::text FROM roles WHERE rolcreaterole
  UNION ALL SELECT 'may make databases', rolname::text FROM roles WHERE rolcreatedb
  UNION ALL SELECT 'may replicate', rolname::text FROM roles WHERE rolreplication
  UNION ALL SELECT 'is a member of', rolname::text FROM roles
    WHERE rolname LIKE 'pg\\_%' AND rolname NOT IN ({_texts(_HARMLESS_ROLES)})
  UNION ALL SELECT 'may write', (SELECT s.nspname FROM spaces s WHERE s.oid = c.relnamespace) || '.' || c.relname
    FROM pg_catalog.pg_class c, roles r
    WHERE c.relnamespace IN (SELECT oid FROM spaces) AND c.relkind IN ('r', 'p', 'v', 'f', 'm')
      AND (pg_catalog.has_table_privilege(r.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
        OR pg_catalog.has_any_column_privilege(r.oid, c.oid, 'INSERT, UPDATE'))
  UNION ALL SELECT 'may draw from', c.relname::text FROM pg_catalog.pg_class c, roles r
    WHERE c.relnamespace IN (SELECT oid FROM spaces) AND c.relkind = 'S'
      AND pg_catalog.has_sequence_privilege(r.oid, c.oid, 'USAGE, UPDATE')
  UNION ALL SELECT 'may make things in the schema', s.nspname::text FROM spaces s, roles r
    WHERE pg_catalog.has_schema_privilege(r.oid, s.oid, 'CREATE')
  UNION ALL SELECT 'may make things in the database', pg_catalog.current_database()::text FROM roles r
    WHERE pg_catalog.has_database_privilege(r.oid, pg_catalog.current_database(), 'CREATE')
  UNION ALL SELECT 'may call', p.oid::regprocedure::text
    FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid = p.prolang, roles r
    WHERE p.pronamespace IN (SELECT oid FROM spaces) AND p.prorettype NOT IN ({_UNCALLABLE})
      AND (p.prosecdef OR (l.lanname NOT IN ('c', 'internal') AND NOT l.lanpltrusted)
        OR (l.lanname IN ('c', 'internal') AND p.provolatile = 'v' AND NOT EXISTS (
          SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid
          WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid AND d.deptype = 'e'
            AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass
            AND e.extname IN ({_texts(_HARMLESS_EXTENSIONS)}))))
      AND pg_catalog.has_function_privilege(r.oid, p.oid, 'EXECUTE')
      AND pg_catalog.has_schema_privilege(r.oid, p.pronamespace, 'USAGE')
)
SELECT DISTINCT what, name FROM found ORDER BY what, name LIMIT 12
"""
"""Rows of (what it may do, what with). A superuser may do anything, so that alone is said of one."""

READABLE = """
SELECT DISTINCT n.nspname || '.' || c.relname
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace, pg_catalog.pg_roles r
WHERE pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER') AND c.relkind IN ('r', 'p', 'v', 'f', 'm')
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_toast%'
  AND pg_catalog.has_schema_privilege(r.oid, n.oid, 'USAGE')
  AND (pg_catalog.has_table_privilege(r.oid, c.oid, 'SELECT') OR pg_catalog.has_any_column_privilege(r.oid, c.oid, 'SELECT'))
ORDER BY 1
"""
"""The tables that it may read."""


def complaint(found: Sequence[tuple[str, str]]) -> str:
    """What is wrong with a role, in one sentence; nothing when it may only read."""
    supers = [name for what, name in found if what == "is a superuser"]
    if supers:
        return "it is, or may become, a superuser"
    several: dict[str, list[str]] = {}
    for what, name in found:
        several.setdefault(what, []).append(name)
    return "; ".join(
        f"it {what} {', '.join(names[:3])}{' …' if len(names) > 3 else ''}" for what, names in several.items()
    )


def advice(database: str) -> str:
    """How to make a role that may only read."""
    plain = re.fullmatch(r"[a-z_][a-z0-9_]*", database)
    name = database if plain else '"' + database.replace('"', '""') + '"'
    return (
        "Make one for this tool alone, as an administrator: CREATE ROLE pembaca LOGIN PASSWORD '…'; "
        f"GRANT CONNECT ON DATABASE {name} TO pembaca; GRANT USAGE ON SCHEMA public TO pembaca; "
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO pembaca; and, before Postgres 15, REVOKE CREATE ON SCHEMA public "
        "FROM PUBLIC; and REVOKE EXECUTE ON FUNCTION … FROM PUBLIC for functions that it may not call. any_role=True takes "
        "the role as it is: then only the read-only transaction holds"
    )
