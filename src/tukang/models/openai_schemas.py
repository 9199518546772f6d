"""JSON Schema in the dialect that OpenAI takes for tools and for structured output, without strict mode (`openai_strict`).

Pure functions over plain data; they know no request. A schema given in is never changed.

Source: https://platform.openai.com/docs/guides/structured-outputs (supported schemas), and the refusals of the API itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec

Schema = dict[str, Any]

MAX_DEPTH = 10
"""Levels of nesting that OpenAI takes in strict mode, and to which references are followed in any."""

_NOT_AT_THE_TOP = ("anyOf", "oneOf", "allOf", "not", "enum", "if", "then", "else")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_MAPS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_SINGLES = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")


class Work(msgspec.Struct):
    """One schema being rewritten: its root, which references point into, and how many nodes it may still grow to.

    The bound is there for schemas of strangers: references put in place again and again grow without end.
    """

    root: Mapping[str, Any]
    left: int = 20_000

    def spend(self) -> bool:
        """Count one node; whether it is still within the bound."""
        self.left -= 1
        return self.left >= 0


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
    plain = _plain(schema, Work(schema), 0)
    plain.pop("$schema", None)
    properties = dict(mapping(plain.get("properties")))
    rules = {key: plain.pop(key) for key in _NOT_AT_THE_TOP if key in plain}
    for key in ("allOf", "anyOf", "oneOf"):
        for branch in sequence(rules.get(key)):
            for name, one in mapping(mapping(branch).get("properties")).items():
                properties.setdefault(name, one)
    if rules:
        words = f"The arguments must also satisfy this JSON Schema: {msgspec.json.encode(rules).decode()}"
        plain["description"] = f"{plain['description']}\n{words}" if plain.get("description") else words
    return {**plain, "type": "object", "properties": properties}


def _plain(node: Mapping[str, Any], work: Work, depth: int) -> Schema:
    schema = dict(node)
    reference = schema.get("$ref")
    if isinstance(reference, str) and definition(reference, work.root) is None:
        del schema["$ref"]
        target = pointed_at(reference, work.root)
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
            schema[key] = {name: _inner(one, work, depth) for name, one in mapping(schema[key]).items()}
    for key in _LISTS:
        if isinstance(schema.get(key), Sequence):
            schema[key] = [_inner(one, work, depth) for one in sequence(schema[key])]
    for key in _SINGLES:
        if key in schema:
            schema[key] = _inner(schema[key], work, depth)
    return schema


def _inner(node: Any, work: Work, depth: int) -> Any:
    return _plain(cast("Mapping[str, Any]", node), work, depth + 1) if isinstance(node, Mapping) else node


def definition(reference: Any, root: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What a reference into the definitions at the top, or to the whole schema, points at; None for any other."""
    if reference == "#":
        return root
    place = str(reference).split("/")
    if len(place) != 3 or place[0] != "#" or place[1] not in ("$defs", "definitions"):
        return None
    return pointed_at(str(reference), root)


def pointed_at(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any] | None:
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


def nodes(node: Any) -> Iterator[Mapping[str, Any]]:
    """A schema and every schema in it."""
    if not isinstance(node, Mapping):
        return
    schema = cast("Mapping[str, Any]", node)
    yield schema
    for key in _MAPS:
        for inner in mapping(schema.get(key)).values():
            yield from nodes(inner)
    for key in _LISTS:
        for inner in sequence(schema.get(key)):
            yield from nodes(inner)
    for key in _SINGLES:
        yield from nodes(schema.get(key))


def mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def sequence(value: Any) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else ()
