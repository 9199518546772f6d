"""`tukang chat`: on a real terminal, and from a pipe."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Cli, Script, calls
from tests.cli.terminal import Terminal
from tukang.models.scripted import Fails, Says

_MARK = "› "


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
