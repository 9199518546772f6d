"""Values made from a JSON Schema, some fitting and some deliberately not, out of any source of chance.

The source is a `random.Random`: a seeded one, or Hypothesis's (`st.randoms()`), which can shrink what it found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from random import Random
from typing import Any

ANYTHING: list[Any] = [
    None,
    True,
    0,
    -1,
    1,
    2.0,
    0.5,
    10**20,
    "",
    "a",
    "1",
    "true",
    "null",
    "[]",
    [],
    [1],
    {},
    {"a": 1},
]
TEXTS = ["", "a", "abc", "A1", "1:1", "a.png", "Jl. Merdeka 5, Bandung", "é😀", "2026-11-30", "x" * 40, "a\nb"]
FORMATS = {
    "uuid": ("123e4567-e89b-12d3-a456-426614174000", "123e4567"),
    "date": ("2026-11-30", "2026-11-31"),
    "ipv4": ("10.0.0.1", "10.0.0.256"),
    "ipv6": ("::1", "::g"),
    "email": ("budi@toko.id", "budi"),
    "date-time": ("2026-11-30T08:00:00Z", "kemarin"),
    "uri": ("https://toko.id/a", "bukan uri"),
}
"""A string that has the format, and one that has not."""

_DEEPEST = 6


def value_of(schema: Any, root: Mapping[str, Any], chance: Random, faults: float = 0.05, level: int = 0) -> Any:
    """A value for a schema.

    Args:
        schema: the (sub)schema.
        root: the whole schema, for local references.
        chance: where all choices come from.
        faults: how likely each part is something else than it should be.
        level: how deep inside this is; from some depth on only what is required is there.
    """
    if chance.random() < faults:
        return chance.choice(ANYTHING)
    if not isinstance(schema, Mapping) or level > _DEEPEST + 4:
        return chance.choice(ANYTHING)
    if "$ref" in schema:
        return value_of(_followed(schema["$ref"], root), root, chance, faults, level + 1)
    for key in ("anyOf", "oneOf"):
        if key in schema and "type" not in schema:
            return value_of(chance.choice(schema[key]), root, chance, faults, level + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return chance.choice(schema["enum"])
    made = _of_type(schema, root, chance, faults, level)
    if made is not None and not isinstance(made, str) and chance.random() < faults:
        return json.dumps(made)  # the right content as a string
    return made


def _of_type(schema: Mapping[str, Any], root: Mapping[str, Any], chance: Random, faults: float, level: int) -> Any:
    named = schema.get("type") or ("object" if "properties" in schema else None)
    match chance.choice(named) if isinstance(named, list) else named:
        case "object":
            return _object(schema, root, chance, faults, level)
        case "array":
            fewest, most = schema.get("minItems", 0), schema.get("maxItems", 4)
            count = _about(chance, fewest, most, faults) if level < _DEEPEST else fewest
            return [value_of(schema.get("items", {}), root, chance, faults, level + 1) for _ in range(count)]
        case "string":
            return _text(schema, chance, faults)
        case "integer":
            number = _number(schema, chance, faults)
            return float(number) if chance.random() < faults else number
        case "number":
            return _number(schema, chance, faults) + chance.choice([0, 0, 0.5])
        case "boolean":
            return chance.random() < 0.5
        case "null":
            return None
        case _:
            return chance.choice(ANYTHING)


def _object(schema: Mapping[str, Any], root: Mapping[str, Any], chance: Random, faults: float, level: int) -> Any:
    made: dict[str, Any] = {}
    required = schema.get("required", ())
    for key, inner in schema.get("properties", {}).items():
        wanted = chance.random() >= faults if key in required else level < _DEEPEST and chance.random() < 0.4
        if wanted:
            made[key] = value_of(inner, root, chance, faults, level + 1)
    others = schema.get("additionalProperties", {})
    if chance.random() < (faults if others is False or schema.get("properties") else 0.5):
        made["lain"] = value_of(others, root, chance, faults, level + 1)
    return made


def _text(schema: Mapping[str, Any], chance: Random, faults: float) -> str:
    if schema.get("format") in FORMATS:
        good, bad = FORMATS[schema["format"]]
        return bad if chance.random() < faults else good
    text = chance.choice(TEXTS)
    if "pattern" in schema and chance.random() >= faults:
        text = next((it for it in TEXTS if re.search(schema["pattern"], it)), text)
    fewest, most = schema.get("minLength", 0), schema.get("maxLength")
    if chance.random() >= faults:
        text = (text + "a" * max(0, fewest - len(text)))[:most]
    return text


def _number(schema: Mapping[str, Any], chance: Random, faults: float) -> int:
    low = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
    high = schema.get("maximum", schema.get("exclusiveMaximum", low + 1000) - 1)
    return _about(chance, int(low), int(high), faults)


def _about(chance: Random, low: int, high: int, faults: float) -> int:
    """A number in a range, or with bad luck one just outside, where that is not negative for a range that is not."""
    if chance.random() < faults:
        return chance.choice([max(low - 1, min(low, 0)), high + 1])
    return chance.randint(low, max(low, min(high, low + 1000)))


def _followed(reference: Any, root: Mapping[str, Any]) -> Any:
    node: Any = root
    for step in str(reference).split("/")[1:]:
        node = node[step.replace("~1", "/").replace("~0", "~")]
    return node
