"""The words people say, and those that the tables use for them. It knows words, not codes, and searches nothing.

Three things stand between them: other words for the same (`istilah.tsv`), everyday forms of a word ("nyewain", "ngecat"), and
spellings ("krupuk", "telor"). A form or a spelling only counts where the word as it stands
is not known, and leads to one that is.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from tukang.assistants.kbli.tabel import awal
from tukang.retrieval.words import STOP, folded, stem, words_of

_LONGEST = 3
"""Words of the longest term in `istilah.tsv`."""

_LEAST = 4
"""Letters of a word that may be another one spelt otherwise. Of shorter ones too many are a letter away from each other."""

_ALIKE = {"o": "u", "u": "o", "e": "ai", "a": "e", "i": "e", "f": "p", "p": "f", "v": "f", "z": "s"}
_SILENT = "ehi"
"""Letters that are swallowed, or put in: krupuk, jait, somay."""

_MOST = 4_000
"""Characters of a text that are read."""

_BEGINNINGS = (
    (re.compile(r"^nge(?=[^aiueo])"), ("",)),  # ngecat
    (re.compile(r"^ng(?=[aiueo])"), ("", "k")),  # ngangkut, ngirim
    (re.compile(r"^ny(?=[aiueo])"), ("s",)),  # nyewa
    (re.compile(r"^n(?=[aiueocdj])"), ("", "t")),  # njual, nanam
    (re.compile(r"^m(?=[aiueo])"), ("p",)),  # motong
)
"""How people begin a verb, and what its root begins with."""

_ENDINGS = ("in", "nya", "an", "kan", "i")
"""What people put behind one."""


def diperluas(teks: str) -> str:
    """A question, and the words that tables use for those in it. A longer term goes before the shorter ones in it."""
    words = re.findall(r"[\w-]+", teks[:_MOST].casefold())
    meant = [baku(word) for word in words]
    added = [other for word, other in zip(words, meant, strict=True) if other != word]
    terms = _terms()
    for length in range(_LONGEST, 0, -1):
        for start in range(len(words) - length + 1):
            span = slice(start, start + length)
            if found := terms.get(" ".join(words[span])) or terms.get(" ".join(meant[span])):
                added.append(found)
    return " ".join([teks, *dict.fromkeys(added)])


def tercakup(teks: str, lain: str) -> float:
    """How much of what a text speaks of is in another text, 0 to 1: each thing counts as one, in either kind of words."""
    there = set(words_of(lain))
    things = list(_things(teks))
    parts = (max(float(there >= said), len(there & meant) / len(meant) if meant else 0.0) for said, meant in things)
    return sum(parts) / len(things) if things else 0.0


def _things(teks: str) -> Iterator[tuple[set[str], set[str]]]:
    """What a text speaks of, one after the other: in its own words, and in those of the tables."""
    words = re.findall(r"[\w-]+", teks[:_MOST].casefold())
    meant, terms, at = [baku(word) for word in words], _terms(), 0
    while at < len(words):
        spans = [slice(at, at + length) for length in range(_LONGEST, 0, -1) if at + length <= len(words)]
        named = [(span, terms.get(" ".join(words[span])) or terms.get(" ".join(meant[span]))) for span in spans]
        span, other = next(((span, other) for span, other in named if other), (spans[-1], None))
        if other or meant[at] not in STOP:
            yield set(words_of(" ".join(meant[span]))), set(words_of(other or ""))
        at = span.stop


@cache
def _terms() -> dict[str, str]:
    rows = csv.DictReader(
        files("tukang.assistants.kbli").joinpath("istilah.tsv").read_text("utf-8").splitlines(), delimiter="\t"
    )
    return {row["sehari_hari"]: row["resmi"] for row in rows}


def baku(kata: str) -> str:
    """The known word that this one stands for; the word itself when it is known, or no other is near."""
    known = _known()
    if kata in known or kata in STOP or not kata.isalpha():
        return kata
    forms = (kata, *dict.fromkeys(_forms(kata)))
    return next((form for form in forms if form in known), None) or next(filter(None, map(_respelt, forms)), kata)


def _forms(word: str) -> Iterator[str]:
    """A word without what people put before and behind it, the least changed first."""
    roots = [word]
    for pattern, begins in _BEGINNINGS:
        if pattern.search(word):
            roots += [pattern.sub(begin, word) for begin in begins]
    yield from roots[1:]
    for root in roots:
        yield from (root.removesuffix(end) for end in _ENDINGS if root.endswith(end) and len(root) - len(end) > 2)


@cache
def _known() -> frozenset[str]:
    """The words of the terms, of what they stand for, and of the starter table, and the roots of these."""
    texts = [*_terms(), *_terms().values(), *(code.teks for code in awal().values())]
    words = {word for text in texts for word in re.findall(r"[^\W\d_]+", text.casefold())}
    return frozenset(words | {stem(folded(word)) for word in words})


def _respelt(word: str) -> str | None:
    """The known word that this one is another spelling of."""
    if len(word) < _LEAST:
        return None
    return next((one for one in _spellings(word) if one in _known()), None)


def _spellings(word: str) -> Iterator[str]:
    """A word with one of its letters written as people confuse them: o and u, e and a, i and e; silent and double letters."""
    for at, sign in enumerate(word):
        before, after = word[:at], word[at + 1 :]
        yield from (before + other + after for other in _ALIKE.get(sign, ""))
        if sign in _SILENT or after[:1] == sign:
            yield before + after
        yield before + sign + sign + after
        if at:
            yield from (before + silent + sign + after for silent in _SILENT)
