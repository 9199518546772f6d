"""Tasks as they are shown: for reading, and as JSON. Texts and values only; reads no store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from tukang.cli.screen import one_line, safe
from tukang.cli.session_view import moment
from tukang.cli.task_texts import TaskTexts
from tukang.cli.view import arguments
from tukang.conversation import Text
from tukang.memory.stores.task_values import TaskRow

_BAR = 20


def listed(rows: Sequence[TaskRow], said: TaskTexts) -> str:
    """A line for each task."""
    cells = [
        (row.id, one_line(row.session, 40), moment(row.created), _state(row, said), _call(row, 80)) for row in rows
    ]
    widths = [max(len(row[column]) for row in cells) for column in range(4)]
    return "\n".join(
        "  ".join([*(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)), row[4]]) for row in cells
    )


def shown(row: TaskRow, said: TaskTexts) -> str:
    """All there is to know of one."""
    lines = [
        f"{row.id}  {one_line(row.session, 40)}  {moment(row.created)}",
        f"  {_call(row, 400)}",
        f"  {line(row, said)}",
    ]
    if row.attempts > 1:
        lines.append(f"  {said.attempts.format(number=row.attempts)}")
    if row.outcome is not None:
        lines.append(f"  {said.result}: {safe(result(row))}")
    return "\n".join(lines)


def line(row: TaskRow, said: TaskTexts) -> str:
    """How far one is, on one line."""
    told = [_state(row, said)]
    if row.state == "running" and row.percent is not None:
        full = round(row.percent / 100 * _BAR)
        told.append(f"[{'#' * full}{'.' * (_BAR - full)}] {row.percent:.0f}%")
    if row.message and row.state in ("running", "failed", "unknown", "cancelled"):
        told.append(one_line(row.message, 100))
    return "  ".join(told)


def result(row: TaskRow) -> str:
    """What came of it, as the model reads it."""
    if row.outcome is None:
        return ""
    texts = [part.text if isinstance(part, Text) else f"[{part.media_type}]" for part in row.outcome.content]
    return "\n".join(texts)


def as_data(row: TaskRow) -> dict[str, Any]:
    """A task for programs. Members are added, never renamed."""
    spec = row.spec
    return {
        "task": row.id,
        "session": row.session,
        "agent": row.agent,
        "tool": spec.tool,
        "arguments": msgspec.json.decode(spec.arguments),
        "effect": spec.policy.effect,
        "backend": row.backend,
        "state": row.state,
        "percent": row.percent,
        "message": row.message,
        "attempts": row.attempts,
        "created": row.created,
        "began": row.began,
        "finished": row.finished,
        "expires": row.expires,
        "holder": row.holder,
        "cancel_asked": row.cancel,
        "woken": row.woken,
        "result": None if row.outcome is None else result(row),
        "fault": None if row.outcome is None or row.outcome.fault is None else row.outcome.fault.kind,
    }


def _state(row: TaskRow, said: TaskTexts) -> str:
    words = said.states[row.state]
    if row.state == "running" and row.cancel is not None:
        return f"{words}, {said.ending}"
    if row.state == "queued" and row.attempts and row.due > row.now:
        return f"{words}, {said.again_at.format(moment=moment(row.due))}"
    return words


def _call(row: TaskRow, most: int) -> str:
    return one_line(f"{row.spec.tool}({arguments(row.spec.arguments)})", most)
