"""What is wrong with arguments, as one short fault the model can act on. Words only: validates nothing itself.

Whatever a model sends, the fault stays short and takes no time: values, paths and reasons are cut, and only the complaints
that are shown are put into words.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

import msgspec

from tukang.tools.names import nearest
from tukang.tools.outcome import Fault

MOST = 3
"""Complaints in one fault; more than that is read by nobody."""

ENOUGH = 10_000
"""Complaints after which nobody looks for more: a million wrong items take half a minute to list."""

_VALUE, _REASON, _PATH, _STEP, _PARAMETERS = 60, 200, 150, 40, 30  # characters, and names

Path = tuple[str | int, ...]


class Complaint(msgspec.Struct, frozen=True):
    """One thing that is wrong: where (keys and places from the outside in), and what.

    `known` are the names the last step may have been meant to be.
    """

    path: Path
    text: str
    known: Collection[str] = ()


def missing(path: Sequence[str | int], key: str | int) -> Complaint:
    """A required member is not there."""
    return Complaint((*path, key), "is required")


def unknown(path: Sequence[str | int], key: str, known: Collection[str]) -> Complaint:
    """A member that does not belong there; near names are offered."""
    return Complaint((*path, key), "is not a parameter", known)


def refused(path: Sequence[str | int], given: Any, reason: str, schema: Mapping[str, Any]) -> Complaint:
    """A value that does not fit; a null for something optional is told to be left out."""
    text = f"{shown(given)} is not allowed: {cut(reason, _REASON)}"
    if given is None and len(path) == 1 and path[0] not in cast("Sequence[Any]", schema.get("required", ())):
        text += "; leave it out to use its default"
    return Complaint(tuple(path), text)


def shown(value: Any) -> str:
    """A value as JSON, shortened: what was given, for the model that gave it."""
    if isinstance(value, str) and len(value) > _VALUE:
        return f"{json.dumps(value[:_VALUE], ensure_ascii=False)[: _VALUE - 10]}… ({len(value)} characters)"
    text = ""
    try:
        for piece in _IN_PIECES.iterencode(value):  # a piece at a time: there may be millions
            text += piece[: _VALUE + 1]
            if len(text) > _VALUE:
                return f"{text[: _VALUE - 10]}… ({_size(value)})"
    except (TypeError, ValueError, RecursionError):
        return f"a {type(value).__name__}"
    return text


def cut(text: str, most: int) -> str:
    """A text, or its beginning."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def as_fault(complaints: Sequence[Complaint], schema: Mapping[str, Any]) -> Fault:
    """All complaints in one fault, with the parameters as a hint."""
    texts = [f"{_path(complaint.path)}: {complaint.text}{_meant(complaint)}" for complaint in complaints[:MOST]]
    if len(complaints) > MOST:
        more = f"{len(complaints) - MOST}" if len(complaints) < ENOUGH else "many"
        texts.append(f"and {more} more")
    return Fault("invalid_arguments", "; ".join(texts), _parameters(schema))


def _meant(complaint: Complaint) -> str:
    close = nearest(str(complaint.path[-1]), complaint.known) if complaint.known else ()
    return f"; did you mean {' or '.join(close)}?" if close else ""


def _path(path: Path) -> str:
    steps = [f"[{step}]" if isinstance(step, int) else f".{cut(step, _STEP)}" for step in path]
    text = "".join(steps).removeprefix(".") or "arguments"
    return text if len(text) <= _PATH else f"{cut(text, _PATH // 2)}{text[-_PATH // 2 :]}"


def _parameters(schema: Mapping[str, Any]) -> str:
    required = cast("Sequence[str]", schema.get("required", ()))
    names = list(cast("Mapping[str, Any]", schema.get("properties", {})))
    listed = [f"{cut(name, 64)} (required)" if name in required else cut(name, 64) for name in names[:_PARAMETERS]]
    more = ", …" if len(names) > _PARAMETERS else ""
    return f"Parameters: {', '.join(listed)}{more}." if listed else "This tool takes no parameters."


def _size(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return f"{len(cast('Collection[Any]', value))} {'members' if isinstance(value, dict) else 'items'}"
    return f"{len(str(value))} characters"


_IN_PIECES = json.JSONEncoder(ensure_ascii=False)
