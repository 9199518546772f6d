"""Which calls need permission, who decides, and what becomes of them: in one process, without a store."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from tukang import Agent, Answer, CallContext, Limits, tool
from tukang.conversation import validity
from tukang.loop import events
from tukang.models.scripted import Scripted, call
from tukang.runtime.people import Approval, Approve, Edit, Refuse
from tukang.tools.policy import Policy


class Shop:
    """Tools that say what they did."""

    def __init__(self) -> None:
        self.did: list[tuple[str, int]] = []

    def tool(self, name: str, **policy: Any) -> Any:
        @tool(name=name, description=f"{name}.", **policy)
        def do(x: int) -> str:
            self.did.append((name, x))
            return f"{name} {x} done"

        return do


def ran(tools: list[Any], *script: Any, limits: Limits | None = None, **options: Any) -> Answer[Any]:
    answer: Answer[Any] = Agent(Scripted([*script, "Selesai."]), tools=tools, limits=limits).run("go", **options)
    assert validity(answer.messages) == []
    return answer


def faults(answer: Answer[Any]) -> list[str | None]:
    return [step.fault.kind if step.fault else None for step in answer.steps]


def of_kind(answer: Answer[Any], kind: type[Any]) -> list[Any]:
    return [event for event in answer.events if isinstance(event, kind)]


# ── which calls ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("policy", "asks"),
    [
        ({}, False),
        ({"effect": "read"}, False),
        ({"effect": "write"}, True),
        ({"effect": "idempotent"}, True),
        ({"effect": "write", "approval": None}, True),
        ({"effect": "write", "approval": "never"}, False),
        ({"effect": "read", "approval": "ask"}, True),
        ({"approval": "ask"}, True),
        ({"approval": lambda arguments, _: arguments["x"] > 5}, False),
        ({"approval": lambda arguments, _: arguments["x"] <= 5}, True),
        ({"effect": "write", "approval": lambda *_: False}, False),
        ({"effect": "write", "approval": lambda *_: "because"}, True),
    ],
)
def test_a_write_asks_unless_its_author_says_otherwise_and_others_only_then(policy: Any, asks: bool) -> None:
    shop = Shop()
    answer = ran([shop.tool("do", **policy)], call("do", x=1))
    (checked,) = of_kind(answer, events.CallChecked)
    assert checked.needs_approval == asks
    assert faults(answer) == (["refused"] if asks else [None])
    assert shop.did == ([] if asks else [("do", 1)])


def test_the_policy_stands_in_the_journal_as_data() -> None:
    shop = Shop()
    tools = [shop.tool("a", effect="write"), shop.tool("b", approval=lambda *_: True), shop.tool("c", approval="never")]
    answer = ran(tools)
    policies: Mapping[str, Policy] = of_kind(answer, events.TurnStarted)[0].policies
    assert {name: (one.approval, one.approving) for name, one in policies.items()} == {
        "a": (None, "ask"),
        "b": ("function", "function"),
        "c": ("never", "never"),
    }


def test_a_function_gets_the_checked_arguments_and_the_context_and_may_take_its_time() -> None:
    told: list[Any] = []
    slow = threading.Event()

    async def price(arguments: Mapping[str, Any], context: CallContext[str]) -> bool | str:
        await asyncio.sleep(0)
        told.append((dict(arguments), context.context, context.session))
        return f"x is {arguments['x']}" if arguments["x"] > 5 else False

    def blocks(_: Mapping[str, Any], __: CallContext[Any]) -> bool:
        assert slow.wait(10), "the loop was held up"
        return False

    async def ticks() -> str:
        """Another call of the same reply, on the event loop."""
        slow.set()
        return "tick"

    shop = Shop()
    tools = [shop.tool("price", approval=price), shop.tool("slow", approval=blocks), tool(ticks, effect="read")]
    asked = [call("price", x=1), call("ticks"), call("price", x="9"), call("slow", x=1)]
    answer = ran(tools, [asked[0], asked[1]], [asked[2]], asked[3], context="budi")
    assert told == [({"x": 1}, "budi", None), ({"x": 9}, "budi", None)]
    assert faults(answer) == [None, None, "refused", None]
    assert [event.why for event in of_kind(answer, events.CallChecked) if event.needs_approval] == ["x is 9"]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (lambda *_: 1 / 0, "its approval function failed: ZeroDivisionError"),
        (lambda *_: None, "returned NoneType"),
        (lambda *_: 0, "returned int"),
    ],
)
def test_a_function_that_does_not_say_clearly_asks(said: Any, why: str) -> None:
    shop = Shop()
    answer = ran([shop.tool("do", approval=said)], call("do", x=1))
    (checked,) = of_kind(answer, events.CallChecked)
    assert checked.needs_approval
    assert why in checked.why
    assert shop.did == []


def test_a_function_that_hangs_holds_nobody_up_beyond_the_turns_time() -> None:
    never = threading.Event()
    shop = Shop()
    tools = [shop.tool("do", approval=lambda *_: never.wait(30))]
    answer = ran(tools, call("do", x=1), limits=Limits(seconds=0.4, reserve=0.1))
    never.set()
    assert answer.stopped == "seconds"
    assert faults(answer) == ["not_run"]
    assert shop.did == []


# ── who decides ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_without_anybody_to_ask_it_is_refused_at_once_and_the_model_is_told() -> None:
    shop = Shop()
    tools = [shop.tool("write", effect="write"), shop.tool("read", effect="read")]
    answer = ran(tools, [call("write", x=1), call("read", x=2)])
    assert answer.stopped == "answer"
    assert faults(answer) == ["refused", None]
    assert "there is nobody to ask" in answer.steps[0].result
    assert shop.did == [("read", 2)]


def test_a_function_decides_for_an_agent_or_for_one_turn() -> None:
    shop = Shop()
    agent = Agent(
        Scripted(lambda request: "Selesai." if request.messages[-1].role == "tool" else call("write", x=1)),
        tools=[shop.tool("write", effect="write")],
        approve=lambda _: False,
    )
    assert faults(agent.run("go")) == ["refused"]
    assert faults(agent.run("go", approve=lambda _: True)) == [None]
    chat = agent.session()
    assert faults(chat.run("go")) == ["refused"]
    assert faults(chat.run("go", approve=lambda _: True)) == [None]


def test_what_is_asked_says_everything_and_who_decided_stands_in_the_journal() -> None:
    shop = Shop()
    seen: list[Approval] = []

    async def decide(asked: Approval) -> Approve:
        seen.append(asked)
        return asked.approve("cheap enough", by="siti")

    tools = [shop.tool("write", effect="write", approval=lambda *_: "it costs 10")]
    answer = ran(tools, call("write", x=1), approve=decide)
    (asked,) = seen
    (checked,) = of_kind(answer, events.CallChecked)
    assert (asked.tool, asked.arguments, asked.effect, asked.why) == ("write", {"x": 1}, "write", "it costs 10")
    assert (asked.call_id, asked.digest, asked.turn) == (checked.call, checked.digest, answer.turn)
    (approved,) = of_kind(answer, events.CallApproved)
    assert (approved.call, approved.digest) == (checked.call, checked.digest)
    assert (approved.by, approved.reason) == ("siti", "cheap enough")
    assert approved.at > 0
    assert shop.did == [("write", 1)]


def test_a_refusal_tells_the_model_why() -> None:
    shop = Shop()
    answer = ran(
        [shop.tool("write", effect="write")],
        call("write", x=1),
        approve=lambda asked: asked.refuse("too dear", by="s"),
    )
    assert faults(answer) == ["refused"]
    assert "too dear" in answer.steps[0].result
    (refused,) = of_kind(answer, events.CallRefused)
    assert (refused.by, refused.reason) == ("s", "too dear")


def _raises(_: Approval) -> bool:
    raise ValueError("broken")


@pytest.mark.parametrize(
    ("approver", "reason"),
    [
        (_raises, "could not be made"),
        (lambda _: None, "nobody decided"),
        (lambda _: "yes", "could not be read"),
        (lambda _: 1, "could not be read"),
        (lambda _: Edit([1]), "no JSON object"),  # type: ignore[arg-type]
        (lambda _: Edit({"x": object()}), "no JSON object"),
        (lambda _: Edit({"x": "\ud800"}), "no JSON object"),
        (lambda _: Refuse(), "permission"),
    ],
)
def test_everything_but_a_clear_yes_is_a_no(approver: Any, reason: str) -> None:
    shop = Shop()
    answer = ran([shop.tool("write", effect="write")], call("write", x=1), approve=approver)
    assert faults(answer) == ["refused"]
    assert reason in answer.steps[0].result
    assert shop.did == []


def test_an_edit_runs_what_was_written_and_nothing_else_and_the_model_is_told() -> None:
    shop = Shop()
    asked: list[Mapping[str, Any]] = []

    def decide(one: Approval) -> Edit:
        asked.append(one.arguments)
        return one.edit(x=3)

    answer = ran([shop.tool("write", effect="write")], call("write", x=7), approve=decide)
    assert asked == [{"x": 7}], "who edits has permitted what they wrote"
    assert shop.did == [("write", 3)]
    (step,) = answer.steps
    assert (step.arguments, step.edited) == ('{"x":3}', True)
    before, after = of_kind(answer, events.CallChecked)
    assert before.digest != after.digest
    assert [event.digest for event in of_kind(answer, events.CallApproved)] == [after.digest]
    told = answer.messages[2].results[0].text
    assert "a person changed the arguments" in told
    assert '{"x":3}' in told


def test_an_edit_is_checked_like_any_call() -> None:
    shop = Shop()
    answer = ran([shop.tool("write", effect="write")], call("write", x=7), approve=lambda asked: asked.edit(x="seven"))
    assert faults(answer) == ["invalid_arguments"]
    assert shop.did == []


def test_an_edit_that_is_read_as_something_else_is_asked_about_again_and_not_for_ever() -> None:
    shop = Shop()
    asked: list[Mapping[str, Any]] = []

    def decide(one: Approval) -> Any:
        asked.append(one.arguments)
        return one.edit(x="8") if len(asked) == 1 else one.approve()

    answer = ran([shop.tool("write", effect="write")], call("write", x=7), approve=decide)
    assert asked == [{"x": 7}, {"x": 8}]
    assert (faults(answer), shop.did) == ([None], [("write", 8)])

    def always(one: Approval) -> Edit:
        return one.edit(x=str(one.arguments["x"] + 1))

    answer = ran([shop.tool("write", effect="write")], call("write", x=7), approve=always)
    assert faults(answer) == ["refused"]
    assert "edited 10 times" in answer.steps[0].result


def test_the_policy_is_asked_again_about_an_edit() -> None:
    shop = Shop()
    tools = [shop.tool("write", effect="write", approval=lambda arguments, _: arguments["x"] > 5)]
    answer = ran(tools, call("write", x=9), approve=lambda asked: asked.edit(x=2))
    assert [event.needs_approval for event in of_kind(answer, events.CallChecked)] == [True, False]
    assert of_kind(answer, events.CallApproved) == []
    assert shop.did == [("write", 2)]


def test_several_wait_together_and_are_decided_in_any_order() -> None:
    shop = Shop()
    asked: dict[int, asyncio.Future[Any]] = {}
    all_there = asyncio.Event()

    async def decide(one: Approval) -> Any:
        asked[one.arguments["x"]] = future = asyncio.get_running_loop().create_future()
        if len(asked) == 3:
            all_there.set()
        return await future

    async def work() -> Answer[Any]:
        tools = [shop.tool("write", effect="write")]
        agent = Agent(Scripted([[call("write", x=n) for n in (1, 2, 3)], "Selesai."]), tools=tools)
        turn = asyncio.create_task(agent.arun("go", approve=decide))
        await all_there.wait()
        asked[3].set_result(True)
        asked[1].set_result(Refuse("no"))
        await asyncio.sleep(0.01)
        assert shop.did == [], "what stands before it is not decided"
        asked[2].set_result(Edit({"x": 5}))
        return await turn

    answer = asyncio.run(work())
    assert faults(answer) == ["refused", None, None]
    assert shop.did == [("write", 5), ("write", 3)]


def test_equal_calls_are_asked_about_once() -> None:
    shop = Shop()
    asked: list[Approval] = []

    def decide(one: Approval) -> bool:
        asked.append(one)
        return True

    answer = ran([shop.tool("write", effect="write")], [call("write", x=1)] * 3, call("write", x=1), approve=decide)
    assert len(asked) == 1
    assert [step.reused for step in answer.steps] == [False, True, True, True]
    assert shop.did == [("write", 1)]


def test_what_nobody_decides_in_time_is_refused() -> None:
    shop = Shop()

    async def never(_: Approval) -> bool:
        await asyncio.sleep(3600)
        return True

    answer = ran([shop.tool("write", effect="write")], call("write", x=1), approve=never, limits=Limits(deciding=0.05))
    (refused,) = of_kind(answer, events.CallRefused)
    assert refused.expired
    assert (faults(answer), shop.did) == (["refused"], [])
    assert "in time" in answer.steps[0].result


def test_a_cancel_stops_the_asking_and_runs_nothing() -> None:
    shop = Shop()
    asked, stopped = asyncio.Event(), asyncio.Event()

    async def never(_: Approval) -> bool:
        asked.set()
        try:
            await asyncio.sleep(3600)
        finally:
            stopped.set()
        return True

    async def work() -> Answer[Any]:
        agent = Agent(Scripted([call("write", x=1), "Selesai."]), tools=[shop.tool("write", effect="write")])
        running = agent.start("go", approve=never)
        turn = asyncio.create_task(running.answer())
        await asked.wait()
        running.cancel()
        answer = await turn
        assert stopped.is_set()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return answer

    answer = asyncio.run(work())
    assert answer.stopped == "cancelled"
    assert (faults(answer), shop.did) == (["not_run"], [])


def test_a_function_that_cancels_itself_is_a_no() -> None:
    shop = Shop()

    async def cancels(_: Approval) -> bool:
        raise asyncio.CancelledError

    answer = ran([shop.tool("write", effect="write")], call("write", x=1), approve=cancels)
    assert (faults(answer), shop.did) == (["refused"], [])


def test_time_in_which_somebody_thinks_does_not_count() -> None:
    shop = Shop()

    async def slow(_: Approval) -> bool:
        await asyncio.sleep(0.5)
        return True

    answer = ran(
        [shop.tool("write", effect="write")],
        call("write", x=1),
        approve=slow,
        limits=Limits(seconds=0.4, reserve=0.1),
    )
    assert (answer.stopped, faults(answer)) == ("answer", [None])
