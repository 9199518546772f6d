"""Where things are written: the answer to stdout, everything else to stderr. Knows terminals, not turns.

Colour and movement only where there is a terminal, and no colour with `NO_COLOR`. What comes from a model or a tool may
hold control characters; none of them reaches a terminal.
"""

from __future__ import annotations

import re
import sys
from typing import TextIO

from rich.console import Console
from rich.status import Status
from rich.text import Text

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def safe(text: str) -> str:
    """The text without control characters other than line breaks and tabs."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def one_line(text: str, most: int) -> str:
    """The text on one line, of at most so many characters."""
    text = " ".join(safe(text).split())
    return text if len(text) <= most else text[: most - 1] + "…"


class Screen:
    """The two streams of one command.

    Args:
        quiet: nothing but answers and errors.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self._out: TextIO = sys.stdout
        self._error = Console(stderr=True, highlight=False, soft_wrap=True)
        self._status: Status | None = None
        self._open_line = self._held = False
        self.streams = self._out.isatty()
        """Whether text should be shown as it comes: a pipe wants the answer and nothing else."""

    # ── stdout ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def say(self, text: str) -> None:
        """Write a piece of the answer."""
        if text:
            self.still()
            self._out.write(safe(text))
            self._out.flush()
            self._open_line = not text.endswith("\n")

    def end_line(self) -> None:
        """End the line of what was said, if it is open."""
        if self._open_line:
            self._out.write("\n")
            self._out.flush()
            self._open_line = False

    def whole(self, text: str) -> None:
        """Write something complete, such as a document: as it is, with a line break at its end."""
        self.still()
        self._out.write(text if text.endswith("\n") else text + "\n")
        self._out.flush()

    # ── stderr ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def note(self, *pieces: str | tuple[str, str]) -> None:
        """Write a line of the trace, of texts or of (text, style) pairs; nothing when quiet."""
        if not self.quiet:
            self._line(*pieces)

    def error(self, label: str, message: str) -> None:
        """Write an error."""
        self._line((f"{label}: ", "bold red"), message)

    def warning(self, label: str, message: str) -> None:
        """Write what a reader of the answer must know; also when quiet."""
        self._line((f"{label}: ", "bold yellow"), message)

    def busy(self, text: str) -> None:
        """Say what is going on, in a line that goes away. Only on a terminal."""
        if self.quiet or not self._error.is_terminal or self._open_line or self._held:
            return
        if self._status is None:
            self._status = self._error.status(Text(text, "dim"), spinner="dots")
            self._status.start()
        else:
            self._status.update(Text(text, "dim"))

    # ── a question to the user: shown also when quiet ────────────────────────────────────────────────────────────────

    def hold(self) -> None:
        """Nothing moves from here on: the user is asked something."""
        self.still()
        self._held = True

    def let_go(self) -> None:
        """They have answered."""
        self._held = False

    def prompted(self, text: str, style: str = "", behind: str = "") -> None:
        """Write a line of what the user is asked about."""
        self._line((text, style), (behind, "dim"))

    def question(self, text: str) -> None:
        """Ask, on a line that stays open for the answer."""
        self._error.print(Text(safe(text), "bold"), end="")
        self._error.file.flush()

    def still(self) -> None:
        """Take the line of `busy` away."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    @property
    def moves(self) -> bool:
        """Whether `busy` shows anything; otherwise progress has to be told in lines."""
        return self._error.is_terminal and not self.quiet

    @property
    def coloured(self) -> bool:
        return self._error.color_system is not None and not self._error.no_color

    def _line(self, *pieces: str | tuple[str, str]) -> None:
        self.still()
        if self._open_line and self.streams:
            self.end_line()
        self._error.print(Text.assemble(*((safe(p), "") if isinstance(p, str) else (safe(p[0]), p[1]) for p in pieces)))
