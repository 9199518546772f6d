"""Asking people through AWS Step Functions: the state machine is yours, and waits for a person with a task token.

Who owns what: each call that asks starts one execution of the machine, whose name is made of what is asked, so that it is
asked once however often this is tried. A step of the machine hands its *task token* to a person (by a queue, a function, a
letter) and waits; whoever has the token decides with SendTaskSuccess (see `task_token`). What they send becomes the
execution's output, and that is the decision. This side never sees a token.

Nothing that comes in is believed. `receive` takes from it which execution to look at, and asks Step Functions itself, over a
request of its own: so there is no signature to forge and nothing to replay. An execution counts if it was started with
exactly the question that waits in the store; its output counts if it is a decision about exactly this call. An execution that
ended in any other way has decided against it.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Mapping
from typing import Any, cast

import msgspec

from tukang.approvals import elsewhere
from tukang.approvals.channels import NotAcceptedError, Said
from tukang.approvals.elsewhere import Pending, UnfitDecisionError, pending
from tukang.approvals.states import Execution, MachineName, States, StatesError
from tukang.errors import ConfigurationError
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import WaitError
from tukang.runtime.people import Approval, Approve, Edit, Refuse, Verdict
from tukang.secrets import Remover
from tukang.tools.advice import warn
from tukang.tools.failure import without_secrets, words
from tukang.tools.json_text import Unreadable, canonical, decode

REFUSED = "Refused"
"""The error of a task that failed because somebody said no; its cause is the reason. Other errors are accidents, whose
cause the model does not read."""

PREFIX = "tukang-"
"""How the names of our executions begin."""

_OPEN = frozenset({"RUNNING", "PENDING_REDRIVE"})
_CLOSED = frozenset({"SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"})


class StepFunctions:
    """A channel: `approve=StepFunctions(arn, store)`. See the top of this file.

    Each execution's input is a JSON object: `turn`, `call`, `digest`, `key`, `session`, `agent`, `tool`, `effect`, `why`,
    `edited`, and `arguments` without what looks like a secret. Its output is to be `channels.Said`.

    Args:
        machine: the ARN of a state machine of the standard kind, or of a version or an alias of one.
        store: where the turns wait.
        profile, base_url: see `tukang.models.aws.Account`.
        tries, timeout: how often each request is tried, and seconds that one try may take.

    Raises:
        ConfigurationError: the ARN is none, or botocore is not installed.
    """

    def __init__(
        self,
        machine: str,
        store: Store,
        *,
        profile: str | None = None,
        base_url: str | None = None,
        tries: int = 3,
        timeout: float = 10.0,
    ) -> None:
        self._machine = MachineName.of(machine)
        self._store = store
        self._states = States(
            region=self._machine.region, profile=profile, base_url=base_url, tries=tries, timeout=timeout
        )

    async def __call__(self, asked: Approval) -> Verdict | None:
        """Start the execution. One that has ended already has decided: so a turn that is resumed hears of it here too."""
        one = await self._waiting(asked)
        if one is None:
            warn(
                f"{asked.tool!r} does not wait in the store of this channel, so nobody was told: give the session this store"
            )
            return None
        try:
            return await self._asked(one, asked)
        except (StatesError, ConfigurationError) as error:
            warn(f"nobody could be told about {asked.tool!r}, so it waits: {words(error)}")
            return None

    async def receive(self, body: bytes, signature: str = "") -> Pending:  # noqa: ARG002
        """Take the news that an execution has ended; returns what it was about.

        Args:
            body: the event as EventBridge sends it (`Step Functions Execution Status Change`), or `{"executionArn": …}`. Only
                which execution it names is taken from it.
            signature: there is none, and none is needed.

        Raises:
            NotAcceptedError: it names no execution of this machine's that asked about something here, or one that runs still.
            WaitError: somebody has decided already, or it has expired.
            StatesError: Step Functions could not be asked: have it delivered again.
        """
        arn = _named(body)
        if not arn.startswith(self._machine.executions):
            raise NotAcceptedError("it is about no execution of this state machine")
        try:
            execution = await self._states.describe(arn)
        except StatesError as error:
            if error.kind in ("executiondoesnotexist", "invalidarn"):
                raise NotAcceptedError("there is no such execution") from None
            raise
        one = await self._behind(arn.removeprefix(self._machine.executions), execution)
        if one is None:
            raise NotAcceptedError("nothing waits for this decision")
        verdict = verdict_of(execution, one)
        if verdict is None:
            raise NotAcceptedError("nothing has been decided yet")
        await self._write(one, verdict)
        return one

    async def collect(self, session: str | None = None) -> list[Pending]:
        """Look at the execution of everything that waits, and take the decisions there are; returns what was decided now.

        Raises:
            StatesError: Step Functions could not be asked.
        """
        decided: list[Pending] = []
        for one in await pending(self._store, session=session):
            try:
                verdict = verdict_of(await self._states.describe(self._machine.executions + name_of(one)), one)
                if verdict is not None:
                    await self._write(one, verdict)
                    decided.append(one)
            except StatesError as error:
                if error.kind != "executiondoesnotexist":  # one that was asked about elsewhere
                    raise
            except WaitError:
                continue  # somebody was faster
        return decided

    async def withdraw(self) -> list[Pending]:
        """Stop asking about what waits no longer: it was decided elsewhere, has expired, or its turn has ended.

        Returns:
            what was being asked.

        Raises:
            StatesError: Step Functions could not be asked.
        """
        withdrawn: list[Pending] = []
        async for arn, one in self._running():
            if one.key not in {other.key for other in await pending(self._store, turn=one.turn)}:
                await self._states.stop(arn, "Withdrawn", "it waits no longer")
                withdrawn.append(one)
        return withdrawn

    async def _running(self) -> AsyncIterator[tuple[str, Pending]]:
        async for listed in self._states.running(self._machine.arn):
            if listed.name.startswith(PREFIX):
                execution = await self._states.describe(listed.execution_arn)
                if one := await self._behind(listed.name, execution):
                    yield listed.execution_arn, one

    async def _asked(self, one: Pending, asked: Approval) -> Verdict | None:
        name = name_of(one)
        text = msgspec.json.encode(_question(one) | {"session": one.session, "agent": asked.agent}).decode()
        try:
            started = await self._states.start(self._machine.arn, name, text)
        except StatesError as error:
            if error.kind != "executionalreadyexists":
                raise
            return verdict_of(await self._states.describe(self._machine.executions + name), one)
        if started != self._machine.executions + name:
            raise ConfigurationError(
                f"{self._machine.name} is a state machine whose executions cannot be looked at again: make it a standard one"
            )
        return None

    async def _waiting(self, asked: Approval) -> Pending | None:
        for one in await pending(self._store, turn=asked.turn):
            if (one.question.call, one.question.digest) == (asked.call_id, asked.digest):
                return one
        return None

    async def _behind(self, name: str, execution: Execution) -> Pending | None:
        """What an execution of this name asked about, if that is in this store."""
        turn = _object(execution.input).get("turn")
        if not isinstance(turn, str):
            return None
        waits = await pending(self._store, turn=turn, open_only=False)
        return next((one for one in waits if name_of(one) == name), None)

    async def _write(self, one: Pending, verdict: Verdict) -> None:
        try:
            match verdict:
                case Approve(by, reason):
                    await elsewhere.approve(self._store, one, by=by, reason=reason)
                case Edit(arguments, by, reason):
                    await elsewhere.edit(self._store, one, arguments, by=by, reason=reason)
                case Refuse(reason, by):
                    await elsewhere.refuse(self._store, one, by=by, reason=reason)
        except UnfitDecisionError:  # the execution has ended, so there will be no other decision
            await elsewhere.refuse(self._store, one, by=verdict.by, reason="the decision could not be kept")


def name_of(one: Pending) -> str:
    """The name of the execution that asks about this: the same whenever it is asked, another for whatever else is asked."""
    about = msgspec.json.encode([one.turn, one.key, one.question.digest])
    return PREFIX + hashlib.sha256(about).hexdigest()[:48]


def verdict_of(execution: Execution, one: Pending) -> Verdict | None:
    """What an execution has decided about something that waits; None while it may still decide."""
    if execution.status not in _CLOSED:
        if execution.status not in _OPEN:
            warn(
                f"Step Functions reports the status {execution.status[:40]!r}, which is not known here, so the call waits"
            )
        return None
    if not _asks(execution, one):
        return Refuse("the state machine was asked about something else")
    if execution.status == "SUCCEEDED":
        return _said(execution.output or "", one)
    if (execution.status, execution.error) == ("FAILED", REFUSED):
        return Refuse(without_secrets(execution.cause or ""))
    return Refuse("nobody decided: the state machine that asks people ended without a decision")


def _said(output: str, one: Pending) -> Verdict:
    try:
        said = msgspec.json.decode(output, type=Said)
    except msgspec.MsgspecError:
        return Refuse("the decision could not be read")
    if (said.turn, said.call, said.digest) != (one.turn, one.question.call, one.question.digest):
        return Refuse("the decision was not about these arguments", said.by)
    match said.decision:
        case "approve":
            return Approve(said.by, said.reason)
        case "refuse":
            return Refuse(said.reason, said.by)
        case "edit":
            if said.arguments is None:
                return Refuse("an edit says which arguments", said.by)
            return Edit(said.arguments, said.by, said.reason)


def _question(one: Pending) -> dict[str, Any]:
    """What is asked, from what stands in the store: whoever looks at the answer must be able to say what the question was."""
    question = one.question
    return {
        "turn": one.turn,
        "call": question.call,
        "digest": question.digest,
        "key": one.key,
        "tool": question.tool,
        "effect": question.effect,
        "arguments": Remover(()).value(dict(one.arguments)),
        "why": question.why,
        "edited": question.edited,
    }


def _asks(execution: Execution, one: Pending) -> bool:
    """Whether an execution was started with exactly this question. Anybody who may start one could have used its name."""
    asked, question = _object(execution.input), _question(one)
    try:
        return canonical({name: asked.get(name) for name in question}) == canonical(question)
    except Unreadable:
        return False


def _named(body: bytes) -> str:
    event = _object(body)
    detail: Any = event.get("detail", event)
    arn = cast("Mapping[str, Any]", detail).get("executionArn") if isinstance(detail, Mapping) else None
    if not isinstance(arn, str):
        raise NotAcceptedError('it names no execution: expected an event of Step Functions, or {"executionArn": …}')
    return arn


def _object(text: str | bytes) -> dict[str, Any]:
    try:
        value: Any = decode(text.decode() if isinstance(text, bytes) else text)
    except ValueError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
