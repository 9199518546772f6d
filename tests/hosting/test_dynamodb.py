"""A log in a DynamoDB table: what is asked of it, and that no number is given out twice. The table is played here.

botocore's own description of DynamoDB is the judge of what is asked.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from botocore.session import get_session
from botocore.validate import ParamValidator

from tests.moto_server import REGION, Amazon
from tukang import Agent, CallContext, tool
from tukang.calling import AsAsked, call
from tukang.errors import ConfigurationError
from tukang.hosting.dynamodb import DYNAMODB, DynamoLog, LogError
from tukang.memory.keyed import KeyedSession
from tukang.models.aws import Account

_MODEL = get_session().get_service_model("dynamodb")


class Table:
    """A table, as far as a log uses it.

    Args:
        page: items of one answer to a query.
        lose: how many writes are done without an answer.
        fails: the answers to come before any other: (status, exception).
    """

    def __init__(self, page: int = 100, lose: int = 0, fails: list[tuple[int, str]] | None = None) -> None:
        self.items: dict[tuple[str, int], Any] = {}
        self.asked: list[str] = []
        self._page, self._lose, self._fails = page, lose, list(fails or ())

    async def answer(self, request: web.Request) -> web.Response:
        operation = request.headers["X-Amz-Target"].partition(".")[2]
        assert request.headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKID/")
        assert "/dynamodb/aws4_request" in request.headers["Authorization"]
        assert request.content_type == "application/x-amz-json-1.0"
        body = json.loads(await request.text())
        report = ParamValidator().validate(_decoded(body), _MODEL.operation_model(operation).input_shape)
        assert not report.has_errors(), report.generate_report()
        self.asked.append(operation)
        if self._fails:
            status, fault = self._fails.pop(0)
            return _json({"__type": f"com.amazonaws.dynamodb.v20120810#{fault}", "message": "no"}, status)
        return self._put(body, request) if operation == "PutItem" else self._query(body)

    def _put(self, body: Any, request: web.Request) -> web.Response:
        item = body["Item"]
        place = (item["turn"]["S"], int(item["number"]["N"]))
        assert body["ConditionExpression"] == "attribute_not_exists(turn)"
        if place in self.items:
            fault = "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"
            return _json({"__type": fault, "message": "no", "Item": self.items[place]}, 400)
        self.items[place] = item
        if self._lose:
            self._lose -= 1
            assert request.transport is not None
            request.transport.close()
        return _json({})

    def _query(self, body: Any) -> web.Response:
        assert body["ConsistentRead"] is True
        turn = body["ExpressionAttributeValues"][":turn"]["S"]
        found = [self.items[place] for place in sorted(self.items) if place[0] == turn]
        start = body.get("ExclusiveStartKey")
        begin = 0 if start is None else int(start["number"]["N"]) + 1
        page = found[begin : begin + self._page]
        more = {"turn": {"S": turn}, "number": page[-1]["number"]} if begin + self._page < len(found) else None
        return _json({"Items": page, "Count": len(page)} | ({"LastEvaluatedKey": more} if more else {}))


def _decoded(body: Any) -> Any:
    """As botocore has it: bytes where the wire has Base64."""
    if isinstance(body, dict):
        return {name: (value.encode() if name == "B" else _decoded(value)) for name, value in body.items()}
    return [_decoded(one) for one in body] if isinstance(body, list) else body


def _json(value: Any, status: int = 200) -> web.Response:
    return web.Response(status=status, body=json.dumps(value).encode(), content_type="application/x-amz-json-1.0")


@asynccontextmanager
async def at(table: Table) -> AsyncGenerator[Account]:
    app = web.Application()
    app.router.add_post("/", table.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield Account(DYNAMODB, region="ap-southeast-1", base_url=f"http://127.0.0.1:{runner.addresses[0][1]}")
    finally:
        await runner.cleanup()


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKID")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")


def test_a_call_is_made_once_by_all_that_share_the_table() -> None:
    table, did = Table(), list[str]()

    @tool(effect="write", approval="never")
    def kirim(kode: str, context: CallContext) -> str:
        """Kirim."""
        did.append(context.idempotency_key)
        return f"{kode} {len(did)}"

    async def go() -> list[str]:
        agent = Agent(AsAsked("", ""), tools=[kirim])
        async with at(table) as account:
            answers = [
                await call(
                    agent, "kirim", '{"kode":"A"}', session=KeyedSession("s", DynamoLog("t", account)), turn="k"
                ).answer()
                for _ in range(2)
            ]
        return [answer.steps[0].result for answer in answers]

    assert asyncio.run(go()) == ["A 1", "A 1"]
    assert len(did) == 1
    assert table.asked == ["Query", "PutItem", "PutItem", "Query"], "one write before the function runs, one after"


def test_moto_keeps_it_too(amazon: Amazon) -> None:
    """A judge of the writes' conditions that is not ours."""
    amazon.client("dynamodb").create_table(
        TableName="tukang-calls",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": "turn", "AttributeType": "S"},
            {"AttributeName": "number", "AttributeType": "N"},
        ],
        KeySchema=[{"AttributeName": "turn", "KeyType": "HASH"}, {"AttributeName": "number", "KeyType": "RANGE"}],
    )

    async def go() -> tuple[list[bool], Any]:
        account = Account(DYNAMODB, region=REGION, base_url=amazon.url)
        one, other = DynamoLog("tukang-calls", account), DynamoLog("tukang-calls", account)
        written = [await log.append("k", number, b"x%d" % number) for number in (0, 1) for log in (one, other)]
        with pytest.raises(ConfigurationError, match="no DynamoDB table"):
            await DynamoLog("absent", account).read("k")
        return written, await other.read("k")

    assert asyncio.run(go()) == ([True, False, True, False], (b"x0", b"x1"))


