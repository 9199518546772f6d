"""What waits for a decision in a store, and deciding about it: from any process, while the turn's own may be gone.

Nothing is run here. A decision is written down once, the first counts; the turn goes on where somebody resumes its session.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tukang.errors import TukangError
from tukang.memory.decisions import APPROVAL, Answered, Question
from tukang.memory.stores.base import Store
from tukang.memory.stores.values import Wait
from tukang.secrets import Remover


class UnknownApprovalError(TukangError):
    """Nothing of that key waits, or several things do."""


class UnfitDecisionError(TukangError):
    """A decision that cannot be about this call, or cannot be kept."""


class Pending(msgspec.Struct, frozen=True):
    """Something that waits, or waited, for a decision.

    Args:
        key: what it is called.
        session, turn: whose it is.
        question: what is asked.
        since: when it was asked.
        expires: until when it can be decided; None for ever.
        answer: what was decided; None while nobody has. What cannot be read is a refusal.
        by, answered, used: who decided, when, and when the call used it.
    """

    key: str
    session: str
    turn: str
    question: Question
    since: float
    expires: float | None = None
    answer: Answered | None = None
    by: str = ""
    answered: float | None = None
    used: float | None = None

    @property
    def arguments(self) -> Mapping[str, Any]:
        """Of the call."""
        return msgspec.json.decode(self.question.arguments or "{}", type=dict[str, Any])

    def open(self, now: float) -> bool:
        """Whether somebody may still decide."""
        return self.answered is None and (self.expires is None or self.expires > now)


async def pending(
    store: Store, *, session: str | None = None, turn: str | None = None, open_only: bool = True
) -> list[Pending]:
    """What waits for a decision, the oldest first.

    Args:
        session, turn: in this one only.
        open_only: only what can still be decided, and is of a turn that can go on with it.
    """
    waits = await store.waits(APPROVAL, session=session, turn=turn, open_only=open_only)
    found = [_pending(wait) for wait in waits]
    if not open_only or not found:
        return found
    unfinished = {one.turn for one in await store.open_turns()}
    return [one for one in found if one.open(time.time()) and one.turn in unfinished]


async def one(store: Store, key: str) -> Pending:
    """One of them, by its key or by the beginning of it, where that says which.

    Raises:
        UnknownApprovalError: there is none, or several begin like this.
    """
    if exact := await store.waits(APPROVAL, key=key, open_only=False):
        return _pending(exact[0])
    alike = [wait for wait in await store.waits(APPROVAL) if wait.key.startswith(key)] if key else []
    if len(alike) == 1:
        return _pending(alike[0])
    if alike:
        raise UnknownApprovalError(f"several begin with {key!r}: {', '.join(wait.key for wait in alike[:5])}")
    raise UnknownApprovalError(f"nothing waits for a decision under {key!r}: `tukang approvals list` shows what does")


async def approve(store: Store, asked: Pending, *, by: str, reason: str = "") -> None:
    """Yes, to exactly this call.

    Raises:
        UnfitDecisionError: the call cannot run from the store: a secret in its arguments was not kept.
        WaitError: somebody has decided already, or it has expired.
    """
    if asked.question.redacted:
        raise UnfitDecisionError(
            f"{asked.key}: a secret in the arguments was not kept, so the call cannot run from here: refuse it"
        )
    await _decide(store, asked, Answered("approve", asked.question.digest, reason), by)


async def refuse(store: Store, asked: Pending, *, by: str, reason: str = "") -> None:
    """No; the model reads the reason.

    Raises:
        WaitError: somebody has decided already, or it has expired.
    """
    await _decide(store, asked, Answered("refuse", asked.question.digest, reason), by)


async def edit(store: Store, asked: Pending, arguments: Mapping[str, Any], *, by: str, reason: str = "") -> None:
    """Yes, with these arguments instead: all of them. They are checked when the turn goes on; where they do not fit, the
    model is told, and nothing runs.

    Raises:
        UnfitDecisionError: there is something in them that looks like a secret, and would not be kept.
        WaitError: somebody has decided already, or it has expired.
    """
    if Remover(()).value(dict(arguments)) != dict(arguments):
        raise UnfitDecisionError(f"{asked.key}: something in these arguments looks like a secret, which is never kept")
    await _decide(store, asked, Answered("edit", asked.question.digest, reason, arguments), by)


async def _decide(store: Store, asked: Pending, answer: Answered, by: str) -> None:
    await store.answer(APPROVAL, asked.key, msgspec.to_builtins(answer), by)


def _pending(wait: Wait) -> Pending:
    answer = None
    if wait.answered is not None:
        try:
            answer = msgspec.convert(wait.answer, Answered)
        except msgspec.ValidationError:
            answer = Answered("refuse", "", "the decision could not be read")
    return Pending(
        wait.key,
        wait.session,
        wait.turn,
        msgspec.convert(wait.asked, Question),
        wait.created,
        wait.expires,
        answer,
        wait.by,
        wait.answered,
        wait.consumed,
    )


async def until_decided(store: Store, session: str) -> None:
    """Wait until somebody has decided about anything that this session waits for, or it has expired. Nothing is held
    meanwhile.

    Raises:
        WaitError: it was deleted meanwhile.
    """
    keys: Sequence[str] = [one.key for one in await pending(store, session=session)]
    waiting = [asyncio.create_task(store.until_answered(APPROVAL, key)) for key in keys]
    if not waiting:
        return
    try:
        done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting)
