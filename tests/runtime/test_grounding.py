"""Answers held to what is known, through the real driver with a scripted model: sent back once, then flagged."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from tukang import Agent, Evidence, Grounded, Image, Limits, Text, tool, user
from tukang.conversation import validity
from tukang.loop import events
from tukang.loop.closing import closed
from tukang.loop.evolve import evolve
from tukang.loop.state import State
from tukang.models.base import TextDelta
from tukang.models.scripted import Fails, Says, Scripted, call
from tukang.runtime import grounding
from tukang.runtime.signals import Signal


@tool(effect="read")
def cek(kode: str) -> dict[str, Any]:
    """Price of a product."""
    return {"kode": kode, "harga": 1_200_000}


@tool(effect="read", terminal=True)
def serahkan(kepada: str) -> str:
    """Hand over."""
    return f"ticket T-4711 for {kepada}"


@tool(effect="read")
def gambar() -> Image:
    """A picture."""
    return Image("image/png", b"\x89PNG")


CEK = call("cek", kode="PRD002")
RIGHT, WRONG = "Harganya Rp 1,2 juta.", "Harganya Rp 1.300.000."
AMOUNT = ("Rp 1.300.000",)


def agent(*script: Any, grounded: Any = True, **options: Any) -> tuple[Agent, Scripted]:
    model = Scripted(script)
    return Agent(model, tools=[cek, serahkan, gambar], grounded=grounded, **options), model


def kinds(answer: Any) -> list[str]:
    return [type(event).__name__ for event in answer.events]


# ── the round ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_right_answer_costs_nothing() -> None:
    one, model = agent(CEK, RIGHT)
    answer = one.run("Harga PRD002?")
    assert (answer.text, answer.unsupported, answer.unchecked, len(model.requests)) == (RIGHT, (), None, 2)


def test_what_nobody_said_goes_back_once_with_its_name() -> None:
    one, model = agent(CEK, WRONG, RIGHT)
    answer = one.run("Harga PRD002?")
    assert (answer.text, answer.unsupported, answer.stopped, answer.rounds) == (RIGHT, (), "answer", 1)
    corrective = model.requests[2]
    assert corrective.messages[-1].text == WRONG, "the model sees what it said"
    assert corrective.note is not None
    assert '"Rp 1.300.000"' in corrective.note
    assert not corrective.tools_off
    assert [message.text for message in answer.messages if message.role == "assistant"] == ["", RIGHT], (
        "and nobody later"
    )
    assert validity(answer.messages) == []
    assert kinds(answer)[-7:] == [
        *("AnswerSentBack", "ModelAsked", "ReplyBegan", "ModelReplied"),
        *("AnswerCheckBegan", "AnswerChecked", "TurnFinished"),
    ]


def test_what_is_still_unsupported_is_accepted_and_flagged() -> None:
    one, model = agent(CEK, WRONG, "Harganya Rp 1.400.000.", "never asked for")
    answer = one.run("Harga PRD002?")
    assert (answer.text, answer.unsupported, answer.stopped) == ("Harganya Rp 1.400.000.", ("Rp 1.400.000",), "answer")
    assert len(model.requests) == 3


def test_the_model_may_look_it_up() -> None:
    one, model = agent(WRONG, CEK, RIGHT)
    answer = one.run("Harga PRD002?")
    assert (answer.text, answer.unsupported, answer.rounds) == (RIGHT, (), 1)
    assert model.requests[2].note is None, "it is told once"
    assert [message.role for message in answer.messages] == ["user", "assistant", "tool", "assistant"]


def test_an_agent_that_is_not_grounded_is_not_held_to_anything() -> None:
    one, _ = agent(CEK, WRONG, grounded=False)
    answer = one.run("Harga PRD002?")
    assert (answer.text, answer.unsupported) == (WRONG, ())
    assert "AnswerChecked" not in kinds(answer)


def test_without_corrections_it_is_flagged_at_once() -> None:
    one, model = agent(CEK, WRONG, grounded=Grounded(correct=False))
    answer = one.run("Harga PRD002?")
    assert (answer.text, answer.unsupported, len(model.requests)) == (WRONG, AMOUNT, 2)


def test_a_model_that_holds_its_own_answers_is_not_asked_again() -> None:
    class Careful(Scripted):
        grounds_answers = True

    answer = Agent(Careful([CEK, WRONG]), tools=[cek], grounded=True).run("Harga PRD002?")
    assert (answer.text, answer.unsupported) == (WRONG, AMOUNT)


def test_the_language_of_the_note_is_the_agents() -> None:
    one, model = agent(CEK, WRONG, RIGHT, language="id")
    one.run("Harga PRD002?")
    assert "tidak ada di hasil alat" in (model.requests[2].note or "")


# ── at limits, and when nothing better comes ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("limits", [Limits(rounds=1), Limits(tokens=15), Limits(calls=1)], ids=str)
def test_at_a_limit_it_is_only_flagged(limits: Limits) -> None:
    one, model = agent(CEK, WRONG, limits=limits)
    answer = one.run("Harga PRD002?")
    assert (answer.text, answer.unsupported, len(model.requests)) == (WRONG, AMOUNT, 2)
    assert answer.stopped in ("rounds", "tokens", "calls")


def test_an_answer_that_spends_the_last_tokens_does_not_go_back() -> None:
    one, model = agent(CEK, Says(WRONG, usage=events.Usage(input=100)), limits=Limits(tokens=100))
    answer = one.run("Harga PRD002?")
    assert (answer.text, answer.unsupported, answer.stopped, len(model.requests)) == (WRONG, AMOUNT, "answer", 2)


def test_when_the_correction_fails_the_answer_is_the_answer_after_all() -> None:
    one, _ = agent(CEK, WRONG, Says("Harganya Rp", fails=Fails("authentication")))
    answer = one.run("Harga PRD002?")
    assert (answer.text, answer.unsupported, answer.stopped) == (WRONG, AMOUNT, "answer")
    assert answer.error is not None
    assert answer.messages[-1].text == WRONG


def test_a_correction_that_broke_off_is_gone_on_with() -> None:
    broken = Says("Harganya Rp 1.2", fails=Fails("overloaded", retryable=True))
    one, model = agent(CEK, WRONG, broken, "00.000.", limits=Limits(attempts=2))
    answer = one.run("Harga PRD002?")
    assert (answer.text, answer.unsupported) == ("Harganya Rp 1.200.000.", ())
    assert model.requests[3].messages[-1].text == "Harganya Rp 1.2"


def test_once_more_was_done_the_answer_that_went_back_is_not_fallen_back_on() -> None:
    one, _ = agent(WRONG, CEK, Says(fails=Fails("authentication")))
    answer = one.run("Harga PRD002?")
    assert answer.stopped == "model_error"
    assert "1200000" in answer.text, "the results as they are"
    assert answer.unsupported == ()


def test_the_deadline_stops_the_correction_and_the_answer_stands() -> None:
    one, model = agent(CEK, WRONG, Says(silent=True), limits=Limits(seconds=0.4, reserve=0.1))
    answer = one.run("Harga PRD002?")
    assert (answer.text, answer.unsupported, answer.stopped) == (WRONG, AMOUNT, "answer")
    assert len(model.requests) == 3, "no forced answer: there is one"


def test_words_that_broke_off_are_compared_too() -> None:
    one, _ = agent(CEK, Says(WRONG, finish="length"), limits=Limits(continuations=0))
    answer = one.run("Harga PRD002?")
    assert (answer.text, answer.unsupported, answer.stopped) == (WRONG, AMOUNT, "length")


def test_a_tools_own_words_are_the_source_and_compared_with_nothing() -> None:
    one, _ = agent(call("serahkan", kepada="Budi"))
    answer = one.run("Tolong")
    assert (answer.text, answer.stopped, answer.unsupported) == ("ticket T-4711 for Budi", "terminal", ())
    assert "AnswerCheckBegan" not in kinds(answer)


# ── what an answer may rest on ───────────────────────────────────────────────────────────────────────────────────────


def test_the_users_words_and_the_instructions_count_and_a_calls_arguments_do_not() -> None:
    one, _ = agent("Untuk USR042, pesanan ORD55: buka sampai 21.00.", instructions="Buka 09.00–21.00.")
    assert one.run("Saya USR042, cek ORD55").unsupported == ()
    one, _ = agent(call("serahkan", '{"kepad": "ORD1001"}'), "Pesanan ORD1001.", "Pesanan ORD1001.")
    assert one.run("Tolong").unsupported == ("ORD1001",)


def test_a_follow_up_may_rest_on_an_earlier_result_but_not_on_earlier_words_of_the_model() -> None:
    script = [CEK, RIGHT, "Tadi Rp 1.200.000.", "Nomornya ORD7781.", "Nomornya ORD7781.", "ORD7781", "ORD7781"]
    one, model = agent(*script)
    chat = one.session()
    assert chat.run("Harga PRD002?").unsupported == ()
    assert chat.run("Berapa tadi?").unsupported == ()
    assert chat.run("Nomor pesanan?").unsupported == ("ORD7781",)
    assert chat.run("Apa tadi nomornya?").unsupported == ("ORD7781",), "what was made up once stays made up"
    assert len(model.requests) == len(script)


def test_earlier_turns_do_not_count_where_the_policy_says_so() -> None:
    one, _ = agent(CEK, RIGHT, "Rp 1.200.000.", CEK, RIGHT, grounded=Grounded(earlier=False))
    chat = one.session()
    chat.run("Harga PRD002?")
    answer = chat.run("Berapa sekarang?")
    assert (answer.text, answer.unsupported, answer.rounds) == (RIGHT, (), 1), "it had to look again"


def test_what_may_stand_in_a_picture_is_not_called_made_up() -> None:
    one, _ = agent(call("gambar"), "Totalnya Rp 99.000.")
    answer = one.run("Baca notanya")
    assert answer.unsupported == ()
    assert answer.unchecked is not None
    assert "picture or document" in answer.unchecked
    one, _ = agent(call("gambar"), "Totalnya 2.")
    assert one.run(user("Baca", Text("nota"))).unchecked is None, "nothing in it needs a source"


def test_so_much_to_read_is_not_read_on_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grounding, "LONG", 10)
    one, _ = agent(CEK, WRONG, RIGHT)
    answer = one.run("Harga PRD002?")
    assert (answer.text, answer.unsupported) == (RIGHT, ())


# ── a function ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_function_says_what_is_unsupported() -> None:
    threads: list[str] = []

    def check(text: str, known: Evidence) -> Iterable[str]:
        threads.append(threading.current_thread().name)
        assert known.context == {"shop": 1}
        assert known.texts[0] == "Harga PRD002?"
        return [word for word in ("rahasia", *known.unsupported(text)) if word in text]

    one, _ = agent("Harga rahasia PRD009.", "Harga PRD009.", grounded=check)
    answer = one.run("Harga PRD002?", context={"shop": 1})
    assert answer.unsupported == ("PRD009",)
    assert [event.unsupported for event in answer.events if isinstance(event, events.AnswerSentBack)] == [
        ("rahasia", "PRD009")
    ]
    assert threading.current_thread().name not in threads, "it may block"


def test_an_async_function_is_awaited() -> None:
    async def check(text: str, _known: Evidence) -> list[str]:
        await asyncio.sleep(0)
        return ["x"] if "x" in text else []

    one, _ = agent("x", "y", grounded=check)
    assert one.run("?").text == "y"


@pytest.mark.parametrize("returned", ["a text", None, 3], ids=str)
def test_a_function_that_fails_costs_the_check_and_not_the_turn(
    returned: Any, caplog: pytest.LogCaptureFixture
) -> None:
    one, _ = agent(WRONG, grounded=lambda _text, _known: returned)
    answer = one.run("?")
    assert (answer.text, answer.stopped, answer.unsupported) == (WRONG, "answer", ())
    assert answer.unchecked is not None
    assert "expected the unsupported texts" in answer.unchecked
    assert "was not checked" in caplog.text


def test_what_a_function_raises_is_said_without_secrets() -> None:
    def check(_text: str, _known: Evidence) -> list[str]:
        raise RuntimeError("password=hunter2")

    one, _ = agent(WRONG, grounded=check)
    answer = one.run("?")
    assert answer.unchecked is not None
    assert "RuntimeError" in answer.unchecked
    assert "hunter2" not in answer.unchecked


def test_a_function_that_hangs_ends_with_the_turns_time() -> None:
    release = threading.Event()

    def check(_text: str, _known: Evidence) -> list[str]:
        release.wait(30)
        return []

    one, _ = agent(WRONG, grounded=check, limits=Limits(seconds=0.3, reserve=0.1))
    answer = one.run("?")
    release.set()
    assert (answer.text, answer.stopped, answer.unchecked) == (WRONG, "answer", "there was no time left")


def test_a_cancel_does_not_wait_for_a_function() -> None:
    async def run() -> Any:
        begun = asyncio.Event()

        async def check(_text: str, _known: Evidence) -> list[str]:
            begun.set()
            await asyncio.Event().wait()
            return []

        one, _ = agent(WRONG, grounded=check)
        stream = one.stream("?")
        async for item in stream:
            if isinstance(item, events.AnswerCheckBegan):
                stream.cancel()
        return stream.answer

    answer = asyncio.run(run())
    assert (answer.text, answer.stopped, answer.unchecked) == (WRONG, "answer", "the turn was cancelled")


# ── data ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


class Nota(BaseModel):
    kode: str
    harga: int


GOOD = call("answer", kode="PRD002", harga=1_200_000)
BAD = call("answer", kode="PRD002", harga=1_300_000)


def test_data_is_held_to_it_too() -> None:
    one, model = agent(CEK, BAD, GOOD)
    answer = one.run("Harga PRD002?", returns=Nota)
    assert (answer.data, answer.unsupported, answer.stopped) == (Nota(kode="PRD002", harga=1_200_000), (), "answer")
    assert '"1300000"' in (model.requests[2].note or "")
    assert validity(answer.messages) == []


def test_data_that_stays_unsupported_is_flagged() -> None:
    one, _ = agent(CEK, BAD, BAD)
    answer = one.run("Harga PRD002?", returns=Nota)
    assert (answer.data, answer.unsupported) == (Nota(kode="PRD002", harga=1_300_000), ("1300000",))


@pytest.mark.parametrize(
    "then", [["Hm.", "Hm."], [call("answer", kode=1), call("answer", kode=1)]], ids=["words", "misfits"]
)
def test_data_that_went_back_is_the_data_when_no_other_comes(then: list[Any]) -> None:
    one, _ = agent(CEK, BAD, *then)
    answer = one.run("Harga PRD002?", returns=Nota)
    assert (answer.data, answer.unsupported, answer.stopped) == (
        Nota(kode="PRD002", harga=1_300_000),
        ("1300000",),
        "answer",
    )


# ── who follows, and who comes later ─────────────────────────────────────────────────────────────────────────────────


def test_who_follows_a_turn_learns_that_what_was_read_is_void() -> None:
    async def run() -> list[Any]:
        one, _ = agent(CEK, WRONG, RIGHT)
        return [item async for item in one.stream("Harga PRD002?")]

    said = ""
    for item in asyncio.run(run()):
        if isinstance(item, Signal) and isinstance(item.delta, TextDelta):
            said += item.delta.text
        elif isinstance(item, events.AnswerSentBack):
            assert (said, item.unsupported) == (WRONG, AMOUNT)
            said = ""
    assert said == RIGHT


def test_the_journal_holds_the_policy_and_replays() -> None:
    one, _ = agent(CEK, WRONG, RIGHT, grounded=[r"Rp[\d. ]+"])
    answer = one.run("Harga PRD002?")
    started = answer.events[0]
    assert isinstance(started, events.TurnStarted)
    assert started.grounding == events.Grounding(patterns=(r"Rp[\d. ]+",))
    state: State | None = None
    for event in answer.events:
        state = evolve(state, event)
    assert state is not None
    assert (state.text, state.unsupported) == (RIGHT, ())


def test_a_turn_left_while_its_answer_was_compared_can_be_closed_or_compared_again() -> None:
    one, _ = agent(CEK, WRONG, RIGHT, grounded=lambda _text, _known: [])
    journal = one.run("Harga PRD002?").events
    place = [type(event) for event in journal].index(events.AnswerCheckBegan)
    state: State | None = None
    for event in journal[: place + 1]:
        state = evolve(state, event)
    assert state is not None
    assert state.checking
    assert not evolve(state, events.TurnResumed(at=state.now)).checking
    for event in closed(state, state.now, "another message came"):
        state = evolve(state, event)
    assert (state.text, state.stopped, state.unchecked) == (WRONG, "answer", "the turn was cancelled")


def test_a_session_in_a_store_keeps_what_went_back_out_of_the_conversation(tmp_path: Path) -> None:
    one, _ = agent(CEK, WRONG, RIGHT, "Rp 1.200.000.")
    chat = one.session("budi", store=f"sqlite:///{tmp_path}/tukang.db")
    answer = chat.run("Harga PRD002?")
    assert (answer.text, answer.unsupported) == (RIGHT, ())
    assert WRONG not in [message.text for message in chat.messages]
    assert chat.run("Berapa tadi?").unsupported == (), "a result of a stored turn counts"
