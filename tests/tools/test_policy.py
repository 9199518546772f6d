"""A policy: possible ones only, said in words that exist."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tukang.tools.policy import MAX_OUTPUT, Policy, policy_of


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"effect": "raed"}, "effect must be 'unknown', 'read', 'write' or 'idempotent', not 'raed'"),
        ({"isolation": "proces"}, "isolation must be 'async', 'thread', 'process' or None, not 'proces'"),
        ({"timeout": 0}, "timeout must be a number of seconds more than 0, or None, not 0"),
        ({"timeout": "5"}, "timeout must be a number of seconds"),
        ({"timeout": float("nan")}, "timeout must be a number of seconds"),
        ({"parallel": 0}, "parallel must be a whole number of calls more than 0, or None, not 0"),
        ({"parallel": 1.5}, "parallel must be a whole number of calls"),
        ({"parallel": True}, "parallel must be a whole number of calls"),
        ({"max_output": -1}, "max_output must be a whole number of characters"),
        ({"efect": "read"}, "a policy has no 'efect'; did you mean 'effect'?"),
        ({"qwxyz": 1}, "a policy has no 'qwxyz': effect, timeout, "),
        ({"approval": "always"}, "approval must be 'ask', 'never' or a function"),
        ({"approval": True}, "approval must be 'ask', 'never' or a function"),
        ({"approval": "function"}, "takes the function itself"),
        ({"reads_when": ["view"]}, "reads_when must be argument → values"),
        ({"reads_when": {"command": "view"}}, "reads_when must be argument → values"),
        ({"reads_when": {"command": []}}, "reads_when must be argument → values"),
        ({"effect": "read", "reads_when": {"command": ["view"]}}, "reads_when and effect='read' contradict"),
        ({"needs": None}, "needs must be a scope or several"),
        ({"needs": ["a", 1]}, "needs must be a scope or several"),
        ({"needs": ""}, "needs must be a scope or several"),
    ],
)
def test_what_is_not_possible_is_refused(options: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told.replace("?", r"\?")):
        policy_of(options)


def test_what_is_said_is_what_holds_and_the_rest_is_safe() -> None:
    assert policy_of({}) == Policy() == Policy("unknown", max_output=MAX_OUTPUT)
    assert policy_of({"effect": "read", "parallel": 2, "max_output": None}) == Policy(
        "read", parallel=2, max_output=None
    )


def test_a_terminal_result_is_cut_only_if_that_is_said() -> None:
    assert policy_of({"terminal": True}).max_output is None
    assert policy_of({"terminal": True, "max_output": 100}).max_output == 100
    assert policy_of({"terminal": False}).max_output == MAX_OUTPUT


def test_some_arguments_make_a_call_a_read() -> None:
    policy = policy_of({"effect": "write", "reads_when": {"command": ["view", "list"]}})

    assert policy.reads_when == {"command": ("list", "view")}
    assert policy.effect_of({"command": "view", "path": "x"}) == "read"
    assert (
        policy.effect_of({"command": "delete"}) == policy.effect_of({}) == policy.effect_of({"command": []}) == "write"
    )
    assert policy.approving_of("read") == "never"
    assert policy.approving == "ask"
    assert policy_of({"effect": "write", "approval": "ask"}).approving_of("read") == "ask"


def test_it_can_be_written_down_and_read_back() -> None:
    for policy in (
        Policy(),
        Policy("read", 2.5, repeatable=True, parallel=3),
        Policy("read", cache=60, max_output=None),
        Policy("write", reads_when={"command": ("view",)}),
    ):
        assert msgspec.json.decode(msgspec.json.encode(policy), type=Policy) == policy
    assert msgspec.json.encode(Policy()) == b"{}"
