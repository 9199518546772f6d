"""`tukang mcp` over standard input and output: a program of its own, at the other end of the official client."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.mcp.shop import Asks

ROOT = Path(__file__).parents[2]
SERVE = ["-m", "tukang", "mcp", "--quiet", "tests.mcp.served:agent"]


def parameters(*more: str) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=[*SERVE, *more], cwd=ROOT, env=dict(os.environ))


def test_the_official_client_at_the_other_end() -> None:
    """Also what a function prints does not get into the protocol."""
    asks = Asks("yes")

    async def go() -> None:
        serving = stdio_client(parameters())
        async with Client(serving, elicitation_callback=asks.callback) as connected:
            assert "tanya_toko" in {tool.name for tool in (await connected.list_tools()).tools}
            assert (await connected.call_tool("steps", {})).structured_content == {"result": [1, 2, 3]}
            assert (await connected.call_tool("order", {"code": "A", "amount": 2})).structured_content == {"number": 1}
            said = await connected.call_tool("tanya_toko", {"message": "hai"})
            assert said.structured_content["text"] == "halo"

    asyncio.run(go())
    assert len(asks.asked) == 1


def _message(**fields: Any) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", **fields}) + b"\n"


HELLO = _message(
    id=0,
    method="initialize",
    params={"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
) + _message(method="notifications/initialized")


def started(*more: str, serve: Sequence[str] = SERVE) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, *serve, *more],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(HELLO)
    process.stdin.flush()
    assert msgspec.json.decode(process.stdout.readline())["result"]["protocolVersion"] == "2025-11-25"
    return process


def test_ctrl_c_ends_it_while_it_waits_for_a_line_and_a_call_runs() -> None:
    process = started("--no-ask")
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"this is no JSON\n")  # a line that is no message costs nothing else
        process.stdin.write(_message(id=1, method="tools/call", params={"name": "hold", "arguments": {}}))
        process.stdin.write(_message(id=2, method="tools/call", params={"name": "stock", "arguments": {"code": "A"}}))
        process.stdin.flush()
        assert msgspec.json.decode(process.stdout.readline())["id"] == 2, "the first one holds nobody up"
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    finally:
        _ended(process)


@pytest.mark.long  # a program of its own, for what the two tests above show beside other things
def test_it_ends_with_its_client() -> None:
    process = started("--no-ask")
    try:
        out, _ = process.communicate(b"this is no JSON\n" + _message(id=7, method="ping"), timeout=30)
        lines = [msgspec.json.decode(line) for line in out.splitlines()]
        assert [line.get("id") for line in lines][-1] == 7, "a line that is no message costs nothing else"
        assert process.returncode == 0
    finally:
        _ended(process)


@pytest.mark.long  # the same is shown within the process in tests/memory/test_keyed; here the process is killed
def test_a_call_whose_server_was_killed_is_not_made_again(tmp_path: Path) -> None:
    written = tmp_path / "written.txt"
    more = ("--keys", str(tmp_path / "calls.db"), "--no-ask")
    params = {
        "name": "note",
        "arguments": {"text": "once", "path": str(written)},
        "_meta": {"tukang/idempotency_key": "k"},
    }
    said: list[str] = []
    for kills in (True, False):
        process = started(*more, serve=[*SERVE[:-1], "tests.mcp.served:brief"])
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(_message(id=1, method="tools/call", params=params))
            process.stdin.flush()
            if kills:
                while not written.exists():
                    time.sleep(0.01)
                process.kill()
                process.wait()
            else:
                said.append(process.stdout.readline().decode())
        finally:
            _ended(process)
    assert "outcome_unknown" in said[0]
    assert written.read_text() == "once\n"


def _ended(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
