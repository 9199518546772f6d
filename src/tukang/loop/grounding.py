"""The answer is held to what is known: what tools said in this turn, and what the user said.

What the turn is about to end with is compared before it ends, whatever it ends with: the model's answer, one forced at a
limit, the words so far. If something in it is unsupported, a whole answer goes back to the model once, with tools still on:
the right thing to do about a price that nobody looked up may be to look it up. At a limit or a deadline it does not. What is
unsupported then is said beside the answer.

An answer that went back is forgotten when another comes, or when the model asks for other calls; when neither comes, it is
the answer after all (`ending.coming`). A tool's own words are compared with nothing, and a cancelled turn waits for no
comparison.
"""

from __future__ import annotations

from typing import Any

from tukang.loop import ending, limits, progress
from tukang.loop.effects import CheckAnswer, SendBack
from tukang.loop.events import AnswerChecked, AnswerSentBack
from tukang.loop.state import SentBack, State


def check(state: State) -> tuple[CheckAnswer, ...]:
    """Compare what the turn is about to end with, once. A developer's function is not begun when all time is up."""
    policy = state.grounding
    if policy is None or state.asking is not None or state.checking or state.cancelled:
        return ()
    if policy.function and state.expired:
        return ()
    end = ending.coming(state)
    return (CheckAnswer(),) if end is not None and end.comparable and end.unsupported is None else ()


def send_back(state: State) -> tuple[SendBack, ...]:
    """Send a whole answer back once, while the model may still be asked for anything."""
    if not state.unsupported or state.corrected or state.asking is not None or state.cancelled:
        return ()
    if state.grounding is None or not state.grounding.correct:
        return ()
    whole = state.answered is not None and state.answered[0] == "answer"
    at_a_limit = state.deadline or progress.exhausted(state) or limits.reached(state) is not None
    return (SendBack(state.unsupported),) if whole and not at_a_limit else ()


def checked(state: State, event: AnswerChecked) -> dict[str, Any]:
    """What a comparison changes. One that comes after the loop had stopped waiting for it changes nothing."""
    if not state.checking:
        return {}
    return {"checking": False, "unsupported": event.unsupported, "unchecked": event.unchecked}


def sent_back(state: State, event: AnswerSentBack) -> dict[str, Any]:
    """What sending an answer back changes: there is none now, and a new reply begins."""
    assert state.answered is not None, "only an answer goes back"
    return {
        "sent_back": SentBack(state.answered[1], event.unsupported, state.partial, state.data),
        "corrected": True,
        "answered": None,
        "data": None,
        "partial": (),
        "continuations": 0,
        "unsupported": None,
    }
