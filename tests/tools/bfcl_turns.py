"""BFCL's conversations of several turns, run through the real loop over the package's own Python classes.

A scripted model asks for the calls that are given as right, one reply after the other, in one session. Beside it the package
runs the same calls directly, on objects of its own. After every turn the objects must be in the same state, and every call
must have brought the same result.

A model that stutters asks for each call twice. Then the guard against running the same call twice decides what happens: tools
that are declared `repeatable` run twice, the others once, and end where they would have.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from bfcl_eval.constants.executable_backend_config import (
    CLASS_FILE_PATH_MAPPING,
    MULTI_TURN_FUNC_DOC_FILE_MAPPING,
    STATELESS_CLASSES,
)
from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils import execute_multi_turn_func_call

from tests.tools.bfcl import converted, rows
from tukang import Agent, Limits, tool
from tukang.answer import Step
from tukang.conversation import ToolCall
from tukang.models.scripted import Scripted, call

WRONG = {"multi_turn_base_173": "its last call, given as right, has a text where the described type is integer"}
"""Conversations that cannot end as when called directly, and why."""

GENEROUS = Limits(rounds=100, calls=1000, seconds=None)
_RUNS = itertools.count()
_ONE_NUMBER = re.compile(r"\{'result': mpf\('(.*)'\)\}")


def instances(row: dict[str, Any]) -> dict[str, Any]:
    """Objects of the classes of a case, in the state in which it begins."""
    made: dict[str, Any] = {}
    for name in row["involved_classes"]:
        made[name] = getattr(importlib.import_module(CLASS_FILE_PATH_MAPPING[name]), name)()
        if name not in STATELESS_CLASSES:
            # through JSON, so that nothing is shared
            made[name]._load_scenario(json.loads(json.dumps(row["initial_config"].get(name, {}))), long_context=False)
    return made


def tools(row: dict[str, Any], objects: dict[str, Any], repeatable: bool) -> Iterator[Any]:
    """The methods of the objects as tools, described as the package describes them."""
    left_out = row.get("excluded_function", [])
    for name, thing in objects.items():
        for described in rows(f"multi_turn_func_doc/{MULTI_TURN_FUNC_DOC_FILE_MAPPING[name].removesuffix('.json')}"):
            if described["name"] in left_out:
                continue
            schema = {
                "name": described["name"],
                "description": described["description"],
                "parameters": converted(described["parameters"]),
            }
            yield schema, tool(repeatable=repeatable)(getattr(thing, described["name"]))


def asked(text: str, objects: dict[str, Any]) -> ToolCall:
    """A call written in Python, as the call that a model asks for."""
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    method = next(getattr(thing, node.func.id) for thing in objects.values() if hasattr(thing, node.func.id))
    names = list(inspect.signature(method).parameters)
    given = dict(zip(names, map(ast.literal_eval, node.args), strict=False))
    return call(node.func.id, given | {it.arg or "": ast.literal_eval(it.value) for it in node.keywords})


def state(thing: Any) -> dict[str, Any]:
    """What an object holds; a source of random numbers as the state it is in."""
    return {key: value.getstate() if hasattr(value, "getstate") else value for key, value in vars(thing).items()}


def differences(
    steps: Sequence[Step], direct: list[str], ours: dict[str, Any], theirs: dict[str, Any]
) -> Iterator[str]:
    """What is not the same after a turn."""
    if len(steps) != len(direct):
        yield f"{len(steps)} calls, not {len(direct)}"
    for step, result in zip(steps, direct, strict=False):
        if not same(step.result, result):
            yield f"{step.tool}{step.arguments} brings {step.result}, not {result}"
    for name, thing in ours.items():
        if state(thing) != state(theirs[name]):
            yield f"{name} is in another state"


def same(ours: str, theirs: str) -> bool:
    """Whether a result says what the package says, which writes a dict as JSON and anything else in Python."""
    if number := _ONE_NUMBER.fullmatch(theirs):  # of mpmath's, rounded for display
        return math.isclose(json.loads(ours)["result"], float(number[1]), rel_tol=1e-4)
    for read in (json.loads, ast.literal_eval):
        try:
            return json.loads(ours) == read(theirs)
        except (ValueError, SyntaxError):
            continue
    return ours == theirs


async def conversation(
    row: dict[str, Any], turns: list[list[str]], counts: Counter[str], *, repeatable: bool, stutter: bool
) -> list[str]:
    """Run one conversation; what is not the same as when the calls are made directly."""
    ours = instances(row)
    script = [[asked(text, ours) for text in wanted for _ in range(1 + stutter)] for wanted in turns]
    model = Scripted([said for turn in script for said in (*turn, "Selesai.")])
    chat = Agent(model, tools=tools(row, ours, repeatable), limits=GENEROUS).session(row["id"])
    run = f"run_{next(_RUNS)}"  # the package keeps its objects under this name
    found: list[str] = []
    for number, wanted in enumerate(turns):
        direct, involved = execute_multi_turn_func_call(
            wanted, row["initial_config"], row["involved_classes"], run, row["id"]
        )
        answer = await chat.arun(row["question"][number][0]["content"])
        counts["turns"] += 1
        counts["calls"] += len(answer.steps)
        counts["calls that took an earlier result"] += sum(step.reused for step in answer.steps)
        counts["calls that were faults"] += sum(step.fault is not None for step in answer.steps)
        counts["turns that did not end in the answer"] += answer.stopped != "answer"
        steps = answer.steps[:: 1 + stutter]
        found += [f"{row['id']}, turn {number + 1}: {it}" for it in differences(steps, direct, ours, involved)]
    return found


async def several_turns(every: int = 1, *, repeatable: bool, stutter: bool = False) -> tuple[Counter[str], list[str]]:
    """Counts, and each difference, over every Nth of the 200 cases of `multi_turn_base`, those in `WRONG` apart."""
    counts: Counter[str] = Counter()
    found: list[str] = []
    right = {row["id"]: row["ground_truth"] for row in rows("possible_answer/BFCL_v4_multi_turn_base")}
    for row in itertools.islice(rows("BFCL_v4_multi_turn_base"), 0, None, every):
        differing = await conversation(row, right[row["id"]], counts, repeatable=repeatable, stutter=stutter)
        counts["conversations"] += 1
        counts["conversations that end as when called directly"] += not differing
        if row["id"] not in WRONG:
            found += differing
        elif not differing:
            found.append(f"{row['id']}: accepted as different, but it is not")
    return counts, found
