"""Rows of tasks, and what tests begin with."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from tukang.conversation import Text
from tukang.memory.stores.task_values import NewTask, TaskRow, TaskSpec
from tukang.tools.long import Long
from tukang.tools.outcome import Outcome
from tukang.tools.policy import Policy, ToolEffect

DONE = Outcome((Text("done"),))


def new(
    id: str, effect: ToolEffect = "read", *, session: str = "budi", expires: float | None = None, **long: Any
) -> NewTask:
    """A task to be made."""
    spec = TaskSpec("kerja", "{}", f"{id}-1-0", f"{id}-1-0", Policy(effect, long=Long(**long)))
    return NewTask(id, session, "gudang", "embedded", spec, expires)


def row(effect: ToolEffect = "read", most: int = 1, **changes: Any) -> TaskRow:
    """A task that is running, in its first attempt. `most`: how many attempts it may have."""
    spec = TaskSpec("kerja", "{}", "c", "c", Policy(effect, long=Long(attempts=most)))
    made = TaskRow(
        id="t", session="budi", agent="gudang", backend="embedded", spec=spec, state="running", token=1, attempts=1, tries=1,
        lost=0, created=0.0, due=0.0, expires=None, holder="h", lease=10.0, percent=None, message="", cancel=None, began=0.0,
        finished=None, outcome=None, woken=None, now=1.0,
    )  # fmt: skip
    return replace(made, **changes)
