"""Nothing that a command tries in the sandbox reaches the host; what it gets back is data, and the host goes on."""

from __future__ import annotations

import asyncio
import ctypes
import os
import platform
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.machine.calling import SECRET, needs_bwrap, outcome, said
from tests.machine.test_bash import ENDED, NAP, inside, soon
from tests.machine.test_escaping_files import exchanging
from tukang.machine import bash
from tukang.machine.sandbox import Bounds
from tukang.tools.tool import Tool

pytestmark = needs_bwrap


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the shell may write, with a secret beside it and one in the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    (tmp_path / "secret.txt").write_text(SECRET)
    (tmp_path / "p").mkdir()
    return tmp_path / "p"


@pytest.fixture
def tool(place: Path) -> Tool:
    return bash(place)


READING = [
    "env; export; set",
    "cat /proc/*/environ | tr '\\0' '\\n'",
    "cat /etc/passwd /etc/shadow /root/.ssh/* /home/*/.* /root/.bash_history",
    "cat ../secret.txt /workspace/../secret.txt {host}/secret.txt",
    "ln -s {host}/secret.txt l; cat l",
    "ln {host}/secret.txt l; cat l",
    "find / -xdev -name secret.txt 2>/dev/null; ls /proc/1/root/tmp /proc/1/cwd/",
    "grep -r rahasia /proc/*/cmdline /proc/*/maps /var /srv /opt /mnt /run /boot 2>/dev/null",
    "ls -la /proc/*/fd 2>/dev/null | grep -v -e /dev/ -e pipe: -e /proc/ -e total -e ' \\.'",
    "cat /proc/kcore /dev/mem /dev/kmem /dev/sda /dev/vda /proc/keys | head -c 100",
    "for f in /proc/[a-z]*; do [ -f $f -a -r $f ] && [[ $(stat -c %A $f) == ????---* ]] && echo root:x $f; done",
    "mkdir m; mount --bind / m; mount -t proc p m; unshare -Urm true; nsenter -t 1 -a true; chroot / true",
    "umount /proc/sys; umount /usr; mount -o remount,rw /usr",
    "cat < /dev/tcp/169.254.169.254/80; curl -sm1 http://1.1.1.1; getent hosts example.com",
    "dmesg; journalctl; cat /var/log/* 2>&1",
    "sudo -n id; su -c id; pkexec id",
    "python3 -c \"import ctypes; l = ctypes.CDLL(None); print(l.mount(b'/', b'/tmp', None, 4096, None), l.setuid(0))\"",
    "python3 -c 'import ctypes; l = ctypes.CDLL(None); print(l.ptrace(16, 1, 0, 0), l.syscall(250, 0, -3, 0))'",  # keyctl
]


@pytest.mark.parametrize("command", READING)
def test_no_secret_of_the_host_is_read(tool: Tool, place: Path, command: str) -> None:
    told = asyncio.run(outcome(tool, command=command.replace("{host}", str(place.parent))))

    assert told.fault is None
    assert SECRET not in told.text
    assert "root:x" not in told.text
    assert "root:*" not in told.text
    assert said(tool, command="echo on") == "on"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of its system calls are those of x86-64")
def test_the_keys_of_the_login_are_not_at_hand(place: Path) -> None:
    """A session keyring is inherited like an open file, and no namespace is between."""
    call = ctypes.CDLL(None).syscall
    look = "print(ctypes.CDLL(None).syscall(250, 10, -3, b'user', b'tukang-test', 0))"
    command = f'python3 -c "import ctypes; {look}"'
    found: list[str] = []

    def as_a_login() -> None:  # a keyring belongs to a thread, and this one's is gone with it
        if call(250, 1, None) < 0 or call(248, b"user", b"tukang-test", SECRET.encode(), len(SECRET), -3) < 0:
            return
        found.append(subprocess.run(command, shell=True, capture_output=True, text=True, check=True).stdout.strip())
        found.append(said(bash(place), command=command))

    thread = threading.Thread(target=as_a_login)
    thread.start()
    thread.join()
    if not found:
        pytest.skip("this system has no keyrings")
    assert int(found[0]) > 0
    assert found[1] == "-1"


def test_what_is_the_whole_machines_cannot_be_written(tool: Tool) -> None:
    """Root owns `/proc/sys` also without its powers: writing `core_pattern` would run a program of the host's as root."""
    pattern = Path("/proc/sys/kernel/core_pattern")
    before = pattern.read_text()
    attempts = [
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/hostname",
        "/proc/sys/vm/drop_caches",
        "/proc/sysrq-trigger",
        "/proc/1/oom_score_adj_",
        "/sys/kernel/uevent_helper",
        "/usr/bin/ls",
        "/etc/ld.so.preload",
        "/dev/new",
        "/new",
        "/proc/new",
        "/lib/new",
    ]

    told = said(
        tool, command="\n".join(f"(echo x > {place}) 2>/dev/null && echo written {place}" for place in attempts)
    )

    assert "written" not in told
    assert pattern.read_text() == before


def test_only_its_directory_is_written(tool: Tool, place: Path) -> None:
    before = sorted(place.parent.iterdir())

    out = place.parent / "x"

    said(tool, command=f"echo in > a; echo out > /workspace/../b; echo tmp > /tmp/c; mkdir -p {out}; echo > {out}/d")

    assert (place / "a").read_text() == "in\n"
    assert sorted(place.parent.iterdir()) == before
    assert not Path("/b").exists()
    assert not Path("/tmp/c").exists()


