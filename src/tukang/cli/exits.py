"""Exit codes: what a script may rely on. Codes only; nothing exits here.

| code | meaning |
|---|---|
| 0 | answered, also within the one round of `--single-shot`; `doctor`: healthy; `demo`: every scenario went as it should |
| 1 | the turn ended without its whole answer: at a limit, or because the model failed; what there is was printed |
| 2 | wrong usage, or something is not set up: no such assistant, no key, no weights, no memory |
| 130 | Ctrl-C |
"""

from __future__ import annotations

from tukang.answer import Answer
from tukang.errors import ConfigurationError, ModelError, ModelErrorKind, TukangError

ANSWERED = 0
PARTIAL = 1
USAGE = 2
INTERRUPTED = 130

_NOT_SET_UP: frozenset[ModelErrorKind] = frozenset({"authentication", "not_found", "configuration"})
"""Faults of a model request that only the user can mend."""


def of_answer(answer: Answer, *, single_shot: bool = False) -> int:
    """The code for a turn that ended."""
    if answer.stopped in ("answer", "terminal") or (single_shot and answer.stopped == "rounds" and not answer.error):
        return ANSWERED
    if answer.stopped == "cancelled":
        return INTERRUPTED
    if answer.stopped == "model_error" and answer.error and answer.error.kind in _NOT_SET_UP:
        return USAGE
    return PARTIAL


def of_error(error: TukangError) -> int:
    """The code for what was raised before or around a turn."""
    if isinstance(error, ConfigurationError):
        return USAGE
    return USAGE if isinstance(error, ModelError) and error.kind in _NOT_SET_UP else PARTIAL
