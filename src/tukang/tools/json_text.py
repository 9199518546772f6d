"""Strict JSON, in and out: what the arguments of a call are read from and written to. Mends nothing; see `mending`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NoReturn, cast

import msgspec

DEEPEST = 100
"""Objects and arrays inside each other; a text with more is refused, for they exhaust the stack somewhere sooner or later."""

_EXACT = 2**53  # beyond it a float stands for several integers


class Unreadable(ValueError):
    """A text that is not the JSON it should be. The message completes "the arguments cannot be read: …", for the model."""

    def __init__(self, reason: str, hint: str | None = None) -> None:
        self.reason = unicode(reason)
        super().__init__(self.reason)
        self.hint = hint


def decode(text: str) -> Any:
    """Decode strict JSON; whole numbers are exact, whatever their size.

    Raises:
        Unreadable: it says NaN, Infinity, a number too large, or one key twice with different values; or it is nested more
            than `DEEPEST` levels deep.
        ValueError: it is not JSON.
    """
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise too_deep() from None
    if text.count("{") + text.count("[") > DEEPEST and depth(value) > DEEPEST:
        raise too_deep()
    return value


def too_deep() -> Unreadable:
    """The refusal of a text that is nested too deeply."""
    return Unreadable(f"it is nested more than {DEEPEST} levels deep")


def canonical(value: Any) -> str:
    """The one text of equal JSON values: keys sorted, no spaces, UTF-8.

    Raises:
        Unreadable: a string in it is not Unicode text (half of a surrogate pair).
    """
    try:
        return msgspec.json.encode(value, order="sorted").decode()
    except UnicodeEncodeError:
        raise Unreadable("a string in it holds half of a surrogate pair (\\ud800 to \\udfff)") from None


def with_whole_numbers(value: Any) -> Any:
    """The same JSON value with `2.0` as `2`, so that equal numbers have one text too."""
    if isinstance(value, float):
        return as_integer(value)
    if isinstance(value, dict):
        return {key: with_whole_numbers(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [with_whole_numbers(item) for item in cast("list[Any]", value)]
    return value


def as_integer(value: float) -> int | float:
    """The integer this float is; the float where it is none, or stands for several."""
    return int(value) if abs(value) < _EXACT and value.is_integer() else value


def depth(value: Any) -> int:
    """How many objects and arrays are inside each other; counted level by level, for recursion is what this protects from."""
    levels = 0
    level = _containers((value,))
    while level:
        levels += 1
        level = [inner for item in level for inner in _containers(item.values() if isinstance(item, dict) else item)]
    return levels


def _containers(values: Iterable[Any]) -> list[dict[str, Any] | list[Any]]:
    return [value for value in values if isinstance(value, (dict, list))]


def unicode(text: str) -> str:
    """The text with a `?` for each half of a surrogate pair, which no UTF-8 can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def as_object(value: Any) -> dict[str, Any]:
    """The value, if it is an object; raises `Unreadable` otherwise."""
    if not isinstance(value, dict):
        raise Unreadable(f"a JSON object is needed, not {kind(value)}", "Send the arguments as one JSON object.")
    return cast("dict[str, Any]", value)


def kind(value: Any) -> str:
    """What JSON calls a value, with its article: `a string`, `an array`, `null`."""
    return _KINDS.get(cast("type[Any]", type(value)), "null")


def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object from its members; raises `Unreadable` when one key comes with two values."""
    together = dict(pairs)
    if len(together) != len(pairs):  # JSON leaves it open which one counts, so it is not for us to choose
        for key, value in pairs:
            if together[key] is not value and canonical(together[key]) != canonical(
                value
            ):  # 1 == True, but not in JSON
                shown = key if len(key) <= 60 else key[:60] + "…"
                raise Unreadable(
                    f"the key {json.dumps(shown, ensure_ascii=False)} is given twice, with different values"
                )
    return together


def number(digits: str) -> float:
    """A float; raises `Unreadable` when it is too large to be one."""
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise Unreadable(f"{digits[:40]} is too large a number")
    return value


def _integer(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:  # Python's own bound on the length of integers
        raise Unreadable(f"a number of {len(digits)} digits is too large") from None


def _refuse_constant(name: str) -> NoReturn:
    raise Unreadable(f"{name} is not a JSON value")


_KINDS: dict[type[Any], str] = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "a boolean",
    int: "a number",
    float: "a number",
}
_DECODER = json.JSONDecoder(
    object_pairs_hook=members, parse_constant=_refuse_constant, parse_float=number, parse_int=_integer
)
