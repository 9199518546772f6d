"""A JSON Schema in the dialect of a provider that takes only part of the language.

Pure, and without any provider's name: what a provider takes is said by a `Keywords` value. A schema gets looser here, never
stricter, and what has no keyword left is said in the description, so that what was declared still reaches the model; the
arguments are checked against the whole schema later, by `tukang.tools`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import msgspec

from tukang.models.adapting import json_bytes

MOST_NODES = 5_000
"""Nodes after which references are no longer followed: a schema may be written so that it doubles with each of them."""

_SILENT = frozenset(
    {
        "$anchor",
        "$comment",
        "$defs",
        "$id",
        "$schema",
        "contentEncoding",
        "contentMediaType",
        "definitions",
        "deprecated",
        "nullable",
        "readOnly",
        "title",
        "writeOnly",
    }
)
"""Keywords that tell a model nothing it needs."""

_encode = json_bytes


class Keywords(msgspec.Struct, frozen=True):
    """What a provider takes.

    Args:
        kept: keywords that are sent as they are. `type`, `properties`, `required`, `items`, `enum`, `anyOf` and
            `description` are taken by all; name here what else is.
        formats: values of `format` that are taken, where `format` is kept.
        enums: types of the values that an `enum` may have.
    """

    kept: frozenset[str] = frozenset()
    formats: frozenset[str] = frozenset()
    enums: tuple[type, ...] = (str, int, float, bool, type(None))


def inlined(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same schema without references into itself.

    A reference to something that is being spelled out already (a tree, a linked list) is cut: what stands there may be
    anything of the right type. So is one that leads nowhere, or out of the schema.
    """
    return cast("dict[str, Any]", _Inliner(schema).spell(schema, ()))


class _Inliner:
    """The work of `inlined`: the whole schema, and how many nodes it has come to so far."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._nodes = 0

    def spell(self, node: Any, under_way: tuple[str, ...]) -> Any:
        if isinstance(node, list):
            return [self.spell(one, under_way) for one in cast("list[Any]", node)]
        if not isinstance(node, Mapping):
            return node
        self._nodes += 1
        fields = cast("Mapping[str, Any]", node)
        pointer = fields.get("$ref")
        if not isinstance(pointer, str):
            return {
                name: self._value(name, value, under_way)
                for name, value in fields.items()
                if name not in ("$defs", "definitions")
            }
        beside = {name: value for name, value in fields.items() if name != "$ref"}
        target = self._found(pointer)
        if target is None or pointer in under_way or self._nodes > MOST_NODES:
            kind = None if target is None else target.get("type")
            cut = {"type": kind} if kind is not None else {}
            return cut | self.spell(beside, under_way)
        return self.spell(target, (*under_way, pointer)) | self.spell(beside, under_way)

    def _value(self, keyword: str, value: Any, under_way: tuple[str, ...]) -> Any:
        if keyword in ("enum", "const", "default", "examples"):
            return value  # values, not schemas: a `$ref` in one is a word like any other
        if keyword in ("properties", "patternProperties") and isinstance(value, Mapping):
            # Names, not keywords: a property may well be called `$ref`.
            named = cast("Mapping[str, Any]", value)
            return {name: self.spell(one, under_way) for name, one in named.items()}
        return self.spell(value, under_way)

    def _found(self, pointer: str) -> Mapping[str, Any] | None:
        """What a JSON Pointer in a fragment leads to (RFC 6901)."""
        here: Any = self._root
        if pointer != "#":
            if not pointer.startswith("#/"):
                return None
            for step in pointer[2:].split("/"):
                step = step.replace("%25", "%").replace("~1", "/").replace("~0", "~")
                if isinstance(here, list) and step.isdecimal() and int(step) < len(cast("list[Any]", here)):
                    here = cast("list[Any]", here)[int(step)]
                elif isinstance(here, Mapping) and step in here:
                    here = cast("Mapping[str, Any]", here)[step]
                else:
                    return None
        return cast("Mapping[str, Any]", here) if isinstance(here, Mapping) else None


def narrowed(schema: Mapping[str, Any], keywords: Keywords) -> dict[str, Any]:
    """The same schema in a smaller dialect: no references, and no keyword that the provider does not take.

    `const` becomes an `enum` of one, `oneOf` becomes `anyOf`, `allOf` is merged where it can be, and what else has no place
    (a pattern, a bound, a default) goes into the description, as JSON.

    Args:
        schema: any JSON Schema of an object.
        keywords: what the provider takes.
    """
    return _narrow(inlined(schema), keywords)


def _narrow(node: Any, keywords: Keywords) -> dict[str, Any]:
    if not isinstance(node, Mapping):
        return {} if node is not False else {"description": "(nothing is allowed here)"}
    fields = _merged(cast("Mapping[str, Any]", node))
    out: dict[str, Any] = {}
    words: dict[str, Any] = {}
    for name, value in fields.items():
        if name in _STRUCTURE:
            _STRUCTURE[name](value, keywords, out, words)
        elif name == "format" and (name not in keywords.kept or value not in keywords.formats):
            words[name] = value
        elif name in keywords.kept:
            out[name] = value
        elif name not in _SILENT:
            words[name] = value
    if fields.get("nullable") is True and isinstance(out.get("type"), str):
        out["type"] = [out["type"], "null"]
    _order_required(out)
    if words:
        said = ", ".join(f"{name}: {_encode(value).decode()}" for name, value in words.items())
        out["description"] = f"{out.get('description', '')} ({said})".strip()
    return out


def _merged(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with those of `allOf` among them; what the node says itself goes first."""
    parts = fields.get("allOf")
    if not isinstance(parts, list):
        return dict(fields)
    merged = {name: value for name, value in fields.items() if name != "allOf"}
    for part in cast("list[Any]", parts):
        if not isinstance(part, Mapping):
            continue
        for name, value in _merged(cast("Mapping[str, Any]", part)).items():
            if name == "properties" and isinstance(value, Mapping):
                merged[name] = {**cast("Mapping[str, Any]", value), **cast("dict[str, Any]", merged.get(name, {}))}
            elif name == "required" and isinstance(value, list):
                merged[name] = [*cast("list[Any]", merged.get(name, [])), *cast("list[Any]", value)]
            else:
                merged.setdefault(name, value)
    return merged


