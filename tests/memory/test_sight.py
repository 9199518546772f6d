"""Sessions with a window: what a model is sent over many turns, in memory and in a store; summaries that are kept and added
to; pins. What is kept stays whole."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tukang import Agent, ConfigurationError, Message, Summary, Window, tool
from tukang.conversation import validity
from tukang.loop import events
from tukang.memory import summarising
from tukang.memory.measuring import tokens
from tukang.memory.redaction import Redaction
from tukang.memory.stored import StoredSession
from tukang.memory.stored_past import StoredPast
from tukang.memory.stores.addresses import store_at
from tukang.memory.stores.base import Store
from tukang.memory.stores.values import Kept
from tukang.models.base import ModelRequest
from tukang.models.scripted import Fails, Line, Says, Scripted, call


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def kept_in(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store | None]:
    """Where sessions are kept: None for memory."""
    if request.param == "memory":
        yield None
        return
    sqlite = request.param == "sqlite"
    store = store_at(f"sqlite:///{tmp_path}/tukang.db" if sqlite else request.getfixturevalue("postgres_url"))
    asyncio.run(store.upgrade())
    yield store
    asyncio.run(store.close())


def echo(request: ModelRequest) -> Line:
    return f"jawab {request.messages[-1].text.split()[-1]}"


def texts(request: ModelRequest) -> list[str]:
    return [message.text for message in request.messages]


class Summing:
    """A model for summaries: says which turns it was given, or fails as long as it is told to."""

    def __init__(self) -> None:
        self.fails = False
        self.model = Scripted(self._says, name="summing")

    def _says(self, request: ModelRequest) -> Line:
        if self.fails:
            return Says(fails=Fails("overloaded", "too much to do"))
        before, _, turns = request.messages[0].text.partition("</summary>")
        numbers = [line.removeprefix("turn ") for line in turns.splitlines() if line.startswith("turn ")]
        return before.removeprefix("<summary>\n").strip() + f" ({numbers[0]}-{numbers[-1]})"


# ── without a summary ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_session_that_says_nothing_of_a_window_goes_on_for_ever(kept_in: Store | None) -> None:
    model = Scripted(echo)
    chat = Agent(model, "Jawab.").session("budi", store=kept_in)
    for number in range(60):
        chat.run("kata " * 2_000 + str(number))
    assert max(tokens(request.messages) for request in model.requests) <= 64_000
    assert model.requests[-1].messages[0].text.startswith("[Not shown here: turn 1 to ")
    assert len(chat.messages) == 120, "everything is kept"
    assert validity(chat.messages) == []


def test_everything_is_sent_where_that_is_asked_for() -> None:
    model = Scripted(echo)
    chat = Agent(model, window=Window(tokens=None)).session("budi")
    for number in range(20):
        chat.run("kata " * 4_000 + str(number))
    assert len(model.requests[-1].messages) == 39


def test_the_window_of_a_session_counts_before_the_agents(kept_in: Store | None) -> None:
    model = Scripted(echo)
    agent = Agent(model, window=Window(turns=2))
    for number in range(6):
        agent.session("budi", store=kept_in).run(str(number))
    assert len(model.requests[-1].messages) == (6 if kept_in else 1)
    if kept_in:
        agent.session("budi", store=kept_in, window=Window(turns=4)).run("lagi")
        assert texts(model.requests[-1])[1::2] == ["3", "4", "5", "lagi"]
        assert len(agent.session("budi", store=kept_in).messages) == 14


def test_what_was_before_is_the_same_from_round_to_round_and_mostly_from_turn_to_turn(kept_in: Store | None) -> None:
    @tool(effect="read")
    def baca(nomor: int) -> str:
        """Baca."""
        return "h" * 3_000 + str(nomor)

    def script(request: ModelRequest) -> Line:
        last = max(place for place, message in enumerate(request.messages) if message.role == "user")
        rounds = len(request.messages[last + 1 :]) // 2
        return call("baca", nomor=rounds) if rounds < 3 else "Selesai."

    model = Scripted(script)
    chat = Agent(model, tools=[baca], window=Window(tokens=24_000)).session("budi", store=kept_in)
    for number in range(12):
        chat.run(f"tanya {number}")
    moved = 0
    for one, later in pairwise(model.requests):
        same = list(later.messages[: len(one.messages)]) == list(one.messages)
        assert same or later.messages[-1].role == "user", "between rounds nothing moves"
        moved += not same
        if same:
            again = later.messages[: len(one.messages)]
            kept = [a is b for a, b in zip(one.messages, again, strict=True)]
            assert all(kept[:-8]), "the same objects, so that adapters do not encode them again"
    assert 0 < moved < 8
    assert all(tokens(request.messages) <= 24_000 for request in model.requests)


def test_a_resumed_turn_is_sent_what_it_was_sent_before(store: Store) -> None:
    @tool(effect="write", approval="never")
    async def tulis() -> str:
        """Tulis."""
        raise AssertionError("never begun")

    async def work() -> None:
        seen: list[Any] = []

        def script(request: ModelRequest) -> Line:
            seen.append(list(request.messages))
            return "Ya."

        agent = Agent(Scripted(script), tools=[tulis], window=Window(turns=3))
        chat = agent.session("budi", store=store)
        for number in range(8):
            await chat.arun(f"tanya {number}")
        # a turn that began, and whose process died when the model had been asked
        lease = await store.take("budi", "dead", 60)
        (last,) = await store.turns("budi", last=1)
        started = (await store.read(last.id))[0]
        assert isinstance(started, events.TurnStarted)
        await store.append(lease, "mati", [replace(started, turn="mati"), events.ModelAsked(at=1.0, attempt=1)], 0)
        await store.release(lease)
        first = await agent.session("budi", store=store).aresume()
        assert first is not None
        await store.fork("budi", "lain", 8)
        await agent.session("lain", store=store).arun("tanya 7")
        assert seen[-2] == seen[-1], "as if it were asked now"

    asyncio.run(work())


# ── summaries ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_summary_is_made_kept_and_added_to(kept_in: Store | None) -> None:
    model, summing = Scripted(echo), Summing()
    agent = Agent(model, window=Window(turns=4, summary=Summary(model=summing.model)))
    chat = agent.session("budi", store=kept_in)
    for number in range(1, 13):
        chat = agent.session("budi", store=kept_in) if kept_in else chat  # another process each time
        chat.run(f"tanya {number}")
    assert [len(texts(request)) for request in summing.model.requests] == [1, 1, 1]
    last = texts(model.requests[-1])
    assert last[0] == ("[Summary of turn 1 to 9 of this conversation. It may be incomplete.]\n(1-3) (4-6) (7-9)"), (
        "turns are summed up once, into the summary before"
    )
    assert last[1::2] == ["tanya 10", "tanya 11", "tanya 12"]
    for one, later in pairwise(model.requests):
        same = texts(later)[: len(one.messages)] == texts(one)
        assert same or texts(later)[0] != texts(one)[0]
    assert len(chat.messages) == 24


def test_a_summary_that_fails_leaves_the_old_one_and_the_turn_goes_on(
    kept_in: Store | None, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1_000.0]
    monkeypatch.setattr(summarising, "monotonic", lambda: now[0])
    model, summing = Scripted(echo), Summing()
    agent = Agent(model, window=Window(turns=4, summary=Summary(model=summing.model)))
    chat = agent.session("budi", store=kept_in)
    for number in range(1, 7):
        assert chat.run(f"tanya {number}").stopped == "answer"
    summing.fails = True
    with caplog.at_level(logging.WARNING, "tukang"):
        for number in range(7, 12):
            chat = agent.session("budi", store=kept_in) if kept_in else chat
            assert chat.run(f"tanya {number}").stopped == "answer"
    assert caplog.text.count("could not be summed up") == 1, "a model that is down does not slow down each turn"
    assert "too much to do" in caplog.text
    last = texts(model.requests[-1])
    assert last[0].startswith("[Summary of turn 1 to 3 of this conversation. It may be incomplete.]\n(1-3)\n[Not shown")
    assert len(last) <= 2 * 4 + 2
    summing.fails = False
    chat.run("tanya 12")
    assert texts(model.requests[-1])[0] == last[0], "it rests"
    now[0] += summarising.REST
    chat.run("tanya 13")
    assert texts(model.requests[-1])[0].splitlines()[1].startswith("(1-3) (4-"), "nothing was left out in the end"
    assert len(texts(model.requests[-1])[0].splitlines()) == 2


def test_the_agents_own_model_sums_up_where_no_other_is_named() -> None:
    def script(request: ModelRequest) -> Line:
        return "Ringkasan." if "keep the summary" in request.instructions else echo(request)

    model = Scripted(script)
    chat = Agent(model, window=Window(turns=1, summary=Summary())).session("budi")
    for number in range(3):
        chat.run(f"tanya {number}")
    assert texts(model.requests[-1])[0].endswith("]\nRingkasan.")


def test_a_summary_is_by_tokens_too(kept_in: Store | None) -> None:
    model, summing = Scripted(echo), Summing()
    window = Window(tokens=16_000, summary=Summary(model=summing.model, tokens=200))
    chat = Agent(model, window=window).session("budi", store=kept_in)
    for number in range(40):
        chat.run("kata " * 500 + str(number))
    assert 2 <= len(summing.model.requests) <= 10
    assert max(tokens(request.messages) for request in model.requests) <= 16_000
    assert "Not shown" not in texts(model.requests[-1])[0]


def test_there_are_never_two_summaries_at_a_time_for_one_session(store: Store) -> None:
    async def work() -> None:
        running = 0

        class Slow(Scripted):
            async def stream(self, request: ModelRequest) -> Any:
                nonlocal running
                running += 1
                assert running == 1
                for _ in range(20):
                    await asyncio.sleep(0)
                async for event in super().stream(request):
                    yield event
                running -= 1

        summing = Slow(["satu", "dua", "tiga", "empat", "lima", "enam", "tujuh"])
        agent = Agent(Scripted(echo), window=Window(turns=2, summary=Summary(model=summing)))
        chats = [agent.session("budi", store=store) for _ in range(3)]
        await asyncio.gather(*(chats[number % 3].arun(f"tanya {number}") for number in range(12)))
        assert len(summing.requests) >= 3
        summary = (await store.kept("budi"))["summary"]
        assert (
            summary.data["text"] == ["satu", "dua", "tiga", "empat", "lima", "enam", "tujuh"][len(summing.requests) - 1]
        )

    asyncio.run(work())


def test_who_was_faster_is_believed(store: Store) -> None:
    async def work() -> None:
        agent = Agent(Scripted(echo), window=Window(turns=2))
        for number in range(1, 6):
            await agent.session("budi", store=store).arun(f"tanya {number}")

        async def faster(_: ModelRequest) -> None:
            await store.keep("budi", Kept("summary", 4, {"text": "punya yang lain"}), None)

        class Overtaken(Scripted):
            async def stream(self, request: ModelRequest) -> Any:
                await faster(request)
                async for event in super().stream(request):
                    yield event

        model = Scripted(echo)
        window = Window(turns=2, summary=Summary(model=Overtaken(["punyaku"])))
        await Agent(model, window=window).session("budi", store=store).arun("tanya 6")
        assert texts(model.requests[-1])[0].endswith("punya yang lain")
        assert texts(model.requests[-1])[1::2] == ["tanya 5", "tanya 6"]
        assert (await store.kept("budi"))["summary"].data == {"text": "punya yang lain"}

    asyncio.run(work())


def test_a_turn_that_is_cancelled_while_its_past_is_summed_up_never_begins(store: Store) -> None:
    async def work() -> None:
        asked = asyncio.Event()

        class Silent(Scripted):
            async def stream(self, request: ModelRequest) -> Any:  # noqa: ARG002
                asked.set()
                await asyncio.Event().wait()
                yield

        chat = Agent(Scripted(echo), window=Window(turns=1)).session("budi", store=store)
        for number in range(3):
            await chat.arun(f"tanya {number}")
        window = Window(turns=1, summary=Summary(model=Silent([])))
        waiting = asyncio.create_task(Agent(Scripted(echo), window=window).session("budi", store=store).arun("tanya 3"))
        await asked.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert len(await store.turns("budi", finished_only=False)) == 3
        assert (await store.session("budi")).holder is None
        assert (await chat.arun("tanya 3")).text == "jawab 3"

    asyncio.run(work())


def test_a_fork_takes_along_what_it_has_the_turns_of(store: Store) -> None:
    model, summing = Scripted(echo), Summing()
    agent = Agent(model, window=Window(turns=2, summary=Summary(model=summing.model)))
    for number in range(1, 6):
        agent.session("budi", store=store).run(f"tanya {number}")
    asyncio.run(store.fork("budi", "cabang"))
    agent.session("cabang", store=store).run("tanya 6")
    assert texts(model.requests[-1])[0].startswith("[Summary of turn 1 to 4")
    asyncio.run(store.fork("budi", "awal", 1))
    agent.session("awal", store=store).run("tanya 2")
    assert texts(model.requests[-1]) == ["tanya 1", "jawab 1", "tanya 2"]


def test_a_summary_is_written_without_secrets(store: Store) -> None:
    async def work() -> None:
        session = StoredSession("budi", store, redaction=Redaction(environment={"API_KEY": "abc-def-geheim-42"}))
        await Agent(Scripted(echo)).session("budi", store=store).arun("satu")
        await session.past.keep(Kept("summary", 1, {"text": "Kunci: abc-def-geheim-42"}), None)
        assert "abc-def-geheim-42" not in str(await store.kept("budi"))
        assert isinstance(session.past, StoredPast)

    asyncio.run(work())


# ── pins ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_pinned_turn_is_always_sent(kept_in: Store | None) -> None:
    model = Scripted(echo)
    agent = Agent(model, window=Window(turns=2))
    chat = agent.session("budi", store=kept_in)
    first = chat.run("alergi 1")
    chat.run("tanya 2")
    third = chat.run("anggaran 3")
    chat.pin(third.turn)
    chat.pin(first.turn)
    for number in range(4, 9):
        chat = agent.session("budi", store=kept_in) if kept_in else chat
        chat.run(f"tanya {number}")
    assert texts(model.requests[-1]) == [
        *("alergi 1", "jawab 1", "anggaran 3", "jawab 3"),
        "[Not shown here, but for those above: turn 1 to 5 of this conversation.]",
        *("tanya 6", "jawab 6", "tanya 7", "jawab 7", "tanya 8"),
    ]
    chat.pin(first.turn, False)
    chat.run("tanya 9")
    assert texts(model.requests[-1])[:2] == ["anggaran 3", "jawab 3"]


def test_what_cannot_be_pinned_is_refused(kept_in: Store | None) -> None:
    agent = Agent(Scripted(echo), window=Window(tokens=2_000))
    chat = agent.session("budi", store=kept_in)
    other = agent.session("siti", store=kept_in).run("punya siti")
    long = chat.run("kata " * 300)
    with pytest.raises(ConfigurationError, match="no finished turn 'xyz' to pin"):
        chat.pin("xyz")
    with pytest.raises(ConfigurationError, match="no finished turn"):
        chat.pin(other.turn)
    with pytest.raises(ConfigurationError, match="a quarter is the most"):
        chat.pin(long.turn)
    assert [message.role for message in chat.messages] == ["user", "assistant"]


def test_messages_of_the_windows_own_are_no_part_of_the_session(kept_in: Store | None) -> None:
    model = Scripted(echo)
    window = Window(turns=1, pinned=(Message("user", ()),))
    chat = Agent(model, window=window).session("budi", store=kept_in)
    chat.run("satu")
    assert model.requests[-1].messages[0] == Message("user", ())
    assert len(chat.messages) == 2


def test_a_model_for_summaries_that_is_none_is_refused_when_the_agent_is_built() -> None:
    with pytest.raises(ConfigurationError, match="tidak-ada"):
        Agent(Scripted(echo), window=Window(summary=Summary(model="tidak-ada:model")))
    with pytest.raises(ConfigurationError, match="tidak-ada"):
        Agent(Scripted(echo)).session("budi", window=Window(summary=Summary(model="tidak-ada:model")))
