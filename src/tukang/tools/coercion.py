"""Reads a value the way its schema says, where the model wrote the right content in the wrong JSON type. Pure.

Only what was refused is read again, and a value that has a type its schema allows is never changed: a string that is allowed
to be a string stays one. What is changed, and only there:
* a string where no string is allowed: read as the number, boolean, null, array or object that it spells;
* a number without a fraction where an integer is wanted: `5.0` is `5`. They are the same number in JSON, so this is done
  wherever it stands;
* a null where the schema's own default is null, though its type is not: left out, which the schema says is the same.

Nothing else: a number is not made a string (`08123` had lost its zero before it got here), any other null is not "left out",
and a single item is not wrapped into a list. Those are faults, and the model is told.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, cast
from urllib.parse import unquote

from tukang.tools.json_text import DEEPEST, Unreadable, as_integer, decode, depth
from tukang.tools.mending import mend

Schema = Mapping[str, Any]
Path = Sequence[str | int]

EVERYWHERE: Collection[Path] = ((),)

_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_ABSENT = object()


def coerce(value: Any, schema: Any, root: Schema, wrong: Collection[Path] = EVERYWHERE, level: int = 0) -> Any:
    """The value as the schema wants it, or the value itself where that cannot be had.

    Args:
        value: decoded JSON.
        schema: the (sub)schema for this value; anything that is not an object is ignored.
        root: the whole schema, for `$ref`s; only local ones are followed.
        wrong: the paths of what was refused, from this value on; an empty path stands for all of it.
        level: objects and arrays around the value. What a string spells is not read where it would be nested too deeply.
    """
    branches = _branches(schema, root)
    fitting = [branch for branch in branches if _fits(value, _types(branch))]
    if fitting:
        return _inside(value, _likeliest(value, fitting), root, wrong, level)
    if isinstance(value, str) and branches and any(not path for path in wrong):
        return _spelled(value, branches, root, level)
    return value


def _branches(schema: Any, root: Schema) -> list[Schema]:
    """The plain schemas a value may follow: references followed, `anyOf` and `oneOf` spread out."""
    seen: set[str] = set()  # each reference once: following it again brings nothing new, and may never end

    def walk(node: Any) -> Iterator[Schema]:
        if not isinstance(node, Mapping):
            return
        plain = cast("Schema", node)
        reference, alternatives, whole = plain.get("$ref"), plain.get("anyOf") or plain.get("oneOf"), plain.get("allOf")
        if isinstance(reference, str):
            if reference not in seen:
                seen.add(reference)
                yield from walk(_resolve(reference, root))
        elif "type" in plain or "properties" in plain:
            yield plain
        elif isinstance(alternatives, list):
            for alternative in cast("list[Any]", alternatives):
                yield from walk(alternative)
        elif isinstance(whole, list) and len(cast("list[Any]", whole)) == 1:
            yield from walk(cast("list[Any]", whole)[0])
        else:
            yield plain

    return list(walk(schema))


def _resolve(reference: str, root: Schema) -> Any:
    if not reference.startswith("#"):
        return None
    node: Any = root
    for step in unquote(reference[1:]).split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping) and step in node:
            node = cast("Schema", node)[step]
        elif isinstance(node, list) and step.isdecimal() and int(step) < len(cast("list[Any]", node)):
            node = cast("list[Any]", node)[int(step)]
        else:
            return None
    return node


def _types(schema: Schema) -> frozenset[str]:
    named = schema.get("type")
    if isinstance(named, str):
        return frozenset((named,))
    return frozenset(cast("list[str]", named)) if isinstance(named, list) else frozenset()


def _fits(value: Any, types: frozenset[str]) -> bool:
    """Whether a value has one of these types; it has, when there are none."""
    if not types:
        return True
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


def _likeliest(value: Any, branches: list[Schema]) -> Schema:
    """The first branch that the value's own members do not speak against; the first of all when they speak against each."""
    if len(branches) == 1 or not isinstance(value, dict):
        return branches[0]
    members = cast("dict[str, Any]", value)
    return next((branch for branch in branches if _possible(members, branch)), branches[0])


def _possible(members: dict[str, Any], branch: Schema) -> bool:
    """Whether every required member is there, and none is a string other than those that are allowed (a discriminator)."""
    if any(key not in members for key in cast("Sequence[str]", branch.get("required", ()))):
        return False
    for key, schema in cast("Mapping[str, Any]", branch.get("properties", {})).items():
        given = members.get(key)
        allowed = _allowed(schema) if isinstance(given, str) else ()
        if allowed and all(isinstance(option, str) for option in allowed) and given not in allowed:
            return False
    return True


def _allowed(schema: Any) -> Sequence[Any]:
    if not isinstance(schema, Mapping):
        return ()
    node = cast("Schema", schema)
    return (node["const"],) if "const" in node else cast("Sequence[Any]", node.get("enum", ()))


def _inside(value: Any, schema: Schema, root: Schema, wrong: Collection[Path], level: int) -> Any:
    """The value with its members coerced; its own type is fine."""
    if isinstance(value, float):
        types = _types(schema)
        return as_integer(value) if "integer" in types and "number" not in types else value
    if not isinstance(value, (dict, list)):
        return value
    below = _below(wrong)
    if isinstance(value, dict):
        known, others = _members(schema)
        return {
            key: coerce(item, known.get(key, others), root, below(key), level + 1)
            for key, item in cast("dict[str, Any]", value).items()
            if item is not None or not below(key) or not _null_by_default(key, schema)
        }
    first, rest = _items(schema)
    return [
        coerce(item, first[place] if place < len(first) else rest, root, below(place), level + 1)
        for place, item in enumerate(cast("list[Any]", value))
    ]


def _below(wrong: Collection[Path]) -> Callable[[str | int], Collection[Path]]:
    """For each member: the paths of what was refused, from that member on."""
    if any(not path for path in wrong):
        return lambda _: EVERYWHERE
    inner: dict[str | int, list[Path]] = {}
    for path in wrong:
        inner.setdefault(path[0], []).append(path[1:])
    return lambda step: inner.get(step, ())


def _members(schema: Schema) -> tuple[Schema, Any]:
    """The schemas of an object's named members, and of all others."""
    # which pattern a key matches is for the validator to say, so members that may match one are left alone
    others = None if "patternProperties" in schema else schema.get("additionalProperties")
    return cast("Schema", schema.get("properties") or {}), others


def _null_by_default(key: str, schema: Schema) -> bool:
    """Whether a member may be left out, and is null then."""
    member = cast("Schema", schema.get("properties") or {}).get(key)
    if not isinstance(member, Mapping) or key in cast("Sequence[str]", schema.get("required", ())):
        return False
    return cast("Schema", member).get("default", _ABSENT) is None


def _items(schema: Schema) -> tuple[Sequence[Any], Any]:
    """The schemas of an array's first items, and of the rest; draft 7 says it in other words than 2020-12."""
    items = schema.get("items")
    if isinstance(items, list):
        return cast("list[Any]", items), schema.get("additionalItems")
    return cast("Sequence[Any]", schema.get("prefixItems") or ()), items


def _spelled(text: str, branches: list[Schema], root: Schema, level: int) -> Any:
    """The value a string spells, when it has a type that is wanted; else the string."""
    value = _read(text.strip())
    if value is _ABSENT or isinstance(value, str) or level + depth(value) > DEEPEST:
        return text
    fitting = [branch for branch in branches if _fits(value, _types(branch))]
    return _inside(value, _likeliest(value, fitting), root, EVERYWHERE, level) if fitting else text


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
