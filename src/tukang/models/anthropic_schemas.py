"""JSON Schema in the dialect the Messages API takes: for any tool, for a strict tool, and for a reply's format.

Pure functions over schemas; nothing that is passed in is changed. A tool's schema stays what it was for validation: only
what is sent is written differently here.

* **Any tool**: JSON Schema 2020-12, an object, no `anyOf`, `oneOf` or `allOf` at the top, and property names of
  `[a-zA-Z0-9_.-]{1,64}`. Older drafts are rewritten; alternatives at the top become one object that allows what any of
  them allows, and the tool's own schema is what its arguments are checked against.
* **Strict**: a grammar is made of the schema, so it takes less: closed objects, no recursion, no bounds on numbers, texts
  and lists. A schema is sent strict only where nothing of it would be lost.
* **A reply's format** is always a grammar: what it cannot say goes into the description, as the vendor's own SDK does it.

Source: https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

import msgspec

from tukang.errors import ConfigurationError

Schema = Mapping[str, Any]

STRICT_TOOLS, OPTIONAL_PARAMETERS, UNION_PARAMETERS = 20, 24, 16
"""What all strict schemas of one request may have together."""

_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_MAPS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_DATA = ("const", "enum", "default", "examples", "required")
_ALTERNATIVES = ("anyOf", "oneOf", "allOf")
_STRICT_WORDS = frozenset(
    {
        "$defs",
        "$ref",
        "$schema",
        "additionalProperties",
        "anyOf",
        "const",
        "default",
        "definitions",
        "description",
        "enum",
    }
    | {"format", "items", "minItems", "properties", "required", "title", "type"}
)
_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"})
_TYPES = frozenset({"object", "array", "string", "integer", "number", "boolean", "null"})
_KEPT_OF_FORMAT = ("title", "description", "$ref", "enum", "const", "required")


class Weight(msgspec.Struct, frozen=True):
    """What a strict schema takes of a request's limits."""

    optional: int = 0
    unions: int = 0

    def __add__(self, other: Weight) -> Weight:
        return Weight(self.optional + other.optional, self.unions + other.unions)


def tool_schema(tool: str, schema: Schema) -> dict[str, Any]:
    """A tool's schema as any model takes it.

    Raises:
        ConfigurationError: a property has a name that the provider refuses.
    """
    for name in _property_names(schema):
        if not _PROPERTY.fullmatch(name):
            raise ConfigurationError(
                f"tool {tool!r}: Anthropic refuses the property name {name!r}; "
                "use letters, digits, '_', '-' and '.', at most 64"
            )
    written = _modern(schema)
    written.pop("$schema", None)
    return _one_object(written) if any(key in written for key in _ALTERNATIVES) else written


def strict_schema(schema: Schema) -> dict[str, Any] | None:
    """The schema for a strict tool, with every object closed; None where strict mode would lose something of it."""
    if not all(_sayable(one) for one in _nodes(schema)) or _recursive(schema):
        return None
    closed = _closed(schema)
    closed.pop("$schema", None)
    return closed


def weigh(schema: Schema) -> Weight:
    """What a schema takes of the limits: parameters that may be left out, and parameters of more than one type."""
    optional = unions = 0
    for node in _nodes(schema):
        properties = _map(node.get("properties"))
        optional += len([name for name in properties if name not in node.get("required", ())])
        unions += "anyOf" in node or isinstance(node.get("type"), list)
    return Weight(optional, unions)


def format_schema(schema: Schema) -> dict[str, Any]:
    """The schema of a reply's format.

    Raises:
        ConfigurationError: it is recursive, or refers to something outside itself.
    """
    for node in _nodes(schema):
        if not str(node.get("$ref", "#")).startswith("#"):
            raise ConfigurationError(f"returns: Anthropic takes no reference outside of the schema: {node['$ref']!r}")
    if _recursive(schema):
        raise ConfigurationError("returns: Anthropic takes no recursive schema; unfold it to the depth you need")
    return _formatted(schema)


# ── any tool ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _property_names(schema: Schema) -> Iterator[str]:
    for node in _nodes(schema):
        yield from _map(node.get("properties"))


def _modern(schema: Schema) -> dict[str, Any]:
    """A schema of an older draft, or of none, in the words of 2020-12."""
    written: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "items" and isinstance(value, list):
            written["prefixItems"] = [_inner(one) for one in cast("list[Any]", value)]
            if "additionalItems" in schema:
                written["items"] = _inner(schema["additionalItems"])
        elif key == "additionalItems" or (key == "required" and not isinstance(value, list)):
            continue
        elif key in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(value, bool):
            bound = "minimum" if key == "exclusiveMinimum" else "maximum"
            if value and bound in schema:
                written[key] = schema[bound]
        elif key in _MAPS and isinstance(value, Mapping):
            written[key] = {name: _inner(one) for name, one in cast("Mapping[str, Any]", value).items()}
        elif key in _DATA:
            written[key] = value
        else:
            written[key] = (
                [_inner(one) for one in cast("list[Any]", value)] if isinstance(value, list) else _inner(value)
            )
    return written


