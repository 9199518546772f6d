"""The rules of the loop, one by one, through the real driver with a scripted model."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from tukang import Agent, CallContext, ConfigurationError, Limits, NothingDone, Settings, assistant, tool, user
from tukang.conversation import Text, Thinking, validity
from tukang.loop import events
from tukang.loop.decide import decide
from tukang.loop.evolve import evolve
from tukang.models.base import CallBegan, TextDelta
from tukang.models.scripted import Fails, Says, Scripted, ScriptedCall, call
from tukang.runtime.signals import Signal


def echo(effect: str = "read", **policy: Any) -> tuple[Any, list[Any]]:
    """A tool that writes down what it was called with."""
    ran: list[Any] = []

    @tool(effect=effect, approval="never", **policy)  # type: ignore[arg-type]
    def echo(x: int = 0) -> dict[str, int]:
        """Echo."""
        ran.append(x)
        return {"x": x, "n": len(ran)}

    return echo, ran


# ── one result for each call, in the order asked ─────────────────────────────────────────────────────────────────────


def test_results_stand_in_the_order_asked_whatever_finishes_first() -> None:
    first_may_end = threading.Event()

    @tool(effect="read")
    def slow() -> str:
        """Slow."""
        assert first_may_end.wait(10)
        return "slow"

    @tool(effect="read")
    def fast() -> str:
        """Fast."""
        first_may_end.set()
        return "fast"

    answer = Agent(Scripted([[call("slow"), call("fast")], "done"]), tools=[slow, fast]).run("go")
    assert [result.text for result in answer.messages[2].results] == ["slow", "fast"]


def test_reads_run_together_and_writes_alone_in_order() -> None:
    together = threading.Barrier(2, timeout=10)
    order: list[str] = []

    @tool(effect="read")
    def read(x: int) -> str:
        """Read."""
        if x < 2:
            together.wait()
        order.append(f"read {x}")
        return "ok"

    @tool(effect="write", approval="never")
    def write(x: int) -> str:
        """Write."""
        order.append(f"write {x}")
        return "ok"

    asked = [call("read", x=0), call("read", x=1), call("write", x=0), call("read", x=2), call("write", x=1)]
    Agent(Scripted([asked, "done"]), tools=[read, write]).run("go")
    assert set(order[:2]) == {"read 0", "read 1"}
    assert order[2:] == ["write 0", "read 2", "write 1"]


def test_one_failing_call_costs_its_siblings_nothing() -> None:
    @tool(effect="read")
    def broken() -> str:
        """Broken."""
        raise ValueError("it broke")

    ok, ran = echo()
    answer = Agent(Scripted([[call("echo", x=1), call("broken"), call("echo", x=2)], "done"]), tools=[broken, ok]).run(
        "go"
    )
    assert sorted(ran) == [1, 2]
    faults = [step.fault.kind if step.fault else None for step in answer.steps]
    assert faults == [None, "tool_failed", None]


@pytest.mark.parametrize("text", ["", "   ", "null", "{}"])
def test_no_arguments_in_any_spelling_are_an_empty_object(text: str) -> None:
    tool_, ran = echo()
    Agent(Scripted([call("echo", text), "done"]), tools=[tool_]).run("go")
    assert ran == [0]


def test_missing_and_repeated_provider_ids_lose_and_merge_nothing() -> None:
    tool_, ran = echo()
    asked = (
        ScriptedCall("echo", {"x": 1}, id="same"),
        ScriptedCall("echo", {"x": 2}, id="same"),
        ScriptedCall("echo", {"x": 3}, id=""),
        ScriptedCall("echo", {"x": 4}),
    )
    again = (ScriptedCall("echo", {"x": 5}, id="same"),)
    answer = Agent(Scripted([Says(calls=asked), Says(calls=again), "done"]), tools=[tool_]).run("go")
    assert sorted(ran) == [1, 2, 3, 4, 5]
    wire_ids = [c.wire_id for message in answer.messages for c in message.calls]
    assert wire_ids == ["same", None, None, None, None]
    assert len({c.id for message in answer.messages for c in message.calls}) == 5


# ── the same call is run once ────────────────────────────────────────────────────────────────────────────────────────


def test_twins_of_one_reply_collapse() -> None:
    tool_, ran = echo("write")
    twins = [call("echo", '{"x": 1}'), call("echo", '{ "x" : 1 }'), call("echo", x=2)]
    answer = Agent(Scripted([twins, "done"]), tools=[tool_]).run("go")
    assert ran == [1, 2]
    assert [step.reused for step in answer.steps] == [False, True, False]
    assert answer.steps[1].result == answer.steps[0].result


def test_a_twin_takes_its_leaders_failure_too() -> None:
    ran: list[int] = []

    @tool(effect="write", approval="never")
    def pay() -> str:
        """Pay."""
        ran.append(1)
        raise RuntimeError("the line broke")

    answer = Agent(Scripted([[call("pay"), call("pay")], call("pay"), "done"]), tools=[pay]).run("go")
    assert ran == [1], "what may have happened is never run again"
    assert [step.fault.kind for step in answer.steps if step.fault] == ["tool_failed"] * 3


def test_a_write_that_did_nothing_may_be_asked_for_again() -> None:
    stock = [0, 5]

    @tool(effect="write", approval="never")
    def order() -> str:
        """Order."""
        if not stock.pop(0):
            raise NothingDone("no stock", hint="try later")
        return "ordered"

    answer = Agent(Scripted([call("order"), call("order"), "done"]), tools=[order]).run("go")
    assert answer.steps[0].fault is not None
    assert answer.steps[0].fault.kind == "nothing_done"
    assert answer.steps[1].result == "ordered"


def test_a_write_makes_earlier_reads_stale() -> None:
    read, reads = echo("read")
    writes: list[int] = []

    @tool(effect="write", approval="never")
    def write(x: int) -> str:
        """Write."""
        writes.append(x)
        return "ok"

    script = [call("echo"), call("echo"), call("write", x=1), call("echo"), call("write", x=1), "done"]
    answer = Agent(Scripted(script), tools=[read, write]).run("go")
    assert len(reads) == 2
    assert writes == [1]
    assert [step.reused for step in answer.steps] == [False, True, False, False, True]


def test_reads_around_a_write_in_one_reply_both_run() -> None:
    read, reads = echo("read")

    @tool(effect="write", approval="never")
    def write() -> str:
        """Write."""
        return "ok"

    Agent(Scripted([[call("echo"), call("write"), call("echo")], "done"]), tools=[read, write]).run("go")
    assert len(reads) == 2


def test_a_repeatable_tool_runs_every_time() -> None:
    clock, ran = echo(repeatable=True)
    Agent(Scripted([[call("echo"), call("echo")], call("echo"), "done"]), tools=[clock]).run("go")
    assert len(ran) == 3


def test_an_idempotent_call_that_is_tried_again_keeps_its_key() -> None:
    keys: list[str] = []

    @tool(effect="idempotent", approval="never")
    def pay(context: CallContext) -> str:
        """Pay."""
        keys.append(context.idempotency_key)
        if len(keys) == 1:
            raise RuntimeError("the line broke")
        return "paid"

    answer = Agent(Scripted([call("pay"), call("pay"), "done"]), tools=[pay]).run("go")
    assert keys == [answer.steps[0].call_id] * 2
    assert answer.steps[1].result == "paid"


# ── terminal tools, tool_choice ──────────────────────────────────────────────────────────────────────────────────────


def test_a_terminal_tools_result_is_the_answer_without_another_round() -> None:
    @tool(effect="read", terminal=True)
    def say(text: str) -> str:
        """Say."""
        return text

    sibling, ran = echo()
    model = Scripted([[call("say", text="first"), call("echo"), call("say", text="second")]])
    answer = Agent(model, tools=[say, sibling]).run("go")
    assert (answer.text, answer.stopped) == ("first", "terminal")
    assert ran == [0]
    assert answer.messages[-1] == assistant("first")
    assert validity(answer.messages) == []


def test_a_terminal_tool_that_fails_does_not_end_the_turn() -> None:
    @tool(effect="read", terminal=True)
    def say(text: str) -> str:
        """Say."""
        if text == "bad":
            raise ValueError("bad text")
        return text

    answer = Agent(Scripted([call("say", text="bad"), call("say", text="good")]), tools=[say]).run("go")
    assert (answer.text, answer.stopped) == ("good", "terminal")


def test_a_forced_tool_choice_holds_until_one_valid_call() -> None:
    tool_, _ = echo()
    model = Scripted([call("echo", '{"y": 1}'), call("echo", x=1), "done"])
    answer = Agent(model, tools=[tool_], tool_choice="echo").run("go")
    assert [request.tool_choice for request in model.requests] == ["echo", "echo", "auto"]
    assert answer.stopped == "answer"


def test_a_model_that_ignores_required_is_told_then_ended() -> None:
    tool_, _ = echo()
    model = Scripted(lambda request: "forced" if request.tools_off else "no")
    answer = Agent(model, tools=[tool_], tool_choice="required", limits=Limits(faults=2)).run("go")
    assert (answer.text, answer.stopped) == ("forced", "faults")
    assert "A tool call is required" in (model.requests[1].note or "")
    assert len(model.requests) == 4


def test_tool_choice_none_runs_nothing() -> None:
    tool_, ran = echo()
    answer = Agent(Scripted([[Text("words"), call("echo")]]), tools=[tool_], tool_choice="none").run("go")
    assert (answer.text, ran, answer.steps) == ("words", [], ())


def test_a_tool_choice_that_names_no_tool_is_refused_at_construction() -> None:
    tool_, _ = echo()
    with pytest.raises(ConfigurationError, match=r"'ecko'.*this agent has echo"):
        Agent(Scripted([]), tools=[tool_], tool_choice="ecko")
    with pytest.raises(ConfigurationError, match="no tools at all"):
        Agent(Scripted([]), tool_choice="required")


def test_single_shot_is_one_round() -> None:
    tool_, ran = echo()
    model = Scripted([call("echo", x=1), "answer"])
    answer = Agent(model, tools=[tool_], limits=Limits(rounds=1)).run("go")
    assert (answer.text, answer.stopped, ran) == ("answer", "rounds", [1])
    assert model.requests[1].tools_off


# ── what the model is told ───────────────────────────────────────────────────────────────────────────────────────────


def test_the_time_left_is_told_when_it_is_little() -> None:
    # Nine tenths of the time for work have gone by before the model is asked: time is data here, nobody waits.
    state = evolve(
        None,
        events.TurnStarted(at=0.0, turn="t", trigger=user("x"), limits=Limits(seconds=100), policies={}, contracts={}),
    )
    early, late = decide(state), decide(evolve(state, events.CallApproved(at=80.0, call="?", digest="?")))
    assert early[0].note is None  # type: ignore[union-attr]
    assert "About 10 seconds are left" in late[0].note  # type: ignore[union-attr, operator]


def test_instructions_may_be_a_function_of_the_context_and_carry_the_preamble() -> None:
    tool_, _ = echo()
    model = Scripted(["done", "done"])
    agent = Agent(model, lambda who: f"Serve {who}.", tools=[tool_])
    agent.run("go", context="Budi")
    assert model.requests[0].instructions.startswith("You work in a loop")
    assert model.requests[0].instructions.endswith("Serve Budi.")
    bare = Scripted(["done"])
    Agent(bare, "Only this.").run("go")
    assert bare.requests[0].instructions == "Only this."


def test_settings_reach_the_model_and_bad_ones_are_refused() -> None:
    model = Scripted(["done"])
    Agent(model, settings=Settings(temperature=0.1, max_tokens=10, stop=("x",), seed=3)).run("go")
    assert model.requests[0].settings.temperature == 0.1
    with pytest.raises(ValueError, match="temperature must be between 0 and 2"):
        Settings(temperature=3)
    with pytest.raises(TypeError):
        Settings(temprature=1)  # type: ignore[call-arg]


def test_what_is_not_built_yet_is_refused_not_ignored() -> None:
    tool_, _ = echo()
    with pytest.raises(TypeError):
        Agent(Scripted([]), tools=[tool_], approval="ask")  # type: ignore[call-arg]


# ── sessions, streaming, sync ────────────────────────────────────────────────────────────────────────────────────────


def test_a_session_remembers_and_two_sessions_do_not_share() -> None:
    model = Scripted(lambda request: f"{len(request.messages)} messages")
    agent = Agent(model)
    one, two = agent.session("one"), agent.session("two")
    assert one.run("a").text == "1 messages"
    assert one.run("b").text == "3 messages"
    assert two.run("c").text == "1 messages"


def test_a_stream_is_events_and_numbered_signals_and_ends_in_the_answer() -> None:
    tool_, _ = echo()
    script = [Says(("Let me ", "look."), calls=(ScriptedCall("echo", {"x": 1}),)), Says(("It ", "is ", "1."))]
    agent = Agent(Scripted(script), tools=[tool_])

    async def go() -> tuple[list[Any], Any]:
        stream = agent.stream("go")
        with pytest.raises(RuntimeError, match="read to its end"):
            _ = stream.answer
        items = [item async for item in stream]
        return items, stream.answer

    items, answer = asyncio.run(go())
    signals = [item for item in items if isinstance(item, Signal)]
    assert [signal.number for signal in signals] == list(range(len(signals)))
    text = [(s.round, s.delta.text) for s in signals if isinstance(s.delta, TextDelta)]
    assert text == [(1, "Let me "), (1, "look."), (2, "It "), (2, "is "), (2, "1.")]
    assert [s.delta.name for s in signals if isinstance(s.delta, CallBegan)] == ["echo"]
    assert isinstance(items[0], events.TurnStarted)
    assert isinstance(items[-1], events.TurnFinished)
    assert tuple(item for item in items if not isinstance(item, Signal)) == answer.events


def test_the_answer_of_a_stream_is_the_answer_of_a_run() -> None:
    def agent() -> Agent:
        tool_, _ = echo()
        return Agent(Scripted([[Thinking("hm"), call("echo", x=1)], "done"]), tools=[tool_])

    async def streamed() -> Any:
        stream = agent().stream("go")
        async for _ in stream:
            pass
        return stream.answer

    one, two = asyncio.run(streamed()), agent().run("go")
    assert one.text == two.text
    assert [m.text for m in one.messages] == [m.text for m in two.messages]
    assert [step.result for step in one.steps] == [step.result for step in two.steps]


def test_run_works_inside_a_running_event_loop() -> None:
    async def notebook() -> str:
        return Agent(Scripted(["done"])).run("go").text

    assert asyncio.run(notebook()) == "done"


def test_a_turn_cannot_wait_for_itself() -> None:
    inner = Agent(Scripted(["never"]))

    @tool(effect="read")
    async def nested() -> str:
        """Runs another agent the wrong way."""
        return inner.run("x").text

    answer = Agent(Scripted([call("nested"), "done"]), tools=[nested]).run("go")
    assert answer.steps[0].fault is not None
    assert "await arun()" in answer.steps[0].fault.message


def test_the_journal_replays_to_the_answer() -> None:
    tool_, _ = echo()
    flaky = Says(fails=Fails("overloaded", retryable=True, retry_after=0.001))
    answer = Agent(Scripted([call("echo", x=1), flaky, "done"]), tools=[tool_]).run("go")
    state = None
    for event in answer.events:
        state = evolve(state, event)
    assert state is not None
    assert (state.text, state.messages) == (answer.text, answer.messages)
