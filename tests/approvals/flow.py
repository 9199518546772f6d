"""A state machine that asks people, and the person at its other end, played by moto."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import msgspec

from tests.moto_server import REGION, ROLE, Amazon
from tukang.approvals.step_functions import StepFunctions
from tukang.approvals.task_token import TaskToken, asking_machine
from tukang.memory.stores.base import Store


class Flow:
    """A state machine that asks through a queue, and the person at its other end."""

    def __init__(self, amazon: Amazon, **step: Any) -> None:
        self.amazon = amazon
        self.sqs, self.sfn = amazon.client("sqs"), amazon.client("stepfunctions")
        self.queue = self.sqs.create_queue(QueueName="orang")["QueueUrl"]
        machine = msgspec.json.encode(asking_machine(self.queue, **step)).decode()
        self.arn = self.sfn.create_state_machine(name="izin", definition=machine, roleArn=ROLE)["stateMachineArn"]

    def channel(self, store: Store, **options: Any) -> StepFunctions:
        return StepFunctions(self.arn, store, base_url=self.amazon.url, **options)

    def token(self, text: str) -> TaskToken:
        return TaskToken(text, region=REGION, base_url=self.amazon.url, tries=1)

    def asked(self) -> tuple[str, Any]:
        """What the person gets: a token, and the question."""
        got = until(lambda: self.sqs.receive_message(QueueUrl=self.queue).get("Messages"))
        body = msgspec.json.decode(got[0]["Body"])
        return body["token"], body["asked"]

    def asked_more(self) -> bool:
        return "Messages" in self.sqs.receive_message(QueueUrl=self.queue)

    def executions(self) -> list[Any]:
        return self.sfn.list_executions(stateMachineArn=self.arn)["executions"]

    def status(self, name: str) -> str:
        return next(one["status"] for one in self.executions() if one["name"] == name)

    def ended(self, place: int = 0) -> Any:
        """The execution, once it has ended: what Step Functions does after it was told takes it a moment."""

        def look() -> Any:
            one = self.executions()[place]
            return one if one["status"] != "RUNNING" else None

        return until(look)

    def news(self) -> bytes:
        """What EventBridge sends when it has."""
        one = self.ended()
        detail = {"executionArn": one["executionArn"], "stateMachineArn": self.arn, "status": one["status"]}
        event = {"source": "aws.states", "detail-type": "Step Functions Execution Status Change", "detail": detail}
        return msgspec.json.encode(event)


def until(look: Callable[[], Any]) -> Any:
    """What comes of it, as soon as there is something."""
    last = time.monotonic() + 20
    while not (found := look()):
        assert time.monotonic() < last, "nothing came"
        time.sleep(0.01)
    return found
