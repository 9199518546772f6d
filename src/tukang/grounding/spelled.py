"""Numbers that are written in words, in Indonesian and English: `dua juta`, `seratus dua puluh`, `two hundred`. Pure.

They are read where a user said them: who answers writes them in digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tukang.grounding.figures import SCALES

_ONES: Mapping[str, float] = {
    **{
        "setengah": 0.5,
        "a": 1,
        "satu": 1,
        "dua": 2,
        "tiga": 3,
        "empat": 4,
        "lima": 5,
        "enam": 6,
        "tujuh": 7,
        "delapan": 8,
        "sembilan": 9,
    },
    **{"sepuluh": 10, "sebelas": 11, "selusin": 12},
    **{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10},
    **{"eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17},
    **{
        "eighteen": 18,
        "nineteen": 19,
        "twenty": 20,
        "thirty": 30,
        "forty": 40,
        "fifty": 50,
        "sixty": 60,
        "seventy": 70,
    },
    **{"eighty": 80, "ninety": 90, "dozen": 12},
}
_TIMES: Mapping[str, int] = {"puluh": 10, "ratus": 100, "hundred": 100}
_HUNDRED = "seratus"
_POWERS: Mapping[str, int] = {word: 10**power for word, power in SCALES.items() if len(word) > 2}
_WHOLE: Mapping[str, int] = {"seribu": 10**3, "sejuta": 10**6, "semiliar": 10**9}
_FIRST = frozenset({*_ONES, *_WHOLE, _HUNDRED})
_LATER = frozenset({*_TIMES, *_POWERS, "belas", "and"})
_WORD = re.compile(r"[a-z]+")


def spelled(text: str) -> Iterator[int]:
    """The numbers that are spelled out in a text, each as far as it goes: `dua juta lima ratus ribu` is 2,500,000."""
    run: list[str] = []
    end = 0
    for match in _WORD.finditer(text.lower()):
        word, gap = match[0], text[end : match.start()]
        if run and gap.strip(" -"):
            yield from _number(run)
            run = []
        end = match.end()
        if word in _FIRST or (run and word in _LATER):
            run.append(word)
        elif run:
            yield from _number(run)
            run = []
    yield from _number(run)


def _number(words: list[str]) -> Iterator[int]:
    """The value of number words that stand together; nothing when there are none."""
    total = hundreds = ones = 0.0
    for word in words:
        if word == "and":
            continue
        if word in _ONES:
            ones += _ONES[word]
        elif word == _HUNDRED:
            hundreds += 100
        elif word == "belas":
            ones += 10
        elif word in _TIMES:
            hundreds, ones = hundreds + (ones or 1) * _TIMES[word], 0
        elif word in _WHOLE:
            total, hundreds, ones = total + hundreds + ones + _WHOLE[word], 0, 0
        else:
            total, hundreds, ones = total + (hundreds + ones or 1) * _POWERS[word], 0, 0
    if value := int(total + hundreds + ones):
        yield value
