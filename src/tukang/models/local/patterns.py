"""Regular expressions and integer ranges as GBNF.

A pattern is translated when every part of it can be: literals, classes, groups, alternatives, counted and open repeats
(open ones get an end). Anything else (look-around, back references) gives None, and the caller stays loose.
"""

from __future__ import annotations

import re
from typing import Any, cast

_OPEN_END = 60
_ANY = r'[^"\\\x7F\x00-\x1F]'
_CLASSES = {"CATEGORY_DIGIT": "0-9", "CATEGORY_WORD": "A-Za-z0-9_", "CATEGORY_SPACE": " "}


def pattern_to_gbnf(pattern: str) -> str | None:
    """The inside of a JSON string that matches an ECMA-262 `pattern`, as GBNF; None when it cannot be said exactly enough.

    A pattern without `^` or `$` may stand anywhere in the string, as JSON Schema has it.
    """
    try:
        parsed = cast("list[Any]", list(re._parser.parse(pattern)))  # type: ignore[attr-defined]  # the one parser there is
        if not parsed:
            return None
        begins, ends = _is_anchor(parsed[0], "AT_BEGINNING"), _is_anchor(parsed[-1], "AT_END")
        body = _sequence(parsed[1 if begins else 0 : len(parsed) - 1 if ends else len(parsed)])
    except (re.error, _Unknown, RecursionError, OverflowError):
        return None
    around = f"{_ANY}{{0,{_OPEN_END}}}"
    return " ".join(part for part in ("" if begins else around, body, "" if ends else around) if part) or '""'


class _Unknown(Exception):
    """A part of a pattern that has no translation."""


def _is_anchor(item: Any, name: str) -> bool:
    return str(item[0]) == "AT" and str(item[1]) == name


def _sequence(items: list[Any]) -> str:
    return " ".join(_item(str(code), value) for code, value in items) or '""'


def _item(code: str, value: Any) -> str:
    match code:
        case "LITERAL":
            return _character(value)
        case "NOT_LITERAL":
            return rf'[^{_in_class(value)}"\\\x00-\x1F]'
        case "ANY":
            return _ANY
        case "IN":
            return _class(value)
        case "BRANCH":
            return "(" + " | ".join(_sequence(list(branch)) for branch in value[1]) + ")"
        case "SUBPATTERN":
            return f"({_sequence(list(value[3]))})"
        case "MAX_REPEAT" | "MIN_REPEAT":
            least, most, body = value
            most = min(int(most), max(int(least), _OPEN_END))
            return f"({_sequence(list(body))}){{{int(least)},{most}}}"
        case _:
            raise _Unknown(code)


def _character(code: int) -> str:
    character = chr(code)
    if code < 32:
        raise _Unknown(character)
    if character in '"\\':  # both are written with a backslash in JSON, and each of the two once more in GBNF
        return '"\\\\\\""' if character == '"' else '"\\\\\\\\"'
    return f'"{character}"'


def _in_class(code: int) -> str:
    character = chr(code)
    return f"\\{character}" if character in "\\]" else f"\\x{code:02X}" if character in "^-" else character


def _class(items: list[Any]) -> str:
    negated, body = False, ""
    for code, value in items:
        match str(code):
            case "NEGATE":
                negated = True
            case "LITERAL" if value >= 32 and chr(value) not in '"\\':
                body += _in_class(value)
            case "RANGE" if value[0] >= 32 and not value[0] <= 34 <= value[1] and not value[0] <= 92 <= value[1]:
                body += f"{_in_class(value[0])}-{_in_class(value[1])}"
            case "CATEGORY" if str(value) in _CLASSES:
                body += _CLASSES[str(value)]
            case other:
                raise _Unknown(other)
    return rf'[^{body}"\\\x7F\x00-\x1F]' if negated else f"[{body}]"


def integers_between(low: int | None, high: int | None) -> str:
    """Whole numbers from `low` to `high`, both included, as GBNF. None is no bound; an empty range is any integer."""
    if low is None and high is None:
        return "integer"
    if low is not None and high is not None and low > high:
        return "integer"
    options: list[str] = []
    if low is None or low < 0:
        least = 1 if high is None or high >= 0 else -high
        options += [f'"-" ({option})' for option in _positive(least, None if low is None else -low)]
    if high is None or high >= 0:
        options += _positive(max(low or 0, 0), high)
    return "(" + " | ".join(options) + ")"


def _positive(low: int, high: int | None) -> list[str]:
    """Numbers of `low` (not negative) to `high` without sign, one option for each length."""
    if high is None:
        longer = f"[1-9] [0-9]{{{len(str(low))},17}}"
        return [*_positive(low, 10 ** len(str(low)) - 1), longer]
    options: list[str] = []
    for length in range(len(str(low)), len(str(high)) + 1):
        least, most = max(low, 10 ** (length - 1) if length > 1 else 0), min(high, 10**length - 1)
        if least <= most:
            options += _same_length(str(least), str(most))
    return options


def _same_length(low: str, high: str) -> list[str]:
    """Digits from `low` to `high`, written with the same number of them."""
    if not low:
        return ['""']
    if set(low) == {"0"} and set(high) == {"9"}:
        return [f"[0-9]{{{len(low)}}}"]
    rest_low, rest_high = "0" * (len(low) - 1), "9" * (len(low) - 1)
    if low[0] == high[0]:
        return [f'"{low[0]}" {_group(_same_length(low[1:], high[1:]))}']
    first, last, options = int(low[0]), int(high[0]), list[str]()
    if low[1:] != rest_low:
        options.append(f'"{low[0]}" {_group(_same_length(low[1:], rest_high))}')
        first += 1
    end = last if high[1:] == rest_high else last - 1
    if first <= end:
        rest = f" [0-9]{{{len(rest_low)}}}" if rest_low else ""
        options.append(f"[{first}-{end}]{rest}")
    if end != last:
        options.append(f'"{high[0]}" {_group(_same_length(rest_low, high[1:]))}')
    return options


def _group(options: list[str]) -> str:
    return options[0] if len(options) == 1 else "(" + " | ".join(options) + ")"
