"""Recorded loops run through the real driver send what was recorded; and the comparison finds what it is there to find."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.wire.loops import ACCEPTED, Outcome, main, run_file
from tests.wire.loops_accepting import Difference, Rule, places, read_rules
from tests.wire.recordings import LOOPS, Unusable, at_hand


def test_recorded_loops_are_sent_as_recorded() -> None:
    files = sorted(at_hand(LOOPS).glob("*.jsonl"))
    rules = read_rules(ACCEPTED)
    outcomes = {path.name: run_file(path, rules) for path in files}
    assert {name: outcome.differences for name, outcome in outcomes.items() if outcome.differences} == {}
    assert all(0 < outcome.loops == outcome.matched for outcome in outcomes.values())
    _has_no_dead_rule(rules, outcomes)


def _has_no_dead_rule(rules: tuple[Rule, ...], outcomes: dict[str, Outcome]) -> None:
    used = {kind for outcome in outcomes.values() for kind, _ in outcome.accepted}
    assert {rule.kind for rule in rules} == used


def loop(**changes: Any) -> dict[str, Any]:
    """A made-up loop of one call; `changes` are made to the recorded second request's messages, by their place."""
    call = {"id": "c1", "type": "function", "function": {"name": "harga", "arguments": '{"id": "PRD002"}'}}
    asked = {"role": "assistant", "content": None, "reasoning_content": "hem", "tool_calls": [call]}
    messages: list[Any] = [{"role": "user", "content": "berapa?"}]
    tools = [{"type": "function", "function": {"name": "harga", "parameters": {"type": "object"}}}]
    request: dict[str, Any] = {"model": "deepseek-chat", "messages": messages, "tools": tools, "stream": False}
    answered = {"role": "tool", "tool_call_id": "c1", "content": "1200000"}
    following = [*messages, changes.get("asked", asked), changes.get("answered", answered)]
    following += [changes["more"]] if "more" in changes else []
    url = "https://api.deepseek.com/chat/completions"
    calls = [{"id": "c1", "name": "harga", "args": '{"id": "PRD002"}'}]
    said = {"role": "assistant", "content": "Rp 1.200.000"}
    return {
        "id": "made-up",
        "steps": [
            {"url": url, "request": request, "response": response(asked, "tool_calls"), "tool_calls": calls},
            {
                "url": url,
                "request": request | {"messages": following},
                "response": response(said, "stop"),
                "tool_calls": [],
            },
        ],
    }


def response(message: dict[str, Any], finish: str) -> dict[str, Any]:
    body = {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}
    return {"status": 200, "content_type": "application/json", "stream": False, "body": json.dumps(body)}


def written(folder: Path, *loops: dict[str, Any], name: str = "openai_chat_compat_new.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(one) + "\n" for one in loops))
    return path


def call(id: str = "c1", arguments: str = '{"id": "PRD002"}', **fields: Any) -> dict[str, Any]:
    """The assistant's message of the made-up loop, otherwise."""
    asked = {"id": id, "type": "function", "function": {"name": "harga", "arguments": arguments}}
    return {"role": "assistant", "reasoning_content": "hem", "tool_calls": [asked]} | fields


def test_a_loop_that_is_sent_as_recorded_matches(tmp_path: Path) -> None:
    outcome = run_file(written(tmp_path, loop(), loop(asked=call(arguments='{"id":"PRD002"}'))))
    assert (outcome.loops, outcome.matched, outcome.differences) == (2, 2, ())


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"asked": call(arguments='{"id": "PRD003"}')}, "messages/0(assistant)/tool_calls/0/arguments/id"),
        ({"asked": call(reasoning_content="lain")}, "messages/0(assistant)/reasoning_content"),
        ({"asked": call(content="sebentar")}, "messages/0(assistant)/content"),
        ({"more": {"role": "user", "content": "lagi"}}, "messages/2(user)"),
    ],
)
def test_a_difference_is_found_at_its_place(tmp_path: Path, changes: dict[str, Any], path: str) -> None:
    outcome = run_file(written(tmp_path, loop(**changes)))
    assert outcome.matched == 0
    assert [difference.path for difference in outcome.differences] == [path]


def test_a_result_under_another_id_is_found(tmp_path: Path) -> None:
    other = {"role": "tool", "tool_call_id": "c2", "content": "1200000"}
    outcome = run_file(written(tmp_path, loop(answered=other)))
    assert any("c2" in difference.recorded for difference in outcome.differences)


