"""What a request names side by side, and which of it was not looked at yet. Pure.

"Cuaca di Bandung dan Surabaya" names two cities; when `cek_cuaca` was called for one of them only, it is still open for the
other. A small model loses the second one. What is open is only ever a hint to it: a request may name a thing to leave it out.

Two things stand side by side when the words between them end with a joining word or a comma. A thing is a word, or a run of
words, with a capital inside a sentence, or an identifier; two identifiers go together when they begin with the same letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import msgspec

from tukang.grounding.figures import is_identifier
from tukang.models.local.view import Step, View
from tukang.tools.contract import Contract

_JOINED = re.compile(
    r"(?:,|&|\b(?:dan|atau|serta|dengan|dibanding(?:kan)?(?: dengan)?|versus|vs\.?|and|or|with|than|to))\s+$",
    re.IGNORECASE,
)
_THING = re.compile(r"[A-Za-z_-]+\d[\w-]*|[A-Z][A-Za-z-]*\b(?: [A-Z][A-Za-z-]*\b)*")
_FURTHEST = 80
"""Characters between two things that can still belong together."""
_SHORTEST_NAME = 3


def still_open(view: View) -> tuple[tuple[str, str], ...]:
    """(tool, thing) pairs: tools that were called for one thing and not for another that is named beside it."""
    things = list(_things(view.request))
    found: list[tuple[str, str]] = []
    for place, text in things:
        used = {step.name for step in view.steps if _is_about(step, text)}
        for other_place, other in things:
            if not (place < other_place and _side_by_side(view.request, place, text, other_place, other)):
                continue
            used_other = {step.name for step in view.steps if _is_about(step, other)}
            found += [(name, other) for name in _in_order(view, used - used_other)]
            found += [(name, text) for name in _in_order(view, used_other - used)]
    return tuple(dict.fromkeys(found))


def listed_elsewhere(tool: Contract, values: Iterable[object], tools: Sequence[Contract]) -> Contract | None:
    """The one other tool whose description names a value that this tool's does not: "kota di Indonesia: Jakarta, …"."""
    for value in values:
        if not isinstance(value, str) or len(value) < _SHORTEST_NAME or value in tool.description:
            continue
        listing = [other for other in tools if other.parameters.get("required") == tool.parameters.get("required")]
        listing = [other for other in listing if value in other.description]
        if len(listing) == 1:
            return listing[0]
    return None


def _in_order(view: View, names: set[str]) -> list[str]:
    return list(dict.fromkeys(step.name for step in view.steps if step.name in names))


def _things(request: str) -> Iterator[tuple[int, str]]:
    for match in _THING.finditer(request):
        begins = not request[: match.start()].strip() or request[: match.start()].rstrip()[-1] in ".!?:"
        if is_identifier(match[0]) or (not begins and match[0][0].isupper()):
            yield match.start(), match[0]


def _side_by_side(request: str, place: int, text: str, other_place: int, other: str) -> bool:
    between = request[place + len(text) : other_place]
    if len(between) > _FURTHEST or not _JOINED.search(between):
        return False
    return _kind(text) == _kind(other)


def _kind(text: str) -> str:
    return re.split(r"[\d_-]", text)[0].upper() if is_identifier(text) else ""


def _is_about(step: Step, text: str) -> bool:
    try:
        arguments: object = msgspec.json.decode(step.arguments)
    except msgspec.DecodeError:
        return False
    values = cast("dict[str, object]", arguments).values() if isinstance(arguments, dict) else ()
    return any(isinstance(value, str) and value.strip().lower() == text.lower() for value in values)
