"""Connecting to servers that are started here, and parting from them: nothing waits for ever, nothing is left behind."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import msgspec
import pytest

from tests.mcp.conftest import PLAIN, Plain, permit, run
from tukang import Agent
from tukang.errors import ConfigurationError, ToolWarning
from tukang.mcp import McpServer, McpServers
from tukang.models.scripted import Scripted, call

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="looks at processes as POSIX has them")


def failure(servers: McpServers) -> str:
    with pytest.raises(ConfigurationError) as told:
        Agent(Scripted([]), tools=[servers])
    return str(told.value)


def processes(marker: object) -> list[int]:
    """The processes that have this in their command line."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "environ").read_bytes() + (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if str(marker).encode() in words and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


def none_left(marker: object, seconds: float = 10.0) -> bool:
    until = time.monotonic() + seconds
    while processes(marker) and time.monotonic() < until:
        time.sleep(0.02)
    return not processes(marker)


# ── a server that is not as it should be ─────────────────────────────────────────────────────────────────────────────


def test_a_server_that_ends_at_once_is_said_with_its_last_words(plain: Plain) -> None:
    said = failure(plain.servers(plain.server(fault="exits", env={"TOKEN": "s3cret-abcdef"})))
    assert "MCP server 'plain'" in said
    assert (
        "it ended before it answered; its last words: plain begins; the token is [secret] / the licence has run out"
        in said
    )
    assert "s3cret" not in said
    assert '"optional": true' in said


def test_a_program_that_does_not_exist(plain: Plain, tmp_path: Path) -> None:
    assert "the program 'no-such-program' is not found" in failure(
        plain.servers(McpServer(name="a", command="no-such-program"))
    )
    assert "there is no program './no'" in failure(plain.servers(McpServer(name="a", command="./no")))
    assert "there is no folder" in failure(plain.servers(McpServer(name="a", command="sh", cwd=str(tmp_path / "no"))))


def test_a_server_that_says_nothing_is_given_up_in_time(plain: Plain) -> None:
    began = time.monotonic()
    said = failure(plain.servers(plain.server(fault="silent", patience=0.5)))
    assert time.monotonic() - began < 3
    assert "it did not answer within 0.5 seconds" in said
    assert none_left(plain.folder)


def test_connecting_goes_on_when_a_call_does_not_wait_for_it(plain: Plain, tmp_path: Path) -> None:
    """Else a server that takes longer to start than a call may take would never be there again."""
    slow = tmp_path / "slow"
    slow.write_text(
        f"#!/bin/sh\n[ -e {tmp_path}/began ] && sleep 0.7\ntouch {tmp_path}/began\nexec {sys.executable} -I -S {PLAIN}\n"
    )
    slow.chmod(0o755)
    server = msgspec.structs.replace(plain.server(trust="hints", timeout=0.4), command=str(slow), args=())
    servers = plain.servers(server).connect()
    answer = run(servers, call("plain_die"), call("plain_who"))
    assert [step.fault.kind for step in answer.steps if step.fault] == ["outcome_unknown", "timed_out"]
    until = time.monotonic() + 20
    while run(servers, call("plain_who")).steps[0].result != "plain":
        assert time.monotonic() < until
    assert sum(one["method"] == "initialize" for one in plain.heard()) == 2


def test_all_that_are_missing_are_named_and_all_are_tried_at_once(plain: Plain) -> None:
    began = time.monotonic()
    silent = [plain.server(name, fault="silent", patience=1.0) for name in ("one", "two", "three")]
    said = failure(plain.servers(*silent, plain.server("good")))
    assert time.monotonic() - began < 3
    assert [name for name in ("one", "two", "three", "good") if f"MCP server {name!r}" in said] == [
        "one",
        "two",
        "three",
    ]


def test_an_optional_one_is_left_out_with_a_warning(plain: Plain) -> None:
    missing = McpServer(name="missing", command="no-such-program", optional=True)
    servers = plain.servers(missing, plain.server("good", without=("bad schema!",)))
    with pytest.warns(ToolWarning, match=r"'no-such-program' is not found.*going on without its tools"):
        agent = Agent(Scripted([call("good_who"), "done"]), tools=[servers], approve=permit)
    assert agent.run("go").steps[0].result == "good"
    assert [(one.server, one.connected) for one in servers.state] == [("missing", False), ("good", True)]
    assert "is not found" in (servers.state[0].why or "")


