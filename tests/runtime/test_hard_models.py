"""Models that behave badly: each turn ends with an answer, and the session goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

from tukang import Agent, Answer, Chat, ConfigurationError, Limits, SessionBusyError, tool
from tukang.conversation import validity
from tukang.loop import events
from tukang.loop.asking import PATIENCE
from tukang.models.base import ModelRequest, ThinkingDelta
from tukang.models.scripted import Fails, Says, Script, Scripted, ScriptedCall, call
from tukang.runtime.signals import Signal


class Log:
    """Counts what really ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []


def agent_with(script: Script, log: Log, **options: object) -> Agent:
    @tool(effect="read")
    def look(what: str) -> str:
        """Look something up."""
        log.ran.append(f"look {what}")
        return f"{what} is here"

    @tool(effect="read")
    def fail(what: str) -> str:
        """Always fails."""
        log.ran.append(f"fail {what}")
        raise RuntimeError(f"no {what} today")

    @tool(effect="write", approval="never")
    def pay(amount: int) -> dict[str, int]:
        """Pay."""
        log.ran.append(f"pay {amount}")
        return {"paid": amount}

    return Agent(Scripted(script), "x", tools=[look, fail, pay], **options)  # type: ignore[arg-type]


def forced_or(reply: Callable[[ModelRequest, int], object]) -> Callable[[ModelRequest], object]:
    """A model that does `reply` for ever, and only answers when it has no choice."""
    numbers: Iterator[int] = iter(range(10_000))

    def script(request: ModelRequest) -> object:
        return "at last" if request.tools_off else reply(request, next(numbers))

    return script


def usable_after(chat: Chat, answer: Answer) -> None:
    assert validity(chat.messages) == []
    assert chat.messages[-1].role == "assistant"
    model = chat.agent.model
    assert isinstance(model, Scripted)
    model._script = lambda _: "still here"  # type: ignore[assignment]
    again = chat.run("and now?")
    assert (again.text, again.stopped) == ("still here", "answer")
    assert validity(chat.messages) == []
    assert chat.messages[: len(answer.messages)] == answer.messages


HARD = {
    "never stops asking": (lambda _, n: call("look", what=f"thing {n}"), "rounds"),
    "always errs": (lambda _, n: call("fail", what=f"thing {n}"), "rounds"),
    "repeats itself": (lambda _, __: call("look", what="same"), "no_progress"),
    "alternates": (lambda _, n: call("look", what="AB"[n % 2]), "no_progress"),
    "invents names": (lambda _, n: call(f"invented_{n}", x=n), "faults"),
    "sends broken JSON": (lambda _, n: call("look", '{"what": "cut ' + str(n)), "faults"),
}


@pytest.mark.parametrize("how", HARD)
def test_it_ends_with_the_forced_answer(how: str) -> None:
    reply, stopped = HARD[how]
    log = Log()
    chat = agent_with(forced_or(reply), log, limits=Limits(rounds=8, faults=3)).session("s")  # type: ignore[arg-type]
    answer = chat.run("go")
    assert answer.text == "at last"
    assert answer.stopped == stopped
    assert answer.rounds <= 8
    assert all(step.result for step in answer.steps)
    usable_after(chat, answer)


def test_repeating_runs_once_then_nudges_then_refuses() -> None:
    log = Log()
    answer = agent_with(forced_or(lambda _, __: call("look", what="same")), log).run("go")  # type: ignore[arg-type]
    assert log.ran == ["look same"]
    assert [step.reused for step in answer.steps] == [False, True, False]
    kinds = [step.fault.kind if step.fault else None for step in answer.steps]
    assert kinds == [None, None, "no_progress"]
    nudged = answer.messages[4].results[0].text
    assert "same call was already made" in nudged
    assert "nothing new" in nudged


def test_a_failed_read_may_run_again_but_draws_on_the_fault_budget() -> None:
    log = Log()
    script = forced_or(lambda _, n: [call("fail", what="x"), call("look", what=str(n))])
    answer = agent_with(script, log, limits=Limits(faults=2)).run("go")  # type: ignore[arg-type]
    assert answer.stopped == "faults"
    assert log.ran.count("fail x") == 4  # the first, and three more: the third is one too many


