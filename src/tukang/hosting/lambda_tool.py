"""A tool whose function is somebody's AWS Lambda function: called by its ARN, in our time, under our policy.

The function gets the arguments as its event, and in its client context the tool's name and the call's idempotency key, as
AgentCore Gateway says them to a function: `context.client_context.custom`. What it returns is the result.

What is certain about a call decides what becomes of it. An invocation that Lambda turned down did not run: it is tried again
where that may help, and otherwise nothing was done. One that was sent and lost sight of may have run: a read is simply lost;
for anything else its outcome is unknown, and nothing here repeats it, unless it is `idempotent`.

Sources: https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html,
https://docs.aws.amazon.com/lambda/latest/dg/invocation-retries.html (who may have run),
https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-add-target-lambda.html (the client context).
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Mapping
from typing import Any, Unpack, cast
from urllib.parse import quote

import msgspec

from tukang.errors import ConfigurationError, ToolDefinitionError
from tukang.models.aws import Account, Service
from tukang.models.aws_request import Answered, NotAnsweredError, TooLongError, ask
from tukang.models.http import Route, retry_after
from tukang.tools.advice import warn
from tukang.tools.context import CallContext
from tukang.tools.failure import without_secrets
from tukang.tools.forms import read_form
from tukang.tools.json_text import unicode
from tukang.tools.outcome import HARMLESS, Fault, NothingDone, OutcomeUnknown
from tukang.tools.policy import Policy, PolicyOptions, policy_of
from tukang.tools.tool import tool

LAMBDA = Service("AWS Lambda", "lambda", "lambda", "LAMBDA")

TOOL, KEY = "bedrockAgentCoreToolName", "tukang/idempotency_key"
"""In the client context's own part."""

MOST_BYTES = 6_291_456
"""Bytes of an event that Lambda takes, and of a result that it gives back."""

LONGEST = 930.0
"""Seconds that an invocation is waited for where nobody sets a bound: what a function may run, and a little."""

_ARN = re.compile(
    r"arn:aws[a-z-]*:lambda:(?P<region>[a-z0-9-]+):\d{12}:function:(?P<name>[A-Za-z0-9_-]{1,140})(?::(?P<at>[A-Za-z0-9_$.-]{1,129}))?"
)
_CONTEXT = "tukang_call"

_PASSING = frozenset(
    {
        "toomanyrequestsexception",
        "ec2throttledexception",
        "eninotreadyexception",
        "resourcenotreadyexception",
        "resourceconflictexception",
        "snapstartnotreadyexception",
        "codeartifactuserpendingexception",
        "expiredtokenexception",
    }
)
"""It did not run, and may a little later."""

_UNREADY = frozenset(
    {
        "ec2accessdeniedexception",
        "ec2unexpectedexception",
        "enilimitreachedexception",
        "invalidruntimeexception",
        "invalidsecuritygroupidexception",
        "invalidsubnetidexception",
        "invalidzipfileexception",
        "kmsaccessdeniedexception",
        "kmsdisabledexception",
        "kmsinvalidstateexception",
        "kmsnotfoundexception",
        "subnetipaddresslimitreachedexception",
    }
)
"""With a status of 500 or more, and yet it did not run: it could not be set up."""

_NOT_LOADED = frozenset({"Runtime.ImportModuleError", "Runtime.HandlerNotFound", "Runtime.UserCodeSyntaxError"})
"""Errors of a function whose handler was never reached."""

_CUT_OFF = re.compile(r"Sandbox\.|Runtime\.|Extension\.|Function\.ResponseSizeTooLarge")
"""Errors of what runs the function: how far the handler came is not known."""

_TIMED_OUT = re.compile(r"Task timed out after [\d.]+ seconds")


class LambdaError(Exception):
    """The function failed, or its answer was lost. The model reads it."""


