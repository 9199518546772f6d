"""The Berkeley Function Calling Leaderboard's data, held against our tools: `python -m tests.tools.bfcl [--every N]`.

Reads the package `bfcl-eval` (installed without its dependencies by `make test`). Two parts:

* single turns: every function described there loads as a tool, and every call that is given as right and that the Python
  package `jsonschema` finds valid, we find valid, and leave as it is;
* several turns: see `tests.tools.bfcl_turns`.

The descriptions are in a dialect of JSON Schema: `dict`, `float`, `tuple` and Java's words for types. No provider speaks it,
so it is converted here, and not accepted by tukang. A value of the type `any` may be anything.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from tests.tools.schemas import loaded, oracle, reads_as
from tukang.errors import ToolDefinitionError
from tukang.tools.arguments import parse
from tukang.tools.outcome import Fault
from tukang.tools.tool import Tool

SINGLE_TURN = (
    "simple_python",
    "simple_java",
    "simple_javascript",
    "multiple",
    "parallel",
    "parallel_multiple",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
    "live_irrelevance",
    "live_relevance",
    "irrelevance",
)

TYPES = {
    "dict": "object",
    "HashMap": "object",
    "float": "number",
    "double": "number",
    "long": "integer",
    "Boolean": "boolean",
    "String": "string",
    "char": "string",
    "tuple": "array",
    "Array": "array",
    "ArrayList": "array",
}
PLAIN = ("object", "array", "string", "number", "integer", "boolean")


def rows(name: str) -> Iterator[dict[str, Any]]:
    """The lines of a data file, by its path without its ending."""
    for line in files("bfcl_eval").joinpath("data", f"{name}.json").read_text("utf-8").splitlines():
        yield json.loads(line)


def converted(schema: Any) -> Any:
    """A schema of the dialect as JSON Schema."""
    if not isinstance(schema, dict):
        return schema
    made = {key: value for key, value in schema.items() if key not in ("type", "optional")}
    named = schema.get("type")
    if TYPES.get(named, named) in PLAIN:
        made["type"] = TYPES.get(named, named)
    if isinstance(made.get("properties"), dict):
        made["properties"] = {name: converted(inner) for name, inner in made["properties"].items()}
    if "items" in made:
        made["items"] = converted(made["items"])
    if isinstance(made.get("required"), bool):  # said of one parameter; the object's own list says it too
        del made["required"]
    return made


def calls(function: dict[str, Any], answers: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """The arguments that are given as right: the first of each parameter's alternatives, then each other once."""
    parameters = function["parameters"]

    def stays(name: str) -> bool:  # an empty text says "left out", unless it is a text that must be there
        described = parameters.get("properties", {}).get(name, {})
        return (
            name in parameters.get("required", ())
            and TYPES.get(described.get("type"), described.get("type")) == "string"
        )

    def chosen(place: str | None = None, number: int = 0) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, alternatives in answers.items():
            usual = next((it for it in alternatives if it != ""), "")
            value = alternatives[number] if name == place else usual
            if value != "" or stays(name):
                made[name] = plain(value)
        return made

    yield chosen()
    for name, alternatives in answers.items():
        yield from (chosen(name, number) for number in range(1, len(alternatives)))


def plain(value: Any) -> Any:
    """A value whose inner parameters are given as lists of alternatives, with the first of each."""
    if isinstance(value, dict):
        inner = {
            key: next((it for it in given if it != ""), "") if isinstance(given, list) else given
            for key, given in value.items()
        }
        return {key: plain(it) for key, it in inner.items() if it != ""}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def check_call(tool: Tool, theirs: Any, arguments: dict[str, Any], counts: Counter[str]) -> str | None:
    """What is not as it should be with one call that is given as right."""
    counts["calls given as right"] += 1
    fits = theirs.is_valid(arguments)
    result = tool.validate(parse(json.dumps(arguments)).arguments)
    refused = isinstance(result, Fault)
    if fits:
        counts["calls that fit their schema"] += 1
        if refused or not reads_as(arguments, result.arguments) or result.arguments != arguments:
            return f"{arguments} fits, but: {result.message if refused else result.text}"
    elif refused:
        counts["calls that do not fit their schema: refused"] += 1
    elif theirs.is_valid(result.arguments):
        counts["calls that do not fit their schema: read as something that fits"] += 1
    else:
        return f"{arguments} becomes {result.text}, which does not fit"
    return None


def single_turns(every: int = 1) -> tuple[Counter[str], list[str]]:
    """Counts, and each difference, over every Nth case of all categories of single turns."""
    counts: Counter[str] = Counter()
    found: list[str] = []
    for category in SINGLE_TURN:
        answers: dict[str, Any] = {}
        if "relevance" not in category:  # where no call is right
            answers = {row["id"]: row["ground_truth"] for row in rows(f"possible_answer/BFCL_v4_{category}")}
        for row in itertools.islice(rows(f"BFCL_v4_{category}"), 0, None, every):
            counts["cases of a single turn"] += 1
            tools: dict[str, tuple[dict[str, Any], Tool]] = {}
            for function in row["function"]:
                counts["functions described"] += 1
                try:
                    tools[function["name"]] = function, loaded(function["name"], converted(function["parameters"]))
                    counts["functions that load"] += 1
                except ToolDefinitionError as error:
                    found.append(f"{row['id']}: {function['name']}: does not load: {error}")
            for right in answers.get(row["id"], ()):
                for name, alternatives in right.items():
                    if name in tools:
                        function, tool = tools[name]
                        theirs = oracle(dict(tool.contract.parameters))
                        told = (check_call(tool, theirs, made, counts) for made in calls(function, alternatives))
                        found += [f"{row['id']}: {name}: {it}" for it in told if it]
    return counts, found


def main(arguments: list[str]) -> int:
    from tests.tools.bfcl_turns import several_turns

    parser = argparse.ArgumentParser(prog="python -m tests.tools.bfcl", description="Hold tukang against BFCL's data.")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth case only")
    options = parser.parse_args(arguments)
    single, found = single_turns(options.every)
    print("single turns")
    _print(single, found)
    for stutter, repeatable in itertools.product((False, True), (True, False)):
        print(
            f"\nseveral turns, tools {'' if repeatable else 'not '}declared repeatable{', each call asked twice' * stutter}"
        )
        counts, differing = asyncio.run(several_turns(options.every, repeatable=repeatable, stutter=stutter))
        expected = stutter and repeatable  # what runs twice ends elsewhere
        _print(counts, [] if expected else differing)
        found += [] if expected else differing
    return 1 if found or not single["functions that load"] else 0


def _print(counts: Counter[str], found: list[str]) -> None:
    for difference in found:
        print(difference)
    for what, count in counts.items():
        print(f"{count:7} {what}")
    print(f"{len(found):7} differences")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
