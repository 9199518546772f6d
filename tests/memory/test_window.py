"""What is sent of a session's turns: whole units within the bounds, pinned turns in their order, and a word on what is not
shown."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tukang.conversation import Image, Message, Text, Thinking, ToolCall, ToolResult, assistant, user, validity
from tukang.memory.measuring import tokens
from tukang.memory.past import PastTurn
from tukang.memory.steps import cut
from tukang.memory.window import TOKENS, Digest, Seen, Summary, Window, before, room_before, sizes


def turn(number: int, *rounds: int, words: int = 4) -> PastTurn:
    """A turn with a round for each number: the length of its result."""
    messages = [user(f"tanya {number} " + "kata " * words)]
    for place, length in enumerate(rounds, 1):
        call = ToolCall(f"turn{number}-{place}-0", "baca", "{}")
        messages.append(assistant(Thinking("hm", "seal", "anthropic"), call))
        messages.append(Message("tool", (ToolResult(call.id, "baca", (Text("h" * length),)),)))
    return PastTurn(
        f"turn{number}", number, float(number), (*messages, assistant(f"jawab {number} " + "kata " * words))
    )


def asked(messages: Sequence[Message]) -> list[int]:
    """The numbers of the turns that are there."""
    return [int(m.text.split()[1]) for m in messages if m.role == "user" and m.text.startswith("tanya")]


# ── the policy ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"tokens": 0}, "Window.tokens must be at least 1 or None, not 0"),
        ({"turns": -1}, "Window.turns must be at least 1 or None, not -1"),
        ({"tokens": None, "summary": Summary()}, "nothing is ever summarised"),
        ({"pinned": (assistant(ToolCall("a", "b", "{}")),)}, "not a valid conversation: the last calls"),
        ({"tokens": 100, "pinned": (user("x" * 400),)}, "a quarter is the most"),
    ],
)
def test_a_window_that_cannot_be_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Window(**wrong)


def test_a_summary_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Summary.tokens must be at least 1"):
        Summary(tokens=0)
    with pytest.raises(ValueError, match=r"Summary.seconds must be more than 0"):
        Summary(seconds=0)


def test_nothing_said_is_half_of_the_smallest_context() -> None:
    assert Window().tokens == TOKENS == 64_000
    assert Window() == Window(turns=None, summary=None, pinned=(), recall=False)


# ── what is sent ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_while_everything_fits_everything_is_sent_as_it_was() -> None:
    turns = [turn(number, 3_000) for number in range(1, 6)]
    assert before(turns, Window()) == tuple(message for one in turns for message in one.messages)
    assert before([], Window()) == ()


def test_the_last_turns_and_a_word_on_the_others() -> None:
    turns = [turn(number) for number in range(1, 31)]
    sent = before(turns, Window(turns=6))
    assert sent[0] == user("[Not shown here: turn 1 to 25 of this conversation.]")
    assert asked(sent) == list(range(26, 31))
    assert before(turns, Window(turns=6), seen=Seen("id", tool="cari_percakapan"))[0] == user(
        "[Tidak ditampilkan di sini: giliran 1 sampai 25 dari percakapan ini. Cari isinya dengan cari_percakapan.]"
    )
    assert before(turns[:2], Window(turns=1))[0].text == "[Not shown here: turn 1 of this conversation.]"


def test_a_call_never_loses_its_result_nor_thinking_its_reply() -> None:
    turns = [turn(number, 400, 400, 400) for number in range(1, 40)]
    for bound in range(500, 9_000, 250):
        sent = before(turns, Window(tokens=bound))
        assert validity(sent) == []
        for message in sent:
            assert not message.calls or isinstance(message.parts[0], Thinking)


def test_old_long_results_are_shortened_before_turns_are_left_out() -> None:
    turns = [turn(number, 9_000) for number in range(1, 13)]
    sent = before(turns, Window(tokens=32_000), seen=Seen(reads_on=True))
    assert asked(sent) == list(range(1, 13))
    texts = [result.text for message in sent for result in message.results]
    old = [text for text in texts if "read_more(handle=" in text]
    assert 0 < len(old) < 12
    assert texts[: len(old)] == old, "the oldest"
    assert texts[-1] == "h" * 9_000
    assert tokens(sent) <= 24_000
    assert turns[0].messages[2].results[0].text == "h" * 9_000, "what is kept stays as it is"


def test_a_turn_that_is_too_long_alone_shows_what_was_asked_and_answered() -> None:
    turns = [turn(1), turn(2, *[1_900] * 20)]
    sent = before(turns, Window(tokens=4_000))
    assert [message.role for message in sent] == ["user", "user", "assistant"]
    assert sent[1].text.startswith("tanya 2")
    assert sent[1].text.endswith("[The calls made in this turn, and their results, are not shown any more.]")
    assert sent[2].text.startswith("jawab 2")
    assert before([turn(1), turn(2, words=9_000)], Window(tokens=4_000)) == (
        user("[Not shown here: turn 1 to 2 of this conversation.]"),
    )


def test_pinned_turns_stand_in_their_order_before_the_window_or_at_their_place_in_it() -> None:
    turns = [turn(number, 9_000) for number in range(1, 31)]
    pins = [turns[2], turns[6], turns[28]]
    sent = before(turns, Window(turns=6), pins=pins)
    assert asked(sent) == [3, 7, *range(26, 31)]
    assert sent[8].text == "[Not shown here, but for those above: turn 1 to 25 of this conversation.]"
    assert "Shortened" in sent[2].results[0].text
    assert validity(sent) == []
    assert before(turns[:6], Window(turns=6), pins=pins[:1]) == before(turns[:6], Window(turns=6))


def test_what_the_window_itself_pins_comes_first() -> None:
    window = Window(turns=2, pinned=(user("Saya alergi kacang."), assistant("Dicatat.")))
    sent = before([turn(number) for number in range(1, 9)], window)
    assert [message.text for message in sent[:2]] == ["Saya alergi kacang.", "Dicatat."]
    assert before([], window) == window.pinned


def test_a_summary_stands_for_the_turns_that_are_not_shown() -> None:
    digest = Digest(5, "Budi mencari SSD.")
    sent = before([turn(6), turn(7)], Window(summary=Summary()), digest=digest)
    assert sent[0].text == ("[Summary of turn 1 to 5 of this conversation. It may be incomplete.]\nBudi mencari SSD.")
    assert asked(sent) == [6, 7]
    behind = before([turn(number) for number in range(6, 30)], Window(turns=4, summary=Summary()), digest=digest)
    assert behind[0].text.endswith("SSD.\n[Not shown here: turn 6 to 25 of this conversation.]")
    assert before([], Window(summary=Summary()), digest=digest) == (sent[0],)


rounds = st.lists(st.sampled_from([10, 400, 1_900, 2_500, 20_000]), max_size=3)
windows = st.builds(
    Window,
    tokens=st.none() | st.integers(400, 40_000),
    turns=st.none() | st.integers(1, 9),
    pinned=st.sampled_from([(), (user("Selalu."),)]),
)


@given(st.lists(st.tuples(rounds, st.sampled_from([1, 20, 300])), max_size=25), windows, st.data())
def test_any_window_over_any_turns(made: list[tuple[list[int], int]], window: Window, data: st.DataObject) -> None:
    turns = [turn(number, *lengths, words=words) for number, (lengths, words) in enumerate(made, 1)]
    pins = data.draw(st.lists(st.sampled_from(turns), max_size=2, unique_by=lambda one: one.number)) if turns else []
    pins.sort(key=lambda one: one.number)
    sent = before(turns, window, pins=pins, seen=Seen(reads_on=data.draw(st.booleans())))
    assert validity(sent) == []
    assert sent[: len(window.pinned)] == window.pinned
    numbers = asked(sent)
    assert numbers == sorted(set(numbers))
    assert {one.number for one in pins} <= set(numbers)
    assert not window.turns or len(set(numbers) - {one.number for one in pins}) <= window.turns
    if window.tokens is not None and not pins:
        assert tokens(sent) <= window.tokens * 3 // 4 + 60, "but for the note"


@given(st.lists(rounds, min_size=2, max_size=30), windows)
def test_what_is_sent_begins_the_same_until_the_cut_moves(made: list[list[int]], window: Window) -> None:
    turns = [turn(number, *lengths) for number, lengths in enumerate(made, 1)]
    cuts = [
        cut(sizes(turns[:count], Seen()), 1, room_before(window, (), Seen()), window.turns)
        for count in range(1, len(turns) + 1)
    ]
    sent = [before(turns[:count], window) for count in range(1, len(turns) + 1)]
    for count in range(1, len(turns)):
        if cuts[count - 1] == cuts[count] and cuts[count].sent <= count:
            assert sent[count][: len(sent[count - 1])] == sent[count - 1]


def test_the_beginning_is_the_same_for_most_turns() -> None:
    turns = [turn(number, 600 if number % 3 else 9_000) for number in range(1, 400)]
    window = Window(tokens=48_000)
    sent = [before(turns[:count], window) for count in range(1, 400)]
    moved = sum(later[: len(one)] != one for one, later in pairwise(sent))
    assert moved < 400 / 4


def test_pictures_of_old_results_are_not_sent_again() -> None:
    picture = Message("tool", (ToolResult("x-1-0", "layar", (Image("image/png", b"x"),)),))
    turns = [
        PastTurn(f"t{n}", n, 0.0, (user("?"), assistant(ToolCall("x-1-0", "layar", "{}")), picture, assistant("Ya.")))
        for n in range(1, 20)
    ]
    sent = before(turns, Window(tokens=16_000))
    pictures = [part for m in sent for result in m.results for part in result.content if isinstance(part, Image)]
    assert 0 < len(pictures) <= 2