def test_a_number_is_given_out_once() -> None:
    table = Table()

    async def go() -> list[bool]:
        async with at(table) as account:
            one, other = DynamoLog("t", account), DynamoLog("t", account)
            return [await log.append("k", number, b"x") for number in (0, 1) for log in (one, other)]

    assert asyncio.run(go()) == [True, False, True, False]


def test_what_is_written_is_read_page_by_page() -> None:
    table = Table(page=2)

    async def go() -> Any:
        async with at(table) as account:
            log = DynamoLog("t", account)
            for number in range(5):
                await log.append("k", number, b"batch %d" % number)
            return await log.read("k"), await log.read("other")

    batches, none = asyncio.run(go())
    assert list(batches) == [b"batch %d" % number for number in range(5)]
    assert list(none) == []


def test_an_own_write_whose_answer_was_lost_is_an_own_write() -> None:
    async def go() -> bool:
        async with at(Table(lose=1)) as account:
            return await DynamoLog("t", account).append("k", 0, b"x")

    assert asyncio.run(go())


def test_a_fault_that_passes_is_tried_again() -> None:
    table = Table(fails=[(500, "InternalServerError"), (400, "ProvisionedThroughputExceededException")])

    async def go() -> bool:
        async with at(table) as account:
            return await DynamoLog("t", account).append("k", 0, b"x")

    assert asyncio.run(go())
    assert len(table.asked) == 3


@pytest.mark.parametrize(
    ("fault", "error", "asked"),
    [
        ("ResourceNotFoundException", ConfigurationError, 1),
        ("AccessDeniedException", LogError, 1),
        ("InternalServerError", LogError, 3),
    ],
)
def test_a_table_that_cannot_be_used_is_said(fault: str, error: type[Exception], asked: int) -> None:
    table = Table(fails=[(500 if asked == 3 else 400, fault)] * 3)

    async def go() -> None:
        async with at(table) as account:
            with pytest.raises(error, match="tukang-calls"):
                await DynamoLog("tukang-calls", account).read("k")

    asyncio.run(go())
    assert len(table.asked) == asked


def test_a_result_that_is_too_long_for_the_table_is_said() -> None:
    async def go() -> None:
        with pytest.raises(LogError, match="bytes"):
            await DynamoLog("t").append("k", 0, os.urandom(400_000))

    asyncio.run(go())
