"""What the model is shown of a conversation: this turn's request and results, and what was before, within bounds."""

from __future__ import annotations

from tukang.conversation import Image, Message, Text, ToolCall, ToolResult, assistant, user
from tukang.models.base import ModelRequest
from tukang.models.local.grounding import Sources
from tukang.models.local.view import LONGEST_EARLIER, LONGEST_RESULTS, call_key, shorten, view_of


def called(id: str, name: str, arguments: str, result: str) -> list[Message]:
    return [
        Message("assistant", (ToolCall(id, name, arguments),)),
        Message("tool", (ToolResult(id, name, (Text(result),)),)),
    ]


def test_this_turn_and_the_turns_before_are_told_apart() -> None:
    messages = [
        user("first"),
        *called("a", "look", '{"x":1}', "one"),
        assistant("First answer."),
        user("second"),
        *called("b", "look", '{ "x" : 2 }', "two"),
    ]
    view = view_of(ModelRequest("Be kind, user USR1.", messages, note="Hurry."))
    assert view.request == "second"
    assert [step.line for step in view.steps] == ['look({"x": 2}) = two']
    assert [(turn.request, turn.answer, turn.known) for turn in view.earlier] == [
        ("first", "First answer.", ('look({"x": 1}) = one',))
    ]
    assert (view.instructions, view.note) == ("Be kind, user USR1.", "Hurry.")


def test_parallel_calls_keep_their_order_and_their_results() -> None:
    calls = (ToolCall("a", "f", '{"n": 1}'), ToolCall("b", "f", '{"n": 2}'))
    results = (ToolResult("a", "f", (Text("one"),)), ToolResult("b", "f", (Text("two"),)))
    view = view_of(ModelRequest("", [user("go"), Message("assistant", calls), Message("tool", results)]))
    assert [step.result for step in view.steps] == ["one", "two"]


def test_equal_calls_have_equal_keys_however_they_are_written() -> None:
    assert call_key("f", {"a": 1, "b": 2}) == call_key("f", {"b": 2, "a": 1})
    assert call_key("f", {"a": 1}) != call_key("f", {"a": 2})
    view = view_of(ModelRequest("", [user("go"), *called("a", "f", '{"b":2,  "a":1}', "x")]))
    assert view.steps[0].key == call_key("f", {"a": 1, "b": 2})


def test_arguments_that_are_no_json_are_shown_as_they_were_sent() -> None:
    view = view_of(ModelRequest("", [user("go"), *called("a", "f", '{"n": ', "bad")]))
    assert view.steps[0].arguments == '{"n": '


def test_long_results_are_cut_in_the_middle_but_ground_what_is_in_them() -> None:
    long = "begin " + "x " * 6000 + "PRD777 " + "y " * 6000 + "end"
    view = view_of(ModelRequest("", [user("go"), *called("a", "f", "{}", long), *called("b", "f", '{"n":1}', long)]))
    assert sum(len(step.result) for step in view.steps) <= LONGEST_RESULTS
    assert all(step.result.startswith("begin") and step.result.endswith("end") for step in view.steps)
    assert Sources(view.said).knows("PRD777")


def test_only_the_newest_turns_fit() -> None:
    messages = [message for n in range(60) for message in (user(f"question {n} " + "x" * 80), assistant(f"answer {n}"))]
    view = view_of(ModelRequest("", [*messages, user("now")]))
    assert view.earlier[-1].answer == "answer 59"
    assert 0 < len(view.earlier) < 60
    assert sum(len(turn.request) + len(turn.answer) for turn in view.earlier) <= LONGEST_EARLIER


def test_what_is_not_text_is_named() -> None:
    result = ToolResult("a", "f", (Image("image/png", b"x"),))
    view = view_of(
        ModelRequest("", [user("go"), Message("assistant", (ToolCall("a", "f", ""),)), Message("tool", (result,))])
    )
    assert view.steps[0].result == "[gambar]"
    assert view.steps[0].arguments == "{}"


def test_an_empty_conversation_has_an_empty_request() -> None:
    view = view_of(ModelRequest("", []))
    assert (view.request, view.steps, view.earlier) == ("", (), ())


def test_shortening_keeps_both_ends_within_the_length() -> None:
    assert shorten("abc", 10) == "abc"
    cut = shorten("a" * 50 + "z" * 50, 21)
    assert len(cut) <= 21
    assert cut[0] == "a"
    assert cut[-1] == "z"


def test_a_call_made_again_stands_only_with_what_came_of_it_last() -> None:
    refused = '{"error":{"kind":"nothing_done","message":"look first"}}'
    view = view_of(
        ModelRequest(
            "",
            [
                user("order"),
                *called("c1", "order", '{"n": 1}', refused),
                *called("c2", "look", "{}", "there"),
                *called("c3", "order", '{"n":1}', "done"),
            ],
        )
    )
    assert [(step.name, step.result) for step in view.settled] == [("look", "there"), ("order", "done")]
    assert len(view.steps) == 3
