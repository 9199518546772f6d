"""The replay finds what it is there to find; and the recorded traffic, where it is at hand, comes out exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.servers import delta, event
from tests.wire.recordings import WIRE, Unusable, at_hand
from tests.wire.replay import main, replay


def row(**changes: Any) -> dict[str, Any]:
    """A made-up exchange that is read exactly; `changes` are made to what it expects."""
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "harga", "arguments": '{"id":1}'}}
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    body = event(delta(reasoning_content="h\u00e9m")) + event(delta(content="ya")) + event(delta(tool_calls=[call]))
    body += event({**delta("tool_calls"), "usage": usage}) + event("[DONE]")
    expect: dict[str, Any] = {
        "text": "ya",
        "thinking": "h\u00e9m",
        "tool_calls": [{"id": "c1", "name": "harga", "arguments": '{"id":1}'}],
        "finish": "tool_calls",
        "usage": usage,
        "error": None,
        "refusal": None,
    }
    return {
        "id": "made-up",
        "sdk_agrees": changes.pop("sdk_agrees", True),
        "response": {"status": 200, "headers": {"content-type": "text/event-stream"}, "body": body.decode()},
        "expect": expect | changes,
    }


def written(folder: Path, *rows: dict[str, Any], name: str = "openai_chat.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


def test_what_is_exact_is_counted_as_exact(tmp_path: Path) -> None:
    outcome = replay(written(tmp_path, row(), row()))
    assert (outcome.rows, outcome.exact, outcome.differences) == (2, 2, ())


@pytest.mark.parametrize(
    "change",
    [
        {"text": "tidak"},
        {"thinking": ""},
        {"tool_calls": []},
        {"tool_calls": [{"id": "c1", "name": "harga", "arguments": '{"id":2}'}]},
        {"tool_calls": [{"id": "c2", "name": "harga", "arguments": '{"id":1}'}]},
        {"tool_calls": [{"id": "c1", "name": "stok", "arguments": '{"id":1}'}]},
        {"tool_calls": [{"id": "c1", "name": "harga", "arguments": '{"id":1}'}] * 2},
        {"finish": "stop"},
        {"finish": None},
        {"refusal": "Maaf."},
        {"usage": None},
        {"usage": {"prompt_tokens": 11, "completion_tokens": 2}},
        {"error": {"message": "pecah"}},
    ],
)
def test_every_difference_is_found(tmp_path: Path, change: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, row(), row(**change))
    assert main([str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "1 of 2 rows extracted exactly"
    field = "calls" if "tool_calls" in change else next(iter(change))
    assert any(line.startswith(f"DIFFERENCE made-up (whole): {field}: expected ") for line in lines)


def test_an_error_must_be_the_one_that_is_expected(tmp_path: Path) -> None:
    failed = row(text="", thinking="", tool_calls=[], finish=None, usage=None, error={"error": {"message": "pecah"}})
    failed["response"] = {"status": 500, "headers": {}, "body": '{"error": {"message": "pecah"}}'}
    assert replay(written(tmp_path, failed)).exact == 1
    failed["expect"]["error"]["error"]["message"] = "hilang"
    assert replay(written(tmp_path, failed)).exact == 0


def test_rows_the_sdk_itself_disputes_are_listed_and_counted_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, row(), row(thinking="", sdk_agrees=False), row(sdk_agrees=None))
    outcome = replay(path)
    assert (outcome.rows, outcome.exact, len(outcome.departures)) == (1, 1, 1)
    assert (outcome.apart, outcome.exact_apart) == (2, 1)
    assert main([str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[-2].startswith("1 of 2 rows that the vendor's SDK does not vouch for")
    counted = replay(path, count_all=True)
    assert (counted.rows, counted.exact, counted.apart, counted.departures) == (3, 2, 0, ())


def test_the_older_form_of_a_call_is_read_although_the_recorder_did_not(tmp_path: Path) -> None:
    call = {"name": "harga", "arguments": "{}"}
    older = row(text="", thinking="", tool_calls=[], finish="function_call", usage=None)
    choice = {"index": 0, "message": {"content": None, "function_call": call}, "finish_reason": "function_call"}
    older["response"]["body"] = json.dumps({"choices": [choice]})
    assert replay(written(tmp_path, older)).exact == 1


def test_a_body_may_be_in_base64(tmp_path: Path) -> None:
    import base64

    encoded = row()
    encoded["response"]["body_b64"] = base64.b64encode(encoded["response"].pop("body").encode()).decode()
    assert replay(written(tmp_path, encoded)).exact == 1


@pytest.mark.parametrize(
    "name", ["openai_chat.jsonl", "openai_chat_compat.jsonl", "openai_chat_compat_new.jsonl", "openai_chat-2.jsonl"]
)
def test_the_protocol_is_told_by_the_name(tmp_path: Path, name: str) -> None:
    assert replay(written(tmp_path, row(), name=name)).exact == 1


@pytest.mark.parametrize("name", ["telepathy.jsonl", "openai_chatty.jsonl"])
def test_a_protocol_without_an_adapter_is_said_to_be_one(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(written(tmp_path, name=name))]) == 2
    said = capsys.readouterr().err
    assert "no adapter for this protocol; known are " in said
    assert " openai_chat," in said


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="No such file"):
        replay(tmp_path / "openai_chat.jsonl")
    broken = tmp_path / "openai_chat.jsonl"
    broken.write_text("\n{")
    with pytest.raises(Unusable, match="line 2"):
        replay(broken)


@pytest.mark.parametrize("small", [5, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("anthropic", 455),
        ("bedrock_converse", 269),
        ("ollama", 27),
        ("openai_chat", 527),
        ("openai_chat_compat", 415),
        ("openai_responses", 488),
        ("openai_responses_compat", 50),
    ],
)
def test_recorded_traffic_comes_out_exactly(name: str, rows: int, small: int) -> None:
    """All rows on which the vendor's SDK agrees; the others are looked at one by one in `test_disputed`."""
    outcome = replay(at_hand(WIRE / f"{name}.jsonl"), cuts=1, every=600, small=small)
    assert outcome.differences == ()
    assert (outcome.exact, outcome.rows) == (rows, rows)