def test_when_even_the_forced_answer_asks_for_tools_the_results_are_the_answer() -> None:
    log = Log()
    answer = agent_with(lambda _: call("look", what="Bandung"), log, limits=Limits(rounds=1)).run("go")
    assert answer.stopped == "rounds"
    assert "Bandung is here" in answer.text
    assert log.ran == ["look Bandung"]


def run_with(chat: Chat, when: Callable[[events.Event | Signal], bool], *then: type[events.Event]) -> Answer:
    """One turn in which the clock strikes (`then`) as soon as something happens (`when`): time as data, nobody waits."""
    strikes = iter(then)

    async def go() -> Answer:
        def listen(item: events.Event | Signal) -> None:
            if when(item) and (strike := next(strikes, None)):
                assert running._driver is not None
                running._driver.post(strike(at=running._driver.clock()))  # type: ignore[call-arg]

        running = chat.agent.start("go", session=chat.session, listen=listen)
        return await running.answer()

    return asyncio.run(go())


def asked(item: events.Event | Signal) -> bool:
    return isinstance(item, events.ModelAsked)


def thinks(item: events.Event | Signal) -> bool:
    return isinstance(item, Signal) and isinstance(item.delta, ThinkingDelta)


def test_a_silent_model_is_ended_by_the_deadline() -> None:
    script = [Says(silent=True), Says(silent=True)]
    chat = agent_with(script, Log(), limits=Limits(seconds=None)).session("s")
    answer = run_with(chat, asked, events.DeadlineReached, events.TimeExpired)
    assert answer.stopped == "seconds"
    assert answer.text
    usable_after(chat, answer)


def test_the_clock_really_ends_a_silent_model() -> None:
    chat = agent_with([Says(silent=True), Says(silent=True)], Log(), limits=Limits(seconds=0.05)).session("s")
    answer = chat.run("go")
    assert answer.stopped == "seconds"
    usable_after(chat, answer)


def test_a_model_that_falls_silent_in_mid_sentence_keeps_its_words() -> None:
    chat = agent_with([Says("The price is", silent=True)], Log(), limits=Limits(seconds=None)).session("s")
    speaks = lambda event: isinstance(event, events.ReplyBegan | events.DeadlineReached)  # noqa: E731
    answer = run_with(chat, speaks, events.DeadlineReached, events.TimeExpired)
    assert (answer.stopped, answer.text) == ("seconds", "The price is")
    usable_after(chat, answer)


def test_at_the_deadline_a_silent_model_is_asked_once_more_without_tools() -> None:
    script = [call("look", what="x"), Says(thinking="hm", silent=True), "forced"]
    chat = agent_with(script, Log(), limits=Limits(seconds=None)).session("s")
    answer = run_with(chat, thinks, events.DeadlineReached)
    assert (answer.stopped, answer.text) == ("seconds", "forced")
    assert isinstance(chat.agent.model, Scripted)
    assert chat.agent.model.requests[2].tools_off


def test_a_fault_that_may_pass_is_tried_again_and_its_usage_counts() -> None:
    busy = Says(fails=Fails("overloaded", retryable=True, retry_after=0.01))
    answer = agent_with([busy, "fine"], Log()).run("go")
    assert (answer.stopped, answer.text) == ("answer", "fine")
    assert answer.usage.requests == 2
    assert answer.usage.input == 20
    assert answer.error is not None
    assert answer.error.kind == "overloaded"


def test_a_fault_that_will_not_pass_ends_the_turn_at_once() -> None:
    log = Log()
    chat = agent_with([call("look", what="x"), Says(fails=Fails("authentication", "no key"))], log).session("s")
    answer = chat.run("go")
    assert answer.stopped == "model_error"
    assert "x is here" in answer.text
    assert answer.error is not None
    assert answer.error.message == "no key"
    usable_after(chat, answer)


