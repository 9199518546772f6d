"""The running turn within its room: its older results are shortened, and its first rounds left out, when it grows beyond.
Pure; the state of the turn, and what is stored, keep everything.

The trigger is always sent, and the newest round too: the model has not read its results yet. Only what is too long for the
room even alone is cut down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tukang.conversation import Message, Text
from tukang.memory import wording
from tukang.memory.measuring import Size, message_tokens, tokens
from tukang.memory.shortening import cut_down
from tukang.memory.steps import Cut, cut
from tukang.memory.window import Seen, shortened

_NOTE = 200
"""Tokens for the word on what is not shown."""

_NAMED = 10
"""Tools that it names."""


def fitted(messages: Sequence[Message], room: int, seen: Seen) -> Sequence[Message]:
    """What is sent of a running turn. Longer and longer turns begin the same for as long as can be.

    Args:
        messages: the trigger, and the rounds so far.
        room: tokens for them.
        seen: how what is old is shown.
    """
    if tokens(messages) <= room or len(messages) == 1:
        return messages
    trigger, rounds = messages[0], _rounds(messages[1:])
    left = max(room // 4, room - message_tokens(trigger) - _NOTE)
    measured = [Size(tokens(each), tokens(shortened(each, seen))) for each in rounds]
    where = cut(measured, 1, left)
    where = Cut(min(where.sent, len(rounds)), min(where.whole, len(rounds)))
    sent = [
        list(each) if number >= where.whole else shortened(each, seen)
        for number, each in enumerate(rounds, 1)
        if number >= where.sent
    ]
    over = sum(map(tokens, sent)) - left
    if over > 0:
        sent[-1] = [
            cut_down(message, max(0, message_tokens(message) - over), reads_on=seen.reads_on) for message in sent[-1]
        ]
    return [_noted(trigger, rounds[: where.sent - 1], seen), *(message for each in sent for message in each)]


def _rounds(messages: Sequence[Message]) -> list[list[Message]]:
    """A reply, and the results of its calls with it."""
    rounds: list[list[Message]] = []
    for message in messages:
        if message.role == "tool" and rounds:
            rounds[-1].append(message)
        else:
            rounds.append([message])
    return rounds


def _noted(trigger: Message, left_out: Sequence[Sequence[Message]], seen: Seen) -> Message:
    """The trigger, with a word on what is not shown behind it."""
    if not left_out:
        return trigger
    known: tuple[int, Message] | None = vars(trigger).get("noted")
    if known is None or known[0] != len(left_out):
        calls = Counter(call.name for each in left_out for message in each for call in message.calls)
        note = Text(wording.rounds(seen.language, len(left_out), dict(calls.most_common(_NAMED))))
        vars(trigger)["noted"] = known = (len(left_out), Message(trigger.role, (*trigger.parts, note)))
    return known[1]
