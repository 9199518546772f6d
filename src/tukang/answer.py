"""What a turn ended in: the answer, why it stopped, the steps on the way, and what it used.

Values only, read off a finished state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Literal

import msgspec
from msgspec.structs import replace
from typing_extensions import TypeVar

from tukang.conversation import Message, Usage
from tukang.loop.events import Event, ModelFault
from tukang.loop.limits import StopReason
from tukang.loop.state import Call, Served, State
from tukang.tools.outcome import Fault

T = TypeVar("T", default=Any)
"""What `returns` asked for. An `Answer` of which nothing is said may hold anything."""


class Step(msgspec.Struct, frozen=True):
    """One call of the turn.

    Args:
        call_id: our id: turn, round, position.
        round: from 1.
        tool: its name.
        arguments: canonical JSON as checked; as the model sent them when they were refused.
        result: what the model was given.
        fault: the error in it, if it is one.
        seconds: how long the function ran; None when it did not run.
        reused: whether the result of an earlier, equal call was given.
        source: the id of that call: of this turn, or of an earlier one if the tool's policy says `cache`.
        served: whether the provider ran it, inside its reply: then `call_id` is the provider's, `tool` is `label.tool` for a
            tool of an MCP server, and the result is what the provider shows of it. A reply that asked for no calls of ours
            has the number after the last round.
        repaired: whether the arguments are not what the model wrote: notation mended, or a value read as another type.
        edited: whether a person changed the arguments.
    """

    call_id: str
    round: int
    tool: str
    arguments: str
    result: str
    fault: Fault | None = None
    seconds: float | None = None
    reused: bool = False
    repaired: bool = False
    edited: bool = False
    source: str | None = None
    served: bool = False


class Waiting(msgspec.Struct, frozen=True):
    """A call that waits for somebody's permission.

    Args:
        call_id: our id.
        tool: its tool's name.
        arguments: canonical JSON, as checked.
        digest: what a permission is bound to.
        why: why it needs one, where there is more to say than that its tool asks.
    """

    call_id: str
    tool: str
    arguments: str
    digest: str
    why: str = ""


Stopped = StopReason | Literal["waiting"]
"""Why a turn stopped: for good, or until somebody decides."""


class Answer(msgspec.Struct, Generic[T], frozen=True):
    """How a turn ended, or how far it came when it had to wait.

    Args:
        text: the answer, never empty except when a tool's own text was, and while the turn waits; the canonical JSON of
            `data` where there is data.
        stopped: why: `answer` and `terminal` are the good ends; `waiting` is no end: the turn goes on with `Chat.resume` when
            somebody has decided about `waiting`; everything else names what came in between.
        steps: every call, in the order asked, those that the provider ran itself among them.
        usage: tokens of all requests, the failed ones too.
        rounds: replies that asked for tools.
        seconds: the whole turn, less the time that does not count (see `Limits.idle_counts`).
        messages: what the turn added to the conversation, in whole rounds.
        model: the model that answered, as the provider names it.
        error: the last fault of a model request, also when a later attempt went well.
        turn: its id.
        events: everything that happened, in order: the journal of the turn.
        data: what `returns` asked for. None where nothing was asked for, and where no data came that fits: then `stopped` is
            `no_data`, or names the limit or the fault that ended the turn.
        waiting: the calls that wait for permission; only with `stopped` `waiting`.
        unsupported: what the answer says that neither a tool nor the user has said, as it stands there, although the model
            was asked to mend it; only of an agent that is `grounded`.
        unchecked: why that is not known of this answer (it was cancelled, the function failed); None when it is known.
    """

    text: str
    stopped: Stopped
    steps: tuple[Step, ...]
    usage: Usage
    rounds: int
    seconds: float
    messages: tuple[Message, ...]
    model: str | None = None
    error: ModelFault | None = None
    turn: str = ""
    events: tuple[Event, ...] = ()
    data: T | None = None
    waiting: tuple[Waiting, ...] = ()
    unsupported: tuple[str, ...] = ()
    unchecked: str | None = None

    def __str__(self) -> str:
        return self.text


def answer_of(state: State) -> Answer:
    """The answer of a turn that has finished, or that waits."""
    assert state.finished or state.waiting, "a turn that goes on has no answer yet"
    waiting = [call for call in state.calls if call.status == "waiting"]
    return Answer(
        text=state.text,
        stopped=state.stopped or "waiting",
        steps=_steps(state),
        usage=state.usage,
        rounds=state.round,
        seconds=state.now - state.started - state.paused,
        messages=state.messages[:-1] if state.calls else state.messages,
        model=state.model,
        error=state.error,
        turn=state.turn,
        unsupported=state.unsupported or (),
        unchecked=state.unchecked,
        waiting=tuple(Waiting(call.id, call.name, call.arguments or "", call.digest, call.why) for call in waiting),
    )


def with_data(answer: Answer[Any], data: str, value: Callable[[str], Any]) -> Answer[Any]:
    """The answer with its data made a value. A type that refuses now what it took when it was checked has none."""
    try:
        return replace(answer, data=value(data))
    except Exception:  # a validator of the user's
        return replace(answer, stopped="no_data")


def _steps(state: State) -> tuple[Step, ...]:
    calls = (*state.done, *state.calls)
    if not state.served:
        return tuple([step_of(call) for call in calls if call.done])
    steps: list[Step] = []
    waiting = list(state.served)
    for place, call in enumerate(calls):
        while waiting and waiting[0].after <= place:
            steps.append(served_step(waiting.pop(0)))
        if call.done:
            steps.append(step_of(call))
    return (*steps, *map(served_step, waiting))


def served_step(one: Served) -> Step:
    """A call that the provider ran as a step. One without a result has failed: nobody knows what became of it."""
    fault = None
    if one.result is None:
        fault = Fault("outcome_unknown", "the provider did not say what became of it")
    elif one.fault:
        fault = Fault("tool_failed", one.result or "the provider says that it failed")
    result = fault.as_text() if fault is not None else one.result or ""
    return Step(one.id, one.round, one.tool, one.arguments, result, fault, served=True)


def step_of(call: Call) -> Step:
    """A settled call as a step."""
    outcome = call.outcome
    assert outcome is not None, "a step is a call that has its result"
    ran = call.started is not None and call.finished is not None and call.source is None
    return Step(
        call_id=call.id,
        round=call.round,
        tool=call.name,
        arguments=call.text if call.arguments is None else call.arguments,
        result=outcome.text,
        fault=outcome.fault,
        seconds=call.finished - call.started if ran and call.finished and call.started else None,
        reused=call.source is not None,
        repaired=call.repaired,
        edited=call.edited,
        source=call.source,
    )
