"""From JSON Schema to GBNF: what a tool's arguments may look like, as a grammar the engine samples within.

Exact where it can be: types, enum and const, nested objects, optional properties, arrays with bounds, lengths of strings,
bounds of integers, simple patterns, dates, anyOf/oneOf, references. Looser where it cannot (allOf beyond merging, `not`,
multipleOf, bounds of fractions, uniqueItems, dependent schemas): a grammar that allows too much costs one more try, since
arguments are validated afterwards; one that allows too little would forbid the right call. Nothing here raises on a schema.

Compact on purpose: properties in the schema's order, one space after `:` and `,`, nothing unbounded. A small model that may
write blanks writes blanks until its tokens are gone. llama.cpp's own converter (`json_schema_to_grammar`) leaves white
space and strings open, which is why it is not used.

GBNF: llama.cpp, `grammars/README.md`. JSON Schema: draft 2020-12.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from tukang.models.local.patterns import integers_between, pattern_to_gbnf

Schema = Mapping[str, Any]

LONGEST_STRING = 400
MOST_ITEMS = 24
_MOST_FREE_MEMBERS = 12
_LONGEST_NAME = 40
_DEEPEST = 24

_SHARED = {
    "char": r'[^"\\\x7F\x00-\x1F] | "\\" ["\\n]',
    "string": rf'"\"" char{{0,{LONGEST_STRING}}} "\""',
    "integer": '"-"? ("0" | [1-9] [0-9]{0,17})',
    "number": '"-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]{1,10})?',
    "amount": '("0" | [1-9] [0-9]{0,15}) ("." [0-9]{1,10})?',
    "boolean": '"true" | "false"',
    "null": '"null"',
    "scalar": "string | number | boolean | null",
    "name": rf'"\"" char{{1,{_LONGEST_NAME}}} "\""',
    "flat": "list | record",
    "list": f'"[" (scalar (", " scalar){{0,{MOST_ITEMS}}})? "]"',
    "record": f'"{{" (member (", " member){{0,{_MOST_FREE_MEMBERS}}})? "}}"',
    "member": 'name ": " scalar',
    "value": "scalar | flat",
    "date": '[0-9]{4} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | [12] [0-9] | "3" [01])',
    "time": '([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9]',
    "zone": '("Z" | [+-] ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9])',
}

_FORMATS = {
    "date": r'"\"" date "\""',
    "time": r'"\"" time zone? "\""',
    "date-time": r'"\"" date "T" time zone "\""',
    "uuid": r'"\"" [0-9a-f]{8} ("-" [0-9a-f]{4}){3} "-" [0-9a-f]{12} "\""',
}

_USES = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|([a-z][a-z0-9-]*)')


def quoted(text: str) -> str:
    """A GBNF literal."""
    body = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return f'"{body}"'


def literal(value: object) -> str:
    """A GBNF literal for a JSON value, written as the house writes JSON."""
    return quoted(compact(value))


def compact(value: object) -> str:
    """JSON as the grammar writes it: UTF-8, one space after `:` and `,`."""
    match value:
        case dict():
            members = cast("dict[str, object]", value)
            return "{" + ", ".join(f"{compact(key)}: {compact(member)}" for key, member in members.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(compact(item) for item in cast("Sequence[object]", value)) + "]"
        case _:
            return msgspec.json.encode(value).decode()


class Grammar:
    """A grammar under construction: named rules, and the shared ones that are in use."""

    def __init__(self) -> None:
        self._rules: dict[str, str] = {}

    def add(self, hint: str, body: str) -> str:
        """Put a rule in under a free name close to `hint`; the same body under the same name is put in once."""
        base = re.sub(r"[^a-z0-9]+", "-", hint.lower()).strip("-") or "rule"
        base = base if base[0].isalpha() else f"r-{base}"
        name, count = base, 1
        while name in _SHARED or name == "root" or self._rules.get(name, body) != body:
            count += 1
            name = f"{base}-{count}"
        self._rules[name] = body
        return name

    def put(self, name: str, body: str) -> None:
        """Give a rule that was put in under `name` its body."""
        self._rules[name] = body

    def arguments(self, hint: str, parameters: Schema) -> str:
        """The name of a rule for one tool's arguments."""
        return self.add(hint, _Converter(self, parameters, hint).convert(parameters, hint))

    def text(self, root: str) -> str:
        """The whole grammar, beginning at `root`."""
        rules = {"root": root, **self._rules}
        waiting = list(rules.values())
        while waiting:
            for match in _USES.finditer(waiting.pop()):
                if (name := match[1]) in _SHARED and name not in rules:
                    rules[name] = _SHARED[name]
                    waiting.append(_SHARED[name])
        return "\n".join(f"{name} ::= {body}" for name, body in rules.items())


