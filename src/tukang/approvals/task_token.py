"""The other end of a Step Functions task that waits with a token: whoever has the token says how it went.

Two use it. A person's side (`decide`): what `StepFunctions` asked arrives with a token, and the decision goes back. And an
agent that is itself a step of a state machine (`report`): it answers when its turn has ended, and beats while it has not.

A token is a capability: whoever has it decides. It stands in no error and in no representation.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal

import msgspec

from tukang.answer import Answer
from tukang.approvals.channels import NotAcceptedError, Said
from tukang.approvals.states import States, StatesError
from tukang.tools.advice import warn
from tukang.tools.failure import words

_NO_ANSWER = frozenset({"model_error", "cancelled", "filtered"})
"""Ends of a turn that failed: there is a text, but nothing that was asked for."""


class TaskToken:
    """One task that waits.

    Args:
        token: as the state machine handed it out (`$$.Task.Token`).
        region, profile, base_url: see `tukang.models.aws.Account`.
        tries, timeout: how often each request is tried, and seconds that one try may take.

    Raises:
        ConfigurationError: botocore is not installed.
    """

    def __init__(
        self,
        token: str,
        *,
        region: str | None = None,
        profile: str | None = None,
        base_url: str | None = None,
        tries: int = 3,
        timeout: float = 10.0,
    ) -> None:
        self._token = token
        self._states = States(region=region, profile=profile, base_url=base_url, tries=tries, timeout=timeout)

    async def decide(
        self,
        asked: Mapping[str, Any],
        decision: Literal["approve", "refuse", "edit"],
        *,
        by: str,
        reason: str = "",
        arguments: Mapping[str, Any] | None = None,
    ) -> None:
        """Decide about what a `StepFunctions` channel asked.

        Args:
            asked: the execution's input, as it came with the token.
            decision: what is to become of the call.
            by, reason: who, and why.
            arguments: with `edit`: all of them.

        Raises:
            NotAcceptedError: what is given here is no decision.
            StatesError: the task waits no longer, or could not be reached.
        """
        about = {name: asked.get(name) for name in ("turn", "call", "digest")}
        body = {**about, "decision": decision, "by": by, "reason": reason, "arguments": arguments}
        try:
            said = msgspec.convert(body, Said)
        except msgspec.ValidationError as error:
            raise NotAcceptedError(f"it is no decision: {error}") from error
        if said.decision == "edit" and said.arguments is None:
            raise NotAcceptedError("an edit says which arguments")
        await self._states.succeed(self._token, msgspec.json.encode(said).decode())

    async def report(self, answer: Answer[Any]) -> bool:
        """Say how a turn went: its text and data as the task's output, or that it failed. A turn that waits for a person has
        no answer yet: then the task is told that it goes on.

        Returns:
            whether the task is over.

        Raises:
            StatesError: the task waits no longer, or could not be reached.
        """
        if answer.stopped == "waiting":
            await self._states.beat(self._token)
            return False
        if answer.stopped in _NO_ANSWER:
            fault = "" if answer.error is None else answer.error.message
            await self._states.fail(self._token, f"Tukang.{answer.stopped}", fault)
        else:
            data = None if answer.data is None else msgspec.Raw(answer.text.encode())
            body = {"text": answer.text, "stopped": answer.stopped, "turn": answer.turn, "data": data}
            await self._states.succeed(self._token, msgspec.json.encode(body).decode())
        return True

    @asynccontextmanager
    async def beating(self, every: float = 30.0) -> AsyncGenerator[None, None]:
        """Beat while the block runs. What a beat runs into is no matter of the block's, whose own report will tell; once the
        task waits no longer, it stops.

        Args:
            every: seconds; less than half of the step's `HeartbeatSeconds`.
        """
        heart = asyncio.create_task(self._beat(every))
        try:
            yield
        finally:
            heart.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await heart

    async def _beat(self, every: float) -> None:
        while True:
            await asyncio.sleep(every)
            try:
                await self._states.beat(self._token)
            except StatesError as error:
                if error.kind:
                    warn(f"the task of a state machine waits no longer: {words(error)}")
                    return

    def __repr__(self) -> str:
        return "TaskToken(…)"


def asking_machine(queue: str, *, seconds: int = 86_400, beat: int | None = None) -> dict[str, Any]:
    """A state machine that asks one person: it puts the question and its token into a queue (SQS), and waits. To be given to
    Step Functions as it is, or as the beginning of one of your own.

    Args:
        queue: the queue's URL.
        seconds: how long it waits; then it has decided against it.
        beat: seconds without a beat after which it gives up; None to expect none.
    """
    step: dict[str, Any] = {
        "Type": "Task",
        "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
        "Parameters": {"QueueUrl": queue, "MessageBody": {"token.$": "$$.Task.Token", "asked.$": "$"}},
        "TimeoutSeconds": seconds,
        "End": True,
    }
    if beat is not None:
        step["HeartbeatSeconds"] = beat
    return {"StartAt": "Ask", "States": {"Ask": step}}
