"""An answer that is data, through the real driver with a scripted model: asked for, checked, sent back, given up."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from pydantic import BaseModel, field_validator

from tukang import Agent, ConfigurationError, Limits, tool
from tukang.conversation import ToolCall, user, validity
from tukang.loop import events
from tukang.loop.decide import decide
from tukang.loop.effects import CheckCalls, StopModel, begun
from tukang.loop.evolve import evolve
from tukang.loop.state import State
from tukang.models.base import ArgumentsDelta, CallBegan, ModelRequest, TextDelta
from tukang.models.scripted import Fails, Says, Scripted, ScriptedCall, call
from tukang.runtime.signals import Signal
from tukang.tools.policy import Policy


class Invoice(BaseModel):
    """An invoice."""

    number: str
    total: int


@dataclass
class Point:
    x: int


INVOICE = Invoice(number="7", total=120)
TEXT = '{"number":"7","total":120}'
GIVEN = call("answer", number="7", total=120)
BAD = call("answer", number="7", total="a lot")


@tool(effect="read")
def price(product: str) -> dict[str, Any]:
    """The price of a product."""
    return {"product": product, "price": 120}


@tool(effect="read", terminal=True)
def hand_over(to: str) -> str:
    """Hand over to a person."""
    return f"handed over to {to}"


class Watched(Scripted):
    """A scripted model that keeps what it was asked."""

    def __init__(self, script: Any) -> None:
        super().__init__(script)
        self.asked: list[ModelRequest] = []

    def stream(self, request: ModelRequest) -> Any:
        self.asked.append(request)
        return super().stream(request)

    @property
    def choices(self) -> list[str]:
        return [request.tool_choice for request in self.asked]


# ── what is asked for ────────────────────────────────────────────────────────────────────────────────────────────────


def test_without_other_tools_the_answer_is_forced_at_once() -> None:
    model = Watched([GIVEN])
    answer = Agent(model).run("Read this.", returns=Invoice)
    assert answer.data == INVOICE
    assert (answer.text, answer.stopped) == (TEXT, "answer")
    [request] = model.asked
    assert (request.tool_choice, request.answer, request.tools_off) == ("answer", "answer", False)
    assert [contract.name for contract in request.tools] == ["answer"]
    assert [step.tool for step in answer.steps] == ["answer"]


def test_other_tools_may_be_called_first() -> None:
    model = Watched([call("price", product="SSD"), GIVEN])
    answer = Agent(model, "Be exact.", tools=[price]).run("What is it?", returns=Invoice)
    assert answer.data == INVOICE
    assert [step.tool for step in answer.steps] == ["price", "answer"]
    assert model.choices == ["auto", "auto"]
    assert "give it by calling answer" in model.asked[0].instructions
    assert model.asked[0].tools == model.asked[1].tools


def test_siblings_of_the_answer_run_and_are_answered() -> None:
    answer = Agent(Scripted([[GIVEN, call("price", product="SSD")]]), tools=[price]).run("What is it?", returns=Invoice)
    assert answer.data == INVOICE
    assert [result.text for result in answer.messages[2].results] == ['{"ok":true}', '{"product":"SSD","price":120}']


def test_the_first_answer_that_fits_counts() -> None:
    other = call("answer", number="8", total=1)
    answer = Agent(Scripted([[BAD, GIVEN, other]])).run("Read this.", returns=Invoice)
    assert answer.data == INVOICE


def test_a_demanded_tool_comes_first() -> None:
    model = Watched([call("price", product="SSD"), GIVEN])
    agent = Agent(model, tools=[price], tool_choice="price")
    assert agent.run("What is it?", returns=Invoice).data == INVOICE
    assert model.choices == ["price", "auto"]


def test_where_no_tool_may_be_called_only_the_answer_is_asked_for() -> None:
    model = Watched([[call("price", product="SSD"), GIVEN]])
    answer = Agent(model, tools=[price], tool_choice="none").run("What is it?", returns=Invoice)
    assert answer.data == INVOICE
    assert model.choices == ["answer"]
    assert [step.tool for step in answer.steps] == ["answer"], "the other call does not count"


def test_the_result_of_a_terminal_tool_is_not_the_data() -> None:
    answer = Agent(Scripted([call("hand_over", to="Budi"), GIVEN]), tools=[hand_over]).run("What?", returns=Invoice)
    assert (answer.stopped, answer.data) == ("answer", INVOICE)


def test_a_tool_of_the_same_name_makes_way_for_nobody() -> None:
    @tool(effect="read", name="answer")
    def mine() -> str:
        """Mine."""
        return "mine"

    script = [call("answer"), call("final_answer", number="7", total=120)]
    answer = Agent(Scripted(script), tools=[mine]).run("What?", returns=Invoice)
    assert answer.data == INVOICE
    assert answer.steps[0].result == "mine"


def test_data_that_is_no_object() -> None:
    kind = Agent(Scripted([call("answer", data="spam")])).run("Which?", returns=Literal["spam", "ham"])
    assert (kind.data, kind.text) == ("spam", '"spam"')
    points = Agent(Scripted([call("answer", data=[{"x": 1}])])).run("Where?", returns=list[Point])
    assert (points.data, points.text) == ([Point(1)], '[{"x":1}]')
    nothing = Agent(Scripted([call("answer", data=None)])).run("Where?", returns=Point | None)
    assert (nothing.data, nothing.text, nothing.stopped) == (None, "null", "answer")


def test_nothing_changes_for_a_turn_that_returns_words() -> None:
    model = Watched(["Hello."])
    answer = Agent(model, tools=[price]).run("Hello?")
    assert (answer.data, answer.text) == (None, "Hello.")
    assert model.asked[0].answer is None
    assert [contract.name for contract in model.asked[0].tools] == ["price"]


def test_what_has_no_schema_is_refused_before_anything_is_asked() -> None:
    model = Watched([])
    with pytest.raises(ConfigurationError, match="there is no JSON Schema for it"):
        Agent(model).run("Read this.", returns=object())
    assert not model.asked


# ── what goes back ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_data_that_does_not_fit_goes_back_once_with_the_reason() -> None:
    model = Watched([BAD, GIVEN])
    answer = Agent(model).run("Read this.", returns=Invoice)
    assert (answer.data, answer.stopped) == (INVOICE, "answer")
    [result] = model.asked[1].messages[-1].results
    assert 'total: \\"a lot\\" is not allowed' in result.text
    assert answer.steps[0].fault is not None


def test_data_that_never_fits_ends_the_turn_and_says_so() -> None:
    answer = Agent(Scripted([BAD, BAD, GIVEN])).run("Read this.", returns=Invoice)
    assert (answer.data, answer.stopped) == (None, "no_data")
    assert answer.text == "Sorry, there is no finished answer: the data that was asked for did not come in its form."
    assert validity(answer.messages) == []


def test_the_callers_own_validators_count() -> None:
    class Checked(Invoice):
        @field_validator("total")
        @classmethod
        def _even(cls, total: int) -> int:
            if total % 2:
                raise ValueError("the total is never odd")
            return total

    model = Watched([call("answer", number="7", total=121), GIVEN])
    answer = Agent(model).run("Read this.", returns=Checked)
    assert answer.data == Checked(number="7", total=120)
    assert "the total is never odd" in model.asked[1].messages[-1].results[0].text


def test_words_go_back_once_and_then_only_the_answer_is_asked_for() -> None:
    model = Watched(["It is 120.", GIVEN])
    answer = Agent(model, tools=[price]).run("What is it?", returns=Invoice)
    assert (answer.data, answer.text, answer.stopped) == (INVOICE, TEXT, "answer")
    assert model.choices == ["auto", "answer"]
    assert model.asked[1].messages[-1].text.strip() == "It is 120."
    assert model.asked[1].note is not None
    assert "in the form that the tool answer takes" in model.asked[1].note
    assert [message.role for message in answer.messages] == ["user", "assistant", "tool", "assistant"]


def test_nothing_but_words_ends_the_turn_and_says_so() -> None:
    answer = Agent(Scripted(["It is 120.", "As I said."])).run("Read this.", returns=Invoice)
    assert (answer.data, answer.stopped) == (None, "no_data")
    assert answer.text == "It is 120.\n\nAs I said."
    assert answer.messages[-1].text == answer.text


@pytest.mark.parametrize("text", [TEXT, f"\n```json\n{TEXT}\n```", f"```\n{TEXT}```"])
def test_an_object_written_as_words_is_read_as_the_call(text: str) -> None:
    answer = Agent(Scripted([text])).run("Read this.", returns=Invoice)
    assert (answer.data, answer.text, answer.stopped) == (INVOICE, TEXT, "answer")
    assert answer.messages[1].text == text, "what was said stays"
    assert validity(answer.messages) == []


def test_an_object_that_does_not_fit_goes_back_like_a_call() -> None:
    answer = Agent(Scripted(['{"number":"7"}', GIVEN])).run("Read this.", returns=Invoice)
    assert answer.data == INVOICE
    assert answer.steps[0].fault is not None


def test_words_and_then_data_that_does_not_fit_each_go_back_once() -> None:
    answer = Agent(Scripted(["Hm.", BAD, GIVEN])).run("Read this.", returns=Invoice)
    assert answer.data == INVOICE


def test_an_empty_reply_is_asked_again_and_not_taken_for_words() -> None:
    answer = Agent(Scripted(["", "Hm.", "", GIVEN])).run("Read this.", returns=Invoice)
    assert answer.data == INVOICE


def test_a_call_that_was_cut_off_is_not_data() -> None:
    cut = Says(calls=(ScriptedCall("answer", '{"number":"7","tot'),), finish="length")
    answer = Agent(Scripted([cut, GIVEN])).run("Read this.", returns=Invoice)
    assert answer.data == INVOICE
    assert "token limit" in answer.steps[0].result


def test_a_refusal_and_a_filter_bring_no_data() -> None:
    for finish in ("refused", "filtered"):
        refused = Says("I will not.", calls=(ScriptedCall("answer", TEXT),), finish=finish)
        answer = Agent(Scripted([refused])).run("Read this.", returns=Invoice)
        assert (answer.data, answer.stopped, answer.text) == (None, finish, "I will not.")


def test_a_fault_of_the_model_brings_no_data() -> None:
    answer = Agent(Scripted([Says(fails=Fails("authentication"))])).run("Read this.", returns=Invoice)
    assert (answer.data, answer.stopped) == (None, "model_error")


def test_a_type_that_takes_its_word_back_leaves_no_data() -> None:
    count = itertools.count()

    class Fickle(BaseModel):
        x: int

        @field_validator("x")
        @classmethod
        def _once(cls, x: int) -> int:
            if next(count):
                raise ValueError("not again")
            return x

    chat = Agent(Scripted([call("answer", x=1), "Hello."])).session()
    answer = chat.run("Read this.", returns=Fickle)
    assert (answer.data, answer.stopped) == (None, "no_data")
    assert chat.run("Hello?").text == "Hello.", "the session goes on"


# ── at a limit ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_at_a_limit_only_the_answer_is_asked_for() -> None:
    model = Watched([call("price", product="SSD"), [call("price", product="HDD"), GIVEN]])
    answer = Agent(model, tools=[price], limits=Limits(rounds=1)).run("What is it?", returns=Invoice)
    assert (answer.data, answer.text, answer.stopped, answer.rounds) == (INVOICE, TEXT, "rounds", 1)
    assert model.choices == ["auto", "answer"]
    assert [step.tool for step in answer.steps] == ["price", "answer"], "no other call counts any more"
    assert model.asked[1].note is not None
    assert "the number of tool rounds is used up" in model.asked[1].note
    assert "in the form that the tool answer takes" in model.asked[1].note


@pytest.mark.parametrize("limits", [Limits(rounds=0), Limits(calls=0), Limits(rounds=1, tokens=1)], ids=str)
def test_the_answer_is_given_whatever_is_used_up(limits: Limits) -> None:
    script = itertools.chain([call("price", product="SSD")] if limits.tokens else [], [GIVEN])
    answer = Agent(Scripted(list(script)), tools=[price], limits=limits).run("What is it?", returns=Invoice)
    assert answer.data == INVOICE
    assert answer.stopped in ("rounds", "calls", "tokens")


def test_the_forced_answer_goes_back_once_as_well() -> None:
    answer = Agent(Scripted([BAD, GIVEN]), limits=Limits(rounds=0)).run("Read this.", returns=Invoice)
    assert (answer.data, answer.stopped, answer.rounds) == (INVOICE, "rounds", 0)
    assert [step.round for step in answer.steps] == [1, 2]
    answer = Agent(Scripted([BAD, BAD, GIVEN]), limits=Limits(rounds=0)).run("Read this.", returns=Invoice)
    assert (answer.data, answer.stopped) == (None, "rounds")
    assert validity(answer.messages) == []


def test_the_fault_budget_does_not_cost_the_answer() -> None:
    answer = Agent(Scripted([BAD, GIVEN]), limits=Limits(faults=0)).run("Read this.", returns=Invoice)
    assert (answer.data, answer.stopped) == (INVOICE, "faults")


@pytest.mark.parametrize("others", [{}, {"price": Policy("read")}], ids=["alone", "with others"])
def test_at_the_deadline_a_request_for_data_alone_may_use_the_reserve(others: dict[str, Policy]) -> None:
    policies = {**others, "answer": Policy("read")}
    started = events.TurnStarted(
        at=0.0,
        turn="t",
        trigger=user("Read this."),
        limits=Limits(),
        policies=policies,
        contracts={},
        returns=events.Returns("answer"),
    )
    state = evolve(None, started)
    [asked] = decide(state)
    state = evolve(evolve(state, begun(asked, 0.0)), events.DeadlineReached(at=110.0))
    assert decide(state) == ((StopModel(),) if others else ())
    given = ToolCall("", "answer", TEXT)
    state = evolve(state, events.ModelReplied(at=111.0, parts=(given,), finish="calls"))
    assert decide(state) == (CheckCalls(("t-1-0",)),), "the deadline does not take the answer away"


def test_a_cancelled_turn_has_no_data() -> None:
    async def run() -> Any:
        stream = Agent(Scripted([Says(silent=True)])).stream("Read this.", returns=Invoice)
        async for item in stream:
            if isinstance(item, events.ModelAsked):
                stream.cancel()
        return stream.answer

    answer = asyncio.run(run())
    assert (answer.data, answer.stopped) == (None, "cancelled")


def test_awaited_streamed_and_in_a_session_it_is_the_same() -> None:
    async def run() -> None:
        agent = Agent(Scripted([GIVEN, GIVEN, GIVEN]))
        assert (await agent.arun("Read this.", returns=Invoice)).data == INVOICE
        stream = agent.stream("Read this.", returns=Invoice)
        seen = [item async for item in stream]
        assert stream.answer.data == INVOICE
        deltas = [item.delta for item in seen if isinstance(item, Signal)]
        assert any(isinstance(delta, CallBegan) and delta.name == "answer" for delta in deltas)
        assert "".join(delta.text for delta in deltas if isinstance(delta, ArgumentsDelta)) == GIVEN.arguments
        assert not any(isinstance(delta, TextDelta) for delta in deltas)
        assert (await agent.session().arun("Read this.", returns=Invoice)).data == INVOICE

    asyncio.run(run())


def test_the_next_turn_reads_the_data_and_needs_no_type() -> None:
    model = Watched([GIVEN, "You are welcome."])
    chat = Agent(model).session()
    assert chat.run("Read this.", returns=Invoice).data == INVOICE
    assert chat.run("Thank you.").text == "You are welcome."
    assert [message.role for message in chat.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
    ]
    assert chat.messages[3].text == TEXT
    assert model.asked[1].answer is None
    assert model.asked[1].tools == ()


def test_the_journal_says_what_was_wanted_and_replays_to_the_same_data() -> None:
    answer = Agent(Scripted([BAD, call("answer", number="7", total=120)])).run("Read this.", returns=Invoice)
    started = answer.events[0]
    assert isinstance(started, events.TurnStarted)
    assert started.returns == events.Returns("answer")
    assert "answer" in started.contracts
    state: State | None = None
    for event in answer.events:
        state = evolve(state, event)
    assert state is not None
    assert (state.data, state.text, state.stopped) == (TEXT, TEXT, "answer")


def test_the_language_of_the_agent_is_that_of_the_demand() -> None:
    model = Watched(["Totalnya 120.", GIVEN])
    agent = Agent(model, tools=[price], language="id")
    assert agent.run("Berapa?", returns=Invoice).data == INVOICE
    assert model.asked[0].tools[-1].description.startswith("Berikan jawabannya")
    assert "dengan memanggil answer" in model.asked[0].instructions
    assert "kalimat tidak dibaca sebagai jawaban" in (model.asked[1].note or "")
