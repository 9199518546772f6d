"""What an answer may rest on, and whether what it says is in there. Pure.

A figure of an answer is **known** when one of its readings is that of a figure in a source. So `Rp 1,2 juta` is known from
`{"harga": 1200000}`, `30 November` from `2026-11-30`, `ord-1001` and `#1001` from `ORD1001`. Of a number with a fraction its
roundings are known; of others only where the answer says that it rounds ("sekitar Rp 1,2 juta"). A year that the answer adds
to a day must be known as a number. What was worked out from sources, a sum, is not known: a tool has to have given it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from functools import cached_property
from typing import Any

from tukang.grounding.citations import Citation, citations
from tukang.grounding.dates import Reading
from tukang.grounding.reading import Found, figures
from tukang.grounding.spelled import spelled

_MOST_PLACES = 12
_APART = re.compile(r"(?<![A-Za-z0-9])([A-Za-z]{1,6})[ ./-](\d{2,12})(?![A-Za-z0-9])")
_EXACT = Context(prec=60)


class Source:
    """One text that an answer may rest on. What is read in it is read once."""

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def was_read(self) -> bool:
        """Whether the reading of it is done."""
        return "values" in vars(self)

    @cached_property
    def values(self) -> frozenset[Reading]:
        """Everything that is known from it."""
        known: set[Reading] = set()
        for one in figures(self.text):
            for part in (one, *one.parts):
                for reading in part.readings:
                    known |= _implied(reading)
                if part.family is not None:
                    known.add(part.family)
        known |= {("number", Decimal(number)) for number in spelled(self.text)}
        known |= {("code", f"{word}{digits}".lower()) for word, digits in _APART.findall(self.text)}
        return frozenset(known)

    @cached_property
    def cited(self) -> frozenset[Citation]:
        """The documents and pages that it gives to be cited."""
        return frozenset(one for _, one in citations(self.text))

    @cached_property
    def words(self) -> str:
        """Its text in lower case, with single blanks between words."""
        return " ".join(self.text.lower().split())


class Evidence:
    """What an answer may rest on: results of tools, the user's words, the agent's instructions.

    Args:
        sources: the texts.
        context: the caller's own object, as it was given to the turn; for functions that look something up.
    """

    def __init__(self, sources: Iterable[Source | str], context: Any = None) -> None:
        self._sources = tuple(Source(one) if isinstance(one, str) else one for one in sources)
        self.context = context

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts, one for each message and for the instructions."""
        return tuple(source.text for source in self._sources)

    def knows(self, text: str) -> bool:
        """Whether all of it is there: word for word, whatever the case and the blanks, or every figure in it in any form."""
        words = " ".join(text.lower().split())
        whole = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)")
        if any(whole.search(source.words) for source in self._sources):
            return True
        found = figures(text)
        return bool(found) and all(self._has(one) for one in found)

    def unsupported(self, text: str) -> tuple[str, ...]:
        """What in a text binds and is not known, as it is written, each once: its figures, and the documents it cites."""
        found = [one.text for one in figures(text) if self._binds(one) and not self._has(one)]
        cited = [written for written, one in citations(text) if not self._cites(*one)]
        return tuple(dict.fromkeys((*found, *cited)))

    def _cites(self, document: str, page: int | None) -> bool:
        """Whether a source gives this document, on this page where there is one, to be cited."""
        given = [one for source in self._sources for one in source.cited if one[0] == document]
        return any(page is None or page == known for _, known in given)

    def _binds(self, one: Found) -> bool:
        return one.binds or (one.family is not None and self._any(one.family))

    def _has(self, one: Found) -> bool:
        if any(self._known(reading) for reading in one.readings):
            return True
        if one.parts and all(not self._binds(part) or self._has(part) for part in one.parts):
            return True
        return one.about is not None and any(self._near(one, reading) for reading in one.readings)

    def _known(self, reading: Reading) -> bool:
        if self._any(reading):
            return True
        match reading:
            case ("date", int(year), int(month), int(day)):
                return self._any(("yearless", month, day)) and self._any(("number", Decimal(year)))
            case _:
                return False

    def _any(self, reading: Reading) -> bool:
        return any(reading in source.values for source in self._sources)

    def _near(self, one: Found, reading: Reading) -> bool:
        """Whether a number that is said to be rounded is a known one, rounded."""
        kind, value = reading[0], reading[1]
        if kind != "number" or not isinstance(value, Decimal) or one.about is None:
            return False
        return any(abs(number - value) <= one.about for number in self._numbers)

    @cached_property
    def _numbers(self) -> Sequence[Decimal]:
        found = (reading for source in self._sources for reading in source.values if reading[0] == "number")
        return [number for _, number in found if isinstance(number, Decimal)]


def _implied(reading: Reading) -> set[Reading]:
    """What is known with a value in a source."""
    match reading:
        case ("number", Decimal() as number):
            return {reading, *(("number", one) for one in _rounded(number))}
        case ("date", int(year), int(month), int(day)):
            said = {reading, ("date", None, month, day), ("date", year, month, None)}
            return {*said, ("day", day), ("number", Decimal(year))}
        case ("date", None, int(month), int(day)):
            return {reading, ("yearless", month, day), ("day", day)}
        case ("date", int(year), int(_), None):
            return {reading, ("number", Decimal(year))}
        case ("time", hour, minute, _):
            return {reading, ("time", hour, minute)}
        case ("code", str(code)):
            digits = re.sub(r"\D", "", code)
            return {reading, ("digits", digits)} if len(digits) > 2 else {reading}
        case _:
            return {reading}


def _rounded(number: Decimal) -> set[Decimal]:
    """A number with a fraction at every smaller number of places."""
    exponent = number.as_tuple().exponent
    places = -exponent if isinstance(exponent, int) else 0
    if places <= 0 or number.is_zero():
        return set()
    steps = [Decimal(1).scaleb(-place) for place in range(min(places, _MOST_PLACES))]
    return {number.quantize(step, how, _EXACT) for step in steps for how in (ROUND_HALF_UP, ROUND_DOWN)}