def _order_required(out: dict[str, Any]) -> None:
    """Only what is declared may be required, and each name once: some providers refuse anything else."""
    required, properties = out.pop("required", None), out.get("properties")
    if required and properties:
        names = [name for name in dict.fromkeys(required) if name in properties]
        if names:
            out["required"] = names


# ── the keywords that hold structure, one function each: value, keywords, what is sent, what goes into words ──────────────


def _type(value: Any, keywords: Keywords, out: dict[str, Any], words: dict[str, Any]) -> None:  # noqa: ARG001
    if isinstance(value, str) or (isinstance(value, list) and value):
        out["type"] = value


def _description(value: Any, keywords: Keywords, out: dict[str, Any], words: dict[str, Any]) -> None:  # noqa: ARG001
    if isinstance(value, str) and value:
        out["description"] = value


def _properties(value: Any, keywords: Keywords, out: dict[str, Any], words: dict[str, Any]) -> None:  # noqa: ARG001
    if isinstance(value, Mapping):
        named = cast("Mapping[str, Any]", value)
        out["properties"] = {name: _narrow(one, keywords) for name, one in named.items()}


def _required(value: Any, keywords: Keywords, out: dict[str, Any], words: dict[str, Any]) -> None:  # noqa: ARG001
    out["required"] = [name for name in cast("list[Any]", value) if isinstance(name, str)] if _listed(value) else []


def _items(value: Any, keywords: Keywords, out: dict[str, Any], words: dict[str, Any]) -> None:
    if isinstance(value, list):
        _prefix_items(cast(Any, value), keywords, out, words)
    elif isinstance(value, Mapping):
        out["items"] = _narrow(value, keywords)


def _prefix_items(value: Any, keywords: Keywords, out: dict[str, Any], words: dict[str, Any]) -> None:  # noqa: ARG001
    places = [_narrow(one, keywords) for one in _each(value)]
    if "prefixItems" in keywords.kept:
        out["prefixItems"] = places
    elif places:
        # Which stands where is lost, but not what may stand there.
        out.setdefault("items", {"anyOf": places} if len(places) > 1 else places[0])


def _any_of(value: Any, keywords: Keywords, out: dict[str, Any], words: dict[str, Any]) -> None:  # noqa: ARG001
    choices = [_narrow(one, keywords) for one in _each(value)]
    if choices and "anyOf" not in out:
        out["anyOf"] = choices


def _const(value: Any, keywords: Keywords, out: dict[str, Any], words: dict[str, Any]) -> None:
    _enum([value], keywords, out, words)


def _enum(value: Any, keywords: Keywords, out: dict[str, Any], words: dict[str, Any]) -> None:
    values = list(_each(value))
    # bool is an int to Python, and something else to JSON.
    if all(type(one) in keywords.enums for one in values):
        if values:
            out["enum"] = values
    else:
        words["enum"] = values


def _additional(value: Any, keywords: Keywords, out: dict[str, Any], words: dict[str, Any]) -> None:
    if "additionalProperties" in keywords.kept:
        out["additionalProperties"] = value if isinstance(value, bool) else _narrow(value, keywords)
    elif isinstance(value, Mapping) and value:
        words["additionalProperties"] = _narrow(value, keywords)


_STRUCTURE = {
    "type": _type,
    "description": _description,
    "properties": _properties,
    "required": _required,
    "items": _items,
    "prefixItems": _prefix_items,
    "anyOf": _any_of,
    "oneOf": _any_of,
    "const": _const,
    "enum": _enum,
    "additionalProperties": _additional,
}


def _listed(value: Any) -> bool:
    return isinstance(value, list)


def _each(value: Any) -> Iterator[Any]:
    return iter(cast("list[Any]", value)) if isinstance(value, list) else iter(())
