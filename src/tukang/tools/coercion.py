"""Reads a value the way its schema says, where the model wrote the right content in the wrong JSON type. Pure.

A value that has a type its schema allows is never changed, so a string that is allowed to be a string stays one. What is
changed, and only there:
* a string where no string is allowed: read as the number, boolean, null, array or object that it spells;
* a number without a fraction where an integer is wanted: `5.0` is `5`.

Nothing else: a number is not made a string (`08123` had lost its zero before it got here), null is not "left out", and a
single item is not wrapped into a list. Those are faults, and the model is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from tukang.tools.json_text import Unreadable, decode
from tukang.tools.mending import mend

Schema = Mapping[str, Any]

_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_EXACT = 2**53  # beyond it a float stands for several integers
_ABSENT = object()


def coerce(value: Any, schema: Any, root: Schema) -> Any:
    """The value as the schema wants it, or the value itself where that cannot be had.

    Args:
        value: decoded JSON.
        schema: the (sub)schema for this value; anything that is not an object is ignored.
        root: the whole schema, for `$ref`s; only local ones are followed.
    """
    branches = list(_branches(schema, root))
    for branch in branches:
        types = _types(branch)
        if not types or _fits(value, types):
            return _inside(value, branch, root)
    return _spelled(value, branches, root) if isinstance(value, str) and branches else value


def _branches(schema: Any, root: Schema, depth: int = 0) -> Iterable[Schema]:
    """The plain schemas a value may follow: references followed, `anyOf` and `oneOf` spread out."""
    if not isinstance(schema, Mapping) or depth > 20:
        return
    node = cast("Schema", schema)
    if "$ref" in node:
        yield from _branches(_resolve(node["$ref"], root), root, depth + 1)
        return
    alternatives = node.get("anyOf") or node.get("oneOf")
    if not alternatives or "type" in node:
        whole = node.get("allOf")
        if isinstance(whole, list) and len(cast("list[Any]", whole)) == 1 and "type" not in node:
            yield from _branches(cast("list[Any]", whole)[0], root, depth + 1)
        else:
            yield node
        return
    for alternative in cast("list[Any]", alternatives):
        yield from _branches(alternative, root, depth + 1)


def _resolve(reference: Any, root: Schema) -> Any:
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    node: Any = root
    for step in reference[1:].split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(node, Mapping) or step not in node:
            return None
        node = cast("Schema", node)[step]
    return node


def _types(schema: Schema) -> frozenset[str]:
    named = schema.get("type")
    if isinstance(named, str):
        return frozenset((named,))
    return frozenset(cast("list[str]", named)) if isinstance(named, list) else frozenset()


def _fits(value: Any, types: frozenset[str]) -> bool:
    if value is None:
        return "null" in types
    if isinstance(value, bool):
        return "boolean" in types
    if isinstance(value, int):
        return "integer" in types or "number" in types
    if isinstance(value, float):
        return "number" in types or ("integer" in types and value.is_integer())
    if isinstance(value, str):
        return "string" in types
    return ("array" if isinstance(value, list) else "object") in types


def _inside(value: Any, schema: Schema, root: Schema) -> Any:
    """The value with its members coerced; its own type is fine."""
    if isinstance(value, float) and abs(value) < _EXACT and value.is_integer() and _types(schema):
        return value if "number" in _types(schema) else int(value)
    if isinstance(value, dict):
        return _members(cast("dict[str, Any]", value), schema, root)
    if isinstance(value, list):
        first = cast("list[Any]", schema.get("prefixItems") or [])
        rest = schema.get("items")
        return [
            coerce(item, first[place] if place < len(first) else rest, root)
            for place, item in enumerate(cast("list[Any]", value))
        ]
    return value


def _members(value: dict[str, Any], schema: Schema, root: Schema) -> dict[str, Any]:
    known = cast("Schema", schema.get("properties") or {})
    others = schema.get("additionalProperties")
    return {key: coerce(item, known.get(key, others), root) for key, item in value.items()}


def _spelled(text: str, branches: list[Schema], root: Schema) -> Any:
    """The value a string spells, when it has a type that is wanted; else the string."""
    value = _read(text.strip())
    if value is _ABSENT or isinstance(value, str):
        return text
    for branch in branches:
        if _fits(value, _types(branch)):
            return _inside(value, branch, root)
    return text


def _read(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    try:
        return decode(text)
    except Unreadable:
        return _ABSENT
    except ValueError:
        if not text.startswith(("[", "{")):
            return _ABSENT
    try:
        return mend(text)
    except Unreadable:
        return _ABSENT
