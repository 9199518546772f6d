"""Runs the JSON Schema Test Suite through our check of arguments: `python -m tests.tools.json_schema [SUITE…]`.

A SUITE is a folder or a `.tar.gz` that holds `draft7/` and `draft2020-12/` somewhere inside. Without one, the suite in the
source package of the Python package `jsonschema` is taken, which `make test` puts into the virtual environment.

Each test is run twice: its schema by itself, and as the schema of a tool's argument, from JSON text through `Tool.validate`.
There, what is valid must come out as it went in, and what is not must be refused, or come out as something valid. What
differs must stand in the accepted file (`--accepted FILE`), with its reason, and what stands there must differ.
"""

from __future__ import annotations

import argparse
import json
import sys
import tarfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from tukang.errors import ToolDefinitionError
from tukang.tools.adopting import as_tool
from tukang.tools.arguments import parse
from tukang.tools.json_schema import compiled, complaints
from tukang.tools.outcome import Fault

ACCEPTED = Path(__file__).with_name("json_schema_accepted.toml")
DRAFTS = {
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}


class Case(NamedTuple):
    """One test of the suite; `file` begins with the draft."""

    file: str
    group: str
    test: str
    schema: Any
    data: Any
    valid: bool

    @property
    def draft(self) -> str:
        return DRAFTS[self.file.partition("/")[0]]

    @property
    def required(self) -> bool:
        return "/optional/" not in self.file


def packaged() -> Path | None:
    """The source package of `jsonschema` that `make test` has downloaded."""
    return max((Path(sys.prefix) / "share" / "suites").glob("jsonschema-*.tar.gz"), default=None)


def files(suite: Path) -> Iterator[tuple[str, bytes]]:
    """The files of a suite: draft and path, and contents."""
    if suite.is_dir():
        for path in sorted(suite.rglob("*.json")):
            yield from _named(path.relative_to(suite).as_posix(), path.read_bytes())
        return
    with tarfile.open(suite) as archive:
        for member in sorted(archive, key=lambda it: it.name):
            if member.isfile() and member.name.endswith(".json") and (inside := archive.extractfile(member)):
                yield from _named(member.name, inside.read())


def _named(path: str, contents: bytes) -> Iterator[tuple[str, bytes]]:
    parts = PurePosixPath(path).parts
    place = next((place for place, part in enumerate(parts) if part in DRAFTS), None)
    if place is not None and not {"remotes", "output-tests", "annotations"} & set(parts):
        yield "/".join(parts[place:]), contents


def cases(suite: Path) -> Iterator[Case]:
    """All tests of the two drafts."""
    for name, contents in files(suite):
        for group in json.loads(contents):
            for test in group["tests"]:
                yield Case(
                    name, group["description"], test["description"], group["schema"], test["data"], test["valid"]
                )


def difference(case: Case) -> str | None:
    """What is not as the suite says; None when all is."""
    text = json.dumps(case.data)
    schema = {"$schema": case.draft, **case.schema} if isinstance(case.schema, dict) else case.schema
    try:
        validator = compiled(schema, "it")
    except ToolDefinitionError as error:
        return f"refused: {error}"
    found = complaints(validator, case.data, schema if isinstance(schema, dict) else {}, len(text))
    if bool(found) == case.valid:
        return f"{'valid' if case.valid else 'invalid'}, and we say {found or 'valid'}"
    whole = as_argument(case)
    if whole is None:
        return None
    tool = as_tool(({"name": "it", "parameters": whole}, lambda **given: given))
    result = tool.validate(parse(f'{{"value": {text}}}').arguments)
    if isinstance(result, Fault):
        return f"valid, but refused as an argument: {result.message}" if case.valid else None
    if case.valid:
        return None if result.arguments == {"value": case.data} else f"valid, but changed: {result.text}"
    return None if result.coerced and validator.is_valid(result.arguments["value"]) else f"invalid, but: {result.text}"


def as_argument(case: Case) -> dict[str, Any] | None:
    """A schema for a tool whose one argument has the case's schema; None where that would change what it means."""
    schema = case.schema
    if isinstance(schema, dict):
        if schema.get("$schema", case.draft) != case.draft:
            return None
        schema = {key: value for key, value in schema.items() if key != "$schema"}
        if "$id" not in schema and _refers(schema):
            if "$ref" in schema and "draft-07" in case.draft:  # beside a $ref, draft 7 sees no $id
                return None
            schema["$id"] = "urn:suite:case"  # so that its references stay inside
    return {"$schema": case.draft, "type": "object", "properties": {"value": schema}, "required": ["value"]}


def _refers(node: Any) -> bool:
    if isinstance(node, dict):
        return bool({"$ref", "$dynamicRef", "$anchor", "$dynamicAnchor", "$id"} & node.keys()) or any(
            map(_refers, node.values())
        )
    return isinstance(node, list) and any(map(_refers, node))


class Accepted:
    """The differences that are accepted, each kind with its reason."""

    def __init__(self, kinds: Mapping[str, Any]) -> None:
        self.reasons = {kind: str(table["reason"]) for kind, table in kinds.items()}
        self._kinds = {
            (file, name): kind
            for kind, table in kinds.items()
            for file, names in table.items()
            if file != "reason"
            for name in names
        }

    @classmethod
    def read(cls, path: Path = ACCEPTED) -> Accepted:
        """Those in a file."""
        return cls(tomllib.loads(path.read_text("utf-8")))

    def kind(self, case: Case) -> str | None:
        """The kind of difference that is accepted for a case, named by its own description or by its group's."""
        return self._kinds.get((case.file, case.test)) or self._kinds.get((case.file, case.group))


def run(suite: Path, accepted: Accepted) -> tuple[Counter[str], list[str]]:
    """Counts, and what is neither as the suite says nor accepted, or accepted and not different."""
    counts: Counter[str] = Counter()
    found: list[str] = []
    for case in cases(suite):
        where = "required" if case.required else "optional"
        counts[f"{where}: tests"] += 1
        counts[f"{where}: also as an argument of a tool"] += as_argument(case) is not None
        differs, kind = difference(case), accepted.kind(case)
        if differs is None:
            counts[f"{where}: as the suite says"] += 1
        if differs and kind:
            counts[f"{where}: different, accepted ({kind})"] += 1
        if differs and not kind:
            found.append(f"{case.file}: {case.group}: {case.test}: {differs}")
        if kind and not differs:
            found.append(f"{case.file}: {case.group}: {case.test}: accepted as different ({kind}), but it is not")
    return counts, found


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.json_schema", description="Run the JSON Schema Test Suite."
    )
    parser.add_argument("suites", nargs="*", type=Path, metavar="SUITE")
    parser.add_argument("--accepted", type=Path, default=ACCEPTED, metavar="FILE")
    options = parser.parse_args(arguments)
    suites = options.suites or [path for path in [packaged()] if path]
    accepted = Accepted.read(options.accepted)
    wrong = not suites
    for suite in suites:
        counts, found = run(suite, accepted)
        print(suite)
        for difference in found:
            print(f"  {difference}")
        for what, count in sorted(counts.items(), reverse=True):
            print(f"{count:7} {what}")
        print(f"{len(found):7} not accepted")
        wrong = wrong or bool(found) or not counts["required: tests"]
    for kind, reason in accepted.reasons.items():
        print(f"{kind}: {reason}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
