"""What a program wrote for a terminal, as plain text: for a model to read, and for a person's terminal to show unharmed.

Sequences that colour, move, title or copy are taken out. Any other character that is not seen, or turns the order of what is
seen around, is written as its number (`\\u202e`), so that nothing is hidden in a text and nothing happens when it is shown.
A sequence that does not end takes the rest of its line with it, and no more.
"""

from __future__ import annotations

import re

_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|\x1b[\]PX^_][^\n]*?(?:\x07|\x1b\\|\x9c|(?=\n)|\Z)"  # titles, links, the clipboard, device control
    r"|\x1b[ -/]*[0-~]"  # all others
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|[\x90\x98\x9d-\x9f][^\n]*?(?:\x07|\x1b\\|\x9c|(?=\n)|\Z)"
)
_UNSEEN = (
    *((0x00, 0x08), (0x0B, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x61C, 0x61C), (0x200B, 0x200F), (0x2028, 0x202E)),
    *((0x2060, 0x206F), (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB), (0xE0000, 0xE007F)),
)


def plain(text: str) -> str:
    """The text without sequences, and with what is unseen in it written out. Newlines and tabs stay."""
    if text.replace("\n", "").replace("\t", "").isprintable():  # as most are, and soon seen
        return text
    text = _SEQUENCES.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    if "\x08" in text:
        text = _overstruck(text)
    return text.translate(_WRITTEN)


def _overstruck(text: str) -> str:
    """As a terminal shows `a\\ba`: once. In one pass, however many there are."""
    kept: list[str] = []
    for one in text:
        if one == "\x08" and kept and kept[-1] not in "\n\x08":
            kept.pop()
        else:
            kept.append(one)
    return "".join(kept)


def _number(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_WRITTEN = {code: _number(code) for first, last in _UNSEEN for code in range(first, last + 1)}
