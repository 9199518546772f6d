"""A signed webhook: what is sent, what is taken, and everything that is not."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
from aiohttp import web

from tests.memory.mortal import World, steps
from tukang import Agent, ConfigurationError, tool
from tukang.approvals.channels import HEADER, OLDEST, NotAcceptedError, Webhook
from tukang.approvals.elsewhere import UnfitDecisionError
from tukang.loop import events
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import WaitError
from tukang.models.scripted import Scripted, call

SECRET = "rahasia-antara-kita-berdua"


class Others:
    """Those who are asked: they write down what they get. `answers` are the codes they answer with, then 200."""

    def __init__(self, *answers: int) -> None:
        self.got: list[tuple[bytes, str]] = []
        self._answers = list(answers)
        self.url = ""

    async def take(self, request: web.Request) -> web.Response:
        self.got.append((await request.read(), request.headers[HEADER]))
        return web.Response(status=self._answers.pop(0) if self._answers else 200)


@asynccontextmanager
async def asked(*answers: int) -> AsyncIterator[Others]:
    others = Others(*answers)
    application = web.Application()
    application.router.add_post("/", others.take)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
    others.url = f"http://127.0.0.1:{port}/"
    yield others
    await runner.cleanup()


def said(question: Any, decision: str, **more: Any) -> bytes:
    about = {name: question[name] for name in ("turn", "call", "digest")}
    return msgspec.json.encode({**about, "decision": decision, "by": "ibu", **more})


def test_it_is_told_waits_and_goes_on_with_what_comes_back(store: Store) -> None:
    async def work() -> None:
        async with asked() as others:
            world, hook = World({"write"}), Webhook(others.url, SECRET, store)
            chat = world.agent(call("write", x=1), "Selesai.").session("budi", store=store)
            answer = await chat.arun("go", approve=hook)
            assert answer.stopped == "waiting"
            ((body, signature),) = others.got
            assert signature == hook.signature(body, int(signature[2:].partition(",")[0]))
            question = msgspec.json.decode(body)
            assert (question["tool"], question["arguments"], question["session"]) == ("write", {"x": 1}, "budi")
            back = said(question, "edit", arguments={"x": 3}, reason="tiga")
            one = await Webhook("https://elsewhere.test", SECRET, store).receive(back, hook.signature(back))
            assert (one.session, one.question.tool) == ("budi", "write")
            with pytest.raises(WaitError):
                await hook.receive(back, hook.signature(back))
            last = await chat.aresume(approve=hook)
            assert (steps(last), [x for _, x, _ in world.did]) == ([("write", None)], [3])
            assert last is not None
            assert [event.by for event in last.events if isinstance(event, events.CallApproved)] == ["ibu"]
            assert len(others.got) == 1, "who edited is not asked again"

    asyncio.run(work())


@pytest.mark.parametrize(("decision", "came"), [("approve", None), ("refuse", "refused")])
def test_yes_and_no(store: Store, decision: str, came: str | None) -> None:
    async def work() -> None:
        async with asked() as others:
            world, hook = World({"write"}), Webhook(others.url, SECRET, store)
            chat = world.agent(call("write", x=1), "Selesai.").session("budi", store=store)
            await chat.arun("go", approve=hook)
            back = said(msgspec.json.decode(others.got[0][0]), decision)
            await hook.receive(back, hook.signature(back))
            assert steps(await chat.aresume()) == [("write", came)]

    asyncio.run(work())


def test_what_is_not_signed_rightly_or_not_a_decision_changes_nothing(store: Store) -> None:
    async def work() -> None:
        async with asked() as others:
            world, hook = World({"write"}), Webhook(others.url, SECRET, store)
            chat = world.agent(call("write", x=1), "Selesai.").session("budi", store=store)
            await chat.arun("go", approve=hook)
            question = msgspec.json.decode(others.got[0][0])
            good = said(question, "approve")
            other = Webhook(others.url, SECRET[::-1], store)
            now = time.time()
            wrong = [
                (good, ""),
                (good, "t=,v1="),
                (good, "t=²,v1=x"),
                (good, "é"),
                (good, other.signature(good)),
                (good, hook.signature(good + b" ")),
                (good, hook.signature(good, now - OLDEST - 5)),
                (good, hook.signature(good, now + OLDEST + 5)),
                (good, hook.signature(good)[:-1]),
                *[
                    (body, hook.signature(body))
                    for body in (
                        b"",
                        b"[]",
                        good.replace(b"approve", b"perhaps"),
                        said({**question, "digest": "else"}, "approve"),
                        said({**question, "turn": "else"}, "approve"),
                        said(question, "edit"),
                        said(question, "approve", also="this"),
                    )
                ],
            ]
            for body, signature in wrong:
                with pytest.raises(NotAcceptedError):
                    await hook.receive(body, signature)
            secret = said(question, "edit", arguments={"x": "sk-abcdefghijklmnop1234"})
            with pytest.raises(UnfitDecisionError):
                await hook.receive(secret, hook.signature(secret))
            waiting = await chat.aresume()
            assert waiting is not None
            assert (waiting.stopped, world.did) == ("waiting", [])

    asyncio.run(work())


def test_who_cannot_be_told_is_told_again_when_the_turn_is_resumed(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        async with asked(500, 302, 200, 503, 503) as others:
            world = World({"write"})
            hook = Webhook(others.url, SECRET, store, tries=2)
            chat = world.agent(call("write", x=1), "Selesai.").session("budi", store=store)
            assert (await chat.arun("go", approve=hook)).stopped == "waiting"
            assert len(others.got) == 2
            assert "nobody could be told about 'write'" in caplog.text
            again = await chat.aresume(approve=hook)
            assert again is not None
            assert (again.stopped, len(others.got)) == ("waiting", 3)
            assert world.did == []

    sleep = asyncio.sleep
    monkeypatch.setattr("tukang.approvals.channels.asyncio.sleep", lambda _: sleep(0))
    asyncio.run(work())


def test_a_secret_in_arguments_does_not_leave_the_program(store: Store) -> None:
    @tool(effect="write")
    def simpan(kunci: str) -> str:
        """Simpan."""
        return f"{kunci} disimpan"

    async def work() -> None:
        async with asked() as others:
            agent = Agent(Scripted([call("simpan", kunci="sk-abcdefghijklmnop1234"), "Selesai."]), tools=[simpan])
            await agent.session("budi", store=store).arun("go", approve=Webhook(others.url, SECRET, store))
            assert b"sk-abc" not in others.got[0][0]
            back = said(msgspec.json.decode(others.got[0][0]), "approve")
            hook = Webhook(others.url, SECRET, store)
            with pytest.raises(UnfitDecisionError):
                await hook.receive(back, hook.signature(back))

    asyncio.run(work())


def test_a_webhook_that_anybody_could_answer_is_refused(store: Store) -> None:
    for url, secret in (("ftp://x", SECRET), ("https://x", "short")):
        with pytest.raises(ConfigurationError, match="webhook"):
            Webhook(url, secret, store)
