"""At the end of a command: tasks that run in this process would be left in the middle, so it waits for them."""

from __future__ import annotations

import time

from tukang.cli.screen import Screen
from tukang.cli.target import Target
from tukang.cli.task_texts import TASK_TEXTS
from tukang.cli.texts import Texts

_LOOK = 0.1


def wait_for_tasks(target: Target, screen: Screen, texts: Texts) -> None:
    """Wait until the tasks that were begun here have ended. Ctrl-C leaves them, for `tukang tasks work`."""
    tasks = target.agent.tasks
    if tasks is None or not tasks.unfinished:
        return
    said = TASK_TEXTS[texts.language]
    screen.note((said.waits.format(count=tasks.unfinished), "yellow"))
    try:
        while left := tasks.unfinished:
            screen.busy(said.waits.format(count=left))
            time.sleep(_LOOK)
    except KeyboardInterrupt:
        screen.note((said.left.format(target=target.name), "yellow"))
    finally:
        screen.still()
