"""What an author may have overlooked about a tool, said to the author once: that it looks like a clock, a die or a poll, and
does not say whether it is `repeatable`.

Within a turn an equal call is answered from the earlier result. That is right for almost every tool, and wrong for these.
Names and first words are a guess, so no more than a warning comes of them, and saying `repeatable`, true or false, ends it.
"""

from __future__ import annotations

import re
from typing import Literal

from tukang.tools.advice import warn
from tukang.tools.tool import Tool

Kind = Literal["clock", "die", "poll"]

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")

_TIMES = frozenset(
    ("time", "date", "datetime", "now", "today", "clock", "utcnow", "jam", "waktu", "tanggal", "sekarang")
)
_TELLING = frozenset(
    ("get", "current", "local", "server", "the", "what", "is", "it", "cek", "lihat", "ini", "saat", "berapa")
)
_DICE = frozenset(("random", "acak", "dice", "dadu", "shuffle"))
_POLLS = frozenset(("poll", "polling"))
_WAITS = frozenset(("wait", "tunggu", "pantau", "watch"))
_STATES = frozenset(
    ("status", "progress", "state", "kemajuan", "perkembangan", "ready", "done", "selesai", "result", "hasil")
)
_TASKS = frozenset(
    ("task", "tasks", "job", "jobs", "build", "process", "tugas", "pekerjaan", "proses", "antrean", "queue")
)

_FIRST_WORDS = 80  # characters of a description in which it says what the tool is
_SAYS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "clock",
        re.compile(
            r"\bcurrent (?:local |server |utc |system )?(?:date|time)\b|\bwhat time\b|\btoday'?s date\b"
            r"|\bjam berapa\b|\b(?:jam|waktu|tanggal) (?:saat ini|sekarang|hari ini|server)\b",
            re.IGNORECASE,
        ),
    ),
    ("die", re.compile(r"\brandom(?:ly)?\b|\bacak\b|\b(?:dice|dadu)\b", re.IGNORECASE)),
    (
        "poll",
        re.compile(
            r"\bpoll(?:s|ing)?\b|\bwhether .{1,30}\b(?:finished|done|ready)\b|\bapakah .{1,30}\bsudah selesai\b",
            re.IGNORECASE,
        ),
    ),
)


def looks_like(name: str, description: str) -> Kind | None:
    """What kind of thing that changes by itself a tool looks like, from its name and the first words of its description."""
    words = [word.lower() for word in _WORD.findall(name)]
    among = frozenset(words)
    if among & _TIMES and among <= _TIMES | _TELLING:
        return "clock"
    if among & _DICE:
        return "die"
    if among & _POLLS or _WAITS.intersection(words[:1]) or (among & _STATES and among & _TASKS):
        return "poll"
    return next((kind for kind, says in _SAYS if says.search(description[:_FIRST_WORDS])), None)


def built(tool: Tool) -> None:
    """A toolbox was made with this tool."""
    if _is_said(tool):
        return
    kind = looks_like(tool.name, tool.contract.description)
    if kind is not None:
        warn(f"tool {tool.name!r} looks like a {kind}. {_ADVICE}")


def reused(tool: Tool) -> None:
    """A call of this tool was answered with the result of an earlier round."""
    words = {word.lower() for word in _WORD.findall(tool.name)}
    if not _is_said(tool) and words & (_STATES | _TIMES):
        warn(f"tool {tool.name!r} was called again with the same arguments and did not run. {_ADVICE}")


def _is_said(tool: Tool) -> bool:
    policy = tool.policy
    return "repeatable" in tool.said or policy.terminal or policy.cache is not None or policy.long is not None


_ADVICE = (
    "Within one turn an equal call gets the earlier result instead of running again: say repeatable=True if every call must "
    "run, or repeatable=False if that is right"
)
