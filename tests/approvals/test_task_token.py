"""Having the token of a task: an agent that is a step of somebody's state machine, and what is said when things go wrong."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.approvals.flow import Flow
from tests.memory.mortal import World
from tests.moto_server import REGION, Amazon
from tukang.approvals.channels import NotAcceptedError
from tukang.approvals.states import States, StatesError
from tukang.approvals.task_token import TaskToken
from tukang.memory.stores.addresses import store_at
from tukang.models.scripted import call

TOKEN = "AAAAKgAAAAIAAAAAAAAAAcTokenYangPanjangSekaliDanTidakBolehTerlihatDiManaPun=="


def test_an_agent_is_a_step_that_beats_while_it_waits_and_answers_when_it_is_done(
    amazon: Amazon, tmp_path: Path
) -> None:
    flow = Flow(amazon, beat=60)

    async def work() -> None:
        flow.sfn.start_execution(stateMachineArn=flow.arn, name="tugas", input='{"pesan": "go"}')
        text, asked = flow.asked()
        store, world = store_at(f"sqlite:///{tmp_path}/t.db"), World({"write"})
        chat = world.agent(call("write", x=1), "Selesai.").session("budi", store=store)
        token = flow.token(text)
        async with token.beating(every=0.01):
            answer = await chat.arun(asked["pesan"])
        assert not await token.report(answer), "it waits for a person"
        assert flow.executions()[0]["status"] == "RUNNING"
        last = await chat.aresume(approve=lambda asked: True)  # noqa: ARG005
        assert last is not None
        assert await token.report(last)
        with contextlib.suppress(
            flow.sfn.exceptions.ClientError
        ):  # moto looks at the decision when the next beat comes
            flow.sfn.send_task_heartbeat(taskToken=text)
        assert flow.ended()["status"] == "SUCCEEDED"
        output = json.loads(flow.sfn.describe_execution(executionArn=flow.executions()[0]["executionArn"])["output"])
        assert (output["text"], output["stopped"], output["data"]) == ("Selesai.", "answer", None)
        with pytest.raises(StatesError):
            await token.report(last)
        await store.close()

    asyncio.run(work())


def test_a_turn_that_failed_is_a_task_that_failed(amazon: Amazon) -> None:
    flow = Flow(amazon)

    async def work() -> None:
        flow.sfn.start_execution(stateMachineArn=flow.arn, name="tugas", input="{}")
        text, _ = flow.asked()
        answer = await World().agent().arun("go")
        assert answer.stopped == "model_error"
        assert await flow.token(text).report(answer)
        assert flow.ended()["status"] == "FAILED"
        found = flow.sfn.describe_execution(executionArn=flow.executions()[0]["executionArn"])
        assert found["error"] == "Tukang.model_error"

    asyncio.run(work())


def test_only_a_decision_is_sent() -> None:
    token = TaskToken(TOKEN, region=REGION, base_url="http://127.0.0.1:9", tries=1)
    asked = {"turn": "t", "call": "c", "digest": "d"}
    for about, decision in (({}, "approve"), (asked, "perhaps"), (asked, "edit")):
        with pytest.raises(NotAcceptedError):
            asyncio.run(token.decide(about, decision, by="ibu"))  # type: ignore[arg-type]
    assert TOKEN not in repr(token)


class Faulty:
    """A service that answers as it is told, and then as it should."""

    def __init__(self, answers: Sequence[tuple[int, Any]]) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []
        self.url = ""

    async def take(self, request: web.Request) -> web.Response:
        self.asked.append(request.headers["X-Amz-Target"].partition(".")[2])
        status, body = self._answers.pop(0) if self._answers else (200, {})
        return web.Response(status=status, body=body if isinstance(body, bytes) else json.dumps(body).encode())


@asynccontextmanager
async def faulty(*answers: tuple[int, Any]) -> AsyncIterator[Faulty]:
    service = Faulty(answers)
    application = web.Application()
    application.router.add_post("/", service.take)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    service.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield service
    await runner.cleanup()


@pytest.fixture(autouse=True)
def no_waiting(amazon: Amazon, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    sleep = asyncio.sleep
    monkeypatch.setattr("tukang.approvals.states.asyncio.sleep", lambda _: sleep(0))


def test_what_may_pass_is_tried_again_and_what_may_not_is_said_without_the_token() -> None:
    slow = {"__type": "com.amazonaws.swf.service.v2.model#ThrottlingException", "message": "Rate exceeded"}
    over = {"__type": "com.amazonaws.swf.service.v2.model#TaskTimedOut", "message": f"Task Timed Out: '{TOKEN}'"}

    async def work() -> None:
        async with faulty((400, slow), (503, b"busy")) as service:
            await States(region=REGION, base_url=service.url).beat(TOKEN)
            assert service.asked == ["SendTaskHeartbeat"] * 3
        async with faulty((400, over)) as service:
            with pytest.raises(StatesError) as caught:
                await States(region=REGION, base_url=service.url).succeed(TOKEN, "{}")
            assert caught.value.kind == "tasktimedout"
            assert TOKEN not in str(caught.value)
            assert len(service.asked) == 1
        async with faulty(*[(500, b"[1]")] * 3, (200, b"no JSON")) as service:
            states = States(region=REGION, base_url=service.url)
            with pytest.raises(StatesError, match="500"):
                await states.describe("arn")
            with pytest.raises(StatesError, match="cannot be read"):
                await states.describe("arn")

    asyncio.run(work())


def test_a_list_is_read_page_by_page() -> None:
    pages = [{"executions": [{"name": "a", "executionArn": "x:a"}], "nextToken": "2"}, {"executions": []}]

    async def work() -> None:
        async with faulty(*((200, page) for page in pages)) as service:
            found = [one.name async for one in States(region=REGION, base_url=service.url).running("arn")]
            assert (found, service.asked) == (["a"], ["ListExecutions"] * 2)

    asyncio.run(work())


def test_what_is_too_long_is_not_sent() -> None:
    async def work() -> None:
        states = States(region=REGION, base_url="http://127.0.0.1:9")
        for too_long in (states.start("arn", "n", '"' + "é" * 131_072 + '"'), states.succeed(TOKEN, "x" * 262_145)):
            with pytest.raises(StatesError, match="262144"):
                await too_long

    asyncio.run(work())


def test_the_heart_stops_with_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    over = {"__type": "TaskTimedOut", "message": "Task Timed Out"}

    async def work() -> None:
        stopped = asyncio.Event()
        monkeypatch.setattr("tukang.approvals.task_token.warn", lambda _: stopped.set())
        async with faulty((503, b""), (200, {}), (400, over)) as service:
            token = TaskToken(TOKEN, region=REGION, base_url=service.url, tries=1)
            async with token.beating(every=0.001):
                await stopped.wait()
            assert service.asked == ["SendTaskHeartbeat"] * 3

    asyncio.run(work())
