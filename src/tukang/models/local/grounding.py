"""What is known, and what was made up: figures and identifiers, compared with everything that was said.

A small model copies badly: it writes ORDER7781 for ORD7781, or an order number where there is none. This file answers one
question, "does this token occur in the sources?", and knows no model, prompt or grammar.

A **token** is a run of letters and digits with at least one digit, with `. , : / -` allowed between digits:
`PRD001`, `15.000.000`, `21:00`, `2026-11-30`, `0811-222`, `24C`, `Rp850.000`. It is *known* when

* it stands in a source as it is, whatever its case; or
* it is a number that stands in a source written otherwise: `1.200.000` = `1,200,000` = `1200000`, `12,5` = `12.5`,
  `02.00` = `2:00` = `2.00`; a date's or a time's parts are known by themselves, a grouped number's are not; or
* it is a number given in thousands or millions: `2000000` from `2 juta`; or
* it is a known number with a currency before it or a unit after it: `Rp850.000`, `24C`, `3x`.

So `7781` is not known from `ORD7781`, and `PRD01` not from `PRD001`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from difflib import SequenceMatcher

from tukang.grounding.figures import CURRENCIES, SCALES, TOKEN, is_identifier, readings, tokens

_LONG_WORD = re.compile(r"[a-z]{4,}")
_PARTS = re.compile(r"([A-Za-z_]*)([\d.,:/-]*\d)([A-Za-z_]*)")
_DATE_OR_TIME = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}(?:T[\d:.]+)?|\d{1,2}[/-]\d{1,2}[/-]\d{2,4}|\d{1,2}[:.]\d{2}(?:[:.]\d{2})?|(?:19|20)\d\d"
)
_SCALED = re.compile(rf"(\d[\d.,]*)\s*({'|'.join(SCALES)})\b", re.IGNORECASE)
_LONGEST_UNIT = 5
_LEAST_PHONE = 7


class Sources:
    """Everything that was said, as the tokens in it."""

    def __init__(self, texts: Iterable[str]) -> None:
        texts = list(texts)
        self.tokens: tuple[str, ...] = tuple(dict.fromkeys(token for text in texts for token in tokens(text)))
        self._said = {word for text in texts for word in re.findall(r"[A-Z]{3,}", text)}
        self._words = {token.lower() for token in self.tokens}
        self._numbers: set[Decimal] = set()
        self._phones: set[str] = set()
        for token in self.tokens:
            self._learn(token)
        for figure, scale in (found for text in texts for found in _SCALED.findall(text)):
            self._numbers |= {number.scaleb(SCALES[scale.lower()]) for number in readings(figure.rstrip(".,"))}

    def knows(self, token: str) -> bool:
        """Whether a token occurs in the sources, in the sense above."""
        if token.lower() in self._words:
            return True
        parts = _PARTS.fullmatch(token)
        if parts is None:
            return False
        before, figure, after = parts.groups()
        if before and before.lower() not in CURRENCIES:
            return False
        if len(after) > _LONGEST_UNIT:
            return False
        return bool(readings(figure) & self._numbers) or _digits(figure) in self._phones

    def unknown(self, text: str) -> list[str]:
        """The tokens of a text that are not known, in order."""
        return [match[0] for match in TOKEN.finditer(text) if not self.knows(match[0])]

    def nearest(self, token: str) -> str | None:
        """The one known identifier that a misquoted one must mean; None when none or several are close."""
        if not is_identifier(token):
            return None
        close = [known for known in self.tokens if is_identifier(known) and _means(token, known)]
        return close[0] if len({known.lower() for known in close}) == 1 else None

    def torn(self, word: str) -> str | None:
        """The one known identifier that a word in capitals is a bad beginning of, such as ORDER of ORD7781."""
        bare = word.strip(" \n\t.,:;!?()\"'#*`")
        if not re.fullmatch(r"[A-Z]{3,}", bare) or bare in self._said:
            return None
        close = [
            known
            for known in self.tokens
            if (found := re.match(r"[A-Z]{2,}(?=[-_]?\d)", known)) and bare.startswith(found[0])
        ]
        return close[0] if len(set(close)) == 1 else None

    def _learn(self, token: str) -> None:
        parts = _PARTS.fullmatch(token)
        if parts is None:
            return
        before, figure, _ = parts.groups()
        if before and before.lower() not in CURRENCIES:
            return
        self._numbers |= readings(figure)
        if len(_digits(figure)) >= _LEAST_PHONE:
            self._phones.add(_digits(figure))
        if re.search(r"[:/-]", figure):
            self._numbers |= {number for part in re.split(r"[:/-]", figure) for number in readings(part)}


def content_words(*texts: str) -> set[str]:
    """Words of four letters or more, and figures however grouped: what a text is about."""
    found = {word for text in texts for word in _LONG_WORD.findall(text.lower())}
    return found | {re.sub("[.,]", "", token.lower()) for text in texts for token in tokens(text)}


def names_something(token: str) -> bool:
    """Whether a token in an argument has to be known: an identifier, or a number long enough to be a code or a phone.

    Counts are not (`3 unit` may come from "tiga"), nor are dates and times (they may come from "besok pagi").
    """
    if is_identifier(token):
        return True
    return len(re.sub(r"\D", "", token)) > 2 and not _DATE_OR_TIME.fullmatch(token)


def is_year(token: str) -> bool:
    """Whether a token may be a year of our time: what general knowledge is full of."""
    return bool(re.fullmatch(r"(?:1[5-9]|20)\d\d", token))


def looks_invented(token: str, sources: Sources) -> bool:
    """Whether a token of a plain answer, without results, is an identifier that nobody gave.

    General knowledge is full of figures and of names with digits (1945, H2O, MP3, B2B): those pass. What does not pass is a
    code in capitals with three digits or more (ORD1234), and anything that begins like a known identifier but is not one.
    """
    if sources.knows(token):
        return False
    if re.fullmatch(r"[A-Z]{2,}[-_]?\d{3,}", token):
        return True
    parts = _PARTS.fullmatch(token)
    prefix = parts[1].lower() if parts else ""
    return len(prefix) > 1 and any(
        known.lower().startswith(prefix) and is_identifier(known) and known[len(prefix)].isdigit()
        for known in sources.tokens
    )


def written(numbers: Sequence[str]) -> list[str]:
    """Every way to write known tokens: as they are, and whole numbers grouped with `.` and with `,`."""
    ways: list[str] = []
    for token in numbers:
        ways.append(token)
        parts = _PARTS.fullmatch(token)
        if parts is None or (parts[1] and parts[1].lower() not in CURRENCIES):
            continue
        for number in sorted(readings(parts[2])):
            plain = f"{number.normalize():f}"
            ways.append(plain)
            if "." in plain:
                ways.append(plain.replace(".", ","))
            elif len(plain) > 3:
                ways += [f"{int(plain):,}", f"{int(plain):,}".replace(",", ".")]
        if re.search(r"[:/-]", parts[2]):
            ways += [part for part in re.split(r"[:/-]", parts[2]) if part]
    return list(dict.fromkeys(ways))


def _digits(figure: str) -> str:
    digits = re.sub(r"\D", "", figure)
    return digits if len(digits) >= _LEAST_PHONE else figure


def _means(token: str, known: str) -> bool:
    """Same digits but for leading zeros under nearly the same letters, or nearly the same under the same digits."""
    a, b = token.lower(), known.lower()
    a_letters, b_letters = re.sub(r"[^a-z]", "", a), re.sub(r"[^a-z]", "", b)
    a_digits, b_digits = re.sub(r"\D", "", a), re.sub(r"\D", "", b)
    letters = a_letters == b_letters or a_letters.startswith(b_letters) or b_letters.startswith(a_letters)
    if letters and a_digits.lstrip("0") == b_digits.lstrip("0"):
        return True
    return a_digits == b_digits and SequenceMatcher(None, a_letters, b_letters).ratio() >= 0.6
