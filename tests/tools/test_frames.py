"""Messages on the line between the program and a worker, however the line cuts them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tukang.tools.frames import Frames, Overlong, framed

MESSAGES = st.lists(st.tuples(st.integers(0, 255), st.binary(max_size=50)), max_size=10)


@given(MESSAGES, st.lists(st.integers(1, 20), max_size=200))
def test_what_is_said_is_heard_in_order_wherever_it_is_cut(messages: list[tuple[int, bytes]], cuts: list[int]) -> None:
    line = b"".join(framed(kind, payload) for kind, payload in messages)
    frames = Frames(longest=50)
    heard: list[tuple[int, bytes]] = []
    for length in (*cuts, len(line)):
        frames.add(line[:length])
        line = line[length:]
        while (message := frames.next()) is not None:
            heard.append(message)
    assert heard == messages


def test_a_message_that_is_too_long_is_refused_before_it_has_come() -> None:
    frames = Frames(longest=10)
    frames.add(framed(1, b"x" * 10) + framed(1, b"x" * 11)[:12])
    assert frames.next() == (1, b"x" * 10)
    with pytest.raises(Overlong, match="11 bytes"):
        frames.next()
