"""AWS Step Functions, as far as asking people needs it: executions that are started, looked at and stopped, and task tokens.

Speaks the service's JSON protocol; knows nothing of approvals. Everything here may be asked twice, so what may pass is tried
again. Neither a credential nor a task token gets into an error.

Source: https://docs.aws.amazon.com/step-functions/latest/apireference/ (StartExecution, DescribeExecution, ListExecutions,
StopExecution, SendTaskSuccess, SendTaskFailure, SendTaskHeartbeat) and
https://docs.aws.amazon.com/step-functions/latest/dg/connect-to-resource.html#connect-wait-token (task tokens).
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any, TypeVar

import msgspec

from tukang.errors import ConfigurationError, TukangError
from tukang.models.aws import Account, Service
from tukang.models.aws_request import NotAnsweredError, ask
from tukang.models.http import snippet
from tukang.tools.failure import without_secrets

STEP_FUNCTIONS = Service("AWS Step Functions", "states", "states", "SFN")

MOST_BYTES = 262_144
"""Bytes of an execution's input, and of a task's output, in UTF-8."""

_ARN = re.compile(
    r"arn:(?P<partition>aws[a-z-]*):states:(?P<region>[a-z0-9-]+):(?P<account>\d{12}):stateMachine:(?P<name>[^:/\s]{1,80})"
    r"(?::[^:/\s]{1,80})?"
)
_PASSES = frozenset(
    {
        "throttlingexception",
        "toomanyrequestsexception",
        "serviceunavailable",
        "kmsthrottlingexception",
        "expiredtokenexception",
    }
)

R = TypeVar("R")


class StatesError(TukangError):
    """Step Functions did not do what it was asked. `kind` is its own name of the fault, in small letters; empty where there
    was no answer."""

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind


class Execution(msgspec.Struct, frozen=True, rename="camel"):
    """One run of a state machine.

    Args:
        status: `RUNNING`, `PENDING_REDRIVE`, `SUCCEEDED`, `FAILED`, `TIMED_OUT` or `ABORTED`.
        input, output: JSON.
        error, cause: of one that failed.
    """

    status: str
    input: str = ""
    output: str | None = None
    error: str | None = None
    cause: str | None = None


class Listed(msgspec.Struct, frozen=True, rename="camel"):
    """One of a list."""

    name: str
    execution_arn: str


class _Started(msgspec.Struct, frozen=True, rename="camel"):
    execution_arn: str


class _Page(msgspec.Struct, frozen=True, rename="camel"):
    executions: tuple[Listed, ...] = ()
    next_token: str | None = None


class MachineName(msgspec.Struct, frozen=True):
    """A state machine, by its ARN, with a version or an alias behind it or not."""

    arn: str
    region: str
    name: str
    executions: str

    @classmethod
    def of(cls, arn: str) -> MachineName:
        """Read an ARN.

        Raises:
            ConfigurationError: it is none of a state machine.
        """
        found = _ARN.fullmatch(arn)
        if found is None:
            raise ConfigurationError(
                f"a state machine is named by its ARN, such as arn:aws:states:ap-southeast-1:123456789012:stateMachine:izin, "
                f"not {arn[:100]!r}"
            )
        part = found.groupdict()
        executions = f"arn:{part['partition']}:states:{part['region']}:{part['account']}:execution:{part['name']}:"
        return cls(arn, part["region"], part["name"], executions)


class States:
    """The operations.

    Args:
        region, profile, base_url: see `tukang.models.aws.Account`; `AWS_ENDPOINT_URL_SFN` is the variable.
        tries: how often each is tried.
        timeout: seconds that one try may take.

    Raises:
        ConfigurationError: botocore is not installed.
    """

    def __init__(
        self,
        *,
        region: str | None = None,
        profile: str | None = None,
        base_url: str | None = None,
        tries: int = 3,
        timeout: float = 10.0,
    ) -> None:
        self._account = Account(STEP_FUNCTIONS, region=region, profile=profile, base_url=base_url)
        self._tries = max(1, tries)
        self._timeout = timeout

    async def start(self, machine: str, name: str, text: str) -> str:
        """Start an execution, and give its ARN. The same name and input again, while it runs, is the same execution.

        Raises:
            StatesError: kind `executionalreadyexists` where it has ended, or was started with another input.
        """
        if len(text.encode()) > MOST_BYTES:
            raise StatesError(f"an execution takes no more than {MOST_BYTES} bytes", "toolong")
        body = {"stateMachineArn": machine, "name": name, "input": text}
        return (await self._ask("StartExecution", body, _Started)).execution_arn

    async def describe(self, execution: str) -> Execution:
        """How an execution stands; it may have gone on meanwhile."""
        return await self._ask("DescribeExecution", {"executionArn": execution}, Execution)

    async def running(self, machine: str) -> AsyncIterator[Listed]:
        """The executions of a machine that have not ended."""
        body: dict[str, Any] = {"stateMachineArn": machine, "statusFilter": "RUNNING"}
        while True:
            page = await self._ask("ListExecutions", body, _Page)
            for one in page.executions:
                yield one
            if page.next_token is None:
                return
            body["nextToken"] = page.next_token

    async def stop(self, execution: str, error: str, cause: str) -> None:
        """Stop an execution."""
        await self._ask("StopExecution", {"executionArn": execution, "error": error, "cause": cause}, dict[str, Any])

    async def succeed(self, token: str, output: str) -> None:
        """A task is done, and this is its output (JSON)."""
        if len(output.encode()) > MOST_BYTES:
            raise StatesError(f"a task's output has no more than {MOST_BYTES} bytes", "toolong")
        await self._ask("SendTaskSuccess", {"taskToken": token, "output": output}, dict[str, Any])

    async def fail(self, token: str, error: str, cause: str) -> None:
        """A task has failed."""
        body = {"taskToken": token, "error": error[:256], "cause": cause[:32_768]}
        await self._ask("SendTaskFailure", body, dict[str, Any])

    async def beat(self, token: str) -> None:
        """A task is still being worked on."""
        await self._ask("SendTaskHeartbeat", {"taskToken": token}, dict[str, Any])

    async def _ask(self, operation: str, fields: dict[str, Any], form: type[R]) -> R:
        body = msgspec.json.encode(fields)
        for left in reversed(range(self._tries)):
            try:
                return await self._once(operation, body, form)
            except _Passing as error:
                if not left:
                    raise error.fault from None
            await asyncio.sleep(0.5 * (self._tries - left))
        raise AssertionError("at least one try")

    async def _once(self, operation: str, body: bytes, form: type[R]) -> R:
        headers = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": f"AWSStepFunctions.{operation}"}
        try:
            answer = await ask(self._account, "/", body, headers, seconds=self._timeout)
        except NotAnsweredError as error:
            raise _Passing(StatesError(f"{operation}: {error}")) from None
        if answer.status >= 300:
            fault = StatesError(f"{operation}: {_words(answer.body) or answer.status}", answer.fault)
            passes = answer.status >= 500 or answer.status == 429 or answer.fault in _PASSES
            raise _Passing(fault) if passes else fault
        try:
            return msgspec.json.decode(answer.body or b"{}", type=form)
        except msgspec.MsgspecError as error:
            raise StatesError(f"{operation}: the answer cannot be read: {error}") from None


class _Passing(Exception):
    """A fault that may pass."""

    def __init__(self, fault: StatesError) -> None:
        super().__init__()
        self.fault = fault


def _words(body: bytes) -> str:
    """What a fault says. It may quote what was sent: a task token has no business in an error."""
    try:
        value = json.loads(body)
        said = value.get("message") or value.get("Message") or value.get("__type") or ""
    except (ValueError, AttributeError, RecursionError):
        return ""
    return snippet(_TOKENS.sub("[token]", without_secrets(str(said))))


_TOKENS = re.compile(r"[A-Za-z0-9+/=]{60,}")
