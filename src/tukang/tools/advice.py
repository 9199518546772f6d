"""What a developer is told about a tool while it works: never the model, and never as an exception."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping

from tukang.errors import ToolWarning


def warn(text: str) -> None:
    """A `ToolWarning`; a line in the log of `tukang` where warnings are errors, because what has happened must not change."""
    try:
        warnings.warn(text, ToolWarning, stacklevel=3)
    except ToolWarning:
        logging.getLogger("tukang").warning(text)


def left_behind(tool: str) -> None:
    """A function in a thread did not end in its time."""
    warn(
        f"tool {tool!r} did not end in its time. A thread cannot be stopped: the function goes on, and may still do its "
        'work. @tool(isolation="process") runs it in a process that is ended'
    )


def too_many_left_behind(tool: str, running: Mapping[str, int]) -> None:
    """A call was not started, because so many functions that nobody waits for are still running."""
    names = ", ".join(f"{name!r} ({count})" for name, count in sorted(running.items(), key=lambda item: -item[1]))
    warn(
        f"tool {tool!r} was not run: {sum(running.values())} functions that did not end in their time still run in threads: "
        f'{names}. @tool(isolation="process") runs them in processes that are ended'
    )
