"""Programs whose functions hang can always end, however they are told to, and leave no process behind."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

LONG = 120.0

TOOLS = """
    import os, subprocess, time

    def write_down(name):
        with open(name + ".part", "w") as file:
            file.write(str(os.getpid()))
        os.rename(name + ".part", name)

    def in_process():
        subprocess.Popen(["sleep", "3600"], start_new_session=True)
        write_down("process")
        time.sleep(3600)

    def in_thread():
        write_down("thread")
        time.sleep(3600)
"""

PROGRAM = """
    import sys
    import hanging
    from tukang import Agent, Limits, tool
    from tukang.models.scripted import Scripted, call

    agent = Agent(
        Scripted([[call("in_process"), call("in_thread")], "never"]),
        tools=[tool(effect="read", isolation="process")(hanging.in_process), tool(effect="read")(hanging.in_thread)],
        limits=Limits(seconds=None),
    )
    print("begun", flush=True)
    answer = agent.run("go")
    print(answer.stopped, flush=True)
"""

ENDS_BY_ITSELF = """
    import asyncio, os
    import hanging
    from tukang.tools.adopting import as_tool
    from tukang.tools.context import CallContext
    from tukang.tools.execute import execute
    from tukang.tools.tool import tool

    async def main():
        context = CallContext(call_id="a", idempotency_key="b")
        for function, isolation in ((hanging.in_process, "process"), (hanging.in_thread, "thread")):
            made = as_tool(tool(isolation=isolation)(function))
            calls.append(asyncio.create_task(execute(made, "{}", context, None)))
            while not os.path.exists(isolation):
                await asyncio.sleep(0.01)

    calls = []
    asyncio.run(main())
    print("over", [call.cancelled() for call in calls])
"""


@contextlib.contextmanager
def started(directory: Path, program: str) -> Iterator[subprocess.Popen[str]]:
    """A program that runs; killed when the test is over."""
    (directory / "hanging.py").write_text(textwrap.dedent(TOOLS))
    (directory / "program.py").write_text(textwrap.dedent(program))
    command = [sys.executable, "program.py"]
    with subprocess.Popen(command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        try:
            yield running
        finally:
            running.kill()


def wait_for(path: Path) -> int:
    end = time.monotonic() + LONG
    while not path.exists():
        assert time.monotonic() < end, f"{path.name} was not reached"
        time.sleep(0.01)
    return int(path.read_text())


def below(process: int) -> set[int]:
    """All processes that descend from this one."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    found = {process}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {process}


def is_gone(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def all_gone(processes: set[int]) -> bool:
    end = time.monotonic() + LONG
    while not (gone := all(map(is_gone, processes))) and time.monotonic() < end:
        time.sleep(0.005)
    return gone


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_program_that_is_told_to_end_ends_with_all_it_started(tmp_path: Path, number: signal.Signals) -> None:
    with started(tmp_path, PROGRAM) as program:
        worker, itself = wait_for(tmp_path / "process"), wait_for(tmp_path / "thread")
        assert itself == program.pid
        children = below(program.pid)
        assert len(children) == 3, "the guard, the worker, and what that started"
        assert worker in children
        program.send_signal(number)
        _, said = program.communicate(timeout=LONG)  # the pipes are closed only when everything below has ended
        assert all_gone(children)
        assert program.returncode == -number, said


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_a_program_that_comes_to_its_end_ends_with_all_it_started(tmp_path: Path) -> None:
    with started(tmp_path, ENDS_BY_ITSELF) as program:
        worker = wait_for(tmp_path / "process")
        output, said = program.communicate(timeout=LONG)
        assert (program.returncode, output) == (0, "over [True, True]\n"), said
        assert all_gone({worker})
