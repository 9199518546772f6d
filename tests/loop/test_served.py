"""What the provider ran, as the loop records it; and what it never has happen twice."""

from __future__ import annotations

import pytest

from tukang.conversation import ServerCall, ServerResult, Text, ToolCall, Usage, user
from tukang.loop.decide import decide
from tukang.loop.effects import AskModel, Finish
from tukang.loop.events import (
    CallFinished,
    CallStarted,
    ModelAsked,
    ModelFault,
    ModelInterrupted,
    ModelReplied,
    RoundEnded,
    TurnResumed,
    TurnStarted,
)
from tukang.loop.evolve import evolve
from tukang.loop.limits import Limits
from tukang.loop.state import State
from tukang.tools.outcome import Outcome
from tukang.tools.policy import Policy, ToolEffect

CALL = ServerCall("s1", "web_search", '{"q":1}', "p", tool="web_search")
CUT = ModelFault("connection", "the connection broke", retryable=True)


def begun(effect: ToolEffect = "unknown", *, asks: bool = False) -> State:
    started = TurnStarted(
        at=0.0,
        turn="t",
        trigger=user("?"),
        limits=Limits(),
        policies={"toko": Policy(effect=effect, approval="ask" if asks else "never"), "web_search": Policy("read")},
        contracts={},
        models=("a", "b"),
        hosted={"toko": asks, "web_search": False},
    )
    return evolve(evolve(None, started), ModelAsked(at=0.0, attempt=1))


def test_a_result_may_come_in_a_later_reply() -> None:
    state = evolve(begun(), ModelReplied(at=1.0, parts=(CALL, ToolCall("", "x", "{}")), finish="calls"))
    assert [(one.id, one.result, one.after) for one in state.served] == [("s1", None, 0)]
    state = evolve(state, RoundEnded(at=1.0)) if not state.calls else state
    later = ModelInterrupted(at=2.0, parts=(ServerResult("s1", "p", text="ketemu"), Text("ya")), error=None)
    state = evolve(evolve(state, ModelAsked(at=1.0, attempt=1)), later)
    assert [(one.id, one.result) for one in state.served] == [("s1", "ketemu")]
    assert state.untrusted is False  # its policy says so
    assert state.calls_asked == 2


@pytest.mark.parametrize(
    ("effect", "again"), [("unknown", False), ("write", False), ("read", True), ("idempotent", True)]
)
def test_a_request_that_was_cut_off_is_repeated_only_where_that_is_harmless(effect: ToolEffect, again: bool) -> None:
    for event in (ModelInterrupted(at=1.0, error=CUT), TurnResumed(at=1.0)):
        [wanted] = decide(evolve(begun(effect), event))
        assert isinstance(wanted, AskModel if again else Finish)
        if isinstance(wanted, Finish):
            assert wanted.stopped == "model_error"


def test_a_refusal_had_nothing_run() -> None:
    busy = ModelFault("overloaded", "busy", status=529, retryable=True)
    [wanted] = decide(evolve(begun(), ModelInterrupted(at=1.0, error=busy)))
    assert isinstance(wanted, AskModel)


def test_a_server_that_asks_has_nothing_run_before_it_was_permitted() -> None:
    state = begun(asks=True)
    [wanted] = decide(evolve(state, ModelInterrupted(at=1.0, error=CUT)))
    assert isinstance(wanted, AskModel)
    asked = ToolCall("", "toko", '{"tool":"beli","arguments":{}}', "r1", permission=True)
    state = evolve(state, ModelReplied(at=1.0, parts=(asked,), finish="calls", usage=Usage()))
    call = state.calls[0]
    assert (call.permission, call.policy.repeatable) == (True, True)
    state = evolve(state, CallStarted(at=1.0, call=call.id, key=call.id))
    ready = msgspec_ready(state)
    finished = CallFinished(at=1.0, call=call.id, outcome=Outcome((Text("permitted"),)))
    state = evolve(evolve(evolve(ready, finished), RoundEnded(at=1.0)), ModelAsked(at=1.0, attempt=1))
    [wanted] = decide(evolve(state, ModelInterrupted(at=2.0, error=CUT)))
    assert isinstance(wanted, Finish)


def msgspec_ready(state: State) -> State:
    """The call as it is once it was checked and permitted, and runs."""
    from msgspec.structs import replace

    [call] = state.calls
    return replace(state, calls=(replace(call, status="running", arguments=call.text),))
