"""The end of a round: every call has its result, so the results go into the conversation, in the order asked.

Also here: terminal tools. The first successful terminal call of a round, in the order asked, is the answer; its siblings
have been run and answered like any other.
"""

from __future__ import annotations

from tukang.loop import progress, returns, wording
from tukang.loop.effects import EndRound
from tukang.loop.state import Call, State


def end(state: State) -> tuple[EndRound, ...]:
    """End the round when nothing is open."""
    for call in state.calls:
        if call.status != "done":
            return ()
    answer = next((call.id for call in state.calls if returns.ends(state, call) and call.succeeded), None)
    return (EndRound(_notes(state), answer),)


def _notes(state: State) -> dict[str, str]:
    """What the model is told beside a result: that it was reused, that it was edited, that nothing is new."""
    said: dict[str, list[str]] = {}
    for call in state.calls:
        lines = _about(state, call)
        if lines:
            said[call.id] = lines
    for call_id, line in progress.notes(state).items():
        said.setdefault(call_id, []).append(line)
    return {call_id: "\n".join(lines) for call_id, lines in said.items()}


def _about(state: State, call: Call) -> list[str]:
    lines: list[str] = []
    if call.outcome is not None and call.outcome.origin is not None:
        lines.append(wording.untrusted(state.language, call.outcome.origin))
    if call.source is not None and not call.kept:
        lines.append(wording.reused(state.language))
    if call.edited:
        lines.append(wording.edited(state.language, call.arguments or call.text))
    return lines
