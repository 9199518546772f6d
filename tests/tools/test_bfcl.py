"""BFCL's functions load, its right calls are valid, and its conversations end as when the calls are made directly."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

pytest.importorskip("bfcl_eval", reason="bfcl-eval is not installed: make test does it")

from tests.tools import bfcl, bfcl_turns
from tests.tools.schemas import loaded, oracle


def test_functions_load_and_right_calls_are_valid() -> None:
    counts, found = bfcl.single_turns(every=4)
    assert found == []
    assert counts["functions that load"] == counts["functions described"] > 2000
    assert counts["calls that fit their schema"] > 1000


@pytest.mark.long
def test_all_functions_load_and_all_right_calls_are_valid() -> None:
    counts, found = bfcl.single_turns()
    assert found == []
    assert counts["functions that load"] == counts["functions described"] == 8726
    assert counts["calls that fit their schema"] == 6036


@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("repeatable", [True, False])
def test_conversations_end_as_when_called_directly(repeatable: bool, every: int) -> None:
    counts, found = asyncio.run(bfcl_turns.several_turns(every, repeatable=repeatable))
    wrong = [name for name in bfcl_turns.WRONG if int(name.rpartition("_")[2]) % every == 0]
    assert found == []
    assert counts["conversations"] == 200 // every
    assert counts["conversations that end as when called directly"] == 200 // every - len(wrong)
    assert counts["turns that did not end in the answer"] == 0


@pytest.mark.parametrize("every", [8, pytest.param(2, marks=pytest.mark.long)])
def test_the_guard_makes_one_of_a_call_that_is_asked_for_twice(every: int) -> None:
    counts, found = asyncio.run(bfcl_turns.several_turns(every=every, repeatable=False, stutter=True))
    assert found == []
    assert counts["calls that took an earlier result"] == (counts["calls"] - counts["calls that were faults"]) / 2


def test_without_the_guard_what_is_asked_for_twice_happens_twice() -> None:
    counts, found = asyncio.run(bfcl_turns.several_turns(every=10, repeatable=True, stutter=True))
    assert counts["calls that took an earlier result"] == 0
    assert any("is in another state" in it for it in found)


def test_the_dialect_becomes_json_schema() -> None:
    dialect = {
        "type": "dict",
        "properties": {
            "a": {"type": "tuple", "items": {"type": "float"}, "optional": True},
            "b": {"type": "any"},
            "c": {"type": "HashMap", "properties": {"type": {"type": "String"}}, "required": True},
        },
        "required": ["a"],
    }
    assert bfcl.converted(dialect) == {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {"type": "number"}},
            "b": {},
            "c": {"type": "object", "properties": {"type": {"type": "string"}}},
        },
        "required": ["a"],
    }


def test_right_calls_are_made_of_alternatives() -> None:
    function = {"parameters": {"type": "dict", "properties": {"t": {"type": "string"}}, "required": ["t"]}}
    alternatives: dict[str, list[Any]] = {"t": [""], "n": ["", 1, 2], "o": [{"x": ["", 5], "y": [[1]]}]}
    assert list(bfcl.calls(function, alternatives)) == [
        {"t": "", "n": 1, "o": {"x": 5, "y": [1]}},
        {"t": "", "n": 1, "o": {"x": 5, "y": [1]}},
        {"t": "", "n": 2, "o": {"x": 5, "y": [1]}},
    ]


def test_a_valid_call_that_is_refused_is_a_difference() -> None:
    tool, theirs = loaded("a", {"properties": {"n": {"type": "integer"}}}), oracle({})
    assert bfcl.check_call(tool, theirs, {"n": "x"}, Counter()) is not None
    assert bfcl.check_call(tool, theirs, {"n": 1}, Counter()) is None


@pytest.mark.parametrize(
    ("ours", "theirs", "same"),
    [
        ('{"a":1}', '{"a": 1}', True),
        ("null", "None", True),
        ('["a"]', "['a']", True),
        ("plain words", "plain words", True),
        ('{"result":1.302734375}', "{'result': mpf('1.3027')}", True),
        ('{"result":1.4}', "{'result': mpf('1.3027')}", False),
        ("null", "False", False),
    ],
)
def test_what_counts_as_the_same_result(ours: str, theirs: str, same: bool) -> None:
    assert bfcl_turns.same(ours, theirs) == same


def test_another_state_is_noticed() -> None:
    row = next(bfcl.rows("BFCL_v4_multi_turn_base"))
    ours, theirs = bfcl_turns.instances(row), bfcl_turns.instances(row)
    assert list(bfcl_turns.differences([], [], ours, theirs)) == []
    ours["GorillaFileSystem"].mkdir("baru")
    assert list(bfcl_turns.differences([], [], ours, theirs)) == ["GorillaFileSystem is in another state"]