def test_an_optional_one_that_comes_later_is_there_in_a_later_turn(
    plain: Plain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "late"
    server = plain.server("late", optional=True, trust="hints")
    late = msgspec.structs.replace(server, command=str(program), args=(), without=("bad schema!",))
    servers = plain.servers(late)
    with pytest.warns(ToolWarning, match="there is no program"):
        agent = Agent(Scripted(["nothing yet", call("late_who"), "done"]), tools=[servers])
    assert agent.run("go").text == "nothing yet"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S {PLAIN}\n")
    program.chmod(0o755)
    monkeypatch.setattr("tukang.mcp.client_link._AGAIN", 0.0)
    assert len(agent.toolbox) == 0  # looking begins to try, and waits for nothing
    until = time.monotonic() + 10
    while len(agent.toolbox) == 0:
        assert time.monotonic() < until
        time.sleep(0.02)
    assert agent.run("go").steps[0].result == "late"


def test_a_list_that_never_ends_is_not_read_for_ever(plain: Plain) -> None:
    assert run(plain.servers(plain.server(fault="endless")), call("plain_who")).steps[0].result == "plain"
    assert sum(one["method"] == "tools/list" for one in plain.heard()) == 100


def test_a_server_that_prints_to_its_output_is_understood_all_the_same(plain: Plain) -> None:
    assert run(plain.servers(plain.server(fault="chatters")), call("plain_who")).steps[0].result == "plain"


def test_a_server_that_leaves_when_it_is_asked_for_what_it_does_not_know_is_not_asked_again(plain: Plain) -> None:
    servers = plain.servers(plain.server(fault="leaves when it does not know"))
    assert run(servers, call("plain_who")).steps[0].result == "plain"
    assert [one["method"] for one in plain.heard()][:3] == [
        "server/discover",
        "initialize",
        "notifications/initialized",
    ]


def test_what_a_server_says_on_its_standard_error_goes_to_the_log(
    plain: Plain, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.INFO, "tukang.mcp"):
        plain.servers(plain.server(env={"TOKEN": "s3cret-abcdef"})).connect()
    assert "plain: plain begins; the token is [secret]" in caplog.text
    assert "begins" not in capfd.readouterr().err


# ── from wherever it is used ─────────────────────────────────────────────────────────────────────────────────────────


def test_one_connection_serves_every_loop_and_every_thread(plain: Plain) -> None:
    servers = plain.servers(plain.server(trust="hints"))
    agent = Agent(Scripted(lambda _: "x"), tools=[servers])

    def script(request: object) -> object:
        return call("plain_who") if request.messages[-1].role == "user" else "done"  # type: ignore[attr-defined]

    agent = agent.with_model(Scripted(script))  # type: ignore[arg-type]
    results = [agent.run("go").steps[0].result]
    results.append(asyncio.run(agent.arun("go")).steps[0].result)
    results.append(asyncio.run(agent.arun("go")).steps[0].result)

    async def inside() -> str:
        return agent.run("go").steps[0].result

    results.append(asyncio.run(inside()))
    thread = threading.Thread(target=lambda: results.append(agent.run("go").steps[0].result))
    thread.start()
    thread.join()
    assert results == ["plain"] * 5
    assert sum(one["method"] == "initialize" for one in plain.heard()) == 1


def test_connecting_on_a_loop_does_not_hold_it_up(plain: Plain) -> None:
    async def connected() -> int:
        turns = 0

        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0.001)

        task = asyncio.create_task(others())
        async with plain.servers(plain.server(trust="hints")) as servers:
            answer = await Agent(Scripted([call("plain_who"), "done"]), tools=[servers]).arun("go")
            assert answer.steps[0].result == "plain"
        task.cancel()
        return turns

    assert asyncio.run(connected()) > 20


def test_many_calls_at_once_do_not_get_each_others_answers(plain: Plain) -> None:
    servers = plain.servers(plain.server(trust="hints"))
    texts = [f"text {number}" for number in range(30)]
    answer = run(servers, [call("plain_say", text=text) for text in texts])
    assert [step.result for step in answer.steps] == texts


# ── parting ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_closing_ends_the_servers_and_using_them_again_starts_them_again(plain: Plain) -> None:
    with plain.servers(plain.server(trust="hints")) as servers:
        assert len(processes(plain.folder)) == 1
        agent = Agent(Scripted([call("plain_who"), "done"]), tools=[servers])
    assert processes(plain.folder) == []
    assert [one.connected for one in servers.state] == [False]
    assert agent.run("go").steps[0].result == "plain"
    servers.close()
    assert processes(plain.folder) == []


def test_a_server_that_does_not_end_is_killed(plain: Plain) -> None:
    servers = plain.servers(plain.server(fault="stays")).connect()
    servers.close()
    assert processes(plain.folder) == []


def test_servers_that_nobody_holds_any_more_end(plain: Plain) -> None:
    servers = McpServers(plain.server())
    servers.connect()
    gone = weakref.ref(servers)
    del servers
    gc.collect()
    assert gone() is None
    assert none_left(plain.folder)


PROGRAM = """
import os, time
from tukang.mcp import McpServers
servers = McpServers.from_dict({described!r}).connect()
print("connected", flush=True)
{then}
"""

FORKS = """
print(servers.read("note://1", "good")[0].text, flush=True)
if os.fork() == 0:
    print(servers.read("note://1", "good")[0].text, flush=True)
    servers.close()
    os._exit(0)
os.wait()
print(servers.read("note://1", "good")[0].text, flush=True)
"""


def started(plain: Plain, then: str) -> subprocess.Popen[str]:
    """A program that has two servers: a good one, and one that does not end when its input does."""
    several = [plain.server("good"), plain.server("bad", fault="stays")]
    described = {one.name: {"command": one.command, "args": one.args, "env": one.env} for one in several}
    program = PROGRAM.format(described={"mcpServers": described}, then=then)
    child = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "connected\n", child.communicate()[1]
    return child


def test_a_program_that_ends_takes_its_servers_with_it_and_a_forked_one_has_its_own(plain: Plain) -> None:
    child = started(plain, FORKS)
    said, complaints = child.communicate(timeout=60)
    assert (child.returncode, said.splitlines()) == (0, ["what the note says"] * 3)
    assert not [line for line in complaints.splitlines() if "DeprecationWarning" not in line and "os.fork" not in line]
    assert sum(one["method"] == "initialize" for one in plain.heard("good")) == 2
    assert none_left(plain.folder)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills a process whose parent is gone")
def test_a_program_that_is_killed_takes_its_servers_with_it(plain: Plain) -> None:
    child = started(plain, "time.sleep(60)")
    assert len(processes(plain.folder)) == 3  # the program, and its servers
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=30)
    assert none_left(plain.folder)
