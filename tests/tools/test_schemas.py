"""Our check of arguments beside the Python package `jsonschema`, over real tools and over schemas made by chance."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from tests.tools import schemas
from tests.tools.schema_values import FORMATS, value_of
from tests.tools.test_arguments import SHARED
from tukang.tools.adopting import as_tool
from tukang.tools.outcome import Fault

REAL = SHARED.parent / "mcp_tools" / "tools.jsonl"
DRAFTS = ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"]

CHECKED = [name for name in FORMATS if name not in schemas.UNCHECKED]

SCALARS: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.fixed_dictionaries({"type": st.sampled_from(["string", "integer", "number", "boolean", "null"])}),
    st.fixed_dictionaries({"type": st.just("integer"), "minimum": st.integers(-3, 3), "maximum": st.integers(3, 9)}),
    st.fixed_dictionaries(
        {"type": st.just("number"), "exclusiveMinimum": st.integers(-3, 3), "multipleOf": st.just(0.5)}
    ),
    st.fixed_dictionaries({"type": st.just("string"), "minLength": st.integers(0, 3), "maxLength": st.integers(3, 5)}),
    st.fixed_dictionaries({"type": st.just("string"), "pattern": st.sampled_from(["^[a-z]+$", r"^\d+:\d+$", "a"])}),
    st.fixed_dictionaries({"type": st.just("string"), "format": st.sampled_from(CHECKED)}),
    st.fixed_dictionaries({"type": st.sampled_from([["string", "null"], ["integer", "boolean"], ["number", "array"]])}),
    st.fixed_dictionaries(
        {"enum": st.lists(st.sampled_from(["a", "1", 1, None, True, 0.5]), min_size=1, unique_by=repr)}
    ),
    st.fixed_dictionaries({"const": st.sampled_from(["a", 1, None, [1], {"a": 1}])}),
    st.just({}),
)
NAMES = st.sampled_from(["a", "kota", "jumlah unit"])


def objects(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Schemas of objects with members of these."""
    return st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(NAMES, inner)},
        optional={"additionalProperties": st.booleans() | inner, "required": st.lists(NAMES, max_size=2, unique=True)},
    )


