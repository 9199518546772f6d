"""How a fleet stands, as it is shown. Texts and values only; asks no database."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tukang.cli.screen import one_line
from tukang.cli.worker_texts import WorkerTexts

if TYPE_CHECKING:
    from tukang.workers.values import Status, TurnSeen, TurnState, WorkerSeen

_LONGEST_NAME = 40
_LONGEST_WHY = 200
_QUIET = 30.0
"""Seconds after which a worker's silence is worth a word."""


def shown(status: Status, said: WorkerTexts) -> str:
    """For reading: the counts, the workers, and the turns of each state."""
    lines = [said.counts.format(store=status.store, **status.counts)]
    if status.workers:
        lines += ["", said.worker, *_columns([_worker(one, said) for one in status.workers])]
    else:
        lines += ["", said.no_workers]
    if status.unserved:
        lines.append(said.unserved.format(agents=", ".join(one_line(name, _LONGEST_NAME) for name in status.unserved)))
    titles: Mapping[TurnState, str] = {
        "running": said.running,
        "queued": said.queued,
        "waiting": said.waiting,
        "failed": said.failed,
    }
    for state, title in titles.items():
        rows = [_turn(turn, said) for turn in status.turns if turn.state == state]
        if rows:
            more = status.counts[state] - len(rows)
            lines += ["", title, *_columns(rows), *([f"  … {more}"] if more else [])]
    return "\n".join(lines)


def _worker(worker: WorkerSeen, said: WorkerTexts) -> tuple[str, ...]:
    agents = ", ".join(worker.agents)
    heard = said.heard if worker.silent < _QUIET else said.silent
    return (
        one_line(worker.name, _LONGEST_NAME),
        one_line(agents, _LONGEST_NAME),
        f"{worker.running}/{worker.slots}",
        heard.format(seconds=_seconds(worker.silent)),
    )


def _turn(turn: TurnSeen, said: WorkerTexts) -> tuple[str, ...]:
    notes: list[str] = []
    if turn.state == "running":
        if turn.worker is None:
            notes.append(said.nobody)
        else:
            notes.append(said.by.format(worker=turn.worker, seconds=_seconds(turn.silent or 0.0)))
    if turn.due is not None:
        notes.append(said.due.format(at=time.strftime("%H:%M:%S", time.localtime(turn.due))))
    if turn.faults and turn.why:
        notes.append(said.faults.format(count=turn.faults, why=turn.why))
    return (
        one_line(turn.turn, _LONGEST_NAME),
        one_line(turn.session, _LONGEST_NAME),
        one_line(turn.agent, _LONGEST_NAME),
        time.strftime("%Y-%m-%d %H:%M", time.localtime(turn.submitted)),
        one_line(" · ".join(notes), _LONGEST_WHY),
    )


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
