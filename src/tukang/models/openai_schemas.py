"""JSON Schema in the dialect that OpenAI takes for tools and for structured output: strict where a schema allows it.

Pure functions over plain data; they know no request. A schema given in is never changed. What OpenAI enforces by itself in
strict mode, it is given only where that accepts exactly what was declared: nothing is made nullable, nothing is dropped
that says what is valid, so nothing has to be undone in what the model sends.

Source: https://platform.openai.com/docs/guides/structured-outputs (supported schemas), and the refusals of the API itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec

Schema = dict[str, Any]

MAX_DEPTH = 10
MAX_PROPERTIES = 5000
MAX_ENUM_VALUES = 1000
MAX_NAME_CHARACTERS = 120_000
"""Limits of strict mode over a whole schema: levels of nesting, properties, enum values, characters of all names."""

_STRICT_KEYWORDS = frozenset(
    {
        *("type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf"),
        *("$ref", "$defs", "definitions", "description", "title", "pattern", "format"),
        *("multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"),
    }
)
_STRICT_FORMATS = frozenset(["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"])
_NOT_AT_THE_TOP = ("anyOf", "oneOf", "allOf", "not", "enum", "if", "then", "else")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_MAPS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_SINGLES = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")


class _Work(msgspec.Struct):
    """One schema being rewritten: its root, which references point into, and how many nodes it may still grow to.

    The bound is there for schemas of strangers: references put in place again and again grow without end.
    """

    root: Mapping[str, Any]
    left: int = 20_000

    def spend(self) -> bool:
        """Count one node; whether it is still within the bound."""
        self.left -= 1
        return self.left >= 0


class _NotStrict(Exception):
    """This schema cannot be said in strict mode."""


def strict_schema(schema: Mapping[str, Any]) -> Schema | None:
    """The schema as strict mode wants it, or None where strict mode would accept something else than was declared.

    It is allowed where every object is closed or may be closed (`additionalProperties` is not given) and asks for all its
    properties, and only supported keywords occur. A reference with words beside it is put in place; `$schema` is left out.

    Args:
        schema: a JSON Schema whose type is `object`.
    """
    try:
        strict = _strict(schema, _Work(schema), 0, top=True)
    except _NotStrict:
        return None
    nodes = list(_nodes(strict))
    names = [name for node in nodes for name in _mapping(node.get("properties"))]
    values = [value for node in nodes for value in _sequence(node.get("enum"))]
    definitions = [name for key in ("$defs", "definitions") for name in _mapping(strict.get(key))]
    characters = sum(len(str(one)) for one in (*names, *values, *definitions))
    fits = len(names) <= MAX_PROPERTIES and len(values) <= MAX_ENUM_VALUES and characters <= MAX_NAME_CHARACTERS
    return strict if fits else None


def plain_schema(schema: Mapping[str, Any]) -> Schema:
    """The schema as OpenAI takes it without strict mode: as declared, but for what the API refuses.

    * At the top it wants `type` and `properties`, and no `anyOf`, `oneOf`, `allOf`, `not`, `enum` or `if`: the properties
      that these mention are listed, and the rule itself is told in words.
    * Every array has `items`; a list of them is `prefixItems`, as today's draft calls it.
    * A reference points into `$defs` or `definitions`; any other is put in place.
    * `exclusiveMinimum` and `exclusiveMaximum` are numbers, `required` is a list.
    * `$schema` is left out: the model has no use for it.

    Args:
        schema: a JSON Schema whose type is `object`.
    """
    plain = _plain(schema, _Work(schema), 0)
    plain.pop("$schema", None)
    properties = dict(_mapping(plain.get("properties")))
    rules = {key: plain.pop(key) for key in _NOT_AT_THE_TOP if key in plain}
    for key in ("allOf", "anyOf", "oneOf"):
        for branch in _sequence(rules.get(key)):
            for name, one in _mapping(_mapping(branch).get("properties")).items():
                properties.setdefault(name, one)
    if rules:
        words = f"The arguments must also satisfy this JSON Schema: {msgspec.json.encode(rules).decode()}"
        plain["description"] = f"{plain['description']}\n{words}" if plain.get("description") else words
    return {**plain, "type": "object", "properties": properties}


def _strict(node: Any, work: _Work, depth: int, *, top: bool = False) -> Schema:
    if not isinstance(node, Mapping) or not work.spend():
        raise _NotStrict
    schema = dict(cast("Mapping[str, Any]", node))
    if top:
        schema.pop("$schema", None)
    only = _sequence(schema.get("allOf"))
    if len(only) == 1 and isinstance(only[0], Mapping):
        del schema["allOf"]
        schema = {**cast("Mapping[str, Any]", only[0]), **schema}
    if "$ref" in schema:
        if len(schema) == 1:
            if _definition(schema["$ref"], work.root) is None:
                raise _NotStrict
            return schema
        target = _definition(schema.pop("$ref"), work.root)
        if target is None:
            raise _NotStrict
        return _strict({**target, **schema}, work, depth + 1)
    if depth > MAX_DEPTH or not _STRICT_KEYWORDS.issuperset(schema) or ("anyOf" in schema and top):
        raise _NotStrict
    return _strict_inside(schema, work, depth, top)


def _strict_inside(schema: Schema, work: _Work, depth: int, top: bool) -> Schema:
    kind: Any = schema.get("type")
    kinds = cast("list[Any]", kind) if isinstance(kind, list) else [kind]
    if schema.get("format", "date") not in _STRICT_FORMATS or "(?" in str(schema.get("pattern", "")):
        raise _NotStrict
    if kinds == [None] and "anyOf" not in schema:
        raise _NotStrict
    if "object" in kinds or "properties" in schema:
        properties = _mapping(schema.get("properties"))
        open_ended = schema.get("additionalProperties", False) is not False
        shapeless = "properties" not in schema and (top or "additionalProperties" not in schema)
        if open_ended or shapeless or set(properties) != set(map(str, _sequence(schema.get("required")))):
            raise _NotStrict
        schema["properties"] = {name: _strict(one, work, depth + 1) for name, one in properties.items()}
        schema["required"] = list(properties)
        schema["additionalProperties"] = False
    if "array" in kinds or "items" in schema:
        schema["items"] = _strict(schema.get("items"), work, depth + 1)
    if "anyOf" in schema:
        schema["anyOf"] = [_strict(one, work, depth + 1) for one in _sequence(schema["anyOf"])]
    for key in ("$defs", "definitions"):
        if key in schema:
            schema[key] = {name: _strict(one, work, depth + 1) for name, one in _mapping(schema[key]).items()}
    return schema


def _plain(node: Mapping[str, Any], work: _Work, depth: int) -> Schema:
    schema = dict(node)
    reference = schema.get("$ref")
    if isinstance(reference, str) and _definition(reference, work.root) is None:
        del schema["$ref"]
        target = _pointed_at(reference, work.root)
        if target is not None and depth <= MAX_DEPTH and work.spend():
            return _plain({**target, **schema}, work, depth + 1)
    for key, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(schema.get(key), bool) and schema.pop(key) and bound in schema:
            schema[key] = schema.pop(bound)
    if "required" in schema and not isinstance(schema["required"], list):
        del schema["required"]
    if isinstance(schema.get("items"), list):
        schema["prefixItems"] = schema.pop("items")
        schema["items"] = schema.pop("additionalItems", {})
    kinds = schema.get("type")
    if "items" not in schema and ("array" in kinds if isinstance(kinds, list) else kinds == "array"):
        schema["items"] = {}
    for key in _MAPS:
        if isinstance(schema.get(key), Mapping):
            schema[key] = {name: _inner(one, work, depth) for name, one in _mapping(schema[key]).items()}
    for key in _LISTS:
        if isinstance(schema.get(key), Sequence):
            schema[key] = [_inner(one, work, depth) for one in _sequence(schema[key])]
    for key in _SINGLES:
        if key in schema:
            schema[key] = _inner(schema[key], work, depth)
    return schema


def _inner(node: Any, work: _Work, depth: int) -> Any:
    return _plain(cast("Mapping[str, Any]", node), work, depth + 1) if isinstance(node, Mapping) else node


def _definition(reference: Any, root: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What a reference into the definitions at the top, or to the whole schema, points at; None for any other."""
    if reference == "#":
        return root
    place = str(reference).split("/")
    if len(place) != 3 or place[0] != "#" or place[1] not in ("$defs", "definitions"):
        return None
    return _pointed_at(str(reference), root)


def _pointed_at(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What a JSON Pointer (RFC 6901) within the schema points at, if that is a schema."""
    if not reference.startswith("#"):
        return None
    place: Any = root
    for step in reference[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(place, list) and name.isdecimal() and int(name) < len(cast("list[Any]", place)):
            place = cast("list[Any]", place)[int(name)]
        elif isinstance(place, Mapping):
            place = cast("Mapping[str, Any]", place).get(name)
        else:
            return None
    return cast("Mapping[str, Any]", place) if isinstance(place, Mapping) else None


def _nodes(node: Any) -> Iterator[Mapping[str, Any]]:
    """A schema and every schema in it."""
    if not isinstance(node, Mapping):
        return
    schema = cast("Mapping[str, Any]", node)
    yield schema
    for key in _MAPS:
        for inner in _mapping(schema.get(key)).values():
            yield from _nodes(inner)
    for key in _LISTS:
        for inner in _sequence(schema.get(key)):
            yield from _nodes(inner)
    for key in _SINGLES:
        yield from _nodes(schema.get(key))


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _sequence(value: Any) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else ()