class LambdaTool:
    """A tool that calls a Lambda function.

        stok = LambdaTool(
            "arn:aws:lambda:ap-southeast-3:123456789012:function:stok:live",
            {"name": "cek_stok", "description": "Cek stok.", "parameters": {…}},
            effect="read",
            timeout=5,
        )

    Args:
        function: its ARN, with a version or an alias behind it or not.
        schema: the contract, in any form that `forms.read_form` reads.
        key_in: the member of the event that the idempotency key is put into as well; None to leave the event alone.
        longest: bytes of a result that are taken.
        tries: how often a call is tried that did not run.
        profile, base_url: see `tukang.models.aws.Account`; `AWS_ENDPOINT_URL_LAMBDA` is the variable.
        route: by which session, proxy and TLS settings; the shared session's if None.
        policy: as in `@tool`: `effect`, `timeout`, `approval`, … What is said around it stands in its place:
            `tool(LambdaTool(…), effect="read")`.

    Raises:
        ConfigurationError: the ARN is none, or botocore is not installed.
        ToolDefinitionError: the schema is none, has an argument of a name that is needed here, or the policy is none.
    """

    def __init__(
        self,
        function: str,
        schema: Mapping[str, Any],
        *,
        key_in: str | None = None,
        longest: int = MOST_BYTES,
        tries: int = 4,
        profile: str | None = None,
        base_url: str | None = None,
        route: Route | None = None,
        **policy: Unpack[PolicyOptions],
    ) -> None:
        arn = _ARN.fullmatch(function)
        if arn is None:
            raise ConfigurationError(
                "a LambdaTool names its function by the ARN, such as "
                f"arn:aws:lambda:ap-southeast-3:123456789012:function:stok, not {function[:100]!r}"
            )
        form = read_form(schema, function)
        taken: Mapping[str, Any] = form.parameters.get("properties", {})
        if clash := {_CONTEXT, key_in} & taken.keys():
            raise ToolDefinitionError(f"tool {form.name!r}: its schema has {clash.pop()!r}, which is filled in here")
        self.arn = function
        self._name = form.name
        self._form = {"name": form.name, "description": form.description, "parameters": dict(form.parameters)}
        self._policy = _policy(form.name, policy)
        self._key_in, self._longest, self._tries = key_in, longest, max(1, tries)
        self._account = Account(LAMBDA, region=arn["region"], profile=profile, base_url=base_url)
        self._route = route
        self.execute = tool(self._invoke, **policy)

    def get_schema(self) -> Mapping[str, Any]:
        """The contract."""
        return self._form

    async def _invoke(self, tukang_call: CallContext, **arguments: Any) -> Any:
        body = msgspec.json.encode(arguments | ({self._key_in: tukang_call.idempotency_key} if self._key_in else {}))
        if len(body) > MOST_BYTES:
            raise NothingDone(f"the arguments have {len(body)} bytes, and the function takes {MOST_BYTES}")
        effect = tukang_call.effect or self._policy.effect_of(
            arguments
        )  # what is said around it counts, not what is here
        answer = await self._answered(body, tukang_call, again=effect in ("read", "idempotent"), reads=effect == "read")
        if fault := answer.headers.get("X-Amz-Function-Error"):
            raise _failed(fault, answer.body, reads=effect == "read")
        return _value(answer.body)

    async def _answered(self, body: bytes, call: CallContext, *, again: bool, reads: bool) -> Answered:
        """The answer of an invocation that ran. `again`: what may have run may be tried again."""
        headers = {
            "Content-Type": "application/json",
            "X-Amz-Invocation-Type": "RequestResponse",
            "X-Amz-Client-Context": _client_context(self._name, call.idempotency_key),
        }
        path = f"/2015-03-31/functions/{quote(self.arn, safe='')}/invocations"
        for number in range(1, self._tries + 1):
            tried = await self._tried(path, body, headers, call)
            if isinstance(tried, Answered):
                return tried
            pause = _pause(number, tried.after)
            left = call.seconds_left()
            if number < self._tries and (left is None or pause < left) and (tried.passes if tried.not_run else again):
                await asyncio.sleep(pause)
                continue
            if tried.told:
                warn(f"tool {self._name!r}: {tried.told}")
            if tried.not_run:
                raise NothingDone(tried.message)
            raise LambdaError(tried.message) if reads else OutcomeUnknown(tried.message)
        raise AssertionError("the last try answers or raises")

    async def _tried(self, path: str, body: bytes, headers: Mapping[str, str], call: CallContext) -> Answered | _Lost:
        left = call.seconds_left()
        try:
            # whoever runs this call stops it when its time is up, and knows best what that means
            seconds = LONGEST if left is None else left + 1.0
            answer = await ask(
                self._account, path, body, headers, seconds=seconds, longest=self._longest, route=self._route
            )
        except TooLongError:
            raise LambdaError(f"it ran, but its result has more than {self._longest} bytes") from None
        except NotAnsweredError as error:
            if error.sent:
                return _Lost("the function did not answer", not_run=False, told=str(error))
            return _Lost("the function cannot be reached", not_run=True, passes=True, told=str(error))
        except ConfigurationError as error:
            return _Lost("the function cannot be called from here", not_run=True, told=str(error))
        if answer.status < 300:
            return answer
        return _turned_down(answer)


