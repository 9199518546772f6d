"""A turn that grows beyond its room: what is old in it gives way, the question and the newest results stay."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from tukang.conversation import Message, Text, Thinking, ToolCall, ToolResult, assistant, user, validity
from tukang.memory.fitting import fitted
from tukang.memory.measuring import message_tokens, tokens
from tukang.memory.window import Seen

SEEN = Seen(reads_on=True)


def running(*rounds: Sequence[int], question: str = "Baca semuanya.") -> list[Message]:
    """A turn under way: for each round the lengths of its results."""
    messages = [user(question)]
    for number, lengths in enumerate(rounds, 1):
        calls = [ToolCall(f"t-{number}-{place}", f"baca{place}", "{}") for place in range(len(lengths))]
        messages.append(assistant(Thinking("hm", "seal", "anthropic"), *calls))
        results = [
            ToolResult(call.id, call.name, (Text("h" * length),)) for call, length in zip(calls, lengths, strict=True)
        ]
        messages.append(Message("tool", tuple(results)))
    return messages


def test_what_fits_is_sent_as_it_is() -> None:
    messages = running([3_000], [3_000])
    assert fitted(messages, 10_000, SEEN) is messages
    assert fitted(messages[:1], 1, SEEN) == messages[:1], "the question is always sent"


def test_older_results_are_shortened_and_the_newest_is_whole() -> None:
    messages = running(*[[9_000]] * 8)
    sent = fitted(messages, 16_000, SEEN)
    texts = [result.text for message in sent for result in message.results]
    assert len(texts) == 8
    assert "Shortened" in texts[0]
    assert texts[-1] == "h" * 9_000
    assert tokens(sent) <= 16_000
    assert tokens(messages) > 16_000
    assert messages[2].results[0].text == "h" * 9_000, "the turn itself keeps everything"


def test_the_first_rounds_go_when_even_that_is_too_long_and_the_question_says_so() -> None:
    messages = running(*[[1_900, 10]] * 40)
    sent = fitted(messages, 8_000, SEEN)
    assert validity(sent) == []
    assert tokens(sent) <= 8_000
    left_out = (len(messages) - len(sent)) // 2
    assert left_out > 20
    assert sent[0].text == (
        f"Baca semuanya.[The first {left_out} rounds of calls made for this request, and their results, are not shown any "
        f"more. They were made: baca0 ×{left_out}, baca1 ×{left_out}.]"
    )
    assert sent[1:] == messages[1 + 2 * left_out :]
    assert fitted(messages, 8_000, SEEN)[0] is sent[0], "so that it is encoded once"


def test_results_that_are_too_long_even_alone_are_cut_down() -> None:
    messages = running([100], [200_000, 50, 100_000])
    sent = fitted(messages, 16_000, SEEN)
    assert tokens(sent) <= 16_000
    first, second, third = sent[-1].results
    assert (len(second.text), second.text) == (50, "h" * 50)
    assert 10_000 < len(first.text) < 200_000
    assert "read_more(handle=" in first.text
    assert "read_more(handle=" in third.text


def test_a_long_question_leaves_a_quarter_for_the_work() -> None:
    messages = running([30_000], question="x" * 60_000)
    sent = fitted(messages, 16_000, SEEN)
    assert sent[0] is messages[0]
    assert tokens(sent[1:]) <= 4_000


@given(st.lists(st.lists(st.sampled_from([5, 500, 2_500, 30_000]), min_size=1, max_size=3), max_size=30))
def test_any_turn(rounds: list[list[int]]) -> None:
    messages, room = running(*rounds), 12_000
    sent = fitted(messages, room, SEEN)
    assert validity(sent) == []
    assert sent[0].parts[0] == messages[0].parts[0]
    assert tokens(sent) <= room
    if rounds:
        assert sent[-2] is messages[-2], "the newest round"
        assert message_tokens(messages[-1]) > room // 3 or sent[-1] is messages[-1]


@settings(max_examples=20)
@given(st.lists(st.sampled_from([5, 500, 2_500, 9_000]), min_size=50, max_size=90))
def test_most_rounds_begin_as_the_round_before(lengths: list[int]) -> None:
    messages = running(*([length] for length in lengths))
    sent = [fitted(messages[: 1 + 2 * count], 16_000, SEEN) for count in range(len(lengths) + 1)]
    moved = sum(later[: len(one)] != one for one, later in pairwise(sent))
    assert moved <= len(lengths) // 2
