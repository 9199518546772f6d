"""Dates and times as people and programs write them, in Indonesian and English. Pure.

A date is known by its year, month and day, a part of which may be missing: `30 November` has no year, `November 2026` no day.
`11/12/2026` has two readings. A time is known by hour and minute, and by its second where one was given; without `am` or
`pm` an hour up to twelve may be that of the afternoon.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

Reading = tuple[object, ...]
"""A value that a figure can stand for: its kind first."""

_LONG: Mapping[str, int] = {
    name: place
    for place, names in enumerate(
        (
            ("januari", "january"),
            ("februari", "pebruari", "february"),
            ("maret", "march"),
            ("april",),
            ("mei",),
            ("juni", "june"),
            ("juli", "july"),
            ("agustus", "august"),
            ("september",),
            ("oktober", "october"),
            ("november", "nopember"),
            ("desember", "december"),
        ),
        1,
    )
    for name in names
}
_SHORT: Mapping[str, int] = {
    **{"jan": 1, "feb": 2, "mar": 3, "apr": 4, "jun": 6, "jul": 7, "agu": 8, "agt": 8, "ags": 8, "aug": 8, "sep": 9},
    **{"sept": 9, "okt": 10, "oct": 10, "nov": 11, "nop": 11, "des": 12, "dec": 12},
}
_MONTHS = {**_LONG, **_SHORT, "may": 5}
_MONTH = rf"(?P<month>(?i:{'|'.join(sorted({*_LONG, *_SHORT}, key=len, reverse=True))})|May|MAY)\b\.?"
_FROM = r"(?<![0-9A-Za-z.,/_-])"
_TO = r"(?![0-9A-Za-z]|[/_-][0-9A-Za-z])"

_DAY_MONTH = re.compile(
    rf"{_FROM}(?:(?P<first>\d{{1,2}})\s*(?:-|sampai|s/d|s\.d\.|hingga|to)\s*)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
    rf"(?:\s+(?:of\s+)?|-){_MONTH}(?:[\s,-]{{1,2}}(?P<year>\d{{4}}|'\d\d)(?!\d))?"
)
_MONTH_DAY = re.compile(
    rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![0-9A-Za-z]|[.,:]\d)(?:,?\s+(?P<year>\d{{4}})(?!\d))?"
)
_MONTH_YEAR = re.compile(rf"\b{_MONTH}[\s-]+(?P<year>\d{{4}})(?!\d|[.,]\d)")
_YEAR_FIRST = re.compile(
    rf"{_FROM}(?P<year>(?:19|20)\d\d)(?P<by>[-/.])(?P<month>\d{{1,2}})(?P=by)(?P<day>\d{{1,2}})(?:(?=T\d)|{_TO})"
)
_YEAR_LAST = re.compile(
    rf"{_FROM}(?P<one>\d{{1,2}})(?P<by>[-/.])(?P<two>\d{{1,2}})(?P=by)(?P<year>(?:19|20)\d\d|(?<=[-/])\d\d){_TO}"
)
_COMPACT = re.compile(r"(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d)")

_HALF = r"(?P<half>a\.?m\b\.?|p\.?m\b\.?|pagi\b|siang\b|sore\b|malam\b)"
_TIME = re.compile(
    rf"(?<![0-9A-Za-z.,:/-])T?(?P<hour>[01]?\d|2[0-4])(?P<by>[:.])(?P<minute>[0-5]\d)"
    rf"(?:(?P=by)(?P<second>[0-5]\d)(?:\.\d+)?)?(?:Z\b|[+-]\d\d:?\d\d\b)?(?:\s*{_HALF})?(?![0-9]|[.,:]\d|\s*%)",
    re.IGNORECASE,
)
_HOUR = re.compile(
    rf"(?:\b(?P<at>jam|pukul)\s+)(?P<hour>[01]?\d|2[0-4])(?:\s+{_HALF})?(?![0-9A-Za-z]|[.,:]\d)"
    rf"|(?<![0-9A-Za-z.,:/-])(?P<hour2>1[0-2]|0?[1-9])\s?(?P<half2>am\b|pm\b|a\.m\.|p\.m\.)",
    re.IGNORECASE,
)


class Moment(NamedTuple):
    """A date or a time in a text: where it stands, and what it can mean."""

    start: int
    end: int
    readings: frozenset[Reading]


def dates(text: str) -> Iterator[Moment]:
    """The dates in a text, in no order. They do not overlap."""
    for pattern in (_DAY_MONTH, _MONTH_DAY, _MONTH_YEAR, _YEAR_FIRST, _YEAR_LAST):
        pieces: list[str] = []
        at = 0
        for match in pattern.finditer(text):
            if found := _moments(match):
                yield from found
                pieces += [text[at : match.start()], "\0" * len(match[0])]
                at = match.end()
        text = "".join([*pieces, text[at:]])


def times(text: str) -> Iterator[Moment]:
    """The times of day in a text. `10.15` may be one; it may be a number as well."""
    for match in _TIME.finditer(text):
        hour, minute, second = int(match["hour"]) % 24, int(match["minute"]), match["second"]
        values: set[Reading] = set()
        for one in _hours(hour, match["half"]):
            values.add(("time", one, minute) if second is None else ("time", one, minute, int(second)))
        yield Moment(match.start(), match.end(), frozenset(values))
    for match in _HOUR.finditer(text):
        hour, half = int(match["hour"] or match["hour2"]) % 24, match["half"] or match["half2"]
        yield Moment(match.start(), match.end(), frozenset(("time", one, 0) for one in _hours(hour, half)))


def compact(figure: str) -> Reading | None:
    """The date that eight digits can be: `20261130`."""
    match = _COMPACT.fullmatch(figure)
    return _date(int(match["year"]), int(match["month"]), int(match["day"])) if match else None


def _moments(match: re.Match[str]) -> list[Moment]:
    parts = match.groupdict()
    year = int(parts["year"].lstrip("'")) if parts.get("year") else None
    if year is not None and year < 100:
        year += 2000
    if "one" in parts:
        one, two = int(parts["one"]), int(parts["two"])
        both = {_date(year, two, one), _date(year, one, two)} - {None}
        return [Moment(*match.span(), frozenset(value for value in both if value))] if both else []
    named = parts["month"].lower()
    month = _MONTHS.get(named) or int(named)
    days = [part for part in ("first", "day") if parts.get(part)]
    if not days:
        return [Moment(*match.span(), frozenset({("date", year, month, None)}))]
    found: list[Moment] = []
    for part in days:
        value = _date(year, month, int(parts[part]))
        if value is None:
            return []
        start, end = match.span(part) if part == "first" else (match.start("day"), match.end())
        start = match.start() if part == "day" and len(days) == 1 else start
        found.append(Moment(start, end, frozenset({value})))
    return found


def _date(year: int | None, month: int, day: int) -> Reading | None:
    return ("date", year, month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None


def _hours(hour: int, half: str | None) -> tuple[int, ...]:
    """The hours of the day that an hour can be."""
    half = (half or "").lower().replace(".", "")
    if not half:
        return (hour, (hour + 12) % 24) if hour <= 12 else (hour,)
    if hour > 12:
        return (hour,)
    if half == "am" or half == "pagi":
        return (hour % 12,)
    if half == "malam" and hour in (12, 1, 2, 3):
        return (hour % 12,)
    if half == "siang" and hour in (10, 11):
        return (hour,)
    return (hour % 12 + 12,)
