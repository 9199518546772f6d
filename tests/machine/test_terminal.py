"""What a program wrote for a terminal is plain text for a model, and harmless to whoever shows it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tukang.machine.capture import Capture
from tukang.machine.terminal import plain


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("biasa\n\tsaja é 🙂", "biasa\n\tsaja é 🙂"),
        ("\x1b[1;31mmerah\x1b[0m", "merah"),
        ("\x1b]0;judul\x07a\x1b]8;;http://x\x1b\\b", "ab"),
        ("\x1b]52;c;cm0gLXJmIC8=\x07x", "x"),  # the clipboard
        ("\x1bP1$r0m\x1b\\x", "x"),
        ("\x1b]0;never ended", ""),
        ("10%\r20%\r\n", "10%\n20%\n"),
        ("b\x08bo\x08old", "bold"),
        ("a\x07b\x00", "a\\x07b\\x00"),
        ("kiri\u202enanak\u200b\ufeff", "kiri\\u202enanak\\u200b\\ufeff"),
        ("\x9b31mx", "x"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("\x1b", "\\x1b"),
    ],
)
def test_sequences_are_gone_and_the_unseen_is_seen(written: str, read: str) -> None:
    assert plain(written) == read


@given(st.text(st.sampled_from("\x1b\x9b\x9d[]0;m\x07\\\r\n\x08aé\u202e\x00"), max_size=60))
def test_nothing_that_acts_on_a_terminal_is_left(text: str) -> None:
    assert all(one.isprintable() or one in "\n\t" for one in plain(text))


@given(st.lists(st.binary(max_size=40), max_size=30), st.integers(2, 100))
def test_the_beginning_and_the_end_are_kept_and_the_rest_is_counted(pieces: list[bytes], most: int) -> None:
    data, capture = b"".join(piece.replace(b"\x1b", b"") for piece in pieces), Capture(most)
    for piece in pieces:
        capture.add(piece.replace(b"\x1b", b""))

    assert capture.length == len(data)
    if len(data) <= most // 2 * 2:
        assert capture.text() == plain(data.decode("utf-8", "backslashreplace"))
    else:
        head, tail = data[: most // 2], data[-(most // 2) :]
        left = len(data) - len(head) - len(tail)
        first, last = (plain(part.decode("utf-8", "backslashreplace")) for part in (head, tail))
        assert capture.text() == f"{first}\n[… {left} bytes left out …]\n{last}"


def test_a_sequence_without_an_end_hides_no_more_than_its_line() -> None:
    assert plain("before\n\x1b]0;title\nafter\n\x90more\nlast") == "before\n\nafter\n\nlast"


def test_a_long_row_of_backspaces_takes_no_longer_than_its_length() -> None:
    many = 200_000  # pair by pair over the whole text it would be minutes

    assert plain("a" * many + "\b" * many + "b") == "b"
    assert plain("a\b" * many + "\n\b") == "\n\\x08"
    assert plain("\x01" * many) == "\\x01" * many
