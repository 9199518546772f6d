"""What a generator makes of a call: what it yields is its progress, what it returns is its result.

A function that only yields has no return value; then the list of what it yielded is the result.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from types import AsyncGeneratorType, GeneratorType
from typing import Any, TypeGuard

from tukang.conversation import Text
from tukang.tools.context import Tell
from tukang.tools.result import Unwritable, content

_LAZY = frozenset((GeneratorType, map, filter, zip))

LONGEST = 1000
"""Characters of one progress message."""


def yields(value: Any) -> TypeGuard[Iterator[Any]]:
    """Whether a function has returned a generator (or a `map`, `filter` or `zip`), to be run to its end."""
    return type(value) in _LAZY


def yields_async(value: Any) -> TypeGuard[AsyncGenerator[Any, Any]]:
    """Whether a function has returned an async generator, to be run to its end."""
    return type(value) is AsyncGeneratorType


def drained(generator: Iterator[Any], tell: Tell | None) -> Any:
    """Run a generator to its end, where the function itself ran; what it raises, this raises.

    Args:
        generator: what the function returned.
        tell: takes each thing yielded, as a message.
    """
    yielded: list[Any] = []
    while True:
        try:
            value = next(generator)
        except StopIteration as end:
            return yielded if end.value is None else end.value
        yielded.append(value)
        _tell(tell, value)


async def drained_async(generator: AsyncGenerator[Any, Any], tell: Tell | None) -> list[Any]:
    """Run an async generator to its end. It cannot return anything, so the result is what it yielded."""
    yielded: list[Any] = []
    try:
        async for value in generator:
            yielded.append(value)
            _tell(tell, value)
    finally:
        await generator.aclose()
    return yielded


def _tell(tell: Tell | None, value: Any) -> None:
    if tell is None:
        return
    try:
        parts = content(value, "", none_is_null=True)
    except (Unwritable, TypeError, ValueError):  # the whole list is judged at the end, as the result
        return
    text = "\n".join(part.text for part in parts if isinstance(part, Text))
    tell(None, text if len(text) <= LONGEST else f"{text[:LONGEST]}…")