def test_it_is_nobody_and_has_no_powers(tool: Tool) -> None:
    told = said(
        tool, command="id -u; grep -E 'Cap(Eff|Prm|Bnd|Amb)|NoNewPrivs' /proc/self/status; hostname; tty; ps -e | wc -l"
    )

    lines = told.splitlines()
    assert lines[0] == "1000"
    assert [line.split()[-1] for line in lines[1:6]] == ["0" * 16] * 4 + ["1"]
    assert lines[6:8] == ["sandbox", "not a tty"]
    assert int(lines[8]) < 10
    assert said(tool, command="cat /proc/self/oom_score_adj") == "1000"  # it is who goes when the system is short


def test_there_is_no_network_unless_it_is_asked_for(tool: Tool, place: Path) -> None:
    look = "grep -c : /proc/net/dev"

    assert said(tool, command=look) == "1"  # its own loop back
    assert int(said(bash(place, network=True), command=look)) == len(os.listdir("/sys/class/net"))


def test_a_place_that_another_shell_swapped_for_a_link_is_not_gone_into(tool: Tool, place: Path) -> None:
    for name in ("inner", "more"):
        (place / name).mkdir()
    inner = bash(place / "inner", read_only=[place / "more"])
    assert said(inner, command=f"ls {place}/more; echo in") == "in"

    said(tool, command=f"mv more less; ln -s {place.parent} more")
    assert said(inner, command="echo still here") == "still here"
    assert "could not be started" in said(inner, restart=True, command=f"cat {place}/more/secret.txt")
    said(tool, command=f"rm more; mv less more; mv inner outer; ln -s {place.parent} inner")
    assert "could not be started" in said(inner, command="cat secret.txt; touch written")

    assert not (place.parent / "written").exists()
    said(tool, command="rm inner; mv outer inner")
    assert said(inner, command="echo back").splitlines()[-1] == "back"


def test_a_place_that_changes_all_the_time_is_itself_or_nothing(place: Path) -> None:
    (place / "inner").mkdir()
    (place / "inner" / "own").touch()
    (place / "link").symlink_to(place.parent)
    inner, done, found = bash(place / "inner"), threading.Event(), set[str]()
    thread = exchanging(place / "inner", place / "link", done)
    thread.start()
    try:
        for _ in range(6):
            found.add(said(inner, restart=True, command="ls -A"))
    finally:
        done.set()
        thread.join()

    assert all(one == "own" or "could not be started" in one for one in found)


def test_another_place_can_be_read_and_not_written(place: Path) -> None:
    (place.parent / "more").mkdir()
    (place.parent / "more" / "a").write_text("there")
    tool = bash(place, read_only=[place.parent / "more"])

    assert said(tool, command=f"cat {place.parent}/more/a") == "there"
    assert "Read-only" in said(tool, command=f"echo x > {place.parent}/more/b")
    assert SECRET not in said(tool, command=f"cat {place.parent}/secret.txt")


# ── taking too much ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "storm",
    [
        # Root is above the system's limit on processes: beside other tests on few cores thousands may run before the watch
        # comes to look, and then none of those tests can start one.
        pytest.param(":(){ :|:& };: ; while :; do sleep 0.02; done", marks=pytest.mark.long),
        f"for i in $(seq 500); do sleep {NAP}68 & done; wait",
        pytest.param(f"while :; do (setsid sleep {NAP}68 &) ; done", marks=pytest.mark.long),
        pytest.param(
            "python3 -c 'import os\nwhile True:\n  try: os.fork()\n  except OSError: pass'",
            marks=pytest.mark.long,
        ),
    ],
    ids=["fork bomb", "five hundred", "sessions", "forks"],
)
def test_a_storm_of_processes_ends(place: Path, storm: str) -> None:
    tool = bash(place, bounds=Bounds(seconds=20, processes=40))
    began = time.monotonic()

    told = said(tool, command=storm)

    assert "[it was ended because more than 40 processes ran" in told
    assert time.monotonic() - began < 15
    assert said(tool, command="echo calm") == "calm"
    assert soon(lambda: inside(f"sleep\x00{NAP}68") == [])


def test_a_storm_that_begins_behind_a_command_ends_too(place: Path) -> None:
    tool = bash(place, bounds=Bounds(processes=40))

    said(tool, command=f"(sleep 0.1; for i in $(seq 300); do sleep {NAP}69 & done) >/dev/null 2>&1 &")

    assert soon(lambda: bool(inside(f"sleep\x00{NAP}69")))
    assert soon(lambda: inside(f"sleep\x00{NAP}69") == [])
    assert said(tool, command="echo calm") == f"{ENDED}\ncalm"


def test_memory_has_a_bound_together_and_for_each(place: Path) -> None:
    tool = bash(place, bounds=Bounds(memory=100, files=8))

    alone = said(tool, command="python3 -c 'x = bytearray(2 << 30)'")
    together = said(tool, command="python3 -c 'import time; x = bytearray(b\"a\") * (150 << 20); time.sleep(9)'")

    assert "MemoryError" in alone
    assert "it took more than 100 megabytes" in together
    assert "No space left" in said(tool, command="head -c 20M /dev/zero > /tmp/a; head -c 20M /dev/zero > /tmp/b")
    said(tool, command="head -c 20M /dev/zero > /workspace/big")
    assert (place / "big").stat().st_size <= 8 << 20
    assert "No space left" in said(tool, command="for i in 1 2 3 4 5; do head -c 7M /dev/zero > /dev/shm/$i; done")