class _Converter:
    """One schema document, whose references point into itself."""

    def __init__(self, grammar: Grammar, document: Schema, hint: str) -> None:
        self._grammar = grammar
        self._document = document
        self._hint = hint
        self._references: dict[str, str] = {}
        self._depth = 0

    def convert(self, schema: object, hint: str) -> str:
        """An expression for one schema; `value` where nothing better is known, or where it goes deeper than `_DEEPEST`."""
        if not isinstance(schema, Mapping) or self._depth >= _DEEPEST:
            return "value"
        self._depth += 1
        try:
            return self._converted(cast("Schema", schema), hint)
        finally:
            self._depth -= 1

    def _converted(self, schema: Schema, hint: str) -> str:
        if isinstance(reference := schema.get("$ref"), str):
            return self._referred(reference)
        if "const" in schema:
            return literal(schema["const"])
        if isinstance(values := schema.get("enum"), list) and values:
            return _either([literal(value) for value in cast("list[object]", values)])
        for key in ("anyOf", "oneOf"):
            if isinstance(options := schema.get(key), list) and options:
                return self._options(schema, cast("list[object]", options), hint)
        if isinstance(parts := schema.get("allOf"), list) and parts:
            return self.convert(self._merged(schema, cast("list[object]", parts)), hint)
        return self._typed(schema, hint)

    def _typed(self, schema: Schema, hint: str) -> str:
        kind = schema.get("type")
        if isinstance(kind, list):
            kinds = cast("list[object]", kind)
            return _either([self._typed({**schema, "type": one}, hint) for one in kinds]) if kinds else "value"
        if kind is None:
            kind = (
                "object"
                if "properties" in schema
                else "array"
                if "items" in schema or "prefixItems" in schema
                else None
            )
        match kind:
            case "object":
                return self._object(schema, hint)
            case "array":
                return self._array(schema, hint)
            case "string":
                return self._string(schema)
            case "integer":
                low, high = _integer_bounds(schema)
                return integers_between(low, high)
            case "number":
                low = _number(schema.get("minimum", schema.get("exclusiveMinimum")))
                return "amount" if low is not None and low >= 0 else "number"
            case "boolean" | "null":
                return kind
            case _:
                return "value"

    def _options(self, schema: Schema, options: list[object], hint: str) -> str:
        shared = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf", "description", "title")}
        merged = [self._merge(shared, option) if shared else option for option in options]
        return _either([self.convert(option, f"{hint}-{place}") for place, option in enumerate(merged)])

    def _merged(self, schema: Schema, parts: list[object]) -> Schema:
        whole: Schema = {key: value for key, value in schema.items() if key != "allOf"}
        for part in parts:
            whole = self._merge(whole, part)
        return whole

    def _merge(self, first: Schema, second: object) -> Schema:
        for _ in range(8):  # a chain of references is followed, a circle of them is not
            if not isinstance(second, Mapping) or "$ref" not in second:
                break
            second = self._resolve(str(cast("Schema", second)["$ref"]))
        if not isinstance(second, Mapping):
            return first
        other = cast("Schema", second)
        merged: dict[str, Any] = {**first, **other}
        if isinstance(first.get("properties"), Mapping) and isinstance(other.get("properties"), Mapping):
            merged["properties"] = {**first["properties"], **other["properties"]}
        if isinstance(first.get("required"), list) and isinstance(other.get("required"), list):
            merged["required"] = [*first["required"], *other["required"]]
        return merged

    def _referred(self, reference: str) -> str:
        if reference not in self._references:
            target = self._resolve(reference)
            if target is None:
                return "value"
            # The name stands before the rule does, so that a schema may contain itself.
            name = self._references[reference] = self._grammar.add(
                f"{self._hint}-{reference.rsplit('/', 1)[-1]}", quoted(reference)
            )
            self._grammar.put(name, self.convert(target, name))
        return self._references[reference]

    def _resolve(self, reference: str) -> object:
        place: object = self._document
        if not reference.startswith("#"):
            return None
        for step in reference.removeprefix("#").split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            place = cast("Mapping[str, object]", place).get(key) if isinstance(place, Mapping) else None
        return place

    def _string(self, schema: Schema) -> str:
        if (form := schema.get("format")) in _FORMATS:
            return _FORMATS[form]
        least, most = _count(schema.get("minLength"), 0), _count(schema.get("maxLength"), LONGEST_STRING)
        if isinstance(pattern := schema.get("pattern"), str) and (body := pattern_to_gbnf(pattern)) is not None:
            return rf'"\"" {body} "\""'
        least = min(least, LONGEST_STRING)
        if least == 0 and most >= LONGEST_STRING:
            return "string"
        return rf'"\"" char{{{least},{max(least, min(most, LONGEST_STRING))}}} "\""'

    def _array(self, schema: Schema, hint: str) -> str:
        fixed = schema.get("prefixItems")
        if isinstance(fixed, list) and fixed:
            places = enumerate(cast("list[object]", fixed))
            return '"[" ' + ' ", " '.join(self.convert(item, f"{hint}-{place}") for place, item in places) + ' "]"'
        least, most = _count(schema.get("minItems"), 0), _count(schema.get("maxItems"), MOST_ITEMS)
        most = max(least, min(most, MOST_ITEMS))
        if most == 0:
            return '"[]"'
        item = self._grammar.add(f"{hint}-item", self.convert(schema.get("items"), f"{hint}-item"))
        several = f'{item} (", " {item}){{{max(least - 1, 0)},{most - 1}}}'
        return f'"[" {several} "]"' if least else f'"[" ({several})? "]"'

    def _object(self, schema: Schema, hint: str) -> str:
        properties = schema.get("properties")
        if not isinstance(properties, Mapping) or not properties:
            return self._free_object(schema, hint)
        known = cast("Schema", properties)
        required = {str(name) for name in cast("list[object]", schema.get("required") or [])}
        members = [
            (literal(str(name)) + ' ": " ' + self._rule(value, f"{hint}-{name}"), str(name) in required)
            for name, value in known.items()
        ]
        return '"{" ' + self._members(members, hint) + ' "}"'

    def _rule(self, schema: object, hint: str) -> str:
        body = self.convert(schema, hint)
        return body if re.fullmatch(r"[a-z0-9-]+", body) else self._grammar.add(hint, body)

    def _members(self, members: list[tuple[str, bool]], hint: str) -> str:
        """Members in order, each optional one present or not, with commas only between those that are present."""
        after, before = '""', '""'  # what may follow once something was written, and while nothing was
        for place, (member, needed) in reversed(list(enumerate(members))):
            with_comma, alone = f'", " {member} {after}', f"{member} {after}"
            if not needed:
                with_comma, alone = f"{with_comma} | {after}", f"{alone} | {before}"
            after = self._grammar.add(f"{hint}-after-{place}", with_comma)
            before = self._grammar.add(f"{hint}-from-{place}", alone)
        return before

    def _free_object(self, schema: Schema, hint: str) -> str:
        extra = schema.get("additionalProperties", True)
        if extra is False or ("properties" in schema and extra is True):
            return '"{}"'
        item = "value" if extra is True else self._rule(extra, f"{hint}-extra")
        return f'"{{" (name ": " {item} (", " name ": " {item}){{0,{_MOST_FREE_MEMBERS}}})? "}}"'


def _either(options: list[str]) -> str:
    unique = list(dict.fromkeys(options))
    return unique[0] if len(unique) == 1 else "(" + " | ".join(unique) + ")"


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _count(value: object, default: int) -> int:
    return value if isinstance(value, int) and value >= 0 else default


def _integer_bounds(schema: Schema) -> tuple[int | None, int | None]:
    """Both ends included; a fractional bound is moved inwards."""
    lows = [_inward(schema.get("minimum"), 1), _inward(schema.get("exclusiveMinimum"), 1, exclusive=True)]
    highs = [_inward(schema.get("maximum"), -1), _inward(schema.get("exclusiveMaximum"), -1, exclusive=True)]
    return (
        max((low for low in lows if low is not None), default=None),
        min((high for high in highs if high is not None), default=None),
    )


def _inward(value: object, step: int, *, exclusive: bool = False) -> int | None:
    number = _number(value)
    if number is None or abs(number) > 1e15:
        return None
    whole = int(number)
    if whole == number:
        return whole + step if exclusive else whole
    return whole + (step if (number > 0) == (step > 0) else 0)
