"""The functions that a statement may use on SQLite: those that compute. What is not here is refused, whatever it does.

Missing on purpose: what loads code or writes (`load_extension`, `writefile`, `fts3_tokenizer`, `optimize`, `sqlite_log`),
what reads files (`readfile`), what makes large values out of nothing (`zeroblob`, `randomblob`).

A few of SQLite's own take a time that grows with the square of their arguments, within one step, where no query can be
stopped: `instr` over a megabyte takes half a minute. These are done here instead, in a time that grows with their arguments.
Source: the lists of built-in functions in SQLite's documentation.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from typing import Any

_SCALAR = """
    abs char coalesce concat concat_ws format glob hex if ifnull iif instr last_insert_rowid length like likelihood likely
    lower ltrim max min nullif octet_length printf quote random replace round rtrim sign soundex sqlite_version substr
    substring trim typeof unhex unicode unistr unistr_quote unlikely upper
"""
_DATES = "current_date current_time current_timestamp date time datetime julianday unixepoch strftime timediff"
_GROUPS = """
    avg count group_concat max min string_agg sum total median percentile percentile_cont percentile_disc
    row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
"""
_NUMBERS = """
    acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power
    radians sin sinh sqrt tan tanh trunc
"""
_JSON = """
    -> ->> json jsonb json_array jsonb_array json_array_length json_error_position json_extract jsonb_extract json_insert
    jsonb_insert json_object jsonb_object json_patch jsonb_patch json_pretty json_remove jsonb_remove json_replace
    jsonb_replace json_set jsonb_set json_type json_valid json_quote json_group_array jsonb_group_array json_group_object
    jsonb_group_object subtype
"""
_TEXTS = "match bm25 highlight snippet matchinfo offsets"

LONGEST = 8_000_000
"""Bytes of a value: one step works on no more."""

FUNCTIONS = frozenset(" ".join((_SCALAR, _DATES, _GROUPS, _NUMBERS, _JSON, _TEXTS)).split())
"""Their names, in small letters."""


def install(connection: sqlite3.Connection) -> None:
    """Put what is done here in the place of SQLite's own."""
    given: list[tuple[str, int, Callable[..., Any]]] = [
        ("instr", 2, _instr),
        ("replace", 3, _replace),
        ("trim", 2, partial(_trimmed, left=True, right=True)),
        ("ltrim", 2, partial(_trimmed, left=True)),
        ("rtrim", 2, partial(_trimmed, right=True)),
    ]
    for name, count, function in given:
        connection.create_function(name, count, function, deterministic=True)


def _instr(text: Any, part: Any) -> int | None:
    if text is None or part is None:
        return None
    if isinstance(text, bytes) and isinstance(part, bytes):
        return text.find(part) + 1
    return _text(text).find(_text(part)) + 1


def _replace(text: Any, part: Any, other: Any) -> Any:
    if text is None or part is None:
        return None
    whole, old = _text(text), _text(part)
    if not old:
        return text
    if other is None:
        return None
    new = _text(other)
    if len(whole) + whole.count(old) * (len(new) - len(old)) > LONGEST:
        raise ValueError("string or blob too big")
    return whole.replace(old, new)


def _trimmed(text: Any, signs: Any, *, left: bool = False, right: bool = False) -> str | None:
    if text is None or signs is None:
        return None
    whole, away = _text(text), frozenset(_text(signs))
    start, end = 0, len(whole)
    while left and start < end and whole[start] in away:
        start += 1
    while right and end > start and whole[end - 1] in away:
        end -= 1
    return whole[start:end]


def _text(value: Any) -> str:
    """A value as SQLite writes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float):
        digits, mark, power = f"{value:.15g}".partition("e")
        return f"{digits if '.' in digits or 'n' in digits else f'{digits}.0'}{mark}{power}"
    return str(value)
