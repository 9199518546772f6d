"""The agent that the workers of these tests run: it reads, writes and answers, and what it wrote stands in a ledger outside.

`LEDGER` names the file; a line for each write, appended and synced to the disk. `PACE` is how many seconds each step takes.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import msgspec

from tukang import Agent, CallContext, Limits, tool
from tukang.models.base import ModelRequest
from tukang.models.scripted import Says, Scripted, ScriptedCall

PACE = float(os.environ.get("PACE", "0"))


class Line(msgspec.Struct, frozen=True):
    """A line of the ledger: who wrote what, for which call, under which key, in which process."""

    tool: str
    item: str
    call: str
    key: str
    process: int


def _write(name: str, item: str, context: CallContext) -> None:
    line = Line(name, item, context.call_id, context.idempotency_key, os.getpid())
    file = os.open(os.environ["LEDGER"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, msgspec.json.encode(line) + b"\n")
    os.fsync(file)
    os.close(file)


def ledger(path: Path) -> list[Line]:
    """What was written."""
    lines = path.read_bytes().splitlines() if path.exists() else []
    return [msgspec.json.decode(line, type=Line) for line in lines]


@tool(effect="read")
async def harga(item: str) -> str:
    """Harga."""
    await asyncio.sleep(PACE)
    return f"{item}: 1000"


@tool(effect="write", approval="never")
async def pesan(item: str, context: CallContext) -> str:
    """Pesan."""
    await asyncio.sleep(PACE / 2)
    _write("pesan", item, context)
    await asyncio.sleep(PACE / 2)
    return f"{item} dipesan"


@tool(effect="idempotent", approval="never")
async def catat(item: str, context: CallContext) -> str:
    """Catat."""
    await asyncio.sleep(PACE / 2)
    _write("catat", item, context)
    await asyncio.sleep(PACE / 2)
    return f"{item} dicatat"


def _reply(request: ModelRequest) -> Says:
    last = max(place for place, message in enumerate(request.messages) if message.role == "user")
    item, turn = request.messages[last].text, request.messages[last:]
    calls = (("harga",), ("pesan",), ("harga", "catat"))
    said = sum(message.role == "assistant" for message in turn)
    if said < len(calls):
        return Says(calls=tuple(ScriptedCall(name, {"item": item}) for name in calls[said]), delay=PACE)
    known = "tidak diketahui" if any("outcome_unknown" in result.text for m in turn for result in m.results) else "jadi"
    return Says(text=f"{item}: {known}", delay=PACE)


agent = Agent(Scripted(_reply), tools=[harga, pesan, catat], name="toko", limits=Limits(seconds=600))
