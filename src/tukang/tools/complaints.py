"""What is wrong with arguments, as one short fault the model can act on. Words only: validates nothing itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import msgspec

from tukang.tools.names import nearest
from tukang.tools.outcome import Fault

MOST = 3
"""Complaints in one fault; more than that is read by nobody."""


class Complaint(msgspec.Struct, frozen=True):
    """One thing that is wrong: where (keys and places from the outside in), and what."""

    path: tuple[str | int, ...]
    text: str


def missing(path: Sequence[str | int], key: str | int) -> Complaint:
    """A required member is not there."""
    return Complaint((*path, key), "is required")


def unknown(path: Sequence[str | int], key: str, known: Iterable[str]) -> Complaint:
    """A member that does not belong there; near names are offered."""
    close = nearest(key, known)
    meant = f"; did you mean {' or '.join(close)}?" if close else ""
    return Complaint((*path, key), f"is not a parameter{meant}")


def refused(path: Sequence[str | int], given: Any, reason: str, schema: Mapping[str, Any]) -> Complaint:
    """A value that does not fit; a null for something optional is told to be left out."""
    text = f"{shown(given)} is not allowed: {reason}"
    if given is None and len(path) == 1 and path[0] not in cast("Sequence[Any]", schema.get("required", ())):
        text += "; leave it out to use its default"
    return Complaint(tuple(path), text)


def shown(value: Any) -> str:
    """A value as JSON, shortened: what was given, for the model that gave it."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:50]}… ({len(text)} characters)"


def as_fault(complaints: Sequence[Complaint], schema: Mapping[str, Any]) -> Fault:
    """All complaints in one fault, with the parameters as a hint."""
    texts = [f"{_path(complaint.path)}: {complaint.text}" for complaint in complaints[:MOST]]
    if len(complaints) > MOST:
        texts.append(f"and {len(complaints) - MOST} more")
    return Fault("invalid_arguments", "; ".join(texts), _parameters(schema))


def _path(path: tuple[str | int, ...]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step[:60]}" for step in path)
    return text.removeprefix(".") or "arguments"


def _parameters(schema: Mapping[str, Any]) -> str:
    required = cast("Sequence[str]", schema.get("required", ()))
    names = cast("Iterable[str]", schema.get("properties", ()))
    listed = [f"{name} (required)" if name in required else name for name in names]
    return "Parameters: " + ", ".join(listed) + "." if listed else "This tool takes no parameters."
