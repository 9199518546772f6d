"""The line a user types in: with arrow keys, and a history that outlives the process. Reads lines; knows no agent.

The standard library's readline does it: it starts at once and adds no dependency. Where there is none (Windows), or no
terminal, lines are read plainly.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

_LONGEST_HISTORY = 1000


class Prompt:
    """Asks for lines.

    Args:
        mark: what stands before the line on a terminal.
        history: the file of earlier lines; kept readable for its owner only.
        bold: whether the mark may be bold.
    """

    def __init__(self, mark: str, history: Path, *, bold: bool = False) -> None:
        self._history = history
        self._at_terminal = sys.stdin.isatty() and sys.stdout.isatty()
        # readline counts columns, and has to be told which characters take none
        self._mark = f"\001\033[1m\002{mark}\001\033[0m\002" if bold else mark
        self._readline = _readline() if self._at_terminal else None
        if self._readline is not None:
            with contextlib.suppress(OSError):
                self._readline.read_history_file(history)

    def ask(self) -> str:
        """The next line.

        Raises:
            EOFError: there is none any more.
            KeyboardInterrupt: Ctrl-C.
        """
        if self._at_terminal:
            return input(self._mark)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\n")

    def close(self) -> None:
        """Keep the history."""
        if self._readline is None:
            return
        with contextlib.suppress(OSError):  # a history that cannot be kept is no reason to fail
            self._history.parent.mkdir(parents=True, exist_ok=True)
            self._readline.set_history_length(_LONGEST_HISTORY)
            self._history.touch(mode=0o600)
            self._readline.write_history_file(self._history)


def _readline():  # pyright: ignore[reportUnknownParameterType]  # a module, or None
    try:
        import readline
    except ImportError:
        return None
    return readline
