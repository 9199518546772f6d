"""The process that is killed: `python -m tests.crash.program` takes tasks, one JSON object a line, and does each in a process
forked for it. It answers with a line for each: the signal that ended the process, and what the process said.

A task is a turn of one session over a scripted model, begun, resumed, or begun anew by another message. The tools write what
they do into a ledger outside: a file, appended to and synced to the disk.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any, Literal

import msgspec

from tests.crash.points import Points, Watched, WatchedModel, put
from tukang import Agent, CallContext, Limits, tool
from tukang.memory.stores.addresses import store_at
from tukang.models.base import ModelRequest
from tukang.models.scripted import Says, ScriptedCall

QUESTION, ANOTHER = "kerjakan semuanya", "halo?"
LEASE = 0.3
"""Seconds after which what a killed process held is free."""


class Task(msgspec.Struct, frozen=True):
    """What a process is to do.

    Args:
        does: `begin` a turn with `QUESTION`, `resume` it, or go on with `ANOTHER` message.
        store: the address.
        session: which one.
        ledger: the file of what was done.
        deadly: the point to die at; None to live.
    """

    does: Literal["begin", "resume", "another"]
    store: str
    session: str
    ledger: str
    deadly: str | None = None


class Came(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of it.

    Args:
        signal: that ended the process; 0 if none did.
        answer: the text; None when there was nothing to resume.
        stopped: why the turn stopped.
        points: all that were met.
        error: what went wrong in the process.
    """

    signal: int = 0
    answer: str | None = None
    stopped: str | None = None
    points: tuple[str, ...] = ()
    error: str | None = None


class Line(msgspec.Struct, frozen=True):
    """A line of the ledger: which tool, with what, for which call, under which key."""

    tool: str
    x: int
    call: str
    key: str


def _asks(*calls: tuple[str, int], text: str = "") -> Says:
    return Says(text=text, calls=tuple(ScriptedCall(name, {"x": x}) for name, x in calls))


SCRIPT = (
    _asks(("baca", 1), ("baca", 2), ("baca", 3), text="Saya baca dulu."),
    _asks(("tulis", 4)),
    _asks(("ulang", 5)),
    _asks(("baca", 6), ("tulis", 7), ("baca", 8), ("ulang", 9)),
    _asks(("tulis", 4)),  # the same again: it must not be done again, whatever became of it
    _asks(("baca", 10), ("bayar", 11), ("baca", 12)),
    _asks(("bayar_ulang", 13)),
)
"""The rounds of the turn: reads together, writes, idempotent writes, a program of all of them, and two that wait."""

WAITING = ("bayar", "bayar_ulang")
"""The tools that need permission."""


def _reply(request: ModelRequest) -> Says:
    last = max(place for place, message in enumerate(request.messages) if message.role == "user")
    if request.messages[last].text == ANOTHER:
        return Says(text="Halo.")
    turn = request.messages[last:]
    said = sum(message.role == "assistant" for message in turn)
    if said < len(SCRIPT):
        return SCRIPT[said]
    read = [result.text for message in turn for result in message.results if result.name == "baca"]
    return Says(text=("Selesai: ", ", ".join(read)))


def _tools(points: Points, ledger: str) -> list[Any]:
    def do(name: str, x: int, context: CallContext) -> str:
        points.meet(f"before {name} has effect")
        line = msgspec.json.encode(Line(name, x, context.call_id, context.idempotency_key))
        file = os.open(ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(file, line + b"\n")
        os.fsync(file)
        os.close(file)
        points.meet(f"after {name} had effect")
        return f"{name} {x}"

    def writing(name: str, effect: Any) -> Any:
        @tool(effect=effect, approval="ask" if name in WAITING else "never", name=name, description=f"{name}.")
        def write(x: int, context: CallContext) -> str:
            return do(name, x, context)

        return write

    @tool(effect="read")
    async def baca(x: int, context: CallContext) -> str:
        """baca."""
        await asyncio.sleep(0)  # the reads of a reply are under way together
        return do("baca", x, context)

    writes = (("tulis", "write"), ("ulang", "idempotent"), ("bayar", "write"), ("bayar_ulang", "idempotent"))
    return [baca, *(writing(name, effect) for name, effect in writes)]


async def _done(task: Task, points: Points) -> Came:
    put(points)
    limits = Limits(rounds=20, seconds=60)

    async def compare(_answer: str, _evidence: Any) -> list[str]:
        points.meet("the answer is compared")
        return []

    model, tools = WatchedModel(_reply, points), _tools(points, task.ledger)
    agent = Agent(model, tools=tools, name="kerja", limits=limits, grounded=compare)
    store = store_at(task.store)
    watched: Any = Watched(store, points)
    chat = agent.session(task.session, store=watched, lease=LEASE)
    if task.does == "resume":
        answer = await chat.aresume()
    else:
        answer = await chat.arun(QUESTION if task.does == "begin" else ANOTHER)
    await store.close()
    if answer is None:
        return Came(points=tuple(points.names))
    return Came(answer=answer.text, stopped=answer.stopped, points=tuple(points.names))


def _child(task: Task, out: int) -> None:
    points = Points(task.deadly)
    try:
        came = asyncio.run(_done(task, points))
    except BaseException as error:
        came = Came(error=f"{type(error).__name__}: {error}")
    with os.fdopen(out, "wb") as pipe:
        pipe.write(msgspec.json.encode(came))


def do(task: Task) -> Came:
    """Do a task in a process of its own."""
    out, end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(out)
        try:
            _child(task, end)
        finally:
            os._exit(0)
    os.close(end)
    with os.fdopen(out, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return Came(signal=os.WTERMSIG(status))
    return msgspec.json.decode(said, type=Came)


def main() -> None:
    """Take tasks until there are none."""
    import psycopg.conninfo  # noqa: F401 - once, not in each process

    import tukang.memory.stored
    import tukang.memory.stores.postgres  # noqa: F401

    for line in sys.stdin.buffer:
        came = do(msgspec.json.decode(line, type=Task))
        sys.stdout.buffer.write(msgspec.json.encode(came) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
