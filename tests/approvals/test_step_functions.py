"""Asking people through a state machine that waits for a task token: moto interprets it, and who has the token decides."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import msgspec
import pytest

from tests.approvals.flow import Flow, until
from tests.approvals.test_channels import said
from tests.memory.mortal import World, steps
from tests.moto_server import ROLE
from tukang import Agent, ConfigurationError, Limits, tool
from tukang.approvals import elsewhere
from tukang.approvals.channels import NotAcceptedError
from tukang.approvals.elsewhere import Pending
from tukang.approvals.states import Execution, StatesError
from tukang.approvals.step_functions import REFUSED, StepFunctions, name_of, verdict_of
from tukang.errors import ToolWarning
from tukang.loop import events
from tukang.memory.decisions import Question
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import WaitError
from tukang.models.scripted import Scripted, call
from tukang.runtime.people import Approve, Edit, Refuse


def test_a_person_with_the_token_decides_and_the_turn_goes_on(flow: Flow, store: Store) -> None:
    async def work() -> None:
        world, channel = World({"write"}), flow.channel(store)
        chat = world.agent(call("write", x=1), "Selesai.").session("budi", store=store)
        assert (await chat.arun("go", approve=channel)).stopped == "waiting"
        assert await channel.collect() == [], "nobody has decided"
        again = await chat.aresume(approve=channel)
        assert again is not None
        assert again.stopped == "waiting"
        token, asked = flow.asked()
        assert (asked["tool"], asked["arguments"], asked["session"], asked["effect"]) == (
            "write",
            {"x": 1},
            "budi",
            "write",
        )
        assert not flow.asked_more(), "who is asked twice is told once"
        await flow.token(token).decide(asked, "edit", by="ibu", arguments={"x": 3})
        news = flow.news()
        one = await flow.channel(store).receive(news)
        assert (one.key, one.question.tool) == (asked["key"], "write")
        with pytest.raises(WaitError):
            await channel.receive(news, "")
        assert await channel.collect() == []
        last = await chat.aresume(approve=channel)
        assert (steps(last), [x for _, x, _ in world.did]) == ([("write", None)], [3])
        assert last is not None
        assert [event.by for event in last.events if isinstance(event, events.CallApproved)] == ["ibu"]
        assert len(flow.executions()) == 1
        with pytest.raises(StatesError):
            await flow.token(token).decide(asked, "approve", by="ibu")

    asyncio.run(work())


@pytest.mark.parametrize(("decision", "came"), [("approve", None), ("refuse", "refused")])
def test_a_turn_that_is_resumed_hears_of_it_without_any_news(
    flow: Flow, sqlite: Store, decision: Any, came: str | None
) -> None:
    async def work() -> None:
        world, channel = World({"write"}), flow.channel(sqlite)
        chat = world.agent(call("write", x=1), "Selesai.").session("budi", store=sqlite)
        await chat.arun("go", approve=channel)
        token, asked = flow.asked()
        await flow.token(token).decide(asked, decision, by="ibu", reason="begitu saja")
        flow.ended()
        last = await chat.aresume(approve=channel)
        assert (steps(last), len(world.did)) == ([("write", came)], came is None)

    asyncio.run(work())


def test_where_no_news_comes_it_is_polled_and_several_calls_are_decided_in_any_order(flow: Flow, sqlite: Store) -> None:
    async def work() -> None:
        world, channel = World({"write"}), flow.channel(sqlite)
        both = [call("write", x=1), call("write", x=2)]
        chat = world.agent(both, "Selesai.").session("budi", store=sqlite)
        await chat.arun("go", approve=channel)
        got = sorted((flow.asked() for _ in both), key=lambda pair: -pair[1]["arguments"]["x"])
        verdicts: tuple[Any, ...] = ("approve", "refuse")
        for (token, asked), decision in zip(got, verdicts, strict=True):
            await flow.token(token).decide(asked, decision, by="ibu")
            assert [one.arguments for one in await collected(channel)] == [asked["arguments"]]
        last = await chat.aresume(approve=channel)
        assert steps(last) == [("write", "refused"), ("write", None)]
        assert [x for _, x, _ in world.did] == [2]

    asyncio.run(work())


async def collected(channel: StepFunctions) -> list[Pending]:
    """What is decided, as soon as anything is."""
    for _ in range(2000):
        if found := await channel.collect():
            return found
        await asyncio.sleep(0.01)
    raise AssertionError("nothing came")


def test_a_task_that_failed_is_a_no(flow: Flow, sqlite: Store) -> None:
    async def work() -> None:
        world, channel = World({"write"}), flow.channel(sqlite)
        chat = world.agent(call("write", x=1), "Selesai.").session("budi", store=sqlite)
        await chat.arun("go", approve=channel)
        flow.sfn.send_task_failure(taskToken=flow.asked()[0], error=REFUSED)
        await channel.receive(flow.news())
        assert (steps(await chat.aresume()), world.did) == ([("write", "refused")], [])

    asyncio.run(work())


@pytest.mark.parametrize(
    ("error", "cause", "reason"),
    [(REFUSED, "terlalu mahal", "terlalu mahal"), ("Lambda.Unknown", "kunci=abcdef", "ended without a decision")],
)
def test_a_machine_that_fails_says_no_and_why_only_where_somebody_refused(
    flow: Flow, sqlite: Store, error: str, cause: str, reason: str
) -> None:
    step = {"Type": "Fail", "Error": error, "Cause": cause}
    machine = msgspec.json.encode({"StartAt": "No", "States": {"No": step}}).decode()
    flow.arn = flow.sfn.create_state_machine(name="tidak", definition=machine, roleArn=ROLE)["stateMachineArn"]

    async def work() -> None:
        world, channel = World({"write"}), flow.channel(sqlite)
        chat = world.agent(call("write", x=1), "Selesai.").session("budi", store=sqlite)
        await chat.arun("go", approve=channel)
        flow.ended()
        last = await _resumed(chat, channel)
        assert last is not None
        assert (steps(last), world.did) == ([("write", "refused")], [])
        assert reason in last.steps[0].result
        assert "abcdef" not in last.steps[0].result, "what an accident says is not the model's business"

    asyncio.run(work())


@pytest.mark.parametrize(
    "forge",
    [
        lambda _: b'"approve"',
        lambda _: b"[]",
        lambda asked: said({**asked, "digest": "else"}, "approve"),
        lambda asked: said({**asked, "call": "else"}, "approve"),
        lambda asked: said({**asked, "turn": "else"}, "approve"),
        lambda asked: said(asked, "perhaps"),
        lambda asked: said(asked, "edit"),
        lambda asked: said(asked, "approve", also="this"),
        lambda asked: said(asked, "edit", arguments={"x": "sk-abcdefghijklmnop1234"}),
    ],
)
def test_an_output_that_is_no_decision_about_this_call_is_a_no(flow: Flow, sqlite: Store, forge: Any) -> None:
    async def work() -> None:
        world, channel = World({"write"}), flow.channel(sqlite)
        chat = world.agent(call("write", x=1), "Selesai.").session("budi", store=sqlite)
        await chat.arun("go", approve=channel)
        token, asked = flow.asked()
        flow.sfn.send_task_success(taskToken=token, output=forge(asked).decode())
        assert len(await collected(channel)) == 1
        assert (steps(await chat.aresume(approve=channel)), world.did) == ([("write", "refused")], [])

    asyncio.run(work())


def test_news_that_is_none_changes_nothing(flow: Flow, sqlite: Store) -> None:
    async def work() -> None:
        world, channel = World({"write"}), flow.channel(sqlite)
        chat = world.agent(call("write", x=1), "Selesai.").session("budi", store=sqlite)
        await chat.arun("go", approve=channel)
        flow.asked()
        own = flow.executions()[0]["executionArn"]
        other = flow.sfn.create_state_machine(name="lain", definition=PASSES, roleArn=ROLE)["stateMachineArn"]
        theirs = flow.sfn.start_execution(stateMachineArn=other, name=own.rpartition(":")[2], input="{}")[
            "executionArn"
        ]
        stranger = flow.sfn.start_execution(stateMachineArn=flow.arn, name="lain", input='{"turn": "t"}')[
            "executionArn"
        ]
        flow.sfn.stop_execution(executionArn=stranger)
        named = [msgspec.json.encode({"executionArn": arn}) for arn in (own, theirs, stranger, own + "x", "x", 1)]
        for body in (b"", b"[]", b"\xff", b"{}", b'{"detail": 1}', *named):
            with pytest.raises(NotAcceptedError):
                await channel.receive(body)
        (one,) = await elsewhere.pending(sqlite)
        claimed = said({"turn": one.turn, "call": one.question.call, "digest": one.question.digest}, "approve")
        with pytest.raises(NotAcceptedError):
            await channel.receive(claimed, "anything")
        waiting = await chat.aresume()
        assert waiting is not None
        assert (waiting.stopped, world.did) == ("waiting", [])

    asyncio.run(work())


PASSES = '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}'


def test_who_takes_the_name_beforehand_to_ask_about_something_else_gets_a_no(flow: Flow, sqlite: Store) -> None:
    async def work() -> None:
        world, channel = World({"write"}), flow.channel(sqlite)
        chat = world.agent(call("write", x=1_000_000), "Selesai.").session("budi", store=sqlite)
        await chat.arun("go")
        (one,) = await elsewhere.pending(sqlite)
        harmless = {"turn": one.turn, "call": one.question.call, "digest": one.question.digest, "arguments": {"x": 1}}
        text = msgspec.json.encode({**harmless, "tool": "write"}).decode()
        flow.sfn.start_execution(stateMachineArn=flow.arn, name=name_of(one), input=text)
        assert (await _resumed(chat, channel)).stopped == "waiting"
        token, asked = flow.asked()
        await flow.token(token).decide(asked, "approve", by="ibu")
        flow.ended()
        assert (steps(await _resumed(chat, channel)), world.did) == ([("write", "refused")], [])

    asyncio.run(work())


async def _resumed(chat: Any, channel: StepFunctions) -> Any:
    return await chat.aresume(approve=channel)


def test_a_decision_that_comes_too_late_is_none(flow: Flow, sqlite: Store) -> None:
    async def work() -> None:
        world, channel = World({"write"}), flow.channel(sqlite)
        agent = world.agent(call("write", x=1), "Selesai.", limits=Limits(deciding=1))
        chat = agent.session("budi", store=sqlite)
        await chat.arun("go", approve=channel)
        token, asked = flow.asked()
        (one,) = await elsewhere.pending(sqlite, open_only=False)
        until(lambda: not one.open(time.time()))
        assert await channel.collect() == []
        await flow.token(token).decide(asked, "approve", by="ibu")
        with pytest.raises(WaitError):
            await channel.receive(flow.news())
        assert (steps(await chat.aresume(approve=channel)), world.did) == ([("write", "refused")], [])

    asyncio.run(work())


def test_what_was_decided_elsewhere_is_asked_about_no_longer(flow: Flow, sqlite: Store) -> None:
    async def work() -> None:
        world, channel = World({"write"}), flow.channel(sqlite)
        tokens: list[str] = []
        for session in ("budi", "ani", "siti"):
            chat = world.agent(call("write", x=1), "Selesai.").session(session, store=sqlite)
            await chat.arun("go", approve=channel)
            tokens.append(flow.asked()[0])
        flow.sfn.start_execution(stateMachineArn=flow.arn, name="lain", input="{}")
        mine = flow.sfn.start_execution(stateMachineArn=flow.arn, name="tukang-x", input='{"turn": "t"}')[
            "executionArn"
        ]
        assert await channel.withdraw() == []
        (one,) = await elsewhere.pending(sqlite, session="budi")
        await elsewhere.approve(sqlite, one, by="ani")
        (over,) = await elsewhere.pending(sqlite, session="siti")
        siti = world.agent("Baik.").session("siti", store=sqlite)
        assert (await siti.arun("tidak jadi")).text == "Baik."
        assert await elsewhere.pending(sqlite, session="siti") == [], "its turn has ended"
        assert {stopped.key for stopped in await channel.withdraw()} == {one.key, over.key}
        for token in (tokens[0], tokens[2]):  # moto stops a task that waits when it goes on
            flow.sfn.send_task_success(taskToken=token, output="{}")
        until(lambda: {flow.status(name_of(one)), flow.status(name_of(over))} == {"ABORTED"})
        assert flow.sfn.describe_execution(executionArn=mine)["status"] == "RUNNING", "it is another store's"
        last = await world.agent(call("write", x=1), "Selesai.").session("budi", store=sqlite).aresume(approve=channel)
        assert (steps(last), len(world.did)) == ([("write", None)], 1)

    asyncio.run(work())


def test_who_cannot_be_told_is_told_again_when_the_turn_is_resumed(
    flow: Flow, sqlite: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        world = World({"write"})
        chat = world.agent(call("write", x=1), "Selesai.").session("budi", store=sqlite)
        nowhere = StepFunctions(flow.arn, sqlite, base_url="http://127.0.0.1:9", tries=2)
        assert (await chat.arun("go", approve=nowhere)).stopped == "waiting"
        assert "nobody could be told about 'write'" in caplog.text
        gone = StepFunctions(flow.arn + "x", sqlite, base_url=flow.amazon.url)
        assert (await _resumed(chat, gone)).stopped == "waiting"
        assert (await _resumed(chat, flow.channel(sqlite))).stopped == "waiting"
        assert flow.asked()[1]["arguments"] == {"x": 1}
        with pytest.raises(StatesError):
            await nowhere.collect()
        assert world.did == []

    sleep = asyncio.sleep
    monkeypatch.setattr("tukang.approvals.states.asyncio.sleep", lambda _: sleep(0))
    asyncio.run(work())


def test_outside_the_store_nobody_is_told_and_nothing_runs(
    flow: Flow, sqlite: Store, caplog: pytest.LogCaptureFixture
) -> None:
    world = World({"write"})
    answer = world.agent(call("write", x=1), "Selesai.").run("go", approve=flow.channel(sqlite))
    assert (steps(answer), world.did, flow.executions()) == ([("write", "refused")], [], [])
    assert "does not wait in the store of this channel" in caplog.text


def test_a_secret_in_arguments_does_not_leave_the_program(flow: Flow, sqlite: Store) -> None:
    @tool(effect="write")
    def simpan(kunci: str) -> str:
        """Simpan."""
        return f"{kunci} disimpan"

    async def work() -> None:
        agent = Agent(Scripted([call("simpan", kunci="sk-abcdefghijklmnop1234"), "Selesai."]), tools=[simpan])
        chat, channel = agent.session("budi", store=sqlite), flow.channel(sqlite)
        await chat.arun("go", approve=channel)
        token, asked = flow.asked()
        assert "sk-abc" not in str(asked)
        await flow.token(token).decide(asked, "approve", by="ibu")
        await channel.receive(flow.news())
        assert steps(await chat.aresume()) == [("simpan", "not_run")], "what was not kept cannot run from the store"

    asyncio.run(work())


def test_what_an_execution_has_decided() -> None:
    one = Pending("k", "s", "t", Question("t.1.1", "write", '{"x":1}', "d", "write"), 0.0)
    asked = msgspec.json.encode(
        {
            **{"turn": "t", "call": "t.1.1", "digest": "d", "key": "k", "tool": "write", "effect": "write"},
            **{"arguments": {"x": 1}, "why": "", "edited": False, "session": "another name", "agent": "a"},
        }
    ).decode()
    yes = said({"turn": "t", "call": "t.1.1", "digest": "d"}, "approve").decode()
    assert verdict_of(Execution("SUCCEEDED", asked, yes), one) == Approve("ibu")
    with_other = said({"turn": "t", "call": "t.1.1", "digest": "d"}, "edit", arguments={"x": 2}).decode()
    assert verdict_of(Execution("SUCCEEDED", asked, with_other), one) == Edit({"x": 2}, "ibu")
    for open_ in ("RUNNING", "PENDING_REDRIVE"):
        assert verdict_of(Execution(open_, asked, yes), one) is None
    with pytest.warns(ToolWarning, match="DREAMING"):
        assert verdict_of(Execution("DREAMING", asked, yes), one) is None
    forged = [asked.replace('{"x":1}', '{"x":true}'), asked.replace('"x":1', '"x":1,"x":2'), asked[:-1], "[]", ""]
    noes = [Execution(status, asked, yes) for status in ("FAILED", "TIMED_OUT", "ABORTED")]
    noes += [Execution("SUCCEEDED", text, yes) for text in forged] + [Execution("SUCCEEDED", asked, None)]
    assert all(isinstance(verdict_of(execution, one), Refuse) for execution in noes)


def test_only_a_state_machine_can_be_named(sqlite: Store) -> None:
    for arn in (
        "izin",
        "arn:aws:states:x:1:stateMachine:izin",
        "arn:aws:lambda:ap-southeast-3:123456789012:function:izin",
    ):
        with pytest.raises(ConfigurationError, match="ARN"):
            StepFunctions(arn, sqlite)


def test_of_all_who_bring_a_decision_at_once_one_is_heard(flow: Flow, store: Store) -> None:
    async def work() -> None:
        world, channel = World({"write"}), flow.channel(store)
        chat = world.agent(call("write", x=1), "Selesai.").session("budi", store=store)
        await chat.arun("go", approve=channel)
        token, asked = flow.asked()
        (one,) = await elsewhere.pending(store)
        await flow.token(token).decide(asked, "approve", by="ibu")
        news = flow.news()
        tries = [flow.channel(store).receive(news) for _ in range(8)]
        came = await asyncio.gather(
            *tries, channel.collect(), elsewhere.refuse(store, one, by="ani"), return_exceptions=True
        )
        assert sum(isinstance(result, WaitError) for result in came) >= 8
        last = await chat.aresume(approve=channel)
        assert last is not None
        refused = last.steps[0].fault is not None
        assert len(world.did) == (0 if refused else 1)
        decided = [event.by for event in last.events if isinstance(event, events.CallApproved | events.CallRefused)]
        assert decided == ["ani" if refused else "ibu"]

    asyncio.run(work())
