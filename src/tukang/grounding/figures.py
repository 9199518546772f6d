"""How figures are written: what a run of digits can stand for, and what makes a word an identifier.

Pure, and about single figures only. What a whole text says is read in `reading`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal, InvalidOperation

TOKEN = re.compile(r"[A-Za-z_]*\d(?:[A-Za-z0-9_]|[.,:/-](?=\d))*")
"""A run of letters and digits with at least one digit."""

SCALES: Mapping[str, int] = {
    "ribu": 3,
    "rb": 3,
    "k": 3,
    "thousand": 3,
    "juta": 6,
    "jt": 6,
    "million": 6,
    "miliar": 9,
    "milyar": 9,
    "billion": 9,
    "triliun": 12,
    "trillion": 12,
}
"""The powers of ten that a word after a figure multiplies it by."""

CURRENCIES = frozenset({"rp", "idr", "usd", "eur", "us", "sgd", "myr", "rm", "gbp", "jpy", "no", "x"})
"""What may stand right before a figure without making it an identifier."""

_GROUPED = re.compile(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*")
_GROUPED_WITH_POINTS = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+")
_GROUPED_WITH_COMMAS = re.compile(r"\d{1,3}(?:,\d{3})+\.\d+")


def tokens(text: str) -> list[str]:
    """The tokens of a text, in order."""
    return [match[0] for match in TOKEN.finditer(text)]


def readings(figure: str) -> set[Decimal]:
    """The numbers a figure can stand for: `1.200` is 1200 and 1.2, `12,5` is 12.5, `02:00` is 2.00."""
    found: set[Decimal] = set()
    if grouped := _GROUPED.fullmatch(figure):
        found.add(Decimal(figure.replace(grouped[1], "")))
    if _GROUPED_WITH_POINTS.fullmatch(figure):
        found.add(Decimal(figure.replace(".", "").replace(",", ".")))
    if _GROUPED_WITH_COMMAS.fullmatch(figure):
        found.add(Decimal(figure.replace(",", "")))
    with suppress(InvalidOperation):
        found.add(Decimal(re.sub(r"[,:]", ".", figure)))
    return found


def is_identifier(token: str) -> bool:
    """Whether a token is letters with digits behind them: a code, a name."""
    return bool(re.fullmatch(r"(?=.*[A-Za-z].*\d)[A-Za-z0-9_-]+", token)) and not re.fullmatch(r"\d+[A-Za-z]+", token)
