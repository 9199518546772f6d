"""Postgres' values on their way to JSON: what the server is asked to send of a column, and what that is here. Pure.

Everything comes as text, so that no type needs a reader of its own and each value can be cut where it is.
Source: `pg_type.dat` for the numbers of types, which never change.
"""

from __future__ import annotations

from typing import Any

import msgspec

from tukang.connectors.values import size_of

_BOOL, _BYTEA = 16, 17
_WHOLE = frozenset({20, 21, 23, 26})  # int8, int2, int4, oid
_FLOATS = frozenset({700, 701})
_JSON = frozenset({114, 3802})
_ARRAYS = frozenset(
    {
        1000,
        1005,
        1007,
        1016,
        1009,
        1015,
        1014,
        1002,
        1021,
        1022,
        1231,
        1115,
        1185,
        1182,
        1183,
        2951,
        199,
        3807,
        1041,
        1040,
    }
)
"""Of the usual types. Arrays of others come as Postgres writes them."""


def column_sql(name: str, oid: int, most: int) -> str:
    """What to ask for in the place of a column.

    Args:
        name: the column's.
        oid: its type.
        most: characters of a value; one more is asked for, so that it is seen that there are more.
    """
    if oid == _BYTEA:
        return f"pg_catalog.octet_length({name})::pg_catalog.text"
    if oid in _ARRAYS:
        return f'pg_catalog."left"(pg_catalog.array_to_json({name})::pg_catalog.text, {most + 1})'
    return f'pg_catalog."left"({name}::pg_catalog.text, {most + 1})'


def value_of(text: str | None, oid: int) -> Any:
    """A value as JSON has it; as text where it has no such thing, so that an amount stays exactly what it is."""
    if text is None:
        return None
    if oid == _BOOL:
        return text in ("t", "true")
    if oid == _BYTEA:
        return size_of(int(text))
    if oid in _WHOLE:
        return int(text)
    if oid in _FLOATS:
        return float(text)
    if oid in _JSON or oid in _ARRAYS:
        return _read(text)
    return text


def _read(text: str) -> Any:
    """What JSON says; the text where it was cut, or holds what msgspec does not read."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text
