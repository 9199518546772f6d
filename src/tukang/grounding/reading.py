"""The figures in a text: where they stand, what each can mean, and whether an answer may not make it up. Pure.

What is found, the first in this list wherever two would overlap:

| what | for example |
|---|---|
| a date | `2026-11-30`, `30/11/2026`, `30 November 2026`, `Nov 30`, `November 2026` |
| an amount of money | `Rp 1.200.000`, `Rp1,2 jt`, `$1,299.99`, `15 ribu rupiah` |
| a percentage | `12,5%`, `10 persen` |
| a number in thousands or millions | `1,2 juta`, `500rb`, `15k` |
| a time of day | `10:15`, `10.15 WIB`, `3 pm`, `jam 9` |
| a number with a unit | `24C`, `500ml`, `2x24` |
| a code | `ORD1001`, `INV/2026/001`, `ord-1001`, `#12` |
| a telephone number | `0811-222-3344`, `+62 811 222 3344` |
| a number | `1.200.000`, `1 200 000`, `12,5` |

A figure **binds** when who says it must have it from somewhere. A small count does not (`2 unit`, `3 hari`, up to `SMALL`),
nor does the number of an item in a list, nor a word like `DDR5` or `MP3`: letters with one or two digits, unless codes of
the same letters are known (`Found.family`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal

import msgspec

from tukang.grounding.dates import Reading, compact, dates, times
from tukang.grounding.figures import SCALES, readings

SMALL = 20
"""Counts up to this one are not held to anything: they may come from words, or from counting."""

_GONE = "\0"
_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2007": " ", "\u2212": "-", "\u00d7": "x"})
_DASHES = re.compile(r"[\u2012-\u2015]")
_ESCAPED = re.compile(r'\\[nrt"/]|\*\*|`')

_NUMBER = r"\d{1,3}(?: \d{3})+(?!\d|[.,]\d)|\d+(?:[.,]\d+)*"
_SCALE = rf"(?:{'|'.join(SCALES)}|bn|m)"
_CURRENCY = r"(?:Rp|IDR|USD|US\$|S\$|A\$|SGD|MYR|RM|EUR|GBP|JPY|AUD|\$|€|£|¥)"
_RANGE = rf"(?P<low>{_NUMBER})(?:\s*(?:-|sampai|s/d|hingga|to)\s*(?:Rp\.?\s*)?(?P<high>{_NUMBER}))?"
_MONEY = (
    re.compile(rf"(?<![A-Za-z0-9]){_CURRENCY}\.?\s*{_RANGE}(?:\s*(?P<scale>{_SCALE})\b)?(?:,-|,–)?", re.IGNORECASE),
    re.compile(
        rf"(?<![A-Za-z0-9.,/-]){_RANGE}(?:\s*(?P<scale>{_SCALE}))?\s*(?:rupiah|rp|idr|usd|dollars?|dolar|euros?|ringgit)\b",
        re.IGNORECASE,
    ),
)
_SCALED = re.compile(
    rf"(?<![A-Za-z0-9.,/])(?<!\d-){_RANGE}\s*(?P<scale>{'|'.join(SCALES)}|M|bn)(?![A-Za-z0-9])", re.IGNORECASE
)
_PERCENT = re.compile(rf"(?<![A-Za-z0-9.,]){_RANGE}\s*(?:%|persen\b|percent\b)", re.IGNORECASE)
_BY = re.compile(r"(?<![A-Za-z0-9.,])(\d+(?:[.,]\d+)*)\s?x\s?(?:Rp\.?\s*)?(\d+(?:[.,]\d+)*)(?![A-Za-z0-9])")
_UNIT = re.compile(r"(?<![A-Za-z0-9.,_])(?<![A-Z]-)(\d+(?:[.,]\d+)*)°?([A-Za-z]{1,5})(?![A-Za-z0-9]|[-_]\w)")
_WORD = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]+(?:[/_-][A-Za-z0-9]+)*")
_BETWEEN = re.compile("[/_-]")
_HASH = re.compile(r"#\s?(\d+)\b")
_PHONE = re.compile(r"(?<![A-Za-z0-9])(?:\+\d|0)\d(?:[ ()./-]{0,2}\d){6,14}(?![A-Za-z0-9])")
_PLAIN = re.compile(rf"(?<![0-9A-Za-z])(?<![0-9][.,])(?:{_NUMBER})")

_ALWAYS = re.compile(r"\b24/7\b|\b24\s?x\s?7\b|\b\d\s?x\s?24\b|\b100\s?(?:%|persen|percent)")
_ITEM = re.compile(r"^[ \t]*(?:[-*•#]+[ \t]*)?\d{1,3}[.)](?=[ \t])", re.MULTILINE)
_LETTERS = re.compile(r"(?<![A-Za-z0-9])([A-Za-z]{1,6})[ .-]$")
_DAY = re.compile(r"(?:\b(?:tanggal|tgl\.?)|\bthe)\s+$", re.IGNORECASE)
_NAMED = re.compile(r"\b(?:nomor|nomer|no\.|number)\s*[:#]?\s*$", re.IGNORECASE)
_ABOUT = re.compile(
    r"(?:\b(?:sekitar|kira-kira|kurang lebih|hampir|lebih dari|kurang dari|about|around|roughly|approximately|almost|nearly|"
    r"over|more than|less than|under)|[±~≈])\s*(?:\w{1,3}\.?\s*)?$",
    re.IGNORECASE,
)
_ORDINALS = frozenset({"st", "nd", "rd", "th"})
_DISPLAYS = frozenset({"2K", "4K", "5K", "8K"})
_LEAST_DIGITS = 3
_LEAST_PHONE = 8
_LONGEST = 40
"""Characters of a number that is one. What is longer is known as it is, or not at all."""


class Found(msgspec.Struct, frozen=True):
    """A figure in a text.

    Args:
        start: where it stands.
        text: as it is written.
        readings: what it can mean; known is what one of them is known.
        binds: whether an answer may not make it up.
        family: (what, letters) of a code that binds only where others with these letters are known; else None.
        parts: what it may be made of: known as well is what consists of known parts.
        about: the half of the last place it was rounded to, where it is said to be rounded; else None.
    """

    start: int
    text: str
    readings: frozenset[Reading]
    binds: bool = True
    family: Reading | None = None
    parts: tuple[Found, ...] = ()
    about: Decimal | None = None


def figures(text: str) -> list[Found]:
    """The figures of a text, in order."""
    return sorted(_Reader(text).found, key=lambda one: one.start)


class _Reader:
    """Takes figures out of a text, one kind after the other; what was taken is not seen by the next."""

    def __init__(self, text: str) -> None:
        self.text = _DASHES.sub(" - ", _ESCAPED.sub(" ", text.translate(_SPACES)))
        self._rest = self.text
        self._taken: list[tuple[int, int]] = []
        self.found: list[Found] = []
        for pattern in (_ALWAYS, _ITEM):
            self._each(pattern, self._skip)
        for moment in dates(self._rest):
            self._take(moment.start, moment.end, moment.readings)
        self._mask()
        for pattern in _MONEY:
            self._each(pattern, self._amount)
        self._each(_PERCENT, self._percentage)
        self._each(_SCALED, self._scaled)
        for moment in times(self._rest):
            self._time(moment.start, moment.end, moment.readings)
        self._mask()
        self._each(_BY, self._by)
        self._each(_UNIT, self._unit)
        self._each(_WORD, self._word)
        self._each(_HASH, self._hash)
        self._each(_PHONE, self._phone)
        self._each(_PLAIN, self._plain)

    # ── taking ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _each(self, pattern: re.Pattern[str], take: Callable[[re.Match[str]], None]) -> None:
        for match in pattern.finditer(self._rest):
            take(match)
        self._mask()

    def _mask(self) -> None:
        """Hide what was taken from the patterns to come."""
        if not self._taken:
            return
        pieces: list[str] = []
        at = 0
        for start, end in sorted(self._taken):
            pieces += [self._rest[at:start], _GONE * (end - max(at, start))]
            at = max(at, end)
        self._rest = "".join([*pieces, self._rest[at:]])
        self._taken.clear()

    def _skip(self, match: re.Match[str]) -> None:
        self._taken.append(match.span())

    def _take(
        self,
        start: int,
        end: int,
        values: frozenset[Reading],
        *,
        binds: bool = True,
        family: Reading | None = None,
        parts: tuple[Found, ...] = (),
        about: Decimal | None = None,
    ) -> None:
        text = self.text[start:end].strip()
        self.found.append(Found(start, text, values, binds, family, parts, about))
        self._taken.append((start, end))

    def _before(self, start: int) -> str:
        return self.text[max(0, start - 24) : start]

    # ── the kinds ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _amount(self, match: re.Match[str]) -> None:
        self._quantities(match, match.groupdict().get("scale"))

    def _scaled(self, match: re.Match[str]) -> None:
        if match[0] in _DISPLAYS:
            self._skip(match)
        else:
            self._quantities(match, match["scale"])

    def _percentage(self, match: re.Match[str]) -> None:
        self._quantities(match, None, also=Decimal("0.01"))

    def _quantities(self, match: re.Match[str], scale: str | None, also: Decimal | None = None) -> None:
        """One amount, or the two ends of a range, which share the scale."""
        powers = (0,) if scale is None else _powers(scale)
        both = bool(match["high"])
        for end in ("low", "high") if both else ("low",):
            values = {number.scaleb(power) for number in _numbers(match[end]) for power in powers}
            if also is not None:
                values |= {number * also for number in values}
            binds = any(number != 0 for number in values)
            start, stop = (match.start(end), match.end(end)) if both else match.span()
            about = self._about(match.start(), match[end], powers[0])
            self._take(start, stop, frozenset(("number", number) for number in values), binds=binds, about=about)
        self._skip(match)

    def _about(self, start: int, figure: str, power: int) -> Decimal | None:
        if not _ABOUT.search(self._before(start)):
            return None
        number = max(_numbers(figure), default=Decimal(0)).normalize()
        exponent = number.as_tuple().exponent
        return Decimal(5).scaleb(int(exponent) + power - 1) if isinstance(exponent, int) else None

    def _time(self, start: int, end: int, values: frozenset[Reading]) -> None:
        figure = re.search(r"\d+[.:]?\d*", self.text[start:end])
        numbers = readings(figure[0].replace(":", ".")) if figure else set[Decimal]()
        self._take(start, end, values | {("number", number) for number in numbers})

    def _by(self, match: re.Match[str]) -> None:
        for place in (1, 2):
            self._number(match.start(place), match.end(place), match[place])
        self._skip(match)

    def _unit(self, match: re.Match[str]) -> None:
        figure, unit = match.groups()
        values: set[Reading] = {("number", number) for number in _numbers(figure)}
        if unit.lower() in _ORDINALS and figure.isdecimal():
            values.add(("day", int(figure)))
        values.add(("code", f"{figure}{unit}".lower()))
        family = None if unit.lower() in (*_ORDINALS, "x") else ("unit", unit.lower())
        self._take(*match.span(), frozenset(values), binds=_large(_numbers(figure)), family=family)

    def _word(self, match: re.Match[str]) -> None:
        text = match[0]
        if not _mixed(text):
            return
        segments = _BETWEEN.split(text)
        if not any(_mixed(segment) or segment.isupper() for segment in segments):
            return  # `ke-25`: the number in it is read later
        bare = _BETWEEN.sub("", text).lower()
        bare = re.sub(r"^no(?=\d)", "", bare)
        letters = re.match("[a-z]+", bare)
        digits = sum(map(str.isdigit, bare))
        values: set[Reading] = {("code", bare)}
        if bare.isdecimal():
            values |= {("digits", bare), *(("number", number) for number in _numbers(bare))}
        self._take(
            *match.span(),
            frozenset(values),
            binds=digits >= _LEAST_DIGITS,
            family=("letters", letters[0]) if letters else None,
            parts=tuple(_segments(segments, match.start())),
        )

    def _hash(self, match: re.Match[str]) -> None:
        numbers = {("number", number) for number in _numbers(match[1])}
        self._take(*match.span(), frozenset({("digits", match[1]), *numbers}))

    def _phone(self, match: re.Match[str]) -> None:
        digits = re.sub(r"\D", "", match[0])
        if len(digits) >= _LEAST_PHONE:
            self._take(*match.span(), frozenset({("phone", _subscriber(digits)), ("digits", digits)}))

    def _plain(self, match: re.Match[str]) -> None:
        self._number(*match.span(), match[0])

    def _number(self, start: int, end: int, figure: str) -> None:
        """A number on its own. One of several groups with blanks between them may be several."""
        values: set[Reading] = {("number", number) for number in _numbers(figure)}
        before = self._before(start)
        binds = not values or _large(_numbers(figure))
        if figure.isdecimal():
            binds = binds or (figure.startswith("0") and len(figure) >= _LEAST_DIGITS)
            if figure.startswith("0") and len(figure) >= _LEAST_DIGITS:
                values = set()  # a code: `007` is not seven
            values.add(("digits", figure))
            if word := _LETTERS.search(before):
                values.add(("code", f"{word[1]}{figure}".lower()))  # `ORD 12`
            if len(figure) >= _LEAST_PHONE:
                values.add(("phone", _subscriber(figure)))
            if (date := compact(figure)) is not None:
                values.add(date)
            if _DAY.search(before) and len(figure) <= 2:
                values.add(("day", int(figure)))
                binds = binds or "the" not in before.lower()[-5:]
            binds = binds or (figure != "1" and bool(_NAMED.search(before)))
        elif not values:
            values.add(("digits", figure))  # `192.168.1.1`, `3.11.2`: as it is, or not at all
        parts = tuple(_groups(figure, start)) if " " in figure else ()
        about = self._about(start, figure, 0)
        self._take(start, end, frozenset(values), binds=binds, parts=parts, about=about)


def _segments(segments: list[str], start: int) -> Iterator[Found]:
    """The codes that a code may be made of, such as `PRD001/PRD002`: nothing where one of them is only digits."""
    holding = [segment.lower() for segment in segments if any(map(str.isdigit, segment))]
    if len(segments) > 1 and all(map(_mixed, holding)):
        for segment in holding:
            yield Found(start, segment, frozenset({("code", segment)}))


def _groups(figure: str, start: int) -> Iterator[Found]:
    for group in figure.split(" "):
        number = Decimal(group)
        yield Found(start, group, frozenset({("number", number), ("digits", group)}), binds=number > SMALL)


def _numbers(figure: str) -> set[Decimal]:
    if len(figure) > _LONGEST:
        return set()
    return {Decimal(figure.replace(" ", ""))} if " " in figure else readings(figure)


def _powers(scale: str) -> tuple[int, ...]:
    if scale == "M":
        return (6, 9)
    return (6,) if scale.lower() == "m" else (9,) if scale.lower() == "bn" else (SCALES[scale.lower()],)


def _large(numbers: set[Decimal]) -> bool:
    """Whether a number is more than a small count in one of its readings."""
    return any(number > SMALL or number != number.to_integral_value() for number in numbers)


def _mixed(segment: str) -> bool:
    return any(map(str.isdigit, segment)) and any(map(str.isalpha, segment))


def _subscriber(digits: str) -> str:
    """A telephone number without what stands for the country or the way out of it."""
    return re.sub(r"^(?:00)?(?:62|0)", "", digits)
