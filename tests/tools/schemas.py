"""Loads tools of real servers and fuzzes their arguments: `python -m tests.tools.schemas FILE… [--each N] [--seed N]`.

A line of a file is a tool as an MCP server lists it: `{"name", "inputSchema", …}`. For each tool, arguments are made from its
schema, some fitting and some not, and our check is held against the Python package `jsonschema`:

* before anything is coerced, both must say the same;
* what comes out of the whole check must be valid to both; what was valid must come out as it went in; and only a string may
  have become what it spells, a float without a fraction an integer, and a null may have been left out.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import jsonschema

from tests.tools.schema_values import value_of
from tukang.errors import ToolDefinitionError
from tukang.tools.adopting import as_tool
from tukang.tools.arguments import parse
from tukang.tools.json_schema import compiled
from tukang.tools.outcome import Fault
from tukang.tools.tool import Tool

UNCHECKED = ("date-time", "uri")
"""Formats the Python package checks only with packages of its own beside it. We check them, so we may refuse more."""


def loaded(name: str, schema: dict[str, Any]) -> Tool:
    """A tool with this schema; it gives back what it was given. A name that is not legal is made so."""
    legal = re.sub(r"\W", "_", name, flags=re.ASCII)[:64]
    return as_tool(({"name": legal, "parameters": schema}, lambda **given: given))


def oracle(schema: dict[str, Any]) -> Any:
    """The Python package's validator for a schema, of the draft that it names, with formats."""
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    kind.check_schema(schema)
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


def differences(tool: Tool, theirs: Any, value: dict[str, Any], counts: Counter[str]) -> Iterator[str]:
    """What is not as it should be with our check of one value."""
    text = json.dumps(value)
    parsed = parse(text).arguments
    if parsed != value:
        yield f"{text} is read as {parsed}"
    complaints = tool.parameters.complaints(parsed, text)
    fits = theirs.is_valid(value)
    counts["valid" if fits else "refused"] += 1
    if fits and complaints and all(any(f'"{it}"' in complaint.text for it in UNCHECKED) for complaint in complaints):
        counts["of a format the other does not check"] += 1
        return
    if bool(complaints) == fits:
        yield f"{text}: jsonschema says {'valid' if fits else 'invalid'}, we say {complaints or 'valid'}"
    result = tool.validate(parsed)
    if isinstance(result, Fault):
        if len(result.as_text()) > 1500:
            yield f"{text}: a fault of {len(result.as_text())} characters"
        return
    counts["coerced"] += result.coerced and not fits
    if not theirs.is_valid(result.arguments):
        yield f"{text} becomes {result.text}, which jsonschema refuses"
    if fits and result.arguments != value:
        yield f"{text} is valid, and becomes {result.text}"
    if not reads_as(value, result.arguments):
        yield f"{text} becomes {result.text}, which it does not spell"


def reads_as(before: Any, after: Any) -> bool:
    """Whether the second value is the first, but for strings that became what they spell, and nulls that were left out."""
    if isinstance(before, dict) and isinstance(after, dict):
        kept = [key for key, value in before.items() if key in after or value is not None]
        return after.keys() == set(kept) and all(reads_as(before[key], after[key]) for key in kept)
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(reads_as, before, after))
    if isinstance(before, str) and not isinstance(after, str):
        return reads_as(json.loads(before), after)
    return before == after and isinstance(before, bool) == isinstance(after, bool)


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The tools in a file."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def fuzz(schema: dict[str, Any], tool: Tool, chance: Random, each: int, counts: Counter[str]) -> Iterator[str]:
    """The differences over a number of arguments made by chance."""
    theirs = oracle(schema)
    for number in range(each):
        value = value_of(schema, schema, chance, faults=0 if number % 4 == 0 else 0.05)
        yield from differences(tool, theirs, value if isinstance(value, dict) else {"lain": value}, counts)


def run(paths: list[Path], each: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Counts, and each difference, over all tools of some files."""
    counts: Counter[str] = Counter()
    found: list[str] = []
    for path in paths:
        for place, row in enumerate(rows(path)):
            counts["tools"] += 1
            try:
                tool = loaded(row["name"], row["inputSchema"])
                if "outputSchema" in row:
                    compiled(row["outputSchema"], row["name"])
                    counts["output schemas load"] += 1
            except ToolDefinitionError as error:
                found.append(f"{row['name']}: does not load: {error}")
                continue
            counts["load"] += 1
            counts["load under another name"] += tool.name != row["name"]
            chance = Random(f"{seed} {place} {row['name']}")
            found += [f"{row['name']}: {it}" for it in fuzz(row["inputSchema"], tool, chance, each, counts)]
    return counts, found


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.schemas", description="Load tools, fuzz their arguments."
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--each", type=int, default=20, help="arguments made for each tool (20)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    counts, found = run(options.files, options.each, options.seed)
    for difference in found:
        print(difference)
    for what, count in counts.items():
        print(f"{count:7} {what}")
    print(f"{len(found):7} differences")
    return 1 if found or not counts["tools"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
