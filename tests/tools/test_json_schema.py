"""What a schema says is wrong with itself and with values, in words; and the JSON Schema Test Suite."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.tools import json_schema as suite
from tests.tools.test_arguments import SHARED
from tukang.errors import ToolDefinitionError
from tukang.tools.complaints import ENOUGH, as_fault
from tukang.tools.json_schema import compiled, complaints

# ── the suite ────────────────────────────────────────────────────────────────────────────────────────────────────────

SUITES = {"shared": SHARED.parent / "json_schema", "packaged": suite.packaged()}


@pytest.mark.parametrize("name", SUITES)
def test_the_suite_comes_out_as_it_says_but_for_what_is_accepted(name: str) -> None:
    path = SUITES[name]
    if path is None or not path.exists():
        pytest.skip(f"the {name} suite is not here")
    counts, found = suite.run(path, suite.Accepted.read())
    assert found == []
    assert counts["required: tests"] > 2000
    assert counts["required: also as an argument of a tool"] > 2000


GROUP = {
    "description": "grup",
    "schema": {"type": "integer"},
    "tests": [
        {"description": "satu", "data": 1, "valid": True},
        {"description": "dua", "data": "dua", "valid": False},
    ],
}


def made(folder: Path, **group: Any) -> Path:
    """A suite of one file."""
    (folder / "tests" / "draft7").mkdir(parents=True)
    (folder / "tests" / "draft7" / "a.json").write_text(json.dumps([{**GROUP, **group}]), "utf-8")
    (folder / "remotes" / "draft7").mkdir(parents=True)
    (folder / "remotes" / "draft7" / "b.json").write_text("not a test", "utf-8")
    return folder


def accepted(folder: Path, text: str) -> str:
    """A file of accepted differences."""
    (folder / "accepted.toml").write_text(text, "utf-8")
    return str(folder / "accepted.toml")


def test_the_command_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert suite.main([str(made(tmp_path)), "--accepted", accepted(tmp_path, "")]) == 0
    assert "      2 required: as the suite says\n" in capsys.readouterr().out


def test_an_archive_is_a_suite_too(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "suite.tar.gz", "w:gz") as archive:
        archive.add(made(tmp_path / "in"), "jsonschema-1/json")
    counts, found = suite.run(tmp_path / "suite.tar.gz", suite.Accepted({}))
    assert (counts["required: tests"], found) == (2, [])


def test_a_difference_is_told_unless_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(made(tmp_path, schema={"type": "string"}))
    assert suite.main([folder, "--accepted", accepted(tmp_path, "")]) == 1
    assert "grup: satu: valid, and we say [Complaint" in capsys.readouterr().out
    both = '[x]\nreason = "so"\n"draft7/a.json" = ["grup"]'
    assert suite.main([folder, "--accepted", accepted(tmp_path, both)]) == 0
    assert suite.main([folder, "--accepted", accepted(tmp_path, both.replace("grup", "satu"))]) == 1


def test_what_is_accepted_must_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = '[x]\nreason = "so"\n"draft7/a.json" = ["satu"]'
    assert suite.main([str(made(tmp_path)), "--accepted", accepted(tmp_path, text)]) == 1
    assert "satu: accepted as different (x), but it is not" in capsys.readouterr().out


def test_no_suite_is_no_success(tmp_path: Path) -> None:
    assert suite.main([str(tmp_path)]) == 1


# ── a schema that is wrong ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "objek"}, 'wrong at type: "objek" is not valid: should be one of "array", "boolean", '),
        ({"properties": {"a": {"type": "strin"}}}, "wrong at properties/a/type: "),
        ({"properties": {"a": "string"}}, 'wrong at properties/a: "string" is not valid: it is not of types'),
        ({"items": {"anyOf": [{}, {"required": "a"}]}}, "wrong at items/anyOf/1/required: "),
        (
            {"properties": {"a": {"pattern": "("}}},
            'wrong at properties/a/pattern: "(" is not valid: it is not a "regex"',
        ),
        ({"properties": {"a": {"minLength": -1}}}, "wrong at properties/a/minLength: -1 is not valid: it is less than"),
        (
            {"properties": {"a": {"$ref": "#/$defs/b"}}},
            r"wrong at properties/a/$ref: Pointer '/$defs/b' does not exist",
        ),
        ({"allOf": [{"$ref": "#b"}]}, "wrong at allOf/0/$ref: Anchor 'b' does not exist"),
        (
            {"items": {"$ref": "http://x/y#/z"}},
            "wrong at items/$ref: it refers to another document, and nothing is fetched",
        ),
        ({"$id": "http://x/", "items": {"$ref": "lain.json"}}, "wrong at items/$ref: it refers to another document"),
        ({"items": {"$ref": "file:///etc/passwd"}}, "wrong at items/$ref: it refers to another document"),
        ({"$schema": "http://x/y"}, "wrong at $schema: it names a dialect that is not known; take draft-07 or 2020-12"),
        ({"properties": {"a": {"enum": {1, 2}}}}, "cannot be used: Unsupported type: 'set'"),
        ({"properties": {1: {}}}, "cannot be used: "),
        (5, "the schema itself: 5 is not valid"),
    ],
)
def test_a_wrong_schema_is_refused_with_the_place(schema: Any, told: str) -> None:
    with pytest.raises(ToolDefinitionError) as refusal:
        compiled(schema, "tool 'a'")
    assert str(refusal.value).startswith("tool 'a': its JSON Schema ")
    assert told in str(refusal.value)


def test_a_schema_that_contains_itself_is_refused() -> None:
    schema: dict[str, Any] = {}
    schema["properties"] = {"a": schema}
    with pytest.raises(ToolDefinitionError, match="cannot be used"):
        compiled(schema, "tool 'a'")


# ── a value that does not fit ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("schema", "value", "told"),
    [
        ({"enum": ["a", None, True, "3"]}, 3, '3 is not allowed: should be one of "a", null, true, "3"'),
        ({"const": {"a": 1}}, 1, '1 is not allowed: should be {"a": 1}'),
        ({"type": ["integer", "null"]}, "x", '"x" is not allowed: it is not of types "null", "integer"'),
        ({"format": "date"}, "x", '"x" is not allowed: it is not a "date"'),
        ({"uniqueItems": True}, [1, 1], "[1, 1] is not allowed: it has non-unique elements"),
        ({"contains": {"const": 1}}, [2], "what must be among the items is not there"),
        ({"propertyNames": {"pattern": "^a"}}, {"b": 1}, 'one of its names is not allowed: "b" does not match "^a"'),
        ({"properties": {"b": False}}, {"b": 1}, "x.b: 1 is not allowed: nothing may stand here"),
        ({"oneOf": [{"type": "string"}, {"minLength": 1}]}, "b", "fits more than one of the alternatives"),
        (
            {"anyOf": [{"type": "integer"}, {"properties": {"a": {"type": "integer"}}, "type": "object"}]},
            {"a": "b"},
            'it is not of type "integer", or a: it is not of type "integer"',
        ),
        ({"required": ["a"]}, {}, "x.a: is required"),
        ({"items": {"additionalProperties": False, "properties": {"a": {}}}}, [{"b": 1}], "x[0].b: is not a parameter"),
        ({"pattern": "a" * 1000}, "b", "aaa…"),
        ({"enum": ["a" * 1000] * 50}, "b", "…"),
        ({"additionalProperties": {"type": "integer"}}, {"k" * 1000: "b"}, "x.kkkk"),
    ],
)
def test_what_is_wrong_is_told_shortly(schema: Any, value: Any, told: str) -> None:
    whole = {"properties": {"x": schema}}
    found = complaints(compiled(whole, "it"), {"x": value}, whole, 100)
    message = as_fault(found, whole).message
    assert told in message
    assert message.startswith("x")
    assert len(message) < 350


def test_very_many_faults_are_one_complaint_in_no_time() -> None:
    schema = {"properties": {"a": {"items": {"type": "integer"}}}}
    value = {"a": ["x"] * (ENOUGH + 1)}
    found = complaints(compiled(schema, "it"), value, schema, len(json.dumps(value)))
    assert [complaint.path for complaint in found] == [("a", 0)]
    value["a"].pop()
    assert len(complaints(compiled(schema, "it"), value, schema, len(json.dumps(value)))) == ENOUGH
