"""A database's schema in the words that a model reads, and as many of them as there is room for. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tukang.connectors.values import Column, Table

LONGEST_REMARK = 100
"""Characters of what a database says about a table or a column."""


def written(tables: Sequence[Table], most: int) -> tuple[str, bool]:
    """A schema, a table in each line, and whether that was all of it.

    Args:
        tables: all there are.
        most: characters there is room for: tables that do not fit are named only, and beyond that counted.
    """
    lines: list[str] = []
    left = most
    for place, table in enumerate(tables):
        line = table_line(table)
        if len(line) + 1 > left:
            return "\n".join([*lines, _others(tables[place:], max(left, most // 4))]), False
        lines.append(line)
        left -= len(line) + 1
    return "\n".join(lines), True


def table_line(table: Table) -> str:
    """One table: `pesanan(id INTEGER key, pelanggan INTEGER → pelanggan.id) about 120 rows`."""
    columns = ", ".join(_column(column) for column in table.columns)
    kind = "view " if table.kind == "view" else ""
    rows = "" if table.rows is None else f" about {table.rows} rows"
    return f"{kind}{_quoted(table.name)}({columns}){rows}{_remark(table.about)}"


def _column(column: Column) -> str:
    marks = (" key" if column.primary else "", " not null" if column.needed and not column.primary else "")
    refers = f" → {column.refers}" if column.refers else ""
    kind = f" {column.type}" if column.type else ""
    return f"{_quoted(column.name)}{kind}{''.join(marks)}{refers}{_remark(column.about)}"


def _remark(about: str) -> str:
    words = " ".join(about.split())
    return f" -- {words[:LONGEST_REMARK]}" if words else ""


def _quoted(name: str) -> str:
    """As SQL takes it, where it takes it as it is; a name of two parts has a dot."""
    return ".".join(part if part.isidentifier() else f'"{part}"' for part in name.split(".", 1))


def _others(tables: Iterable[Table], most: int) -> str:
    names = [_quoted(table.name) for table in tables]
    shown: list[str] = []
    for name in names:
        most -= len(name) + 2
        if most < 0:
            break
        shown.append(name)
    more = f", and {len(names) - len(shown)} more" if len(shown) < len(names) else ""
    return f"Also, without their columns: {', '.join(shown)}{more}."
