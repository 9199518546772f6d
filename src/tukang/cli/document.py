"""A turn as one JSON document, for `--json`. The form is a promise to scripts: members are added, never renamed."""

from __future__ import annotations

from typing import Any

import msgspec

from tukang.answer import Answer, Step


def of_answer(answer: Answer, *, assistant: str, model: str, why: str) -> str:
    """The document.

    Args:
        answer: how the turn ended.
        assistant: what was asked for.
        model: the model asked, as a user names it.
        why: why it was that one.
    """
    body = {
        "answer": answer.text,
        "data": None if answer.data is None else _as_json(answer.text),
        "stopped": answer.stopped,
        "unsupported": list(answer.unsupported),
        "unchecked": answer.unchecked,
        "assistant": assistant,
        "model": model,
        "why": why,
        "rounds": answer.rounds,
        "seconds": round(answer.seconds, 3),
        "steps": [_step(step) for step in answer.steps],
        "usage": {name: getattr(answer.usage, name) for name in answer.usage.__struct_fields__},
        "error": None if answer.error is None else msgspec.to_builtins(answer.error),
        "turn": answer.turn,
        "waiting": [msgspec.to_builtins(one) for one in answer.waiting],
    }
    return written(body)


def written(body: Any) -> str:
    """JSON for people and programs: UTF-8, indented."""
    return msgspec.json.format(msgspec.json.encode(body), indent=2).decode()


def _step(step: Step) -> dict[str, Any]:
    return {
        "call_id": step.call_id,
        "round": step.round,
        "tool": step.tool,
        "arguments": _as_json(step.arguments),
        "result": _as_json(step.result),
        "fault": None if step.fault is None else step.fault.kind,
        "seconds": None if step.seconds is None else round(step.seconds, 6),
        "reused": step.reused,
        "repaired": step.repaired,
        "edited": step.edited,
        "served": step.served,
    }


def _as_json(text: str) -> Any:
    """What a text says in JSON; the text itself when it is not."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
