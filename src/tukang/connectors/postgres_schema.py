"""The tables of a Postgres database that its role may read, in a few statements over the catalogue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection

from tukang.connectors.values import Column, Table

_Ask = Callable[[str], list[list[str | None]]]

_TABLES = """
SELECT c.oid, n.nspname, c.relname, c.relkind, c.reltuples::bigint, pg_catalog.obj_description(c.oid, 'pg_class')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'
  AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
ORDER BY n.nspname <> 'public', n.nspname, c.relname
"""
_COLUMNS = """
SELECT a.attrelid, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull,
  pg_catalog.col_description(a.attrelid, a.attnum),
  EXISTS (SELECT FROM pg_catalog.pg_constraint k
          WHERE k.conrelid = a.attrelid AND k.contype = 'p' AND a.attnum = ANY (k.conkey)),
  (SELECT k.confrelid::pg_catalog.regclass::text || '.' || f.attname
   FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_attribute f ON f.attrelid = k.confrelid AND f.attnum = k.confkey[1]
   WHERE k.conrelid = a.attrelid AND k.contype = 'f' AND k.conkey = ARRAY[a.attnum] LIMIT 1)
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'
  AND pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT')
ORDER BY a.attrelid, a.attnum
"""


def tables_of(ask: _Ask, only: Collection[str] | None) -> tuple[Table, ...]:
    """What the role may read.

    Args:
        ask: runs a statement; its rows are texts.
        only: `schema.table` of those that are wanted; None for all.
    """
    columns: defaultdict[str, list[Column]] = defaultdict(list)
    for table, name, kind, needed, about, primary, refers in ask(_COLUMNS):
        found = Column(name or "", _short(kind or ""), primary == "t", needed == "t", refers or "", about or "")
        columns[table or ""].append(found)
    tables: list[Table] = []
    for oid, space, name, kind, rows, about in ask(_TABLES):
        if only is not None and f"{space}.{name}" not in only:
            continue
        shown = name if space == "public" else f"{space}.{name}"
        view = kind in ("v",)
        count = None if view or rows is None or int(rows) < 0 else int(rows)
        tables.append(Table(shown or "", tuple(columns[oid or ""]), "view" if view else "table", count, about or ""))
    return tuple(tables)


_SHORT = {
    "character varying": "varchar",
    "timestamp without time zone": "timestamp",
    "timestamp with time zone": "timestamptz",
    "double precision": "float8",
}


def _short(kind: str) -> str:
    for long, short in _SHORT.items():
        kind = kind.replace(long, short)
    return kind
