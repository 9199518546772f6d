"""Exit codes: what a script may rely on. Codes only; nothing exits here.

| code | meaning |
|---|---|
| 0 | answered, also within the one round of `--single-shot`; `doctor`: healthy; `demo`: every scenario went as it should |
| 1 | the turn ended without its whole answer: at a limit, or because the model failed; what there is was printed |
| 1 | the turn waits for a decision; `approvals`: somebody has decided already, or it was too late |
| 1 | `tasks follow`: it did not end well; `tasks cancel`, `retry`: it stands otherwise than that needs |
| 2 | wrong usage, or something is not set up: no such assistant or session, no key, no weights, no memory, no store |
| 130 | Ctrl-C |
"""

from __future__ import annotations

from tukang.answer import Answer
from tukang.approvals.elsewhere import UnfitDecisionError, UnknownApprovalError
from tukang.errors import ConfigurationError, ModelError, ModelErrorKind, TukangError
from tukang.memory.stores.errors import (
    ImportFormatError,
    SessionExistsError,
    StoreError,
    StoreErrorKind,
    UnknownSessionError,
)
from tukang.memory.stores.task_values import UnknownTaskError

ANSWERED = 0
PARTIAL = 1
USAGE = 2
INTERRUPTED = 130

_NOT_SET_UP: frozenset[ModelErrorKind] = frozenset({"authentication", "not_found", "configuration"})
"""Faults of a model request that only the user can mend."""

_UNUSABLE: frozenset[StoreErrorKind] = frozenset(
    {"denied", "not_found", "read_only", "corrupt", "not_upgraded", "too_new", "not_installed"}
)
"""Faults of a store that only the user can mend."""


_MISTAKEN = (
    ConfigurationError,
    UnknownSessionError,
    SessionExistsError,
    ImportFormatError,
    UnknownApprovalError,
    UnfitDecisionError,
    UnknownTaskError,
)
"""What was asked for is not there, or cannot be."""


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
    if isinstance(error, _MISTAKEN):
        return USAGE
    if isinstance(error, ModelError):
        return USAGE if error.kind in _NOT_SET_UP else PARTIAL
    return USAGE if isinstance(error, StoreError) and error.kind in _UNUSABLE else PARTIAL
