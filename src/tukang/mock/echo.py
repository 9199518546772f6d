"""The script for those who have none: it calls the first tool once, says what came back, and otherwise repeats the user.

The arguments fit the tool's schema, but they mean nothing: a text is the user's own words where the schema lets it be. Where
the text of the reply is to follow a schema, it does, in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import jsonschema_rs
import msgspec

from tukang.mock.requests.reading import member
from tukang.mock.values import JSON, Asked, Offered
from tukang.models.scripted import Says, ScriptedCall

_FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T09:00:00Z",
    "time": "09:00:00Z",
    "duration": "PT1H",
    "email": "budi@example.com",
    "idn-email": "budi@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uri-reference": "/contoh",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "json-pointer": "/contoh",
    "regex": ".*",
}
"""A text for each format of JSON Schema."""

_DEEPEST = 12
_NOTHING = object()


def echo(asked: Asked) -> Says:
    """The reply to a request."""
    named = asked.choice not in ("auto", "none", "required")
    for tool in _called(asked) if named or not asked.results else ():
        arguments = _fitting(tool.schema, asked.text)
        if arguments is not None:
            return Says(calls=(ScriptedCall(tool.name, arguments),))
    if asked.form is not None and (made := _fitting(asked.form, asked.text)) is not None:
        return Says(_words(msgspec.json.encode(made).decode()))
    if asked.results:
        return Says(_words("Hasil: " + " | ".join(asked.results)))
    return Says(_words(asked.text or "(tidak ada teks)"))


def _called(asked: Asked) -> Iterable[Offered]:
    """The tools that may be called, the best first: the one that is asked for, else the first whose arguments can be made."""
    if asked.choice == "none":
        return ()
    named = tuple(tool for tool in asked.tools if tool.name == asked.choice)
    return named or asked.tools


def _words(text: str) -> tuple[str, ...]:
    """The text in deltas: a word and the space before it each."""
    first, *rest = text.split(" ")
    return (first, *(f" {word}" for word in rest))


def _fitting(schema: JSON, text: str) -> JSON | None:
    """Arguments that fit the schema; None when none were found."""
    try:
        validator = jsonschema_rs.validator_for(schema, validate_formats=True, offline=True)
    except (ValueError, TypeError, jsonschema_rs.ReferencingError):
        return None
    for lean in (True, False):  # with what is required only, and with everything, for schemas that say it crosswise
        made = _Maker(schema, text, lean=lean).make(schema, 0)
        if isinstance(made, dict) and validator.is_valid(made):
            return cast("JSON", made)
    return None


class _Maker:
    """Makes a value for a schema, as well as can be done without a search; the result has to be validated."""

    def __init__(self, root: JSON, text: str, *, lean: bool) -> None:
        self._root = root
        self._text = text
        self._lean = lean

    def make(self, schema: Any, depth: int) -> Any:
        if not isinstance(schema, dict) or depth > _DEEPEST:
            return self._text
        known = self._whole(cast("JSON", schema))
        given = next(_given(known), _NOTHING)
        if given is not _NOTHING:
            return given
        for options in ("anyOf", "oneOf"):
            if known.get(options):
                # what stands beside the options holds for each of them
                beside = {name: value for name, value in known.items() if name != options}
                return self.make(_merged(beside, self._whole(known[options][0])), depth + 1)
        return self._of_kind(known, depth)

    def _of_kind(self, schema: JSON, depth: int) -> Any:
        kinds = schema.get("type") or ("object" if "properties" in schema else "string")
        kind = str(cast("list[str]", kinds)[0] if isinstance(kinds, list) else kinds)
        match kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, depth)
            case "integer" | "number":
                return _number(schema, whole=kind == "integer")
            case "boolean":
                return True
            case "null":
                return None
            case _:
                return self._string(schema)

    def _object(self, schema: JSON, depth: int) -> JSON:
        members = cast("JSON", schema.get("properties") or {})
        required = [str(name) for name in schema.get("required") or ()]
        names = required if self._lean else [*members, *(name for name in required if name not in members)]
        names += [name for name in members if name not in names][: max(0, schema.get("minProperties", 0) - len(names))]
        return {name: self.make(members.get(name, {}), depth + 1) for name in names}

    def _array(self, schema: JSON, depth: int) -> list[Any]:
        first = list(schema.get("prefixItems") or ())
        count = max(int(schema.get("minItems", 0)), len(first))
        items = [first[place] if place < len(first) else schema.get("items", {}) for place in range(count)]
        return [self.make(item, depth + 1) for item in items]

    def _string(self, schema: JSON) -> str:
        text = _FORMATS.get(str(schema.get("format"))) or self._text or "contoh"
        if "maxLength" in schema:
            text = text[: int(schema["maxLength"])]
        return text.ljust(int(schema.get("minLength", 0)), "x")

    def _whole(self, schema: JSON) -> JSON:
        """The schema with its reference and its `allOf` put in."""
        found = schema
        if isinstance(schema.get("$ref"), str):
            found = self._root
            for step in str(schema["$ref"]).lstrip("#").strip("/").split("/"):
                found = member(found, step) if step else found
            found = _merged({name: value for name, value in schema.items() if name != "$ref"}, found)
        result = found
        for part in cast("list[JSON]", result.get("allOf") or []):
            result = _merged({name: value for name, value in result.items() if name != "allOf"}, self._whole(part))
        return result


def _given(schema: JSON) -> Iterator[Any]:
    """Values the schema itself names, the most binding first."""
    if "const" in schema:
        yield schema["const"]
    for name in ("enum", "examples"):
        if isinstance(schema.get(name), list):
            yield from schema[name][:1]
    for name in ("default", "example"):
        if schema.get(name) is not None:
            yield schema[name]


def _merged(one: JSON, other: JSON) -> JSON:
    """Both schemas at once, as far as that can be said by putting them together."""
    merged = {**one, **other}
    if "properties" in one and "properties" in other:
        merged["properties"] = {**one["properties"], **other["properties"]}
    if "required" in one and "required" in other:
        merged["required"] = list(dict.fromkeys([*one["required"], *other["required"]]))
    return merged


def _number(schema: JSON, *, whole: bool) -> float:
    low, high = schema.get("minimum"), schema.get("maximum")
    step = schema.get("multipleOf", 1 if whole else None)
    beyond = step or 0.25  # a value that is surely not the bound itself
    if isinstance(schema.get("exclusiveMinimum"), int | float):
        low = schema["exclusiveMinimum"] + beyond
    if isinstance(schema.get("exclusiveMaximum"), int | float):
        high = schema["exclusiveMaximum"] - beyond
    value = max(1, low) if low is not None else 1
    if high is not None:
        value = min(value, high)
    if step and value % step:
        value += step - value % step
    return int(value) if whole else value
