"""Looking at a text and changing it, as an editor's commands say. Pure: from text to text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tukang.tools.json_text import unicode
from tukang.tools.outcome import NothingDone

_NEAR = 3
"""Lines shown before and after a change."""


def decoded(data: bytes, told: str) -> str:
    """The text of a file.

    Raises:
        NothingDone: it is not UTF-8 text.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise NothingDone(
            f"{told} is not text in UTF-8: byte 0x{data[error.start]:02x} at {error.start}", "It cannot be edited."
        ) from None
    if "\0" in text:
        raise NothingDone(f"{told} is not a text: it has NUL bytes in it", "It cannot be edited.")
    return text


def encoded(text: str) -> bytes:
    """The bytes of a text, for a file.

    Raises:
        NothingDone: it has something in it that no UTF-8 can hold.
    """
    if unicode(text) != text or "\0" in text:
        raise NothingDone("the text has half of a surrogate pair or a NUL in it, which no text file can hold")
    return text.encode()


def numbered(text: str, span: Sequence[int] | None = None) -> str:
    """The lines of a text with their numbers, from 1.

    Args:
        text: the text.
        span: the first line and the last; -1 for the end.

    Raises:
        NothingDone: there are no such lines.
    """
    lines = _lines(text)
    first, last = 1, len(lines)
    if span is not None:
        if len(span) != 2:
            raise NothingDone("view_range must be [first, last]", "Lines count from 1; -1 is the end.")
        first, last = span[0], len(lines) if span[1] == -1 else min(span[1], len(lines))
        if not 1 <= first <= max(len(lines), 1) or last < first - (not lines):
            raise NothingDone(f"there are no lines {span[0]} to {span[1]}: it has {len(lines)}")
    return "\n".join(f"{number:6}\t{lines[number - 1]}" for number in range(first, last + 1))


def replaced(text: str, old: str, new: str, told: str) -> tuple[str, str]:
    """The text with the one place that reads `old` reading `new`; and that place with what is around it.

    Raises:
        NothingDone: there is no such place, or more than one.
    """
    if not old:
        raise NothingDone("old_str is empty", "Give the text to replace; insert puts in without replacing.")
    if old not in text and "\r\n" in text:  # a file of Windows, and a model that writes as everybody else does
        old, new = _windows(old), _windows(new)
    count = text.count(old)
    if count == 0:
        raise NothingDone(f"old_str is nowhere in {told}", "View it, and give the text exactly, with its indentation.")
    if count > 1:
        lines = [str(text.count("\n", 0, at) + 1) for at in _places(text, old)]
        raise NothingDone(
            f"old_str is in {told} {count} times, in lines {', '.join(lines[:10])}", "Give more of what is around it."
        )
    at = text.index(old)
    after = text[:at] + new + text[at + len(old) :]
    return after, _around(after, text.count("\n", 0, at) + 1, new.count("\n") + 1)


def inserted(text: str, line: int, new: str) -> tuple[str, str]:
    """The text with more behind a line (0 for the beginning); and that place with what is around it.

    Raises:
        NothingDone: there is no such line.
    """
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    if not 0 <= line <= len(lines):
        raise NothingDone(f"there is no line {line} to insert behind: it has {len(lines)}", "0 is the beginning.")
    windows = "\r\n" in text
    end, more = ("\r\n", _windows(new)) if windows else ("\n", new)
    before, after = lines[:line], lines[line:]
    if before and not before[-1].endswith("\n"):
        before[-1] += end  # a last line without an end; what comes behind it has one only if it was given one
    elif not more.endswith("\n"):
        more += end
    whole = "".join((*before, more, *after))
    return whole, _around(whole, line + 1, new.removesuffix("\n").count("\n") + 1)


def _around(text: str, first: int, count: int) -> str:
    last = len(_lines(text))
    start, end = max(1, first - _NEAR), min(last, first + count - 1 + _NEAR)
    return numbered(text, (start, end)) if last else ""


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if not lines[-1] else lines


def _places(text: str, part: str) -> list[int]:
    found: list[int] = []
    at = text.find(part)
    while at >= 0 and len(found) < 10:
        found.append(at)
        at = text.find(part, at + len(part))
    return found


def _windows(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")
