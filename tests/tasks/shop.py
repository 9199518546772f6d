"""An agent with long tools, as all processes of a test have it: what its functions did stands in a ledger, and they wait for
a gate to be opened. Where the ledger is, is said by the environment.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import msgspec

from tests.memory.mortal import said
from tests.tasks.carriers import CARRIERS
from tukang import Agent, CallContext, tool
from tukang.conversation import ToolResult
from tukang.models.base import ModelRequest
from tukang.models.scripted import Says, Scripted, ScriptedCall
from tukang.tools.long import Long

EFFECTS = ("read", "idempotent", "write")


class Line(msgspec.Struct, frozen=True):
    """What a function did: `began` or `ended`, in which process."""

    what: str
    effect: str
    x: int
    key: str
    process: int


def folder() -> Path:
    return Path(os.environ["TASKS_FOLDER"])


def ledger(at: Path) -> list[Line]:
    """All that was done."""
    file = at / "ledger"
    return [msgspec.json.decode(line, type=Line) for line in file.read_bytes().splitlines()] if file.exists() else []


def _write(line: Line) -> None:
    with (folder() / "ledger").open("ab", buffering=0) as file:
        file.write(msgspec.json.encode(line) + b"\n")


def _tool(effect: Any, long: Long) -> Any:
    @tool(effect=effect, long=long, approval="never", name=effect, description=f"Does a long {effect}.")
    def do(x: int, context: CallContext) -> dict[str, int]:
        _write(Line("began", effect, x, context.idempotency_key, os.getpid()))
        context.progress(10, f"step of {x}")
        until = time.monotonic() + 60
        while not (folder() / f"gate{x}").exists() and time.monotonic() < until:
            context.stop_if_cancelled()
            time.sleep(0.01)
        context.progress(90, "nearly there")
        _write(Line("ended", effect, x, context.idempotency_key, os.getpid()))
        return {"done": x}

    return do


def model(request: ModelRequest) -> Says:
    """Asks for what the user says (`read 1`), and ends."""
    if said(request) == 0:
        words = request.messages[-1].text.split()
        return (
            Says(calls=(ScriptedCall(words[0], {"x": int(words[1])}),)) if words[0] in EFFECTS else Says(text="woken")
        )
    result = request.messages[-1].parts[0]
    assert isinstance(result, ToolResult)
    return Says(text="".join(part.text for part in result.content if hasattr(part, "text")))


def made() -> Agent:
    """The agent, with the backend that the environment names."""
    carrier = next(one for one in CARRIERS if one.name == os.environ["TASKS_CARRIER"])
    tools = [_tool(effect, Long(wake=True)) for effect in EFFECTS]
    return Agent(Scripted(model), tools=tools, name="gudang", tasks=carrier.backend(os.environ["TASKS_STORE"]))