def test_a_turn_that_ends_early_is_a_difference(tmp_path: Path) -> None:
    short = loop()
    short["steps"][0]["response"] = response({"role": "assistant", "content": "tidak"}, "stop")
    outcome = run_file(written(tmp_path, short))
    assert [difference.path for difference in outcome.differences] == ["request"]
    assert outcome.matched == 0


def test_what_the_provider_ran_is_compared_like_the_rest_and_is_a_step(tmp_path: Path) -> None:
    outcome = run_file(written(tmp_path, served_loop(), name="anthropic.jsonl"))
    assert (outcome.matched, outcome.served, outcome.differences) == (1, 1, ())
    other = served_loop()
    other["steps"][1]["request"]["messages"][1]["content"][1]["content"][0]["encrypted_content"] = "lain"
    assert len(run_file(written(tmp_path, other, name="anthropic.jsonl")).differences) == 1


def served_loop() -> dict[str, Any]:
    """A loop in which Anthropic searches, and then asks for a call of ours."""
    search: dict[str, Any] = {
        "type": "server_tool_use",
        "id": "srvtoolu_1",
        "name": "web_search",
        "input": {"query": "a"},
    }
    page = {
        "type": "web_search_result",
        "title": "A",
        "url": "https://a",
        "encrypted_content": "segel",
        "page_age": None,
    }
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [page]}
    asked: dict[str, Any] = {"type": "tool_use", "id": "toolu_1", "name": "harga", "input": {"id": "PRD002"}}
    own = {"type": "web_search_20250305", "name": "web_search"}
    tool: dict[str, Any] = {"name": "harga", "description": "Harga.", "input_schema": {"type": "object"}}
    first: dict[str, Any] = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 100,
        "tools": [tool, own],
        "messages": [{"role": "user", "content": "?"}],
    }
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "1200000"}
    more = [{"role": "assistant", "content": [search, found, asked]}, {"role": "user", "content": [result]}]
    said: list[tuple[list[Any], str, list[Any]]] = [
        ([search, found, asked], "tool_use", [{"id": "toolu_1", "name": "harga", "input": {"id": "PRD002"}}]),
        ([{"type": "text", "text": "ya"}], "end_turn", []),
    ]
    requests: list[dict[str, Any]] = [first, {**first, "messages": [*first["messages"], *more]}]
    steps: list[dict[str, Any]] = [
        {
            "url": "https://api.anthropic.com/v1/messages",
            "request": request,
            "response": {
                "status": 200,
                "content_type": "application/json",
                "body": json.dumps({"type": "message", "content": content, "stop_reason": finish, "usage": {}}),
            },
            "tool_calls": calls,
        }
        for request, (content, finish, calls) in zip(requests, said, strict=True)
    ]
    return {"id": "made-up", "steps": steps}


def test_a_rule_accepts_only_what_it_says(tmp_path: Path) -> None:
    path = written(tmp_path, loop(more={"role": "user", "content": "lagi"}))
    rule = Rule("more", "a reason", path=r"messages/\d+\(user\)", ours=r"\(absent\)")
    assert run_file(path, [rule]).matched == 1
    assert run_file(path, [Rule("more", "a reason", protocols=("anthropic",))]).matched == 0
    assert run_file(path, [Rule("more", "a reason", loops=("another*",))]).matched == 0
    assert not Rule("x", "y", recorded="1").fits("ollama", Difference("a", 2, "p", "11", "2"))


def test_an_item_that_only_one_side_has_hides_nothing_after_it() -> None:
    first, second = {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}
    assert list(places([first, second], [second], "m")) == [
        ("m/0(user)", '{"content": "a", "role": "user"}', "(absent)")
    ]
    assert list(places([first, second], [first, {"role": "assistant", "content": "c"}], "m")) == [
        ("m/1(assistant)/content", '"b"', '"c"')
    ]


def test_the_command_prints_what_differs_and_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = loop(asked=call(arguments='{"id": "PRD003"}'))
    assert main([str(written(tmp_path, loop(), wrong))]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("DIFFERENCE made-up: request 2, ")
    assert printed[-1] == "1 of 2 loops matched"
    assert main([str(written(tmp_path, loop()))]) == 0


def test_a_file_of_no_known_protocol_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, loop(), name="morse.jsonl")
    with pytest.raises(Unusable, match="no adapter"):
        run_file(path)
    assert main([str(path)]) == 2
    assert "no adapter" in capsys.readouterr().err