def nested(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Schemas that hold these."""
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        objects(inner),
        st.fixed_dictionaries(
            {"type": st.just("array"), "items": inner},
            optional={"minItems": st.integers(0, 1), "maxItems": st.integers(1, 3), "uniqueItems": st.booleans()},
        ),
        st.fixed_dictionaries({"anyOf": several}),
        st.fixed_dictionaries({"oneOf": several}),
        st.fixed_dictionaries({"not": inner}),
        st.fixed_dictionaries({"allOf": several}),
    )


ANY_SCHEMA = st.recursive(SCALARS, nested, max_leaves=8)


@given(objects(ANY_SCHEMA), st.sampled_from(DRAFTS), st.randoms(use_true_random=False))
def test_made_up_schemas_are_checked_as_jsonschema_does(schema: dict[str, Any], draft: str, chance: Random) -> None:
    schema = {"$schema": draft, **schema}
    tool = schemas.loaded("made_up", schema)
    assert list(schemas.fuzz(schema, tool, chance, 4, Counter())) == []


@pytest.mark.parametrize("each", [3, pytest.param(8, marks=pytest.mark.long)])
def test_real_schemas_load_and_are_checked_as_jsonschema_does(each: int) -> None:
    if not REAL.exists():
        pytest.skip(f"{REAL} is not here")
    counts, found = schemas.run([REAL], each=each, seed=7)
    assert found == []
    assert counts["load"] == counts["tools"] == 611
    assert min(counts["valid"], counts["refused"], counts["coerced"]) > 6 * each  # else nothing was tried


def line(path: Path, **schema: Any) -> Path:
    """A file of one tool."""
    path.write_text(json.dumps({"name": "alat.satu", "inputSchema": {"type": "object", **schema}}) + "\n\n", "utf-8")
    return path


def test_the_command_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert schemas.main([str(line(tmp_path / "t.jsonl", properties={"n": {"type": "integer"}})), "--each", "5"]) == 0
    told = dict(reversed(text.split(maxsplit=1)) for text in capsys.readouterr().out.splitlines())
    assert told["tools"] == told["load"] == told["load under another name"] == "1"
    assert int(told.get("valid", 0)) + int(told.get("refused", 0)) == 5
    assert told["differences"] == "0"


def test_the_command_names_a_tool_that_does_not_load(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert schemas.main([str(line(tmp_path / "t.jsonl", properties={"n": {"type": "integr"}}))]) == 1
    assert "alat.satu: does not load: " in capsys.readouterr().out


def test_an_empty_file_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text("")
    assert schemas.main([str(tmp_path / "t.jsonl")]) == 1


@pytest.mark.parametrize(
    ("asked", "held_against", "value", "told"),
    [
        ({"type": "integer"}, {"type": "string"}, 1, "jsonschema says invalid, we say valid"),
        ({"type": "string"}, {"type": "integer"}, 1, "jsonschema says valid, we say [Complaint"),
        ({"type": "integer"}, {"type": "string"}, "1", "is valid, and becomes"),
    ],
)
def test_a_difference_is_noticed(asked: Any, held_against: Any, value: Any, told: str) -> None:
    tool = schemas.loaded("alat", {"properties": {"n": asked}})
    theirs = schemas.oracle({"properties": {"n": held_against}})
    assert any(told in found for found in schemas.differences(tool, theirs, {"n": value}, Counter()))


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("5", 5, True),
        (5.0, 5, True),
        ("5", 6, False),
        (1, True, False),
        (["1"], [1], True),
        ({"a": 1}, {}, False),
        ({"a": None}, {}, True),
    ],
)
def test_what_a_value_may_be_read_as(before: Any, after: Any, same: bool) -> None:
    assert schemas.reads_as(before, after) == same


class Alamat(BaseModel):
    jalan: str
    kode: Annotated[str, Field(pattern=r"^\d+:\d+$")] = "4:0"


class Kucing(BaseModel):
    jenis: Literal["kucing"]
    umur: int


class Anjing(BaseModel):
    jenis: Literal["anjing"]
    umur: str


def tercampur(
    bulat: int,
    pilihan: Literal["a", "b"] | None = None,  # not a number: Pydantic takes true for Literal[1]
    antara: Annotated[int, Field(ge=1, le=5)] = 1,
    pecahan: float = 0,
    daftar: list[int] | dict[str, str] | None = None,
    pasangan: tuple[int, str] = (1, "a"),
    alamat: Alamat | None = None,
    hewan: list[Annotated[Kucing | Anjing, Field(discriminator="jenis")]] = [],  # noqa: B006
    bebas: dict[str, Any] = {},  # noqa: B006
    teks: str = "",
) -> str:
    return f"{bulat}{pilihan}{antara}{pecahan}{daftar}{pasangan}{alamat}{hewan}{bebas}{teks}"


HINTED = as_tool(tercampur)


@given(st.randoms(use_true_random=False), st.sampled_from([0, 0.03, 0.1]))
def test_hints_are_checked_as_the_schema_that_is_made_of_them_says(chance: Random, faults: float) -> None:
    schema = dict(HINTED.contract.parameters)
    value = value_of(schema, schema, chance, faults)
    arguments = value if isinstance(value, dict) else {"lain": value}
    theirs = schemas.oracle(schema)
    result = HINTED.validate(arguments)
    fits = theirs.is_valid(arguments)
    if isinstance(result, Fault):
        assert not fits
    else:
        assert theirs.is_valid(result.arguments)
        assert schemas.reads_as(arguments, result.arguments)
        assert not fits or result.arguments == arguments
