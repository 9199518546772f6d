"""`tukang chat`: on a real terminal, and from a pipe."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Script, calls
from tukang.models.scripted import Fails, Says

# A terminal of its own, so that the Ctrl-C typed there becomes a signal.
_IN_TERMINAL = (
    "import fcntl, os, signal, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "os.execv(sys.executable, [sys.executable, '-m', 'tukang', *sys.argv[1:]])"
)
_PATIENCE = 60.0
_MARK = "› "


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


def test_ctrl_c_in_the_middle_ends_the_turn_and_keeps_the_session(
    script: Script, terminals: list[Terminal], tmp_path: Path
) -> None:
    model = script(calls(("add", {"a": 1, "b": 2})), "Hasilnya tiga.", Says(text="Saya mulai", silent=True), "Ketiga.")
    terminal = Terminal("chat", "hitung", "--model", model, "--lang", "id")
    terminals.append(terminal)
    terminal.expect(_MARK)
    terminal.type("1+2?\n")
    assert "add(a=1, b=2)" in terminal.expect("Hasilnya tiga.")
    terminal.expect(_MARK)
    terminal.type("dan lagi?\n")
    terminal.expect("Saya mulai")
    terminal.type("\x03")
    terminal.expect("dibatalkan")
    terminal.expect(_MARK)
    terminal.type("masih di sana?\n")
    terminal.expect("Ketiga.")
    terminal.expect(_MARK)
    terminal.type("\x1b[A")  # arrow up: the last question comes back
    terminal.expect("masih di sana?")
    terminal.type("\x15")  # and is taken away again
    terminal.type("\x04")
    terminal.expect("Sampai jumpa.")
    assert terminal.end() == 0
    history = tmp_path / "data" / "history" / "hitung"
    assert history.read_text().splitlines()[-3:] == ["1+2?", "dan lagi?", "masih di sana?"]
    assert history.stat().st_mode & 0o077 == 0


def test_ctrl_c_at_the_prompt_leaves(script: Script, terminals: list[Terminal]) -> None:
    terminal = Terminal("chat", "obrolan", "--model", script("Halo."), "--lang", "en")
    terminals.append(terminal)
    terminal.expect(_MARK)
    for _ in range(20):  # one that comes just before readline waits is not seen by it: a person presses again, too
        terminal.type("\x03")
        if terminal.comes("Goodbye.", 1.0):
            break
    terminal.expect("Goodbye.")
    assert terminal.end() == 0


def test_lines_from_a_pipe_are_one_conversation(cli: Cli) -> None:
    Path("memory_agent.py").write_text(
        "from tukang import Agent\n"
        "from tukang.models.scripted import Scripted\n"
        "agent = Agent(Scripted(lambda request: ' + '.join(m.text for m in request.messages if m.role == 'user')))\n"
    )
    ran = cli("chat", "memory_agent:agent", "-q", stdin="satu\n\ndua\n/baru\ntiga\n/keluar\nempat\n")
    assert (ran.code, ran.out) == (0, "satu\nsatu + dua\ntiga\n")


def test_a_turn_that_fails_leaves_the_session_usable(cli: Cli, script: Script) -> None:
    model = script("Satu.", Says(fails=Fails("overloaded", "the server is busy")), "Tiga.")
    ran = cli("chat", "obrolan", "--model", model, stdin="a\nb\nc\n")
    assert ran.code == 1
    assert ran.out.startswith("Satu.\n")
    assert ran.out.endswith("Tiga.\n")
    assert "the server is busy" in ran.err


def test_unknown_commands_are_said_and_not_sent(cli: Cli, script: Script) -> None:
    ran = cli("chat", "obrolan", "--model", script("Halo."), stdin="/baruu\n/help\nhai\n")
    assert ran.out == "Halo.\n"
    assert "There is no command /baruu" in ran.err
    assert "/new" in ran.err


def test_a_shop_says_for_whom_it_is_open(cli: Cli, script: Script) -> None:
    model = script("Halo.")
    assert "Customer: USR042." in cli("chat", "toko", "--user", "USR042", "--model", model).err
    assert "No customer" in cli("chat", "toko", "--model", model).err