def test_attempts_are_bounded() -> None:
    busy = Says(fails=Fails("overloaded", retryable=True))
    model = Scripted([busy], repeat=True)
    answer = Agent(model, limits=Limits(attempts=2)).run("go")
    assert answer.stopped == "model_error"
    assert len(model.requests) == 2


def test_a_retry_that_would_come_after_the_deadline_is_not_waited_for() -> None:
    busy = Says(fails=Fails("rate_limited", retryable=True, retry_after=1000))
    model = Scripted([busy], repeat=True)
    answer = Agent(model, limits=Limits(seconds=30)).run("go")
    assert answer.stopped == "model_error"
    assert len(model.requests) == 1


@pytest.mark.parametrize("seconds", [None, 3600.0])
def test_a_retry_that_is_hours_away_is_left_to_the_next_model(seconds: float | None) -> None:
    busy = Says(fails=Fails("rate_limited", retryable=True, retry_after=PATIENCE + 1))
    models = [Scripted([busy], repeat=True), Scripted(["done"])]
    assert Agent(models, limits=Limits(seconds=seconds)).run("go").text == "done"
    assert len(models[0].requests) == 1


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Says(fails=Fails("connection")), "could not be reached"),
        (Says(fails=Fails("overloaded")), "overloaded"),
        (Says(""), "empty or broken"),
        (RuntimeError("mistake"), "the model failed"),
    ],
)
def test_who_has_no_answer_is_told_what_the_model_did(reply: object, said: str) -> None:
    answer = Agent(Scripted([reply], repeat=True), limits=Limits(attempts=1)).run("go")
    assert answer.stopped == "model_error"
    assert said in answer.text


def test_a_model_that_gives_up_is_followed_by_the_next_for_the_rest_of_the_turn() -> None:
    log = Log()
    agent = agent_with([Says(fails=Fails("authentication", "no key"))], log)
    second = Scripted([call("look", what="x"), "done"])
    both = Agent([agent.model, second], tools=agent.toolbox)
    answer = both.run("go")
    assert (answer.text, answer.stopped, answer.rounds) == ("done", "answer", 1)
    assert log.ran == ["look x"]
    assert len(second.requests) == 2
    with pytest.raises(ConfigurationError, match="empty list of models"):
        Agent([])


def test_words_already_streamed_are_never_said_twice() -> None:
    broken = Says("The price is ", fails=Fails("connection", retryable=True))
    model = Scripted([broken, "1.200.000."])
    answer = Agent(model).run("go")
    assert answer.text == "The price is 1.200.000."
    again = model.requests[1]
    assert again.messages[-1].text == "The price is "
    assert again.note is not None
    assert "exactly where it stopped" in again.note


def test_a_reply_cut_in_the_middle_of_a_call_makes_that_call_a_fault() -> None:
    log = Log()
    cut = Says(calls=(ScriptedCall("look", {"what": "a"}), ScriptedCall("pay", "")), finish="length")
    answer = agent_with([cut, "done"], log).run("go")
    assert log.ran == ["look a"]
    assert answer.steps[1].fault is not None
    assert "token limit" in answer.steps[1].fault.message
    assert answer.text == "done"


def test_a_reply_cut_after_a_whole_call_still_runs_it() -> None:
    log = Log()
    cut = Says(calls=(ScriptedCall("look", {"what": "a"}),), finish="length")
    assert agent_with([cut, "done"], log).run("go").text == "done"
    assert log.ran == ["look a"]


def test_an_answer_cut_at_the_token_limit_goes_on_then_says_so() -> None:
    model = Scripted([Says("one ", finish="length"), Says("two", finish="length")])
    answer = Agent(model, limits=Limits(continuations=1)).run("go")
    assert (answer.text, answer.stopped) == ("one two", "length")


def test_an_empty_reply_is_never_a_silent_empty_answer() -> None:
    assert Agent(Scripted(["", "  ", "words"])).run("go").text == "words"
    answer = Agent(Scripted([""], repeat=True), limits=Limits(attempts=2)).run("go")
    assert answer.stopped == "model_error"
    assert answer.text


