"""Holds `tukang.tools.arguments` against files of malformed argument strings: `python -m tests.tools.arguments FILE…`.

A line is `{"raw", "policy", "expected"}`, with the policy `repair` (mended to the expected value), `reject`, `pass` (the
expected value, untouched) or `coerce-by-schema` (a fitting schema makes the expected value of it). A line without a policy
comes from a lenient library's own tests: there the library's value is not a promise of ours, but a value that neither
the library nor the text vouches for is a difference.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tukang.tools.arguments import Parsed, parse
from tukang.tools.coercion import coerce
from tukang.tools.json_text import Unreadable


def read(raw: str) -> Parsed | Unreadable:
    """What becomes of a text."""
    try:
        return parse(raw)
    except Unreadable as refusal:
        return refusal


def difference(row: dict[str, Any]) -> str | None:
    """What is not as it should be with one line; None when all is well."""
    got = read(row["raw"])
    policy = row.get("policy", "library")
    if policy == "reject":
        return None if isinstance(got, Unreadable) else f"accepted as {got.arguments}"
    if policy == "library":
        if isinstance(got, Unreadable) or got.arguments == row["expected"] or not row["raw"].strip():
            return None
        return f"read as {got.arguments}; the library says {row['expected']}"
    if isinstance(got, Unreadable):
        return f"refused: {got}"
    value = got.arguments
    if policy == "coerce-by-schema":
        schema = schema_of(row["expected"])
        value = coerce(value, schema, schema)
    if value != row["expected"]:
        return f"read as {value}, not {row['expected']}"
    if policy == "pass" and got.repaired:
        return "valid, but repaired"
    return None


def schema_of(value: Any) -> dict[str, Any]:
    """A JSON Schema that this value fits."""
    if isinstance(value, dict):
        return {"type": "object", "properties": {key: schema_of(item) for key, item in value.items()}}
    if isinstance(value, list):
        return {"type": "array", "items": schema_of(value[0]) if value else {}}
    names: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
    return {"type": names[type(value)]}


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def main(paths: list[str]) -> int:
    total = wrong = 0
    counts: Counter[str] = Counter()
    for path in paths:
        for row in rows(Path(path)):
            total += 1
            got = read(row["raw"])
            became = "refused" if isinstance(got, Unreadable) else "mended" if got.repaired else "read as it is"
            counts[f"{row.get('policy', 'no policy')}: {became}"] += 1
            if found := difference(row):
                wrong += 1
                print(f"{row['raw']!r}: {found}")
    for what, count in sorted(counts.items()):
        print(f"{count:5} {what}")
    print(f"{total - wrong} of {total} rows as they should be")
    return 1 if wrong or not total else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
