"""Whatever a tool does to itself, the turn has its answer and the session goes on."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from tests.tools import isolated
from tests.tools.test_in_process import is_gone, until, worker
from tukang import Agent, Answer, CallContext, Chat, Limits, tool
from tukang.conversation import validity
from tukang.models.scripted import Scripted, ScriptedCall, call
from tukang.runtime.signals import Progress, Signal

SOON = 0.05
LONG = 120.0


def chat(function: Any, asked: ScriptedCall, limits: Limits | None = None, **policy: Any) -> Chat:
    """A conversation whose first turn calls the function and a healthy one, and whose second calls the healthy one."""
    model = Scripted([[asked, call("add", a=1, b=2)], "first", call("add", a=2, b=2), "second"])
    tools = [tool(**policy)(function), tool(effect="read", isolation="process")(isolated.add)]
    return Agent(model, tools=tools, limits=limits or Limits(seconds=LONG)).session()


def goes_on(conversation: Chat) -> None:
    assert conversation.run("again").text == "second"
    assert validity(conversation.messages) == []


@pytest.mark.parametrize(
    ("function", "arguments", "effect", "kind"),
    [
        (isolated.sleeps, {}, "read", "timed_out"),
        (isolated.holds_the_interpreter, {}, "write", "outcome_unknown"),
        (isolated.segfaults, {}, "read", "tool_failed"),
        (isolated.ends, {}, "write", "outcome_unknown"),
        (isolated.forks_too_often, {"times": 70}, "read", "timed_out"),
    ],
)
def test_a_function_in_a_process(function: Any, arguments: dict[str, Any], effect: str, kind: str) -> None:
    # a time-out that is short, but longer than a look at the processes below
    timeout = 2 if function is isolated.forks_too_often else SOON
    conversation = chat(
        function,
        call(function.__name__, **arguments),
        effect=effect,
        approval="never",
        isolation="process",
        timeout=timeout,
    )
    answer = conversation.run("go")
    assert (answer.text, answer.stopped) == ("first", "answer")
    broken, healthy = answer.steps
    assert broken.fault is not None
    assert broken.fault.kind in (kind, "tool_failed")
    assert healthy.fault is None
    assert healthy.result == "3"
    goes_on(conversation)


def test_a_function_in_a_thread() -> None:
    let_go = threading.Event()

    def hangs() -> None:
        let_go.wait(LONG)

    conversation = chat(hangs, call("hangs"), effect="write", approval="never", timeout=SOON)
    first, second = conversation.run("go").steps
    assert first.fault is not None
    assert first.fault.kind == "outcome_unknown"
    assert second.result == "3"
    goes_on(conversation)
    let_go.set()


def test_a_large_result() -> None:
    conversation = chat(isolated.size, call("size", n=5_000_000), effect="read", isolation="process")
    answer = conversation.run("go")
    assert answer.steps[0].fault is None
    assert answer.steps[0].result.startswith("x" * 1000)
    goes_on(conversation)


async def followed(limits: Limits, *, cancel: bool) -> tuple[Answer, int]:
    """A turn whose one call never ends and tells its process; and that process."""
    process = 0
    hangs = tool(effect="write", approval="never", isolation="process")(isolated.ignores_signals)
    stream = Agent(Scripted([call("ignores_signals"), "forced"]), tools=[hangs], limits=limits).stream("go")
    async for item in stream:
        if isinstance(item, Signal) and isinstance(item.delta, Progress):
            process = int(item.delta.message)
            if cancel:
                stream.cancel()
    return stream.answer, process


@pytest.mark.parametrize(("cancel", "stopped"), [(True, "cancelled"), (False, "seconds")])
def test_the_end_of_a_turn_is_the_end_of_its_process(cancel: bool, stopped: str) -> None:
    worker()  # there is one that can begin at once
    limits = Limits(seconds=LONG if cancel else 2.0, reserve=1.0)
    answer, process = asyncio.run(followed(limits, cancel=cancel))
    assert answer.stopped == stopped
    (step,) = answer.steps
    assert step.fault is not None
    assert step.fault.kind == "outcome_unknown"
    assert until(lambda: is_gone(process))


def test_a_hundred_calls_of_one_reply() -> None:
    asked = [call("sama", n=n) for n in range(100)]
    together = threading.Barrier(100, timeout=LONG)

    @tool(effect="read")
    def sama(n: int, context: CallContext) -> int:
        assert context.deadline is not None
        together.wait()  # passes only when all hundred are here
        return n

    model = Scripted([asked, "done"])
    answer = Agent(model, tools=[sama], limits=Limits(calls=1000, seconds=LONG)).run("go")
    assert [step.result for step in answer.steps] == [str(n) for n in range(100)]