@pytest.mark.parametrize("finish", ["filtered", "refused"])
def test_a_filtered_or_refused_reply_is_named(finish: str) -> None:
    answer = Agent(Scripted([Says("I cannot", finish=finish)])).run("go")  # type: ignore[arg-type]
    assert (answer.stopped, answer.text) == (finish, "I cannot")


def test_an_adapter_that_crashes_does_not_crash_the_turn() -> None:
    answer = Agent(Scripted([ZeroDivisionError("oops")])).run("go")
    assert answer.stopped == "model_error"
    assert answer.error is not None
    assert answer.error.kind == "unexpected"


def test_the_token_budget_ends_the_turn_before_calls_start() -> None:
    log = Log()
    answer = agent_with([call("look", what="x"), "enough"], log, limits=Limits(tokens=12)).run("go")
    assert answer.stopped == "tokens"
    assert log.ran == []
    assert answer.steps[0].fault is not None
    assert answer.steps[0].fault.kind == "not_run"


def test_calls_beyond_the_limit_are_not_run() -> None:
    log = Log()
    asked = [call("look", what=str(n)) for n in range(4)]
    answer = agent_with([asked, "enough"], log, limits=Limits(calls=3)).run("go")
    assert answer.stopped == "calls"
    assert len(log.ran) == 3
    assert [bool(step.fault) for step in answer.steps] == [False, False, False, True]


def test_two_turns_of_one_session_never_interleave() -> None:
    log = Log()
    chat = agent_with([call("look", what="a"), "first", call("look", what="b"), "second"], log).session("s")

    async def both() -> list[Answer]:
        return await asyncio.gather(chat.arun("one"), chat.arun("two"))

    first, second = asyncio.run(both())
    assert (first.text, second.text) == ("first", "second")
    assert chat.messages == (*first.messages, *second.messages)


def test_a_second_turn_can_be_refused_instead() -> None:
    chat = Agent(Scripted([Says("a", silent=True)])).session("s")

    async def both() -> None:
        first = asyncio.create_task(chat.arun("one"))
        await asyncio.sleep(0)
        with pytest.raises(SessionBusyError, match="session 's' is in the middle of a turn"):
            await chat.arun("two", when_busy="refuse")
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first

    asyncio.run(both())


def test_cancelling_in_the_middle_keeps_what_is_finished() -> None:
    log = Log()

    @tool(effect="read")
    async def hang() -> str:
        """Hangs."""
        await asyncio.Event().wait()
        return "never"

    @tool(effect="read")
    def quick() -> str:
        """Quick."""
        log.ran.append("quick")
        return "done quickly"

    chat = Agent(Scripted([[call("quick"), call("hang")], "unreachable"]), tools=[hang, quick]).session("s")

    async def go() -> Answer:
        stream = chat.stream("go")
        async for item in stream:
            if isinstance(item, events.CallFinished):
                stream.cancel("user pressed Ctrl-C")
        return stream.answer

    answer = asyncio.run(go())
    assert answer.stopped == "cancelled"
    assert answer.steps[0].result == "done quickly"
    assert answer.steps[1].fault is not None
    assert answer.steps[1].fault.kind == "cancelled"
    usable_after(chat, answer)


def test_cancelling_the_awaiting_task_leaves_a_usable_session() -> None:
    chat = Agent(Scripted([Says("half of", silent=True)])).session("s")

    async def go() -> None:
        started = asyncio.Event()
        running = chat.agent.start(
            "go",
            session=chat.session,
            listen=lambda item: started.set() if isinstance(item, events.ReplyBegan) else None,
        )
        task = asyncio.create_task(running.answer())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(go())
    assert chat.messages[-1].text == "half of"
    assert validity(chat.messages) == []


def test_a_reader_that_leaves_ends_the_turn() -> None:
    chat = Agent(Scripted([Says("words", silent=True)])).session("s")

    async def go() -> None:
        iterator = aiter(chat.stream("go"))
        async for item in iterator:
            if isinstance(item, events.ReplyBegan):
                break
        await iterator.aclose()  # type: ignore[attr-defined]

    asyncio.run(go())
    assert chat.messages[-1].text == "words"
    assert validity(chat.messages) == []
