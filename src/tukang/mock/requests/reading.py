"""Reading JSON that may be anything: what has the right form, and refusing what has not. Knows no provider."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, cast

import msgspec

from tukang.mock.values import JSON, Refused


def need(holds: object, message: str, *, param: str | None = None, code: str | None = None, status: int = 400) -> None:
    """Refuse the request unless this holds."""
    if not holds:
        raise Refused(message, param=param, code=code, status=status)


def is_object(value: object) -> bool:
    return isinstance(value, dict)


def member(holder: JSON, name: str) -> JSON:
    """The object under this name; empty when there is none, or something else."""
    value = holder.get(name)
    return cast("JSON", value) if isinstance(value, dict) else {}


def items(holder: JSON, name: str) -> list[Any]:
    """The list under this name; empty when there is none, or something else."""
    value = holder.get(name)
    return cast("list[Any]", value) if isinstance(value, list) else []


def objects(holder: JSON, name: str) -> list[JSON]:
    """The objects of the list under this name."""
    return [cast("JSON", value) for value in items(holder, name) if isinstance(value, dict)]


def words(value: object) -> str:
    """Any JSON as a text: a text as it is, blocks as the texts in them, everything else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        blocks = cast("list[Any]", value)
        return "\n".join(
            words(cast("JSON", block).get("text", block) if is_object(block) else block) for block in blocks
        )
    return "" if value is None else msgspec.json.encode(value).decode()


def last_results(entries: list[JSON], is_result: Callable[[JSON], bool]) -> list[JSON]:
    """The results that came since the model last spoke, in order; what a user says after them does not hide them."""
    found: list[JSON] = []
    for entry in reversed(entries):
        if is_result(entry):
            found.insert(0, entry)
        elif found or entry.get("role") != "user":
            break
    return found


def twice(values: Iterable[str]) -> str | None:
    """The first value that occurs twice."""
    return next((value for value, count in Counter(values).items() if count > 1), None)
