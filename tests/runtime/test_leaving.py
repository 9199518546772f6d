"""Who leaves early, or gives up from within: the turn is ended once, and nobody else waits for it for ever."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, create_model

from tukang import Agent, Answer, Limits, tool
from tukang.models.base import ModelRequest
from tukang.models.scripted import Says, Scripted, call

SOON = Limits(seconds=None)


def in_time(work: Callable[[], Any]) -> Any:
    """What it returns or raises; it may hang in a thread, and must not."""
    ended: list[Any] = []

    def run() -> None:
        try:
            ended.append(work())
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(20)
    assert ended, "it hangs"
    return ended[0]


def gives_up(error: type[BaseException]) -> Callable[..., Any]:
    def at_once(*_: Any) -> Any:
        raise error("from within")

    return at_once


def works_again() -> None:
    assert in_time(lambda: Agent(Scripted(["yes"])).run("still there?")).text == "yes"


# ── streams ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_stream_is_read_once_and_what_it_did_is_not_done_again() -> None:
    ran: list[str] = []

    @tool(effect="write", approval="never")
    def pesan(kode: str) -> str:
        """Pesan."""
        ran.append(kode)
        return "ok"

    async def main() -> None:
        chat = Agent(Scripted([call("pesan", kode="A"), "done"], repeat=True), tools=[pesan]).session()
        stream = chat.stream("go")
        first = [item async for item in stream]
        with pytest.raises(RuntimeError, match="read once"):
            async for _ in stream:
                pass
        assert first
        assert stream.answer.text == "done"
        assert len(chat.messages) == 4

    asyncio.run(main())
    assert ran == ["A"]


def test_a_turn_runs_once() -> None:
    async def main() -> None:
        running = Agent(Scripted(["one"], repeat=True)).start("go")
        assert (await running.answer()).text == "one"
        with pytest.raises(RuntimeError, match="was run before"):
            await running.answer()

    asyncio.run(main())


def test_a_stream_that_is_cancelled_before_it_is_read_never_begins() -> None:
    model = Scripted(["one", "two"])

    async def main() -> None:
        chat = Agent(model, language="id").session()
        stream = chat.stream("go")
        stream.cancel()
        assert [item async for item in stream] == []
        assert (stream.answer.stopped, stream.answer.events) == ("cancelled", ())
        assert stream.answer.text == "Maaf, jawabannya belum selesai: dibatalkan."
        assert chat.messages == ()
        assert (await chat.arun("go")).text == "one"

    asyncio.run(main())
    assert len(model.requests) == 1


def test_a_stream_that_is_cancelled_while_the_model_loads_ends_with_an_answer() -> None:
    loading = asyncio.Event()

    class Slow(Scripted):
        async def prepare(self, request: ModelRequest) -> None:
            assert request.messages
            loading.set()
            await asyncio.Event().wait()

    async def main() -> None:
        stream = Agent(Slow(["never"])).stream("go")

        async def read() -> Answer:
            async for _ in stream:
                pass
            return stream.answer

        reading = asyncio.create_task(read())
        await loading.wait()
        stream.cancel()
        assert (await reading).stopped == "cancelled"

    asyncio.run(main())


def test_a_stream_that_is_cancelled_while_it_waits_for_the_session_ends_with_an_answer() -> None:
    async def main() -> None:
        chat = Agent(Scripted([Says("half", silent=True), "yes"])).session()
        first, second = chat.stream("one"), chat.stream("two")
        reader = first.__aiter__()
        await anext(reader)
        waiting = asyncio.create_task(anext(second.__aiter__(), None))
        await asyncio.sleep(0)
        second.cancel()
        assert await waiting is None
        first.cancel()
        async for _ in reader:
            pass
        assert first.answer.stopped == "cancelled"
        assert (await chat.arun("three")).text == "yes"
        assert [message.text for message in chat.messages if message.role == "user"] == ["one", "three"]

    asyncio.run(main())


# ── what gives up from within ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, asyncio.CancelledError])
def test_an_adapter_that_gives_up_is_a_fault_of_the_model(error: type[BaseException]) -> None:
    def script(_: ModelRequest) -> Any:
        raise error("from within")

    answer = in_time(lambda: Agent(Scripted(script), limits=SOON).run("go"))
    assert answer.stopped == "model_error"
    assert answer.error.kind == "unexpected"
    works_again()


def test_what_an_adapter_raises_is_told_without_secrets() -> None:
    answer = Agent(Scripted([RuntimeError("no luck with sk-abcdefghijklmnopqrstuvwx")])).run("go")
    assert answer.error is not None
    assert "no luck with" in answer.error.message
    assert "sk-abcdefgh" not in repr(answer)


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_instructions_that_give_up_end_their_turn_and_no_other(error: type[BaseException]) -> None:
    ended = in_time(lambda: Agent(Scripted(["never"]), gives_up(error), limits=SOON).run("go"))
    assert isinstance(ended, error)
    works_again()


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, asyncio.CancelledError])
def test_a_function_that_gives_up_is_a_fault_of_its_call(error: type[BaseException]) -> None:
    @tool(effect="read")
    async def keluar(q: str) -> str:
        """Keluar."""
        return gives_up(error)(q)

    agent = Agent(Scripted([call("keluar", q="a"), "done"]), tools=[keluar], limits=SOON)
    answer = in_time(lambda: agent.run("go"))
    assert (answer.text, answer.steps[0].fault.kind) == ("done", "tool_failed")
    works_again()


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, asyncio.CancelledError, GeneratorExit])
def test_a_validator_that_gives_up_is_a_fault_of_its_call(error: type[BaseException]) -> None:
    def check(_: str) -> str:
        raise error("from within")

    text = Annotated[str, AfterValidator(check)]
    model = create_model("Isi", q=(text, ...))

    def cari(q: str) -> str:
        return q

    def isi(isi: BaseModel) -> str:
        return isi.model_dump_json()

    cari.__annotations__["q"], isi.__annotations__["isi"] = text, model
    agent = Agent(Scripted([[call("cari", q="a"), call("isi", q="a")], "done"]), tools=[cari, isi], limits=SOON)
    answer = in_time(lambda: agent.run("go"))
    assert answer.text == "done"
    assert [step.fault.kind for step in answer.steps] == ["invalid_arguments", "invalid_arguments"]
    data = in_time(lambda: Agent(Scripted([call("answer", q="a")] * 3), limits=SOON).run("go", returns=model))
    assert data.stopped == "no_data"
    works_again()


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, asyncio.CancelledError, GeneratorExit])
def test_a_result_that_gives_up_while_it_is_written_is_a_fault_of_its_call(error: type[BaseException]) -> None:
    class Hasil(BaseModel):
        def model_dump(self, **_: Any) -> dict[str, Any]:
            return gives_up(error)()

    @tool(effect="read")
    async def hasil() -> Hasil:
        """Hasil."""
        return Hasil()

    answer = in_time(lambda: Agent(Scripted([call("hasil"), "done"]), tools=[hasil], limits=SOON).run("go"))
    assert (answer.text, answer.steps[0].fault.kind) == ("done", "tool_failed")
    works_again()