def _inner(value: Any) -> Any:
    return _modern(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else value


def _one_object(schema: dict[str, Any]) -> dict[str, Any]:
    """Alternatives at the top as one object: every property of any of them, and required what all of them require."""
    properties = dict(_map(schema.get("properties")))
    required = set[str](schema.get("required", ()))
    for key in _ALTERNATIVES:
        given: list[Any] = schema.pop(key, [])
        branches = [_resolved(_map(branch), schema) for branch in given]
        needs = [set[str](branch.get("required", ())) for branch in branches]
        if needs:
            required |= set[str].union(*needs) if key == "allOf" else set[str].intersection(*needs)
        for branch in branches:
            for name, one in _map(branch.get("properties")).items():
                known = properties.get(name)
                properties[name] = one if known in (None, one) else {"anyOf": [known, one]}
    schema["properties"] = properties
    schema["required"] = sorted(required & properties.keys())
    return schema


def _resolved(branch: Schema, root: Schema) -> Schema:
    reference = branch.get("$ref")
    return _target(reference, root) if isinstance(reference, str) else branch


def _target(reference: str, root: Schema) -> Schema:
    node: Any = root
    for step in reference.removeprefix("#").split("/")[1:]:
        node = _map(node).get(step.replace("~1", "/").replace("~0", "~"))
    return _map(node)


# ── strict ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _sayable(node: Schema) -> bool:
    """Whether a grammar can say all that stands in a node, not looking into it."""
    kind = node.get("type")
    kinds = cast("list[Any]", kind) if isinstance(kind, list) else [kind]
    literal = "enum" in node or "const" in node
    return (
        node.keys() <= _STRICT_WORDS
        and (literal or "anyOf" in node or "$ref" in node or all(one in _TYPES for one in kinds))
        and all(value is None or isinstance(value, str | int | float) for value in node.get("enum", ()))
        and not isinstance(node.get("const"), list | dict)
        and not node.get("additionalProperties", False)
        and node.get("format", "date") in _FORMATS
        and node.get("minItems", 0) in (0, 1)
        and isinstance(node.get("items", {}), Mapping)
        and ("array" not in kinds or "items" in node)
        and str(node.get("$ref", "#/")).startswith("#/")  # a reference to the whole schema is recursive
        and all(isinstance(one, Mapping) for one in _map(node.get("properties")).values())
        and all(isinstance(one, Mapping) for one in node.get("anyOf", ()))
        and set[str](node.get("required", ())) <= _map(node.get("properties")).keys()
    )


def _closed(schema: Schema) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _MAPS:
            written[key] = {name: _closed(one) for name, one in _map(value).items()}
        elif key in _ALTERNATIVES:
            written[key] = [_closed(one) for one in value]
        else:
            written[key] = _closed(value) if key == "items" else value
    if schema.get("type") == "object" or "properties" in schema:
        written["additionalProperties"] = False
    return written


def _recursive(schema: Schema) -> bool:
    """Whether a reference leads back to where it stands."""

    def loops(node: Schema, path: tuple[str, ...]) -> bool:
        for one in _nodes(node, into_definitions=False):
            reference = one.get("$ref")
            if not isinstance(reference, str) or not reference.startswith("#"):
                continue
            if reference in path or reference == "#" or loops(_target(reference, schema), (*path, reference)):
                return True
        return False

    return loops(schema, ())


# ── a reply's format ─────────────────────────────────────────────────────────────────────────────────────────────────


def _formatted(schema: Schema) -> dict[str, Any]:
    left = dict(schema)
    written: dict[str, Any] = {key: left.pop(key) for key in _KEPT_OF_FORMAT if key in left}
    left.pop("$schema", None)
    left.pop("default", None)
    if "type" in left and not ("enum" in written or "const" in written):
        written["type"] = left.pop("type")
    left.pop("type", None)
    for key in ("$defs", "definitions", "properties"):
        if key in left:
            written[key] = {name: _formatted(one) for name, one in _map(left.pop(key)).items()}
    for key in _ALTERNATIVES:
        if key in left:
            written["anyOf" if key == "oneOf" else key] = [_formatted(one) for one in left.pop(key)]
    if isinstance(left.get("items"), Mapping):
        written["items"] = _formatted(left.pop("items"))
    if left.get("format") in _FORMATS:
        written["format"] = left.pop("format")
    if left.get("minItems") in (0, 1):
        written["minItems"] = left.pop("minItems")
    if written.get("type") == "object" or "properties" in written:
        left.pop("additionalProperties", None)
        written["additionalProperties"] = False
    if left:
        rest = msgspec.json.encode(left).decode()
        written["description"] = f"{written['description']}\n\n{rest}" if "description" in written else rest
    return written


# ── walking ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _nodes(schema: Any, *, into_definitions: bool = True) -> Iterator[Schema]:
    """A schema and every schema in it."""
    if not isinstance(schema, Mapping):
        return
    node = cast("Schema", schema)
    yield node
    for key, value in node.items():
        if key in _DATA or (not into_definitions and key in ("$defs", "definitions")):
            continue
        if key in _MAPS:
            for one in _map(value).values():
                yield from _nodes(one, into_definitions=into_definitions)
        elif isinstance(value, list):
            for one in cast("list[Any]", value):
                yield from _nodes(one, into_definitions=into_definitions)
        else:
            yield from _nodes(value, into_definitions=into_definitions)


def _map(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
