"""A command on a pseudo-terminal, spoken to like a person would."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

# A terminal of its own, so that the Ctrl-C typed there becomes a signal.
_IN_TERMINAL = (
    "import fcntl, os, signal, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "os.execv(sys.executable, [sys.executable, '-m', 'tukang', *sys.argv[1:]])"
)
_PATIENCE = 60.0


class Terminal:
    """A command on a pseudo-terminal, spoken to like a person would."""

    def __init__(self, *arguments: str) -> None:
        self._master, slave = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _IN_TERMINAL, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm"},
        )
        os.close(slave)
        self.seen = ""

    def expect(self, text: str) -> str:
        """Read until the text comes; returns what came up to it, without the terminal's own commands."""
        give_up = time.monotonic() + _PATIENCE
        while text not in self.seen:
            ready, _, _ = select.select([self._master], [], [], max(0.0, give_up - time.monotonic()))
            assert ready, f"waited for {text!r} in vain; seen: {self.seen!r}"
            self.seen += self._read()
        before, _, self.seen = self.seen.partition(text)
        return before

    def comes(self, text: str, seconds: float) -> bool:
        """Whether the text comes within this time; what comes is kept."""
        give_up = time.monotonic() + seconds
        while text not in self.seen:
            ready, _, _ = select.select([self._master], [], [], max(0.0, give_up - time.monotonic()))
            if not ready:
                return False
            self.seen += self._read()
        return True

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def end(self) -> int:
        """The exit code."""
        return self._process.wait(_PATIENCE)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def _read(self) -> str:
        data = os.read(self._master, 65536)
        while True:
            try:
                text = data.decode()
                break
            except UnicodeDecodeError:
                data += os.read(self._master, 1)
        return re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", text)


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for terminal in opened:
        terminal.close()
