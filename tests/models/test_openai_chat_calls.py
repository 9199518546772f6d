"""Calls are told apart by what they are, whatever a server does with ids and indexes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.models.chat_reading import DONE, calls, piece, read, streamed, whole
from tests.servers import delta, event


def asked(*chunks: Sequence[dict[str, Any]]) -> list[tuple[str, str, str | None]]:
    """The calls that come of these chunks of pieces, which must not depend on how the network groups them."""
    bodies = [event(delta(tool_calls=list(pieces))) for pieces in chunks] + [event(delta("tool_calls")), DONE]
    apart, error = read(*bodies)
    assert error is None
    assert read(b"".join(bodies))[0] == apart
    assert apart.finish == "calls"
    return calls(apart)


def test_arguments_may_be_split_anywhere() -> None:
    assert asked(
        [piece(0, "a", "harga", "")],
        [piece(0, arguments='{"i')],
        [piece(0, arguments='d":"PRD')],
        [piece(0, arguments='"}')],
    ) == [("harga", '{"id":"PRD"}', "a")]


def test_a_new_id_on_a_taken_index_is_a_new_call() -> None:
    assert asked(
        [piece(0, "a", "harga", '{"id":1}')], [piece(0, "b", "harga", '{"id":')], [piece(0, arguments="2}")]
    ) == [("harga", '{"id":1}', "a"), ("harga", '{"id":2}', "b")]


def test_two_entries_with_one_index_in_the_first_chunk_are_two_calls() -> None:
    assert asked([piece(0, "a", "harga", "{}"), piece(0, "b", "stok", "{}")]) == [
        ("harga", "{}", "a"),
        ("stok", "{}", "b"),
    ]


def test_no_id_and_no_index_goes_on_with_the_current_call() -> None:
    assert asked([piece(None, "a", "harga", '{"id"')], [piece(arguments=":1}")], [piece(None, "b", "stok", "{}")]) == [
        ("harga", '{"id":1}', "a"),
        ("stok", "{}", "b"),
    ]


def test_an_id_repeated_in_each_piece_is_one_call() -> None:
    assert asked([piece(0, "a", "harga", '{"id"')], [piece(0, "a", "harga", ":1}")], [piece(0, "a", arguments="")]) == [
        ("harga", '{"id":1}', "a")
    ]


def test_calls_without_any_id_are_told_apart_by_index_by_name_and_by_whole_arguments() -> None:
    by_index = asked([piece(0, None, "harga", '{"id":1}'), piece(1, None, "harga", '{"id":1}')])
    by_name = asked([piece(0, None, "harga", "{}")], [piece(0, None, "stok", "{}")])
    by_arguments = asked([piece(None, None, "harga", '{"id":1}')], [piece(None, None, "harga", '{"id":2}')])
    assert by_index == [("harga", '{"id":1}', None)] * 2
    assert by_name == [("harga", "{}", None), ("stok", "{}", None)]
    assert by_arguments == [("harga", '{"id":1}', None), ("harga", '{"id":2}', None)]


def test_one_id_for_two_calls_loses_neither() -> None:
    assert asked([piece(0, "a", "harga", "{}")], [piece(1, "a", "stok", '{"id":')], [piece(1, arguments="2}")]) == [
        ("harga", "{}", "a"),
        ("stok", '{"id":2}', "a"),
    ]


def test_interleaved_pieces_find_their_call_by_id_when_the_index_is_always_the_same() -> None:
    assert asked(
        [piece(0, "a", "harga", '{"id"')],
        [piece(0, "b", "stok", '{"id"')],
        [piece(0, "a", arguments=":1}")],
        [piece(0, "b", arguments=":2}")],
    ) == [("harga", '{"id":1}', "a"), ("stok", '{"id":2}', "b")]


def test_an_index_that_begins_at_one_or_is_a_word_is_only_a_label() -> None:
    assert asked([piece(1, "a", "harga", "{")], [piece("x", "b", "stok", "{}")], [piece(1, arguments="}")]) == [
        ("harga", "{}", "a"),
        ("stok", "{}", "b"),
    ]
    assert asked([piece([0], "a", "harga", "{}")]) == [("harga", "{}", "a")]


def test_a_name_that_comes_late_or_never_still_makes_a_call() -> None:
    assert asked([piece(0, "a", arguments='{"id"')], [piece(0, name="harga", arguments=":1}")]) == [
        ("harga", '{"id":1}', "a")
    ]
    assert asked([piece(0, "a", arguments="{}")]) == [("", "{}", "a")]


def test_an_empty_id_is_no_id_and_arguments_may_be_an_object() -> None:
    message = {"content": None, "tool_calls": [piece(None, "", "harga", {"id": 1}), piece(None, "", "stok")]}
    assert calls(whole(message, "tool_calls")) == [("harga", '{"id":1}', None), ("stok", "", None)]


def test_in_a_whole_reply_every_entry_is_a_call_of_its_own() -> None:
    same = piece(0, "a", "harga", '{"id":1}')
    assert calls(whole({"tool_calls": [same, same]})) == [("harga", '{"id":1}', "a")] * 2


def test_the_form_before_tool_calls_is_a_call_and_an_empty_one_is_none() -> None:
    assert calls(whole({"content": None, "function_call": {"name": "harga", "arguments": "{}"}}, "function_call")) == [
        ("harga", "{}", None)
    ]
    reply = streamed(
        {"function_call": {"name": "harga", "arguments": ""}},
        {"function_call": {"arguments": '{"id":'}},
        {"function_call": {"arguments": "1}"}},
        finish="function_call",
    )
    assert calls(reply) == [("harga", '{"id":1}', None)]
    assert not whole({"content": "ya", "function_call": {"name": "", "arguments": ""}}).calls


def test_a_custom_tool_is_a_call_with_its_input() -> None:
    entry = {"id": "a", "type": "custom", "custom": {"name": "jalankan", "input": "SELECT 1"}}
    assert calls(whole({"tool_calls": [entry]})) == [("jalankan", "SELECT 1", "a")]


_PIECES = st.lists(
    st.builds(
        piece,
        index=st.none() | st.integers(0, 2),
        id=st.none() | st.sampled_from(["a", "b"]),
        name=st.none() | st.sampled_from(["harga", "stok"]),
        arguments=st.none() | st.sampled_from(["{", "}", "{}", '{"id":1}', ""]),
    ),
    min_size=1,
    max_size=8,
)


@given(_PIECES)
def test_no_argument_text_is_ever_lost_or_doubled(pieces: list[dict[str, Any]]) -> None:
    sent = "".join(one["function"].get("arguments", "") for one in pieces)
    reply = streamed(*[{"tool_calls": [one]} for one in pieces])
    assert sorted("".join(call.arguments for call in reply.calls)) == sorted(sent)
    ids = {one["id"] for one in pieces if "id" in one}
    assert len(reply.calls) >= max(1, len(ids))
