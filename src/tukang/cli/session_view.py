"""Sessions as they are shown: for reading, and as JSON. Texts and values only; reads no store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

import msgspec

from tukang.cli.document import written
from tukang.cli.screen import one_line, safe
from tukang.cli.session_texts import SessionTexts
from tukang.cli.texts import Texts
from tukang.cli.view import arguments
from tukang.conversation import Message, Text, ToolCall, ToolResult
from tukang.memory.stores.values import OpenTurn, SessionInfo, StoredTurn, Wait

_LONGEST_QUESTION = 60
_LONGEST_RESULT = 400
_LONGEST_NAME = 40


def listed(sessions: Sequence[SessionInfo], waiting: Sequence[str], said: SessionTexts) -> str:
    """A line for each session: name, turns, agent, when it was last used, how it stands, what was asked last.

    Args:
        waiting: the sessions whose open turn waits for somebody.
    """
    rows = [
        (
            one_line(info.id, _LONGEST_NAME),
            str(info.turns),
            one_line(info.agent, _LONGEST_NAME),
            moment(info.updated),
            state_of(info, waiting=info.id in waiting, said=said),
            one_line(info.question, _LONGEST_QUESTION),
        )
        for info in sessions
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines: list[str] = []
    for row in rows:
        cells = [
            f"{cell:>{width}}" if cell.isdecimal() else f"{cell:<{width}}"
            for cell, width in zip(row, widths, strict=False)
        ]
        lines.append("  ".join([*cells, row[5]]).rstrip())
    return "\n".join(lines)


def state_of(info: SessionInfo, *, waiting: bool, said: SessionTexts) -> str:
    """How a session stands; nothing for one that rests."""
    if info.holder is not None:
        return said.running.format(holder=info.holder)
    if info.open_turn is not None:
        return said.waiting if waiting else said.left
    return ""


def shown(
    info: SessionInfo,
    turns: Sequence[StoredTurn],
    left: Sequence[OpenTurn],
    waits: Sequence[Wait],
    texts: Texts,
    said: SessionTexts,
) -> str:
    """A session's conversation, turn by turn."""
    about = [info.id, said.turns.format(count=info.turns), info.agent, moment(info.updated)]
    lines = [" · ".join(one_line(piece, _LONGEST_NAME) for piece in about if piece)]
    for turn in turns:
        ended = texts.stopped[turn.stopped] if turn.stopped else ""
        lines.append(f"#{turn.number}  {moment(turn.started)}  {ended}".rstrip())
        lines += [line for message in turn.messages for line in _said(message)]
    for turn in left:
        state = state_of(info, waiting=turn.waits > 0, said=said)
        lines.append(f"#{turn.number}  {moment(turn.started)}  {state}")
        lines.append(f"  › {one_line(info.question, _LONGEST_RESULT)}")
    lines += [f"  {said.waits_for.format(what=_waits_for(wait))}" for wait in waits]
    return "\n".join(lines)


def document(info: SessionInfo, turns: Sequence[StoredTurn], left: Sequence[OpenTurn], waits: Sequence[Wait]) -> str:
    """The same as one JSON document."""
    return written(
        {
            "session": msgspec.to_builtins(info),
            "turns": [msgspec.to_builtins(turn) for turn in turns],
            "open": [msgspec.to_builtins(turn) for turn in left],
            "waits": [msgspec.to_builtins(wait) for wait in waits],
        }
    )


def moment(at: float) -> str:
    """A time, where the reader is: `2026-11-30 10:15`."""
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M")


def _said(message: Message) -> list[str]:
    mark = "› " if message.role == "user" else ""
    lines: list[str] = []
    for part in message.parts:
        match part:
            case Text(text) if text.strip():
                lines += [f"  {mark}{line}" for line in safe(text).strip().split("\n")]
            case ToolCall(name=name, arguments=given):
                lines.append(f"  {one_line(name, _LONGEST_NAME)}({arguments(given)})")
            case ToolResult():
                lines.append(f"    → {one_line(part.text, _LONGEST_RESULT)}")
            case _:
                pass
    return lines


def _waits_for(wait: Wait) -> str:
    whole = cast("object", wait.asked)
    asked = cast("dict[str, Any]", whole) if isinstance(whole, dict) else {}
    if "tool" not in asked:
        return f"{wait.kind} {wait.key}"
    return f"{one_line(str(asked['tool']), _LONGEST_NAME)}({arguments(str(asked.get('arguments') or '{}'))})"
