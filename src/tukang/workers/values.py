"""The values of the queue: what was submitted, what became of a try, and what there is to see. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from tukang.conversation import Message
from tukang.loop.limits import Limits


class Asked(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a turn is asked, and what was said for it; see `tukang.runnable.RunOptions`.

    Args:
        message: the user's.
        context: JSON, for the functions; never sent to a model.
        tool_choice, limits: instead of the agent's.
    """

    message: Message
    context: Any = None
    tool_choice: str | None = None
    limits: Limits | None = None


class Submitted(msgspec.Struct, frozen=True):
    """A turn that was submitted.

    Args:
        turn: its id.
        session: the conversation it belongs to.
        agent: the name of the agent that is to run it.
        asked: what it is asked.
        faults: how many tries have ended badly so far.
        why: how the last of these ended.
        failed: whether it is not tried any more.
    """

    turn: str
    session: str
    agent: str
    asked: Asked
    faults: int = 0
    why: str | None = None
    failed: bool = False


class Done(msgspec.Struct, frozen=True):
    """The turn has finished."""


class Waits(msgspec.Struct, frozen=True):
    """The turn was let go until somebody decides."""


class Again(msgspec.Struct, frozen=True):
    """The turn is to be gone on with.

    Args:
        pause: seconds to wait before; 0 for none.
        why: the fault, where there was one: it counts.
    """

    pause: float = 0.0
    why: str | None = None


class Failed(msgspec.Struct, frozen=True):
    """It makes no sense to try again."""

    why: str


Outcome = Done | Waits | Again | Failed
"""What became of one try."""

TurnState = Literal["queued", "running", "waiting", "failed"]


class WorkerSeen(msgspec.Struct, frozen=True):
    """A worker.

    Args:
        name: `host:pid`, or as it was called when it was started.
        agents: the names of the agents it runs.
        slots: how many turns it runs at a time.
        running: how many it is running.
        started: seconds since the epoch.
        silent: seconds since its last heartbeat.
    """

    name: str
    agents: tuple[str, ...]
    slots: int
    running: int
    started: float
    silent: float


class TurnSeen(msgspec.Struct, frozen=True):
    """A turn that was submitted and has not finished.

    Args:
        turn, session, agent: which.
        state: `queued`; `running`; `waiting` for somebody's decision; `failed` for good.
        submitted: seconds since the epoch.
        worker: who is running it; None for a worker that was given up, until the turn is queued again.
        silent: seconds since that worker's last heartbeat.
        due: when it may be tried again, in seconds since the epoch; None for now.
        faults: how many tries have ended badly.
        why: how the last of these ended.
    """

    turn: str
    session: str
    agent: str
    state: TurnState
    submitted: float
    worker: str | None = None
    silent: float | None = None
    due: float | None = None
    faults: int = 0
    why: str | None = None


class Status(msgspec.Struct, frozen=True):
    """What there is to see of a fleet.

    Args:
        store: its address, without a password.
        workers: those that are known, the oldest first.
        counts: how many turns there are in each state.
        turns: the turns, the oldest first; of each state no more than was asked for.
        unserved: agents that turns are queued for, and no worker runs.
    """

    store: str
    workers: tuple[WorkerSeen, ...]
    counts: Mapping[TurnState, int]
    turns: tuple[TurnSeen, ...]
    unserved: tuple[str, ...] = ()
