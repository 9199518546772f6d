"""A log of keyed calls in a DynamoDB table: it holds for every instance of a function, and for all that share the table.

One item for each batch, with the turn as partition key and the number as sort key; that no number is given out twice is a
condition of the write (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.ConditionExpressions.html).
The table:

    aws dynamodb create-table --table-name tukang-calls --billing-mode PAY_PER_REQUEST \\
        --attribute-definitions AttributeName=turn,AttributeType=S AttributeName=number,AttributeType=N \\
        --key-schema AttributeName=turn,KeyType=HASH AttributeName=number,KeyType=RANGE

The function's role needs `dynamodb:PutItem` and `dynamodb:Query` on it. `expires` is there for DynamoDB's own expiry.
botocore signs (the extra `aws`; Lambda's Python has it).
"""

from __future__ import annotations

import base64
import secrets
import time
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tukang.errors import ConfigurationError, TukangError
from tukang.models.aws import Account, Service
from tukang.models.aws_request import NotAnsweredError, ask

DYNAMODB = Service("Amazon DynamoDB", "dynamodb", "dynamodb", "DYNAMODB")

KEPT = 7 * 24 * 3600.0
"""Seconds for which a key is remembered, where the table's expiry is on."""

_SECONDS = 10.0
_TRIES = 3
_LARGEST = 380_000
"""Bytes of one item: DynamoDB takes 400 KB, names and keys counted in."""

_MISSING = "resourcenotfoundexception"


class LogError(TukangError):
    """The table did not take a call, or gave none back."""


class DynamoLog:
    """See `tukang.memory.keyed.Log`.

    Args:
        table: its name.
        account: who asks, and where; what the function runs as by default.
        kept: seconds for which a key is remembered.

    Raises:
        ConfigurationError: botocore is not installed.
    """

    def __init__(self, table: str, account: Account | None = None, kept: float = KEPT) -> None:
        self._table = table
        self._account = account or Account(DYNAMODB)
        self._kept = kept
        self._writer = secrets.token_hex(8)

    async def read(self, turn: str) -> Sequence[bytes]:
        batches: list[bytes] = []
        start: Mapping[str, Any] | None = None
        while True:
            more = {} if start is None else {"ExclusiveStartKey": start}
            answer = await self._ask(
                "Query",
                {
                    "TableName": self._table,
                    "ConsistentRead": True,
                    "KeyConditionExpression": "turn = :turn",
                    "ExpressionAttributeValues": {":turn": {"S": turn}},
                    **more,
                },
            )
            batches += [zlib.decompress(base64.b64decode(item["batch"]["B"])) for item in answer.get("Items", ())]
            start = answer.get("LastEvaluatedKey")
            if not start:
                return tuple(batches)

    async def append(self, turn: str, number: int, batch: bytes) -> bool:
        packed = base64.b64encode(zlib.compress(batch)).decode()
        if len(packed) > _LARGEST:
            raise LogError(f"a call's result has {len(batch)} bytes, which is more than the table {self._table} takes")
        item = {
            "turn": {"S": turn},
            "number": {"N": str(number)},
            "batch": {"B": packed},
            "writer": {"S": self._writer},
            "expires": {"N": str(int(time.time() + self._kept))},
        }
        put = {
            "TableName": self._table,
            "Item": item,
            "ConditionExpression": "attribute_not_exists(turn)",
            # an own write whose answer was lost is told from somebody else's by what stands there
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        answer = await self._ask("PutItem", put)
        if "Item" not in answer:
            return True
        return all(answer["Item"].get(name) == item[name] for name in ("writer", "batch"))

    async def _ask(self, operation: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        headers = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": f"DynamoDB_20120810.{operation}"}
        why = ""
        for _ in range(_TRIES):
            try:
                answer = await ask(self._account, "/", msgspec.json.encode(body), headers, seconds=_SECONDS)
            except NotAnsweredError as error:
                why = str(error)
                continue
            if answer.status == 200:
                return msgspec.json.decode(answer.body)
            if answer.fault == "conditionalcheckfailedexception":
                return {"Item": {}} | msgspec.json.decode(answer.body)
            if answer.fault == _MISSING:
                raise ConfigurationError(f"there is no DynamoDB table {self._table!r}: see tukang.hosting.dynamodb")
            why = f"{answer.status} {answer.fault}"
            if answer.status < 500 and "throttl" not in answer.fault and "exceeded" not in answer.fault:
                break
        raise LogError(f"the table {self._table} cannot be used: {why}")
