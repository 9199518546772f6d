"""Turns for tests of a store: small, and with a time of their own."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from tukang.conversation import Message, Text, ToolCall, assistant, user
from tukang.loop import events
from tukang.loop.events import Event
from tukang.loop.limits import Limits
from tukang.memory.stores.base import Store
from tukang.memory.stores.values import Lease

_times = itertools.count(1_700_000_000)


def now() -> float:
    """A time later than any before."""
    return float(next(_times))


def started(turn: str, question: str = "Halo", session: str | None = None) -> Event:
    return events.TurnStarted(
        at=now(),
        turn=turn,
        trigger=user(question),
        limits=Limits(),
        policies={},
        contracts={},
        agent="toko",
        session=session,
    )


def asked(attempt: int = 1) -> Event:
    return events.ModelAsked(at=now(), attempt=attempt)


def replied(text: str = "", call: ToolCall | None = None) -> Event:
    parts = (Text(text),) if call is None else (call,)
    return events.ModelReplied(at=now(), parts=parts, finish="stop")


def finished(text: str = "Halo juga") -> Event:
    return events.TurnFinished(at=now(), stopped="answer", text=text)


def said(question: str, answer: str) -> tuple[Message, ...]:
    return (user(question), assistant(answer))


async def whole_turn(
    store: Store, lease: Lease, turn: str, question: str = "Halo", answer: str = "Halo juga"
) -> Sequence[Event]:
    """A turn from its beginning to its end, in three batches; returns its events."""
    first: list[Event] = [started(turn, question, lease.session), asked()]
    await store.append(lease, turn, first, 0)
    await store.append(lease, turn, second := [replied(answer)], 2)
    last = [finished(answer)]
    await store.append(lease, turn, last, 3, sync=True, messages=said(question, answer))
    return [*first, *second, *last]


async def conversation(store: Store, session: str, *questions: str) -> list[str]:
    """A session with a turn for each question; returns the turns' ids."""
    lease = await store.take(session, "test", 60)
    turns = [f"{session}{number}" for number, _ in enumerate(questions, 1)]
    for turn, question in zip(turns, questions, strict=True):
        await whole_turn(store, lease, turn, question, f"Jawaban: {question}")
    await store.release(lease)
    return turns
