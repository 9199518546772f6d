"""The shell: what it keeps, how its commands end, and that it ends wholly."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.machine.calling import needs_bwrap, outcome, refused, said
from tukang import ConfigurationError
from tukang.machine import bash, shell
from tukang.machine.sandbox import Bounds
from tukang.tools.tool import Tool

pytestmark = needs_bwrap
NAP = f"78{os.getpid()}"
"""Seconds nobody else sleeps on this machine, so that what sleeps so long is known by it."""

ENDED = "[the shell from before has ended, with what was set and started in it; this is a new one]"


def inside(mark: str) -> list[int]:
    """The processes of this machine whose command line holds a mark."""
    found: list[int] = []
    for name in os.listdir("/proc"):
        try:
            if name.isdecimal() and mark.encode() in Path("/proc", name, "cmdline").read_bytes():
                found.append(int(name))
        except OSError:
            continue
    return found


def soon(true: Callable[[], bool], seconds: float = 10) -> bool:
    """Whether something comes true; it is waited for as long as it does not."""
    until = time.monotonic() + seconds
    while not true():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


async def all_of(tool: Tool, *commands: str, session: str | None = "s") -> list[str]:
    return [(await outcome(tool, command=command, session=session)).text for command in commands]


def test_the_shell_stays(tmp_path: Path) -> None:
    tool = bash(tmp_path)

    first, second, third = asyncio.run(all_of(tool, "mkdir d; cd d; X=5; f() { echo $X; }", "f; pwd", "false"))

    assert (first, second, third) == ("[no output]", "5\n/workspace/d", "[exit status 1]")
    assert said(tool, command="pwd") == "/workspace/d"  # also from another event loop
    assert said(tool, restart=True) == "The shell was restarted."
    assert said(tool, command="pwd; echo -n $X") == "/workspace"
    assert (tmp_path / "d").is_dir()


def test_each_session_has_its_own(tmp_path: Path) -> None:
    tool = bash(tmp_path, bounds=Bounds(shells=2))

    async def go() -> list[str]:
        for name in ("a", "b", "c"):  # the third takes the place of the first
            await outcome(tool, session=name, command=f"X={name}")
        return [(await outcome(tool, session=name, command="echo $X")).text for name in ("b", "c", "a")]

    assert asyncio.run(go()) == ["b", "c", f"{ENDED}\n[no output]"]


def test_outside_of_a_session_a_shell_is_for_one_turn(tmp_path: Path) -> None:
    tool = bash(tmp_path)

    async def go() -> list[str]:
        turns = [("t1-1-0", "X=5"), ("t1-2-0", "echo $X"), ("t2-1-0", "echo $X")]
        return [(await outcome(tool, turn, None, command=command)).text for turn, command in turns]

    assert asyncio.run(go()) == ["[no output]", "5", "[no output]"]


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("echo a; echo b >&2; echo c", "a\nb\nc"),
        ("if", "[exit status 2]"),
        ("'", "[exit status 2]"),
        ("cat; read x; echo $x", "[no output]"),  # there is nobody to ask
        ("exit 7", "[the shell itself ended, with status 7;"),
        ("kill -9 $$", "[the shell itself ended"),
        ("exec true", "[the shell itself ended, with status 0;"),
        ("set -e; false; echo no", "[the shell itself ended, with status 1;"),
        ("exec 3<&- 4>&- 0<&-; echo ok", "ok"),
        ("echo 0 >&4; echo 0 >&3; printf '0\\0' >&4", "Bad file descriptor"),
        ("printf '\\033[31mred\\033[0m\\033]0;title\\007'", "red"),
        ("printf '\\377\\n'", "\\xff"),
        ("trap 'echo gone' EXIT; readonly REPLY", "[no output]"),
        ("IFS=01; false", "[exit status 1]"),
        ("printf() { :; }; read() { :; }; eval() { :; }; shopt -s expand_aliases; alias printf=:", "[no output]"),
        ("true", "[no output]"),
    ],
)
def test_however_a_command_ends_the_next_one_runs(tmp_path: Path, command: str, says: str) -> None:
    tool = bash(tmp_path)

    first, _, third = asyncio.run(all_of(tool, command, "true", "echo still here"))

    assert says in first
    assert "\x1b" not in first
    assert third == "still here"


def test_no_command_can_say_that_it_has_ended(tmp_path: Path) -> None:
    """The shell keeps its pipes at hand while a command runs, and whoever looks for them finds them."""
    tool = bash(tmp_path)
    forged = "for n in {5..20}; do printf '0\\0ready\\0x 0\\0abc' >&$n; done 2>/dev/null"

    first, second, third = asyncio.run(all_of(tool, f"{forged}; echo late; false", "(exit 5)", "true"))

    assert first.endswith("late\n[exit status 1]")
    assert (second, third) == ("[exit status 5]", "[no output]")


def test_of_a_shell_that_shows_what_it_does_only_the_commands_are_seen(tmp_path: Path) -> None:
    tool = bash(tmp_path)

    first, second = asyncio.run(all_of(tool, "set -x; echo one", "echo two"))

    assert first == "++ echo one\none"
    assert second.splitlines()[-2:] == ["++ echo two", "two"]
    assert "printf" not in second
    assert "read" not in second


def test_a_descriptor_that_goes_along_is_none_that_the_shell_deals_out_anew() -> None:
    """Whatever number this process has free: 3 and 4 are others in there."""
    reading, writing = shell._pipe_from_high_up()  # pyright: ignore[reportPrivateUsage]
    os.write(writing, b"x")
    os.close(writing)

    assert writing > 9
    assert os.read(reading, 9) == b"x"
    os.close(reading)


def test_what_is_no_command_is_refused(tmp_path: Path) -> None:
    tool = bash(tmp_path)

    assert "no command" in refused(tool)
    assert "no command" in refused(tool, command="  ")
    assert "at most" in refused(tool, command="x" * 70_000)
    assert "NUL" in refused(tool, command="a\0b")


def test_a_command_that_takes_too_long_is_ended_with_what_it_said(tmp_path: Path) -> None:
    tool = bash(tmp_path, bounds=Bounds(seconds=0.5))

    first, second = asyncio.run(all_of(tool, f"echo begun; sleep {NAP}61", "echo next"))

    assert first.startswith("begun\n[it was ended after 0.5 seconds; everything it had started is gone")
    assert second == "next"
    assert inside(f"sleep\x00{NAP}61") == []


def test_output_without_end_is_cut_and_ended(tmp_path: Path) -> None:
    tool = bash(tmp_path, bounds=Bounds(output=2000))

    short, endless, after = asyncio.run(all_of(tool, "seq 100000", "yes", "echo after"))

    assert short.startswith("1\n2\n3\n")
    assert short.endswith("\n100000")
    assert "bytes left out" in short
    assert len(short) < 2100
    assert "its output did not stop" in endless
    assert after == "after"


def test_a_long_output_is_kept_whole_up_to_its_bound_and_cut_as_the_house_cuts(tmp_path: Path) -> None:
    tool = bash(tmp_path)

    assert tool.policy.max_output == 30_000
    assert "max_output" in tool.said  # so that there is a tool to read on with
    assert len(said(tool, command="head -c 300000 /dev/zero | tr '\\0' x")) == 300_000


def test_background_work_goes_on_and_ends_with_the_shell(tmp_path: Path) -> None:
    tool = bash(tmp_path)

    asyncio.run(all_of(tool, f"sleep {NAP}62 & (setsid nohup sleep {NAP}63 >/dev/null 2>&1 &) ; echo ok"))
    assert soon(lambda: len(inside(f"sleep\x00{NAP}6")) == 2)
    said(tool, restart=True)

    assert soon(lambda: inside(f"sleep\x00{NAP}6") == [])


def test_a_cancelled_call_ends_all_it_started(tmp_path: Path) -> None:
    tool = bash(tmp_path)

    async def go() -> str:
        task = asyncio.create_task(outcome(tool, command=f"sleep {NAP}64 & sleep {NAP}64"))
        assert await asyncio.to_thread(soon, lambda: bool(inside(f"sleep\x00{NAP}64")))
        task.cancel()
        await asyncio.wait((task,))
        assert task.cancelled()
        return (await outcome(tool, command="echo after")).text

    assert asyncio.run(go()) == f"{ENDED}\nafter"
    assert soon(lambda: inside(f"sleep\x00{NAP}64") == [])


def test_two_commands_at_once_do_not_mix(tmp_path: Path) -> None:
    tool = bash(tmp_path)

    async def go() -> list[str]:
        first = asyncio.create_task(outcome(tool, command="while [ ! -e go ]; do sleep 0.02; done; echo one"))
        await asyncio.sleep(0)  # it has begun
        second = await outcome(tool, command="echo two")
        (tmp_path / "go").touch()
        return [second.text, (await first).text]

    second, first = asyncio.run(go())
    assert "another command is under way" in second
    assert first == "one"


def test_a_shell_ends_with_its_tool_and_when_nobody_uses_it(tmp_path: Path) -> None:
    tool = bash(tmp_path)
    asyncio.run(all_of(tool, f"sleep {NAP}65 & true"))
    assert soon(lambda: bool(inside(f"sleep\x00{NAP}65")))
    del tool
    gc.collect()
    assert soon(lambda: inside(f"sleep\x00{NAP}65") == [])

    idle = bash(tmp_path, bounds=Bounds(idle=1))
    asyncio.run(all_of(idle, f"sleep {NAP}66 & until grep -qz sleep /proc/$!/cmdline; do :; done"))
    assert soon(lambda: inside(f"sleep\x00{NAP}66") == [])
    assert said(idle, command="echo back") == f"{ENDED}\nback"
    assert said(idle, command="echo again", restart=True) == "again"


def test_a_shell_ends_with_its_program_however_that_ends(tmp_path: Path) -> None:
    program = (
        "import asyncio, os, sys\n"
        "from tests.machine.calling import outcome\n"
        "from tukang.machine import bash\n"
        f"tool = bash({str(tmp_path)!r})\n"
        f"asyncio.run(outcome(tool, command='sleep {NAP}67 & sleep {NAP}67 & echo'))\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdin=-1, stdout=-1, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert soon(lambda: len(inside(f"sleep\x00{NAP}67")) == 2)
        process.kill()

    assert soon(lambda: inside(f"sleep\x00{NAP}67") == [])


# ── what it needs ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_without_bubblewrap_it_refuses_to_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ConfigurationError, match=r"bash needs bwrap.*apt install bubblewrap"):
        bash(tmp_path)


def test_where_bubblewrap_may_not_work_it_says_what_that_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ConfigurationError, match="No permissions to create new namespace"):
        bash(tmp_path)


def test_a_sandbox_that_fails_later_has_done_nothing(tmp_path: Path) -> None:
    place = tmp_path / "x"
    place.mkdir()
    tool = bash(place)
    place.rmdir()

    message = refused(tool, command="echo")
    assert "could not be started" in message
    assert str(tmp_path) not in message


def test_places_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is not a directory"):
        bash(tmp_path / "none")
    with pytest.raises(ConfigurationError, match="is not there"):
        bash(tmp_path, read_only=[tmp_path / "none"])
    with pytest.raises(ConfigurationError, match="is the whole machine"):
        bash(tmp_path / ".." / ".." / ".." / ".." / ".." / "..")
    with pytest.raises(ValueError, match="processes must be more than 0"):
        Bounds(processes=0)
