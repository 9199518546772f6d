"""A task as it is kept, and what may be done to it. Values only.

The row is the truth about a task, whoever carries it to where it is run. `token` is a fencing token: each change of state
raises it, and is made only by who names the token as it is. So of two who run the same task, or who take it from each other,
one is heard.
"""

from __future__ import annotations

from typing import Any

import msgspec

from tukang.errors import TukangError
from tukang.loop.permissions import Principal
from tukang.tools.long import FINAL, Long, TaskState
from tukang.tools.outcome import Outcome
from tukang.tools.policy import Policy


class TaskLostError(TukangError):
    """Somebody else has changed the task's state, or it is gone: who is at it stops, and writes nothing more."""


class UnknownTaskError(TukangError):
    """There is no task of that id."""


class TaskSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a task is, from its beginning.

    Args:
        tool: whose function it runs.
        arguments: canonical JSON, checked.
        call: our id of the call that made it.
        key: the call's idempotency key, the same in all attempts.
        policy: the tool's, as it was then.
        principal: who the turn was for.
        caller: the caller's own object, as JSON.
        language: of what is said when it wakes its session.
        wakes_before: how many turns in a row there were that the end of a task has started, up to the one that asked for it.
    """

    tool: str
    arguments: str
    call: str
    key: str
    policy: Policy = Policy()
    principal: Principal | None = None
    caller: Any = None
    language: str = "en"
    wakes_before: int = 0

    @property
    def long(self) -> Long:
        """How it is run."""
        return self.policy.long or Long()


class NewTask(msgspec.Struct, frozen=True):
    """A task to be made; the same id again is the same task.

    Args:
        id: see `tukang.tasks.desk`.
        session: the session it belongs to; made where there is none.
        agent: the name of the agent whose tool it is.
        backend: the name of what carries it.
        spec: what it is.
        expires: seconds in which it must have ended; None for no bound.
    """

    id: str
    session: str
    agent: str
    backend: str
    spec: TaskSpec
    expires: float | None = None


class TaskRow(msgspec.Struct, frozen=True):
    """A task as it stands.

    Args:
        id, session, agent, backend, spec: as it was made.
        state: see `tukang.tools.long.TaskState`.
        token: the fencing token.
        attempts: how often its function has begun, in all.
        tries: how often since somebody had it tried again; the same where nobody did.
        lost: how many of these ended because who was at it died.
        created: when it was asked for.
        due: when it may be begun.
        expires: when it is too late for it; None for never.
        holder: who is at it (`host:pid`).
        lease: until when they are taken to be; only while it is running.
        percent, message: what its function said last.
        cancel: when somebody asked for its end.
        began, finished: when its last attempt began, and when it ended for good.
        outcome: what became of it; of an attempt that is followed by another, what became of that.
        woken: when its session was woken.
        now: the store's clock when this was read.
    """

    id: str
    session: str
    agent: str
    backend: str
    spec: TaskSpec
    state: TaskState
    token: int
    attempts: int
    tries: int
    lost: int
    created: float
    due: float
    expires: float | None
    holder: str | None
    lease: float | None
    percent: float | None
    message: str
    cancel: float | None
    began: float | None
    finished: float | None
    outcome: Outcome | None
    woken: float | None
    now: float

    @property
    def final(self) -> bool:
        """Whether it has ended."""
        return self.state in FINAL

    @property
    def abandoned(self) -> bool:
        """Whether who was at it has been silent for too long."""
        return self.state == "running" and self.lease is not None and self.lease <= self.now

    @property
    def late(self) -> bool:
        """Whether its time is over."""
        return self.expires is not None and self.expires <= self.now

    @property
    def wakes(self) -> bool:
        """Whether its session is still to be woken."""
        return self.final and self.spec.long.wake and self.woken is None


class Move(msgspec.Struct, frozen=True):
    """A change of a task's state.

    Args:
        state: the one it gets.
        outcome: what is known of what became of it.
        delay: seconds until it may be begun; with `queued`.
        lease: seconds for which it is held; with `running`.
        holder: by whom.
        lost: whether who was at it died.
        afresh: whether somebody has it tried again: nothing counts that was before, but that its function has begun.
        expires: seconds in which it must have ended then.
    """

    state: TaskState
    outcome: Outcome | None = None
    delay: float = 0.0
    lease: float | None = None
    holder: str | None = None
    lost: bool = False
    afresh: bool = False
    expires: float | None = None
