"""A finished task starts a turn in its session: once for each task, and never beside another turn.

Once, because the turn's id is made of the task's: whoever wakes it a second time finds the turn begun or finished. What it is
told holds none of the task's result, which may come from outside: the model asks for that with a tool.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import cast

from tukang.errors import SessionBusyError
from tukang.loop.events import Language
from tukang.memory.stored import StoredSession
from tukang.memory.stores.base import Store
from tukang.memory.stores.task_values import TaskRow
from tukang.tasks.workshop import Workshop
from tukang.tools.long import RESULT, STATUS

logger = logging.getLogger("tukang.tasks")

MOST_IN_A_ROW = 10
"""Turns in a row that tasks may start, each begun by the one before: nobody is there to see a model go round in circles."""

_SAYS: Mapping[Language, str] = {
    "en": "[Not said by the user: task {id} ({tool}) has ended: {state}. Read it with {with_} and tell the "
    "user what came of it.]",
    "id": "[Bukan perkataan pengguna: tugas {id} ({tool}) sudah berakhir: {state}. Baca dengan {with_} lalu "
    "sampaikan hasilnya kepada pengguna.]",
}


async def wake(shop: Workshop, store: Store, row: TaskRow) -> bool:
    """Run the turn that a task's end starts, or go on with it; False when the session is busy, and it is to be tried later.

    Raises:
        StoreError: the store cannot be used.
    """
    chat = shop.host.session(row.session, store=store, redact=shop.redact_of(row.id))
    session = cast("StoredSession", chat.session).patient()
    running = shop.host.start(
        message(row),
        turn=turn_of(row.id),
        session=session,
        context=shop.context_of(row.id, row.spec.caller),
        principal=row.spec.principal,
    )
    try:
        answer = await running.answer()
    except SessionBusyError:
        return False
    logger.info("task %s: its session was woken; %s", row.id, answer.stopped)
    await store.tasks.woke(row.id)
    return True


def turn_of(task: str) -> str:
    """The id of the turn that a task's end starts."""
    return f"w{task}"


def woken_by(turn: str) -> str | None:
    """The task whose end has started a turn; None where it cannot be one's."""
    return turn[1:] if turn.startswith("w") else None


def message(row: TaskRow) -> str:
    """What that turn begins with."""
    language = cast("Language", row.spec.language)
    tool = RESULT if row.state == "done" else STATUS
    return _SAYS[language].format(id=row.id, tool=row.spec.tool, state=row.state, with_=f'{tool}(task="{row.id}")')
