"""Where a window is cut. Pure: numbers and sizes, no messages.

What is sent must begin the same, byte for byte, from turn to turn and from round to round: that is what prompt caches
want. So a cut does not follow the newest unit one by one. It moves in steps, and without anything to remember it by:
among the places where it may be, it takes the *roundest number*, the one that is divided by two most often. While the
conversation grows, that stays the same until it falls out of the window; then the cut jumps. The same turns give the same
cut in every process, however many older turns were looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tukang.memory.measuring import Size


class Cut(NamedTuple):
    """Numbers of units. Those before `sent` are not sent; those before `whole` are shortened. Both may lie one behind the
    newest."""

    sent: int
    whole: int


def cut(sizes: Sequence[Size], first: int, room: int | None, most: int | None = None) -> Cut:
    """Where to cut.

    While everything fits, everything is sent as it was. From then on shortened units have two thirds of the room, and what
    the newest of them take more when they are whole has one third. At a step each is cut down to somewhere between two
    thirds and all of its share.

    Args:
        sizes: of the newest units, oldest first: all there are, or `enough` of them.
        first: the number of the first of them, from 1.
        room: tokens; None for no bound.
        most: units that are sent at most; None for no bound. At a step they become no fewer than two thirds.
    """
    last = first + len(sizes) - 1
    sent = first
    if most is not None and len(sizes) > most:
        oldest = last - most + 1
        sent = _roundest(oldest, oldest + most // 3)
    if room is None or sum(size.whole for size in sizes[sent - first :]) <= room:
        return Cut(sent, sent)
    for_short = _for_short(room)
    sent = _fitting([size.short for size in sizes], first, for_short, sent)
    whole = _fitting([size.whole - size.short for size in sizes], first, room - for_short, sent)
    return Cut(sent, whole)


def enough(sizes: Sequence[Size], room: int | None, most: int | None = None) -> bool:
    """Whether the newest units are so many that older ones cannot change where it is cut."""
    if most is not None and len(sizes) > most:
        return True
    if room is None:
        return False
    return sum(size.whole for size in sizes) > room and sum(size.short for size in sizes) > _for_short(room)


def outgrown(sizes: Sequence[Size], first: int, room: int | None, most: int | None = None) -> int | None:
    """Up to which unit a summary should reach so that half of the window is free again; None while everything fits.

    Args:
        sizes: of all units that the summary does not know.
        first, room, most: as in `cut`.
    """
    last = first + len(sizes) - 1
    shorts = [size.short for size in sizes]
    many = most is not None and len(sizes) > most
    big = room is not None and sum(size.whole for size in sizes) > room and sum(shorts) > _for_short(room)
    if not many and not big:
        return None
    kept = first
    if most is not None:
        kept = last - max(1, most // 2) + 1
    if room is not None:
        kept = max(kept, _start(shorts, first, _for_short(room) // 2))
        if kept > last and shorts[-1] <= _for_short(room):
            kept = last  # the newest is what the user speaks of next
    return max(kept, first + 1) - 1


def _for_short(room: int) -> int:
    return room * 2 // 3


def _fitting(values: Sequence[int], first: int, bound: int, least: int) -> int:
    """The first unit from which on all fit into the bound: `least`, or, if these do not fit, one in steps behind it. One
    behind the last when not even that fits."""
    earliest = max(least, _start(values, first, bound))
    last = first + len(values) - 1
    if earliest in (least, last + 1):
        return earliest
    return _roundest(earliest, min(last, max(earliest, _start(values, first, bound * 2 // 3))))


def _start(values: Sequence[int], first: int, bound: int) -> int:
    """The first unit from which on the sum is within the bound."""
    start = first + len(values)
    for value in reversed(values):
        bound -= value
        if bound < 0:
            break
        start -= 1
    return start


def _roundest(earliest: int, latest: int) -> int:
    """The number in this range that can be divided by two most often."""
    for bits in range(latest.bit_length(), 0, -1):
        if (number := latest >> bits << bits) >= earliest:
            return number
    return latest
