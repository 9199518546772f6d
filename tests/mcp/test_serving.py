"""What is served, without a transport: whose a conversation is, what is remembered, who waits for whom."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tukang import tool
from tukang.hosting import toolbox
from tukang.loop.permissions import Principal
from tukang.mcp.serving import Asked, Caller, Service
from tukang.memory.keyed import MemoryLog
from tukang.runtime.people import Approval


def asked_by(name: str | None, conversation: str) -> Asked:
    return Asked("x", caller=Caller(Principal(name) if name else None), conversation=conversation)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("budi", "a"), (None, "budi/a")),
        (("budi", "a"), (None, "/budi/a")),
        (("budi/a", "b"), ("budi", "a/b")),
        (("budi%2Fa", "b"), ("budi/a", "b")),
        (("arn:aws:sts::1:assumed-role/G/x", "c"), ("arn:aws:sts::1:assumed-role/G", "x/c")),
    ],
)
def test_nobody_names_a_conversation_of_somebody_else_s(one: Any, other: Any) -> None:
    assert asked_by(*one).session != asked_by(*other).session


def test_a_conversation_has_a_name_that_can_be_read() -> None:
    assert asked_by("budi", "s-7").session == "budi/s-7"
    assert asked_by(None, "s-7").session == "s-7"


def test_a_call_that_is_forgotten_while_it_runs_is_not_made_again() -> None:
    did: list[str] = []
    go_on = asyncio.Event()

    @tool(effect="write", approval="never")
    async def kirim(kode: str) -> str:
        """Kirim."""
        did.append(kode)
        if kode == "slow":
            await go_on.wait()
        return kode

    async def go() -> None:
        service = Service(toolbox([kirim]), ask=False, log=MemoryLog(most=2))
        slow = asyncio.create_task(service.call(Asked("kirim", {"kode": "slow"}, key="slow")))
        for number in range(4):
            await service.call(Asked("kirim", {"kode": str(number)}, key=str(number)))
        go_on.set()
        assert (await slow)["content"][0]["text"] == "slow"

    asyncio.run(go())
    assert sorted(did) == ["0", "1", "2", "3", "slow"]


def test_who_waits_for_somebody_s_word_holds_nobody_up() -> None:
    """A client that never answers would else have all calls of a tool wait that runs one at a time."""
    running, most = 0, 0
    asking, answer = asyncio.Event(), asyncio.Event()

    @tool(effect="write", parallel=1)
    async def kirim(kode: str) -> str:  # noqa: ARG001
        """Kirim."""
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return "ok"

    async def slow(approval: Approval) -> Any:
        asking.set()
        await answer.wait()
        return approval.approve()

    async def quick(approval: Approval) -> Any:
        return approval.approve()

    async def go() -> None:
        service = Service(toolbox([kirim]), ask=False)
        first = asyncio.create_task(service.call(Asked("kirim", {"kode": "A"}), slow))
        await asking.wait()
        forgotten = asyncio.create_task(service.call(Asked("kirim", {"kode": "B"}), slow))
        others = [service.call(Asked("kirim", {"kode": str(number)}), quick) for number in range(5)]
        assert ["isError" not in result for result in await asyncio.gather(*others)] == [True] * 5
        forgotten.cancel()
        await asyncio.wait([forgotten])
        answer.set()
        assert "isError" not in await first
        assert "isError" not in await service.call(Asked("kirim", {"kode": "C"}), quick)

    asyncio.run(go())
    assert most == 1
