"""A window is cut in steps, within its bounds, and the same way by everybody."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from tukang.memory.measuring import Size
from tukang.memory.steps import Cut, cut, enough, outgrown

units = st.builds(
    lambda short, more: Size(short + more, short), st.integers(1, 60), st.sampled_from([0, 0, 0, 40, 400])
)
rooms = st.integers(50, 2_000)
bounds = st.none() | st.integers(1, 12)


def sent(sizes: Sequence[Size], where: Cut, first: int = 1) -> int:
    """Tokens that are sent."""
    return sum(
        size.whole if number >= where.whole else size.short
        for number, size in enumerate(sizes, first)
        if number >= where.sent
    )


@given(st.lists(units, max_size=60), rooms, bounds)
def test_what_is_sent_is_within_its_bounds(sizes: list[Size], room: int, most: int | None) -> None:
    where = cut(sizes, 1, room, most)
    assert 1 <= where.sent <= where.whole <= len(sizes) + 1
    assert sent(sizes, where) <= room
    if most is not None:
        assert len(sizes) + 1 - where.sent <= most


@example([Size(41, 1), Size(53, 53), Size(45, 5), Size(100, 60), Size(40, 40)], 238)
@given(st.lists(units, max_size=60), rooms)
def test_a_cut_by_tokens_never_goes_back(sizes: list[Size], room: int) -> None:
    cuts = [cut(sizes[:count], 1, room) for count in range(1, len(sizes) + 1)]
    for before, later in pairwise(cuts):
        assert later.sent >= before.sent
        # where fewer are sent, what is sent begins anew, and more of it may be whole
        assert later.whole >= before.whole or later.sent > before.sent


@given(st.lists(units, max_size=60), bounds)
def test_a_cut_by_turns_never_goes_back(sizes: list[Size], most: int | None) -> None:
    # with both bounds it may: fewer turns can make room for one that was too long before
    cuts = [cut(sizes[:count], 1, None, most) for count in range(1, len(sizes) + 1)]
    assert all(later.sent >= before.sent for before, later in pairwise(cuts))


@given(st.lists(units, max_size=80), rooms, bounds, st.integers(0, 80))
def test_the_cut_is_the_same_however_far_back_one_looked(
    sizes: list[Size], room: int, most: int | None, further: int
) -> None:
    count = next((n for n in range(len(sizes) + 1) if enough(sizes[len(sizes) - n :], room, most)), len(sizes))
    looked_at = min(len(sizes), count + further)
    first = len(sizes) - looked_at + 1
    assert cut(sizes[first - 1 :], first, room, most) == cut(sizes, 1, room, most)


def test_a_cut_stays_for_a_good_part_of_the_window() -> None:
    for length in (10, 30, 100):
        cuts = [cut([Size(10, 10)] * count, 1, 15 * length).sent for count in range(1, 10 * length)]
        moves = sum(before != later for before, later in pairwise(cuts))
        assert moves <= 10 * 10, f"a window of {length} moved {moves} times in ten lengths"
        kept = [count + 1 - where for count, where in enumerate(cuts, 1) if where > 1]
        assert length * 2 // 3 - 1 <= min(kept)
        assert max(kept) <= length
    by_turns = [cut([Size(1, 1)] * count, 1, None, 30).sent for count in range(1, 301)]
    assert sum(before != later for before, later in pairwise(by_turns)) < 40
    assert {count + 1 - where for count, where in enumerate(by_turns, 1) if where > 1} <= set(range(20, 31))


def test_few_units_are_kept_exactly() -> None:
    for most in (1, 2):
        assert [cut([Size(1, 1)] * count, 1, None, most).sent for count in range(1, 8)] == [
            max(1, count + 1 - most) for count in range(1, 8)
        ]


def test_old_long_results_go_before_old_turns() -> None:
    sizes = [Size(100, 10)] * 10
    where = cut(sizes, 1, 600)
    assert where.sent == 1
    assert where.whole > 1
    assert sent(sizes, where) <= 600
    assert cut(sizes, 1, 1_000) == Cut(1, 1), "while everything fits, it is sent as it was"


def test_a_unit_that_is_too_long_alone_is_not_sent() -> None:
    assert cut([Size(10, 10), Size(900, 900)], 1, 300) == Cut(3, 3)
    assert cut([Size(10, 10), Size(900, 10)], 1, 300) == Cut(1, 3)
    assert cut([Size(10, 10), Size(900, 900), Size(10, 10)], 1, 300) == Cut(3, 3)
    assert cut([], 1, 300) == Cut(1, 1)


@given(st.lists(units, min_size=1, max_size=60), rooms, bounds)
def test_a_summary_makes_room_for_as_much_again(sizes: list[Size], room: int, most: int | None) -> None:
    upto = outgrown(sizes, 1, room, most)
    if upto is None:
        assert most is None or len(sizes) <= most
        assert sum(size.whole for size in sizes) <= room or sum(size.short for size in sizes) <= room * 2 // 3
        return
    assert 1 <= upto <= len(sizes)
    left = sizes[upto:]
    newest = len(left) == 1
    assert newest or sum(size.short for size in left) <= room // 3
    assert newest or most is None or len(left) <= max(1, most // 2)
    if sizes[-1].short <= room * 2 // 3:
        assert left, "the newest turn is what the user speaks of next"


def test_nothing_outgrows_no_bound() -> None:
    assert outgrown([Size(10, 10)] * 1_000, 1, None) is None
    assert not enough([Size(10, 10)] * 1_000, None)
    assert cut([Size(10, 10)] * 1_000, 1, None) == Cut(1, 1)