class _Lost(msgspec.Struct, frozen=True):
    """A try that brought no answer of the function's.

    Args:
        message: what the model is told.
        not_run: whether the function certainly did not run.
        passes: of one that did not run: whether it may a little later.
        told: what the developer is told beside that.
        after: seconds that Lambda asks to wait.
    """

    message: str
    not_run: bool
    passes: bool = False
    told: str = ""
    after: float | None = None


def _turned_down(answer: Answered) -> _Lost:
    """Lambda's own refusal. Its words hold ARNs and names of roles, which are the developer's business."""
    fault = answer.fault or f"status {answer.status}"
    told = f"Lambda refused the call: {fault}: {_words(answer.body)}"
    if answer.fault in _PASSING or answer.status == 429:
        return _Lost("the function is busy", not_run=True, passes=True, told=told, after=retry_after(answer.headers))
    if answer.fault in _UNREADY or (answer.status < 500 and (answer.fault or answer.status != 408)):
        return _Lost(f"the function cannot be called ({fault})", not_run=True, told=told)
    return _Lost(f"Lambda failed while the function may have run ({fault})", not_run=False, told=told)


def _failed(fault: str, body: bytes, *, reads: bool) -> Exception:
    """The exception for what a function that failed has said. Its stack is not for the model."""
    said = _object(body)
    kind, message = str(said.get("errorType") or ""), str(said.get("errorMessage") or "")
    words = unicode(without_secrets(": ".join(filter(None, (kind, message))) or f"it failed ({fault})"))
    if kind == NothingDone.__name__:
        return NothingDone(unicode(without_secrets(message)))
    if kind in _NOT_LOADED:
        return NothingDone(f"the function could not be loaded ({kind})")
    if not reads and (_CUT_OFF.match(kind) or (not kind and _TIMED_OUT.search(message)) or not said):
        return OutcomeUnknown(f"the function did not come to its end ({words})")
    return LambdaError(words)


def _client_context(name: str, key: str) -> str:
    """As Lambda takes it: Base64, at most 3,583 bytes."""
    return base64.b64encode(msgspec.json.encode({"custom": {TOOL: name, KEY: key}})).decode()


def _pause(number: int, after: float | None) -> float:
    return min(0.25 * 2.0**number, 5.0) if after is None else after


def _policy(name: str, options: PolicyOptions) -> Policy:
    try:
        return policy_of(options)
    except (TypeError, ValueError) as error:
        raise ToolDefinitionError(f"tool {name!r}: {error}") from error


class _OurFault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a `LambdaHandler` gives back for a call that failed; see `Fault.as_text`."""

    error: Fault


def _raise_fault(body: bytes) -> None:
    """A toolbox of ours says in its result what became of a call: here it is that again."""
    try:
        said = msgspec.json.decode(body, type=_OurFault).error
    except msgspec.MsgspecError:
        return
    if said.kind in HARMLESS:
        raise NothingDone(said.message, said.hint)
    raise OutcomeUnknown(said.message) if said.kind == "outcome_unknown" else LambdaError(said.message)


def _value(body: bytes) -> Any:
    if not body:
        return None
    _raise_fault(body)
    try:
        return msgspec.json.decode(body)
    except msgspec.DecodeError:
        return body.decode("utf-8", "replace")


def _words(body: bytes) -> str:
    said = _object(body)
    return without_secrets(str(said.get("Message") or said.get("message") or ""))[:400]


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
