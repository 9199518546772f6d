"""What a turn ended in: the answer, why it stopped, the steps on the way, and what it used.

Values only, read off a finished state.
"""

from __future__ import annotations

import msgspec

from tukang.conversation import Message, Usage
from tukang.loop.events import Event, ModelFault
from tukang.loop.limits import StopReason
from tukang.loop.state import Call, State
from tukang.tools.outcome import Fault


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
        repaired: whether the notation of the arguments was mended.
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


class Answer(msgspec.Struct, frozen=True):
    """How a turn ended.

    Args:
        text: the answer, never empty except when a tool's own text was.
        stopped: why: `answer` and `terminal` are the good ends, everything else names what came in between.
        steps: every call, in the order asked.
        usage: tokens of all requests, the failed ones too.
        rounds: replies that asked for tools.
        seconds: the whole turn.
        messages: what the turn added to the conversation.
        model: the model that answered, as the provider names it.
        error: the last fault of a model request, also when a later attempt went well.
        turn: its id.
        events: everything that happened, in order: the journal of the turn.
    """

    text: str
    stopped: StopReason
    steps: tuple[Step, ...]
    usage: Usage
    rounds: int
    seconds: float
    messages: tuple[Message, ...]
    model: str | None = None
    error: ModelFault | None = None
    turn: str = ""
    events: tuple[Event, ...] = ()

    def __str__(self) -> str:
        return self.text


def answer_of(state: State) -> Answer:
    """The answer of a finished turn."""
    assert state.stopped is not None, "only a finished turn has an answer"
    return Answer(
        text=state.text,
        stopped=state.stopped,
        steps=tuple(step_of(call) for call in state.done),
        usage=state.usage,
        rounds=state.round,
        seconds=state.now - state.started,
        messages=state.messages,
        model=state.model,
        error=state.error,
        turn=state.turn,
    )


def step_of(call: Call) -> Step:
    """A settled call as a step."""
    outcome = call.outcome
    assert outcome is not None, "a step is a call that has its result"
    ran = call.started is not None and call.finished is not None
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
    )
