"""Old results, shortened: the beginning stays, and how to read the rest, where the model can. Pure.

What is made here is sent, never stored. A message that has nothing long in it is the same object again, and one that was
shortened stays with its original, so that it is made once, and an adapter encodes it once.
"""

from __future__ import annotations

from msgspec.structs import replace

from tukang.conversation import File, Image, Message, Part, Text, ToolResult
from tukang.memory.measuring import part_tokens
from tukang.tools.outputs import head, reading_on

LONG = 2_000
"""Characters of a result that stay as they are, however old."""

HEAD = 500
"""Characters that remain of a longer one."""

_NOTE = 80
"""Tokens for what is said beside it."""


def short(message: Message, *, reads_on: bool) -> Message:
    """A message with its long results shortened, and the pictures and documents in its results left out.

    Args:
        message: as it was.
        reads_on: whether the model has the means to read a result on, by its handle.
    """
    if message.role != "tool":
        return message
    key = "short, with handles" if reads_on else "short"
    known = vars(message)
    made: Message | None = known.get(key)
    if made is None:
        parts = [_short(part, reads_on) if isinstance(part, ToolResult) else part for part in message.parts]
        known[key] = made = _with(message, parts)
    return made


def cut_down(message: Message, room: int, *, reads_on: bool) -> Message:
    """A message whose results take no more than so many tokens together, as far as beginnings of `HEAD` characters allow.
    What is small stays; the large ones are cut to one size."""
    results = sorted(message.results, key=part_tokens)
    level, left, others = room, room, len(results)
    for result in results:
        level = left // others
        if part_tokens(result) > level:
            break
        left, others = left - part_tokens(result), others - 1
    parts = [_cut(part, level, reads_on) if isinstance(part, ToolResult) else part for part in message.parts]
    return _with(message, parts)


def _with(message: Message, parts: list[Part]) -> Message:
    same = all(new is old for new, old in zip(parts, message.parts, strict=True))
    return message if same else Message(message.role, tuple(parts))


def _short(result: ToolResult, reads_on: bool) -> ToolResult:
    if len(result.text) > LONG:
        return _shown(result, HEAD, reads_on)
    if all(isinstance(part, Text) for part in result.content):
        return result
    return replace(result, content=tuple(_named(part) for part in result.content))


def _cut(result: ToolResult, level: int, reads_on: bool) -> ToolResult:
    size = part_tokens(result)
    if size <= level:
        return result
    words = sum(part_tokens(part) for part in result.content if isinstance(part, Text))
    if words <= level // 2:  # it is the pictures
        return replace(result, content=tuple(_named(part) for part in result.content))
    return _shown(result, max(HEAD, len(result.text) * (level - _NOTE) // words), reads_on)


def _shown(result: ToolResult, most: int, reads_on: bool) -> ToolResult:
    text = result.text
    if len(text) <= most:
        return replace(result, content=tuple(_named(part) for part in result.content))
    shown = head(text, most)
    note = (
        reading_on(len(shown), 0, len(text), result.call_id)
        if reads_on
        else f"Shown: the first {len(shown)} of {len(text)} characters."
    )
    others = [_named(part) for part in result.content if not isinstance(part, Text)]
    return replace(result, content=(Text(shown), Text(f"[Shortened to save space. {note}]"), *others))


def _named(part: Text | Image | File) -> Text:
    """A picture or a document as words."""
    if isinstance(part, Text):
        return part
    what = part.name if isinstance(part, File) and part.name else part.media_type
    return Text(f"[{what}: not shown any more]")
