"""Who decides about the calls of a turn in a store: a function here, or anybody elsewhere; the first answer counts.

Whoever decides, the decision is written into the store before the turn hears of it, and is used up by the batch that starts
the call. So of two who decide, and of two processes that would run the same call, one is heard.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from tukang.loop.state import Call, State
from tukang.memory.decisions import APPROVAL, Answered, decision, edit_that_permits, late, wait_for
from tukang.memory.redaction import Redaction
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import WaitError
from tukang.memory.stores.values import Wait
from tukang.runtime.people import (
    MOST_EDITS,
    Approve,
    Approver,
    Decision,
    Edit,
    Refuse,
    Verdict,
    approval_of,
    asked,
    expired,
    meant,
    permits,
)


class StoredPeople:
    """Whom a turn in a store can ask.

    Args:
        store: where the turn waits.
        redaction: what is taken out of what is written.
        approver: decides here; None when only others may.
    """

    def __init__(self, store: Store, redaction: Redaction, approver: Approver | None = None) -> None:
        self._store = store
        self._redaction = redaction
        self._approver = approver

    @property
    def present(self) -> bool:
        return self._approver is not None

    async def decide(self, state: State, call: Call) -> Decision | None:
        waits = await carry(self._store, await self._waits(state.turn), [call])
        wait = wait_for(waits, call)
        if wait is None:
            return lost(call)
        if wait.answered is not None:
            return decision(call, wait)
        if (over := late(call, wait, time.time())) or self._approver is None:
            return over
        if sum(one.asked["call"] == call.id for one in waits) > MOST_EDITS:
            return await self._written(
                call, wait, Refuse(f"it was edited {MOST_EDITS} times, and still needs permission")
            )
        return await self._asked(self._approver, state, call, wait)

    async def _asked(self, approver: Approver, state: State, call: Call, wait: Wait) -> Decision | None:
        """Ask here, and listen for somebody who decides elsewhere meanwhile."""
        here = asyncio.create_task(asked(approver, approval_of(state, call), None))
        elsewhere = asyncio.create_task(self._store.until_answered(APPROVAL, wait.key))
        try:
            await asyncio.wait((here, elsewhere), return_when=asyncio.FIRST_COMPLETED)
            if not here.done() and elsewhere.exception() is None:
                known = elsewhere.result()
                return expired(call) if known.answered is None else decision(call, known)
            verdict = await here  # where the store cannot be listened to, what is decided here still counts
        finally:
            here.cancel()
            elsewhere.cancel()
            await asyncio.wait((here, elsewhere))
        assert verdict is None or isinstance(verdict, Approve | Refuse | Edit), "without a bound nothing expires"
        return None if verdict is None else await self._written(call, wait, verdict)

    async def _written(self, call: Call, wait: Wait, verdict: Verdict) -> Decision:
        """Write a verdict down, and say what counts: this, or what somebody else wrote first."""
        whole = answered(call, verdict)
        kept = replace(
            whole, reason=self._redaction.text(whole.reason), arguments=self._redaction.value(dict(whole.arguments))
        )
        try:
            await self._store.answer(APPROVAL, wait.key, msgspec.to_builtins(kept), verdict.by)
        except WaitError as error:
            known = await self._store.waits(APPROVAL, key=wait.key, open_only=False)
            if known and known[0].answered is not None:
                return decision(call, known[0])
            return expired(call) if error.kind == "expired" else lost(call)
        return meant(call, verdict)

    async def _waits(self, turn: str) -> list[Wait]:
        return await self._store.waits(APPROVAL, turn=turn, open_only=False)


def answered(call: Call, verdict: Verdict) -> Answered:
    """A verdict as it stands in the store."""
    match verdict:
        case Approve(_, reason):
            return Answered("approve", call.digest, reason)
        case Refuse(reason, _):
            return Answered("refuse", call.digest, reason)
        case Edit(arguments, _, reason):
            if permits(arguments, call):
                return Answered("approve", call.digest, reason)
            return Answered("edit", call.digest, reason, arguments)


def lost(call: Call) -> Decision:
    """No, because what the call waited for is not in the store any more; so there is no answer either to be used up."""
    return replace(expired(call), reason="it is not known any more that it waits")


async def carry(store: Store, waits: Sequence[Wait], calls: Sequence[Call]) -> Sequence[Wait]:
    """Answer what the edit before has permitted already; returns the waits as they are then."""
    for call in calls:
        wait = wait_for(waits, call)
        if wait is None or wait.answered is not None or (edit := edit_that_permits(waits, call)) is None:
            continue
        answer = Answered("approve", call.digest, edit.answer.get("reason", ""))
        try:
            known = await store.answer(APPROVAL, wait.key, msgspec.to_builtins(answer), edit.by)
        except WaitError:  # somebody has decided otherwise meanwhile, or it has expired
            (known,) = await store.waits(APPROVAL, key=wait.key, open_only=False)
        waits = [known if one.key == wait.key else one for one in waits]
    return waits
